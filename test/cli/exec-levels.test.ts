// `natter exec --levels`: a command at several feature levels, as real processes.

import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { failuresIn } from '../../cli/commands/test/test-failures.ts'
import { newShell, Watched } from '../support/cli.ts'
import { sharedDaemon } from '../support/daemon.ts'
import { until } from '../support/until.ts'

/** A test that passes until reactions lose their user, and one that passes everywhere. */
const tests = `
import { test } from 'node:test'
import assert from 'node:assert/strict'
test('a message is sent', () => assert.ok(process.env.NATTER_SITE))
test('a reaction has a user', async () => {
  const answer = await fetch(process.env.NATTER_SITE + '/api/v1/server_settings')
  const { svc_feature_level } = await answer.json()
  assert.equal(String(svc_feature_level), process.env.NATTER_LEVEL)
  assert.ok(svc_feature_level < 484)
})
`

describe('natter exec --levels', () => {
  const daemon = sharedDaemon({ flags: ['--memory'] })
  const shell = newShell({ after } as never)

  test('runs the command at each level, names the first test that differs, and ends as the worst run', async () => {
    writeFileSync(join(shell.home, 'level.test.mjs'), tests)
    const args = ['--levels', '421,12.0,498,latest', '--jobs', '2', '--', process.execPath, 'level.test.mjs']
    const { code, stdout, stderr } = await shell.natter(['exec', ...args])
    assert.equal(code, 1, stderr)
    const [head, ...rows] = stdout.trimEnd().split('\n')
    assert.match(head!, /^level +version +exit +failed +seconds$/)
    const last = rows.pop()
    assert.deepEqual(
      rows.map(row => row.split(/ +/).slice(0, 4)),
      [
        ['421', '11.0', '0', '0'],
        ['498', '12.0', '1', '1'],
        ['509', '13.0-dev', '1', '1'],
      ],
    )
    assert.equal(last, 'First test that differs: a reaction has a user fails at 498, 509, not at 421.')
    for (const level of [421, 498, 509]) assert.match(stderr, new RegExp(`^--- level ${level}$`, 'm'))
  })

  test('with --jobs, what is said about a failure follows the output of its run', async () => {
    const script = 'echo "output of $NATTER_LEVEL"; exit 1'
    const args = ['--levels', '417,509', '--jobs', '2', '--on-failure', 'kept', '--', 'sh', '-c', script]
    const { code, stderr } = await shell.run(['exec', ...args])
    assert.equal(code, 1)
    const parts = stderr.split('--- level ').slice(1)
    assert.deepEqual(parts.map(part => part.slice(0, 3)).sort(), ['417', '509'])
    for (const part of parts) {
      const level = part.slice(0, 3)
      assert.match(
        part,
        new RegExp(`^${level}\noutput of ${level}\nthe command failed; see kept/${level}/README\\.md, .*\n$`),
      )
    }
  })

  test('uses spaces of a daemon that runs, and the exit code of a command that fails at one level only', async () => {
    const { url, ready } = daemon()
    const script = '[ "$NATTER_LEVEL" != 443 ] || exit 5'
    const args = [
      '--in',
      url,
      '--control-token',
      ready.control_token!,
      '--levels',
      '417,443,474',
      '--',
      'sh',
      '-c',
      script,
    ]
    const { code, stdout } = await shell.run(['exec', ...args])
    assert.equal(code, 5)
    assert.deepEqual(
      stdout.match(/^\d{3} +\S+ +\d +\S+/gm)?.map(row => row.replace(/ +/g, ' ')),
      ['417 11.0-dev 0 0', '443 12.0-dev 5 -', '474 12.0-dev 0 0'],
    )
    assert.doesNotMatch(stdout, /First test/)
  })

  test('Ctrl-C ends the command, starts no other level, and leaves no daemon', async t => {
    const script = 'echo "$NATTER_LEVEL" >> started; echo "$NATTER_SITE" > site; exec sleep 600'
    const running = new Watched(t, shell.spawn(['exec', '--levels', '417,498', '--', 'sh', '-c', script]))
    await until(() => existsSync(join(shell.home, 'site')) && readFileSync(join(shell.home, 'site'), 'utf8') !== '')
    running.child.kill('SIGINT')
    assert.equal(await running.ended, 130)
    assert.equal(readFileSync(join(shell.home, 'started'), 'utf8'), '417\n')
    const site = readFileSync(join(shell.home, 'site'), 'utf8').trim()
    await assert.rejects(fetch(`${site}/livez`))
  })

  test('a signal while the daemon starts leaves none behind', async t => {
    const temporary = join(shell.home, 'tmp')
    mkdirSync(temporary)
    const running = new Watched(t, shell.spawn(['exec', '--', 'sleep', '600'], { env: { TMPDIR: temporary } }))
    await until(() => readdirSync(temporary).length > 0)
    running.child.kill('SIGTERM')
    assert.equal(await running.ended, 143)
    await until(() => readdirSync(temporary).length === 0)
  })

  const refused = [
    [['--levels', '417,416', '--', 'true'], /--levels takes a level from 417 to 509, a release .* not "416"/],
    [['--levels', '10.0', '--', 'true'], /--levels takes .* not "10\.0"/],
    [['--levels', '417', '--jobs', '0', '--', 'true'], /--jobs takes a number from 1 to 64, not "0"/],
    [['--jobs', '2', '--', 'true'], /--jobs needs --levels/],
    [['--levels', '417', '--level', '498', '--', 'true'], /cannot be combined with --level/],
    [['--levels', '417'], /no command given/],
  ] as const
  for (const [args, says] of refused)
    test(`refuses ${args.join(' ')}`, async () => {
      const { code, stdout, stderr } = await shell.run(['exec', ...args])
      assert.deepEqual([code, stdout], [2, ''])
      assert.match(stderr, says)
    })

  test('a program that does not exist is exit code 127, once for all levels', async () => {
    const { code, stderr } = await shell.run(['exec', '--levels', '417,498', '--', 'no-such-program'])
    assert.equal(code, 127)
    assert.match(stderr, /cannot run no-such-program: there is no such command/)
    assert.doesNotMatch(stderr, /--- level 498/)
  })
})

describe('tests that failed', () => {
  const outputs: readonly (readonly [runner: string, output: string, failed: readonly string[]])[] = [
    ['TAP', 'ok 1 - fine\n    not ok 1 - bad > one\nnot ok 2 - later # TODO\n', ['bad > one']],
    ['the spec reporter', '✔ fine (1.4ms)\n  ✖ bad > one (1.6ms)\n✖ failing tests:\n', ['bad > one']],
    ['vitest', ' ✓ a.spec.mjs (1 test) 3ms\n   \u001b[31m×\u001b[39m bad one 12ms\n     → expected\n', ['bad one']],
    ['pytest', 'FAILED test_a.py::test_param[a b] - assert 1 == 2\n', ['test_a.py::test_param[a b]']],
    ['pytest -v', 'test_a.py::test_x PASSED [ 50%]\ntest_a.py::test_bad FAILED [100%]\n', ['test_a.py::test_bad']],
    ['go test', '--- FAIL: TestBad (0.00s)\n--- PASS: TestFine (0.00s)\n', ['TestBad']],
    [
      'JUnit',
      '<testcase name="fine" classname="test"/>\n<testcase name="bad > one" time="0.1">\n <failure type="x">\n',
      ['bad > one'],
    ],
    [
      'vitest with dots',
      '·x\n\n FAIL  a.spec.mjs > a group > fails\nAssertionError: no\n',
      ['a.spec.mjs > a group > fails'],
    ],
    [
      'jest with several files',
      'FAIL ./a.test.js\n  ● Console\n\n  ● a group › fails\n\n    expect(received)\n\nTests:       1 failed, 1 passed, 2 total\n',
      ['a group › fails'],
    ],
    ['another program', 'all is well\n', []],
  ]
  for (const [runner, output, failed] of outputs)
    test(`are found in the output of ${runner}`, () => assert.deepEqual([...failuresIn(output).names], failed))

  const sameNames: readonly (readonly [runner: string, output: string])[] = [
    ['TAP', 'not ok 1 - bad\nnot ok 2 - bad\n# suites 0\n# pass 0\n# fail 1\n# cancelled 1\n'],
    [
      'the spec reporter',
      '✖ bad (1ms)\n✖ bad (1ms)\nℹ fail 2\nℹ cancelled 0\n\n✖ failing tests:\n\n✖ bad (1ms)\n✖ bad (1ms)\n',
    ],
    ['vitest', '   × bad 12ms\n   × bad 9ms\n\n Test Files  1 failed (1)\n      Tests  2 failed | 1 passed (3)\n'],
    ['jest', '  ● bad\n\n  ● bad\n\nTest Suites: 1 failed, 1 total\nTests:       2 failed, 2 total\n'],
    ['go test', '--- FAIL: TestBad (0.00s)\nFAIL\n--- FAIL: TestBad (0.00s)\nFAIL\n'],
    ['JUnit', '<testcase name="bad">\n <failure type="x">\n</testcase><testcase name="bad"><error/>\n'],
  ]
  for (const [runner, output] of sameNames)
    test(`of the same name are counted in the output of ${runner}`, () => {
      const { names, count } = failuresIn(output)
      assert.deepEqual([names.size, count], [1, 2])
    })

  test('are counted without their group where the runner prints a number', () =>
    assert.equal(failuresIn('    not ok 1 - bad\nnot ok 1 - a group\n# fail 1\n').count, 1))
})
