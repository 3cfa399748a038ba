// `natter eval`: cases of an agent, run by scripts that solve them, fail, hang, or are no cases at all.

import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { estimateRate } from '../../cli/commands/test/eval/score.ts'
import { isAlive } from '../../daemon/local/processes.ts'
import { exitOf, newShell, type Shell } from '../support/cli.ts'
import { until } from '../support/until.ts'

async function examples(t: TestContext): Promise<Shell> {
  const shell = newShell(t)
  assert.equal((await shell.run(['init', 'eval', '--quiet'])).code, 0)
  return shell
}

function withCase(t: TestContext, text: string): Shell {
  const shell = newShell(t)
  mkdirSync(join(shell.home, 'cases'))
  writeFileSync(join(shell.home, 'cases/one.yaml'), text)
  return shell
}

describe('natter eval', () => {
  test('passes the example cases with the agent that solves them, and keeps what happened', async t => {
    const shell = await examples(t)
    const args = [
      'eval',
      'cases',
      '--keep',
      'kept',
      '--junit',
      'junit.xml',
      '--json',
      '--',
      process.execPath,
      'agent.mjs',
    ]
    const { code, stdout, stderr } = await shell.natter(args)
    assert.equal(code, 0, stderr + stdout)
    const { passed, total, rate, runs } = JSON.parse(stdout)
    assert.deepEqual([passed, total, rate], [3, 3, 1])
    for (const { checks } of runs) assert.ok(checks.length >= 3)
    assert.match(readFileSync(join(shell.home, 'junit.xml'), 'utf8'), /tests="3" failures="0"/)
    assert.match(readFileSync(join(shell.home, 'kept/reaction-1/difference.json'), 'utf8'), /tada/)
    assert.ok(existsSync(join(shell.home, 'kept/question-1/transcript.txt')))
  })

  test('exits by the threshold, and keeps runs over those of earlier evaluations, and never over other files', async t => {
    const shell = withCase(t, 'task: nothing\nexpect: { messages: [{ channel: general }] }\n')
    const evaluate = () => shell.run(['eval', 'cases', '--keep', 'kept', '--threshold', '0', '--', 'true'])
    for (let time = 0; time < 2; time++) {
      const { code, stdout } = await evaluate()
      assert.equal(code, 0)
      assert.match(stdout, /0 of 1 runs passed/)
    }
    for (const name of ['result.json', 'transcript.txt']) {
      rmSync(join(shell.home, 'kept/one-1'), { recursive: true })
      mkdirSync(join(shell.home, 'kept/one-1'))
      const mine = join(shell.home, 'kept/one-1', name)
      writeFileSync(mine, 'mine')
      const refused = await evaluate()
      assert.equal(refused.code, 2)
      assert.match(refused.stderr, /--keep: .* is not of an earlier run of this case\n {2}Choose another folder\./)
      assert.equal(readFileSync(mine, 'utf8'), 'mine')
    }
  })

  test('fails an agent that does nothing, with what is not so', async t => {
    const shell = await examples(t)
    const failed = await shell.run(['eval', 'cases', '--repeat', '2', '--', 'true'])
    assert.equal(failed.code, 8)
    assert.match(failed.stdout, /reaction, run 2: failed: a message with \{"reaction":"tada"/)
    assert.match(failed.stdout, /0 of 6 runs passed: 0 % \(95 % confidence: 0 % to 39 %\)/)
  })

  test('ends a command that hangs when its budget is over', async t => {
    const shell = withCase(t, 'task: wait\nexpect: {}\nbudget: { seconds: 0.5 }\n')
    const { code, stdout } = await shell.run(['eval', 'cases', '--', 'sh', '-c', 'sleep 600 & wait'])
    assert.equal(code, 8)
    assert.match(stdout, /failed: at most 0\.5 s/)
  })

  test('ends the command when it is interrupted itself', async t => {
    const shell = withCase(t, 'task: wait\nexpect: {}\n')
    const pidFile = join(shell.home, 'pid')
    const child = shell.spawn(['eval', 'cases', '--', 'sh', '-c', `echo $$ > ${pidFile}; sleep 60`])
    const ended = exitOf(child)
    await until(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8').endsWith('\n'))
    child.kill('SIGINT')
    assert.equal(await ended, 130)
    await until(() => !isAlive(Number(readFileSync(pidFile, 'utf8'))))
  })

  test('counts calls that must not happen, and the budget of calls', async t => {
    // Many stars would keep a pattern of JavaScript busy for hours.
    const stars = `'${'*'.repeat(100)}x'`
    const text = `task: look\nas: amy\nexpect: { no_calls: [get-*, '*-own-*', ${stars}] }\nbudget: { calls: 0 }\n`
    const shell = withCase(t, text)
    const look = 'curl -s -u "$NATTER_EMAIL:$NATTER_API_KEY" "$NATTER_SITE/api/v1/users/me"'
    const { code, stdout } = await shell.run(['eval', 'cases', '--', 'sh', '-c', look])
    assert.equal(code, 8)
    assert.match(stdout, /failed: get-\* is not called/)
    assert.match(stdout, /failed: \*-own-\* is not called/)
    assert.doesNotMatch(stdout, /failed: \*+x is not called/)
    assert.match(stdout, /failed: at most 0 calls \(1\)/)
  })

  test('gives the command the task, the account and the level of the case, and no token that opens others', async t => {
    // Where YAML sees a number.
    const shell = withCase(t, 'task: say it\nas: amy\nlevel: 11.0\nexpect: {}\n')
    const script = `[ "$NATTER_TASK" = "say it" ] && [ "$NATTER_EMAIL" = amy@example.com ] &&
      [ "$NATTER_LEVEL" = 421 ] && [ -z "$NATTER_CONTROL_TOKEN" ]`
    const { code, stdout } = await shell.run(['eval', 'cases', '--', 'sh', '-c', script])
    assert.equal(code, 0, stdout)
  })

  const mistakes: [what: string, text: string, sentence: RegExp][] = [
    [
      'a misspelled key',
      'task: x\nexpect:\n  mesages: []\n',
      /one\.yaml, line 3: there is no key "mesages"\. Did you mean messages/,
    ],
    ['a key twice', 'task: x\ntask: y\nexpect: {}\n', /one\.yaml, line 2: the key task is there twice/],
    ['too large a file', `task: ${'x'.repeat(1_100_000)}\n`, /cannot read .*one\.yaml: more than 1 MiB/],
    ['no task', 'expect: {}\n', /one\.yaml, line 1: the case needs the key task/],
    [
      'a budget that is no number',
      'task: x\nexpect: {}\nbudget:\n  seconds: soon\n',
      /line 4: budget\.seconds: must be a number/,
    ],
    ['a key without a value', 'task:\nexpect: {}\n', /line 1: task has no value/],
    ['a list for keys', '- task\n', /line 1: the case must be a list of keys/],
    ['a text for a list', 'task: x\nexpect:\n  messages: hello\n', /line 3: expect\.messages: must be a list/],
    [
      'a key that only another part has',
      'task: x\nexpect:\n  messages:\n    - channel: a\n      kind: added\n',
      /line 5: there is no key "kind"/,
    ],
    [
      'a count below 0',
      'task: x\nexpect:\n  messages:\n    - count: -1\n',
      /line 4: expect\.messages\.0\.count: must be/,
    ],
    ['an unknown preset', 'task: x\npreset: big\nexpect: {}\n', /line 2: preset: must be/],
    ['an unknown level', 'task: x\nlevel: 12.7\nexpect: {}\n', /line 2: level takes a level from .*, not "12\.7"/],
    ['a seed that is not there', 'task: x\nseed: no.yaml\nexpect: {}\n', /line 2: seed: there is no file .*no\.yaml/],
    ['a seed that is no file', 'task: x\nseed: .\nexpect: {}\n', /line 2: seed: there is no file .*cases/],
    [
      'a message without a place',
      'task: x\nmessage: { from: amy }\nexpect: {}\n',
      /line 2: message needs one of the keys channel and to/,
    ],
    [
      'too long a budget',
      'task: x\nexpect: {}\nbudget: { seconds: 9999 }\n',
      /line 3: budget\.seconds must be at most 3600/,
    ],
    [
      'a broken pattern',
      'task: x\nexpect:\n  no_messages:\n    - channel: general\n      content: /(/\n',
      /line 5: expect\.no_messages\.0\.content: \/\(\//,
    ],
    ['broken YAML', 'task: [\n', /one\.yaml, line \d+: /],
  ]
  for (const [what, text, sentence] of mistakes)
    test(`names file, line and key of a case with ${what}`, async t => {
      const { code, stderr } = await withCase(t, text).run(['eval', 'cases', '--', 'true'])
      assert.equal(code, 2)
      assert.match(stderr, sentence)
    })

  test('refuses two cases with one name', async t => {
    const shell = withCase(t, 'task: x\nname: same\nexpect: {}\n')
    writeFileSync(join(shell.home, 'cases/two.yaml'), 'task: y\nname: same\nexpect: {}\n')
    const { code, stderr } = await shell.run(['eval', 'cases', '--', 'true'])
    assert.equal(code, 2)
    assert.match(stderr, /two\.yaml: the case .*one\.yaml has the name same too/)
  })

  test('says what is wrong with its own arguments', async t => {
    const shell = newShell(t)
    for (const [args, sentence] of [
      [['eval', 'nowhere', '--', 'true'], /there is no file or folder nowhere/],
      [['eval', '.'], /no command given/],
      [['eval', '.', '--', 'true'], /has no case files/],
    ] as const) {
      const { code, stderr } = await shell.run(args)
      assert.equal(code, 2)
      assert.match(stderr, sentence)
    }
    const bad = withCase(t, 'task: x\nexpect: {}\n')
    assert.match(
      (await bad.run(['eval', 'cases', '--repeat', '0', '--', 'true'])).stderr,
      /--repeat takes a number from 1/,
    )
    assert.match(
      (await bad.run(['eval', 'cases', '--threshold', '2', '--', 'true'])).stderr,
      /--threshold takes a number/,
    )
  })

  test('computes the interval of a rate', () => {
    const { rate, low, high } = estimateRate(8, 10)
    assert.equal(rate, 0.8)
    assert.deepEqual([low.toFixed(2), high.toFixed(2)], ['0.49', '0.94'])
  })
})
