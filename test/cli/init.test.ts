// `natter init`: each scaffold is generated in an empty project and run, where its language is installed.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { parse } from 'yaml'
import { readLevel } from '../../daemon/api/levels/releases.ts'
import { newShell, type Shell } from '../support/cli.ts'

const root = join(import.meta.dirname, '../..')

function installed(program: string, ...args: readonly string[]): boolean {
  return spawnSync(program, args).status === 0
}

/** A project with natter installed, and the files of a scaffold. */
async function project(t: TestContext, kind: string): Promise<{ shell: Shell; run: string }> {
  const shell = newShell(t)
  mkdirSync(join(shell.home, 'node_modules'))
  symlinkSync(root, join(shell.home, 'node_modules/natter'))
  const { code, stdout, stderr } = await shell.run(['init', kind, '--json'])
  assert.equal(code, 0, stderr)
  const { files, run } = JSON.parse(stdout)
  for (const file of files) assert.ok(existsSync(join(shell.home, file)), file)
  return { shell, run }
}

/** Runs a command of the project to its end. */
function runIn({ home }: Shell, command: string, more: Readonly<Record<string, string>> = {}): string {
  const PATH = [join(root, 'bin'), process.env.PATH].join(delimiter)
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const options = { cwd: home, env: { ...env, PATH, XDG_CONFIG_HOME: home, ...more }, encoding: 'utf8' } as const
  const { status, stdout, stderr } = spawnSync('sh', ['-c', command], options)
  assert.equal(status, 0, `${command}\n${stdout}\n${stderr}`)
  return stdout + stderr
}

describe('natter init', () => {
  test('pytest: the generated test passes, at the level of the run', {
    skip: !installed('pytest', '--version') && 'pytest is not installed',
  }, async t => {
    const { shell, run } = await project(t, 'pytest')
    assert.equal(run, 'natter exec --preset dev -- pytest')
    const test = `
import os
def test_the_level_is_that_of_the_run(natter):
    found = natter.call("amy", "GET", "/server_settings")
    assert str(found["svc_feature_level"]) == os.environ["NATTER_LEVEL"]
`
    writeFileSync(join(shell.home, 'test_level.py'), test)
    const control = `
import pytest
def test_the_control_plane_takes_parameters(natter):
    natter.control("POST", "/faults", kind="rate-limit", endpoint="send-message", times=1)
    with pytest.raises(AssertionError, match="429"):
        natter.call("amy", "POST", "/messages", type="channel", to="general", topic="t", content="x")
    natter.call("amy", "POST", "/messages", type="channel", to="general", topic="t", content="x")
    assert natter.control("POST", "/wait", event={"type": "message"}, user="bob", within="1m")["met"]
`
    writeFileSync(join(shell.home, 'test_control.py'), control)
    const failing = 'def test_fails(natter):\n    natter.call("amy", "GET", "/users/me")\n    assert False\n'
    writeFileSync(join(shell.home, 'test_fails.py'), failing)
    const command = 'natter exec --preset dev --levels 421,latest --on-failure failure -- pytest || true'
    // The plugins that this machine happens to have take longer than the tests.
    const output = runIn(shell, command, { PYTEST_DISABLE_PLUGIN_AUTOLOAD: '1' })
    assert.equal(output.match(/1 failed, 3 passed/g)?.length, 2, output)
    assert.match(output, /^421 +11\.0 +1 +1 .*\n509 +13\.0-dev +1 +1 /m)
    const [space, ...others] = readdirSync(join(shell.home, 'failure/421/spaces'))
    assert.deepEqual(others, [])
    const calls = readFileSync(join(shell.home, 'failure/421/spaces', space!, 'calls.ndjson'), 'utf8')
    assert.match(calls, /get-own-user/)
  })

  test('node and go: a project that lacks something is told what to do first', async t => {
    const shell = newShell(t)
    const { code, stderr } = await shell.run(['init', 'node'])
    assert.equal(code, 0)
    assert.match(stderr, /natter is not installed in this project\. First: npm install --save-dev \.\/natter-.+\.tgz/)
    const go = await shell.run(['init', 'go'])
    assert.match(go.stderr, /there is no go\.mod here\. First: go mod init /)
  })

  test('go: the generated test passes', { skip: !installed('go', 'version') && 'go is not installed' }, async t => {
    const { shell, run } = await project(t, 'go')
    writeFileSync(join(shell.home, 'go.mod'), 'module example.com/project\n\ngo 1.18\n')
    assert.match(runIn(shell, `${run} -v`), /--- PASS: TestMessageIsSent/)
  })

  test('node: the generated test passes, and a test that fails can be resumed', async t => {
    const { shell, run } = await project(t, 'node')
    const file = join(shell.home, 'natter.test.mjs')
    const level = `
test('the level is that of the run', async () => {
  const settings = await fetch(natter.url + '/api/v1/server_settings').then(answer => answer.json())
  assert.equal(settings.svc_feature_level, Number(process.env.EXPECTED_LEVEL))
})
`
    writeFileSync(file, readFileSync(file, 'utf8') + level)
    const failing = `natter exec --on-failure failure -- ${run}`
    const earlier = join(shell.home, 'failure/a-test-of-an-earlier-run')
    mkdirSync(earlier, { recursive: true })
    const kept = ['run.json', 'snapshot.json']
    for (const name of kept) writeFileSync(join(earlier, name), JSON.stringify({ kept }))
    const failed = runIn(shell, `${failing} || true`, { EXPECTED_LEVEL: '1' })
    assert.match(failed, /pass 1\b[\s\S]*fail 1\b/)
    assert.match(failed, /417 !== 1\b/)
    // Not the daemon of natter exec, of which the tests know nothing.
    assert.match(failed, /natter exec --resume failure\/the-level-is-that-of-the-run\n$/)
    assert.ok(!existsSync(earlier))
    assert.ok(existsSync(join(shell.home, 'failure/the-level-is-that-of-the-run/snapshot.json')))
    assert.match(runIn(shell, run, { NATTER_LEVEL: '12.0', EXPECTED_LEVEL: '498' }), /pass 2\b/)
  })

  test('vitest: the generated test passes', {
    skip: !installed('vitest', '--version') && 'vitest is not installed',
  }, async t => {
    const { shell } = await project(t, 'vitest')
    assert.match(runIn(shell, 'vitest run'), /1 passed/)
  })

  test('jest: the generated test passes', {
    skip: !installed('jest', '--version') && 'jest is not installed',
  }, async t => {
    const { shell } = await project(t, 'jest')
    writeFileSync(join(shell.home, 'package.json'), '{}')
    assert.match(runIn(shell, 'jest'), /1 passed/)
  })

  test('bot: the generated test passes, and ends when it fails', async t => {
    const { shell } = await project(t, 'bot')
    const generated = readFileSync(join(shell.home, 'bot.test.mjs'), 'utf8')
    writeFileSync(join(shell.home, 'fails.test.mjs'), generated.replace('(message 1)', '(message 2)'))
    assert.match(runIn(shell, 'node --test || true'), /pass 1\b[\s\S]*fail 1\b/)
  })

  test('github: the generated workflow runs the tests of the project with a daemon', async t => {
    const { shell, run } = await project(t, 'github')
    const workflow = readFileSync(join(shell.home, '.github/workflows/natter.yml'), 'utf8')
    assert.ok(workflow.includes(`- run: ${run}\n`))
    const script = 'natter whoami --jq .role && natter api GET /server_settings --jq .svc_feature_level'
    writeFileSync(join(shell.home, 'package.json'), JSON.stringify({ scripts: { test: script } }))
    const { jobs } = parse(workflow)
    assert.match(jobs.test.env.NATTER_LEVEL, /^\$\{\{ matrix\.level \}\}$/)
    const levels: string[] = jobs.test.strategy.matrix.level
    assert.deepEqual(levels.map(readLevel), [417, 498, 509])
    assert.match(runIn(shell, run, { NATTER_LEVEL: levels[1]! }), /^100\n498$/m)
  })

  test('agent: the commands of the skill file work, in their order', async t => {
    const { shell, run } = await project(t, 'agent')
    writeFileSync(join(shell.home, 'package.json'), '{"scripts":{"test":"true"}}')
    const skill = readFileSync(join(shell.home, '.agents/skills/natter/SKILL.md'), 'utf8')
    const rows = skill.split('\n').filter(line => line.startsWith('| ') && line.includes('`'))
    const commands = rows.flatMap(row => [...row.matchAll(/`(natter [^`]+)`/g)].map(([, command]) => command!))
    assert.ok(commands.length > 9, skill)
    const script = ["trap 'natter daemon stop' EXIT", ...commands, run].join('\n')
    const output = runIn(shell, `set -e\n${script}`, { HOME: shell.home, XDG_DATA_HOME: shell.home })
    assert.match(output, /wait_for_message/)
  })

  test('under npx the files call natter by npx, since the project alone has it', async t => {
    const shell = newShell(t, { npm_command: 'exec' })
    const workflow = await shell.run(['init', 'github', '--print'])
    assert.match(workflow.stdout, /- run: npm ci\n[\s\S]*- run: npx natter exec /)
    assert.doesNotMatch(workflow.stdout, /--global/)
    const agent = await shell.run(['init', 'agent', '--print'])
    assert.match(agent.stdout, /"command": "npx", "args": \["natter", "mcp", "--profile", "local"\]/)
    assert.doesNotMatch(agent.stdout, /`natter /)
  })

  test('github: npm ci is a step where the project has a package-lock.json', async t => {
    const shell = newShell(t)
    const stepsOf = async () => {
      const { stdout } = await shell.run(['init', 'github', '--print'])
      const { jobs } = parse(stdout.replace(/^==>.*\n/, ''))
      return (jobs.test.steps as { run?: string }[]).flatMap(({ run }) => run?.split(' ').slice(0, 2).join(' ') ?? [])
    }
    assert.deepEqual(await stepsOf(), ['npm install', 'natter exec'])
    writeFileSync(join(shell.home, 'package-lock.json'), '{}')
    assert.deepEqual(await stepsOf(), ['npm ci', 'npm install', 'natter exec'])
  })

  test('github: says that a workflow below the root of the repository is not read', async t => {
    const shell = newShell(t)
    const inside = join(shell.home, 'packages/bot')
    mkdirSync(inside, { recursive: true })
    mkdirSync(join(shell.home, '.git'))
    const below = await shell.run(['init', 'github'], { cwd: inside })
    assert.match(below.stderr, /only in the root of the repository: move the folder \.github there\n/)
    assert.doesNotMatch((await shell.run(['init', 'github'])).stderr, /root/)
  })

  test('writes nothing if one of its files exists', async t => {
    const shell = newShell(t)
    writeFileSync(join(shell.home, 'test_natter.py'), 'mine')
    const { code, stderr } = await shell.run(['init', 'pytest'])
    assert.equal(code, 2)
    assert.match(stderr, /test_natter\.py exists[\s\S]*natter init pytest --print/)
    const printed = await shell.run(['init', 'pytest', '--print'])
    assert.match(printed.stdout, /^==> conftest\.py <==\n[\s\S]*\n==> test_natter\.py <==\n/)
    assert.deepEqual(readdirSync(shell.home), ['test_natter.py'])
    assert.equal(readFileSync(join(shell.home, 'test_natter.py'), 'utf8'), 'mine')
  })

  test('refuses a kind that it does not know', async t => {
    const { code, stderr } = await newShell(t).run(['init', 'pytset'])
    assert.equal(code, 2)
    assert.match(stderr, /does not know "pytset"[\s\S]*Did you mean pytest/)
  })
})
