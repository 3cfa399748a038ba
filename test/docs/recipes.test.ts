// The recipes of docs/libraries.md, docs/spaces.md and the files next to them, run as they are printed. Where a tool is missing, its recipe is
// skipped.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { parse } from 'yaml'

const root = join(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'natter-recipes-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const bin = join(folder, 'bin')
mkdirSync(bin)
for (const name of ['natter', 'natterd']) symlinkSync(join(root, 'bin', name), join(bin, name))
const path = `${bin}:${process.env.PATH}`

function run(command: string, args: readonly string[], cwd: string, env: Readonly<Record<string, string>> = {}) {
  const { NODE_OPTIONS: _, ...environment } = process.env
  const options = { cwd, encoding: 'utf8' as const, timeout: 120_000, env: { ...environment, PATH: path, ...env } }
  const { status, stdout, stderr } = spawnSync(command, args, options)
  return { status, output: `${stdout}${stderr}` }
}

function without(command: string, args: readonly string[]): string | false {
  return run(command, args, folder).status === 0 ? false : `${command} is not here`
}

/** The first one of the page in this language. */
function recipe(page: 'libraries' | 'spaces', language: string): string {
  const section = readFileSync(join(root, `docs/${page}.md`), 'utf8')
  return new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 's').exec(section)![1]!
}

function fresh(name: string, files: Readonly<Record<string, string>>): string {
  const cwd = join(folder, name)
  mkdirSync(cwd)
  for (const [file, text] of Object.entries(files)) writeFileSync(join(cwd, file), text)
  return cwd
}

const python = `import base64, json, urllib.request

def call(natter, method, path, body=None):
    request = urllib.request.Request(natter["url"] + "/api/v1" + path, method=method, data=body)
    account = natter["owner"]["email"] + ":" + natter["owner"]["api_key"]
    request.add_header("Authorization", "Basic " + base64.b64encode(account.encode()).decode())
    return json.load(urllib.request.urlopen(request))

def test_writes(natter):
    call(natter, "POST", "/saved_snippets", b"title=a&content=b")
    assert len(call(natter, "GET", "/saved_snippets")["saved_snippets"]) == 1

def test_finds_everything_as_it_was(natter):
    assert call(natter, "GET", "/saved_snippets")["saved_snippets"] == []
`

describe('the recipe for', () => {
  test('pytest', { skip: without('python3', ['-m', 'pytest', '--version']), timeout: 150_000 }, () => {
    const cwd = fresh('py', { 'conftest.py': recipe('libraries', 'python'), 'test_bot.py': python })
    // The plugins that this machine happens to have take longer than the tests.
    const env = { PYTEST_DISABLE_PLUGIN_AUTOLOAD: '1' }
    const { status, output } = run('python3', ['-m', 'pytest', '-q', '-p', 'no:cacheprovider'], cwd, env)
    assert.equal(status, 0, output)
    assert.match(output, /2 passed/)
  })

  test('Go', { skip: without('go', ['version']), timeout: 150_000 }, () => {
    const cwd = fresh('go', { 'bot_test.go': recipe('libraries', 'go'), 'go.mod': 'module bot\n\ngo 1.19\n' })
    const { status, output } = run('natter', ['exec', '--preset', 'dev', '--', 'go', 'test', '-count=1', './...'], cwd)
    assert.equal(status, 0, output)
    const alone = run('go', ['test', '-count=1', './...'], cwd, { NATTER_SITE: '' })
    assert.match(alone.output, /run: natter exec/)
  })

  test('pytest-xdist', { skip: without('python3', ['-c', 'import pytest, xdist']), timeout: 150_000 }, () => {
    const cwd = fresh('xdist', { 'conftest.py': recipe('spaces', 'python'), 'test_bot.py': python })
    const words = ['python3', '-m', 'pytest', '-q', '-p', 'no:cacheprovider', '-n', '2']
    const { status, output } = run('natter', ['exec', '--preset', 'dev', '--', ...words], cwd)
    assert.equal(status, 0, output)
    assert.match(output, /2 passed/)
  })

  test('spaces in Go', { skip: without('go', ['version']), timeout: 150_000 }, () => {
    const cwd = fresh('go-spaces', { 'bot_test.go': recipe('spaces', 'go'), 'go.mod': 'module bot\n\ngo 1.19\n' })
    const { status, output } = run('natter', ['exec', '--preset', 'dev', '--', 'go', 'test', '-count=1', './...'], cwd)
    assert.equal(status, 0, output)
  })

  // Not among the dependencies: it is tried where it is installed.
  test('vitest', { skip: without('vitest', ['--version']), timeout: 150_000 }, () => {
    const cwd = fresh('vitest', { 'bot.test.mjs': recipe('spaces', 'mjs') })
    mkdirSync(join(cwd, 'node_modules'))
    symlinkSync(root, join(cwd, 'node_modules/natter'))
    const { status, output } = run('natter', ['exec', '--preset', 'dev', '--', 'vitest', 'run'], cwd)
    assert.equal(status, 0, output)
    assert.match(output, /1 passed/)
  })

  test('systemd', { skip: without('systemd-analyze', ['--version']) }, () => {
    const { status, output } = run('systemd-analyze', ['verify', join(root, 'docs/natterd.service')], folder)
    assert.equal(status, 0, output)
    assert.equal(output, '')
  })
})

describe('the recipe for GitHub Actions', { skip: without('bash', ['--version']) }, () => {
  const action = parse(readFileSync(join(root, 'docs/action/action.yml'), 'utf8'))
  const [step] = action.runs.steps

  /** The step as a runner would do it; npm only puts our own programs where it would have installed them. */
  function start(name: string, flags: string, npm = npmStandIn) {
    const cwd = fresh(name, { env: '', path: '', output: '', npm })
    chmodSync(join(cwd, 'npm'), 0o755)
    // As an earlier use of the action in the same job leaves it.
    mkdirSync(join(cwd, 'natter'))
    writeFileSync(join(cwd, 'natter/ready.json'), JSON.stringify({ url: 'http://127.0.0.1:1', owner: {} }))
    const { status, output } = run('bash', ['--noprofile', '--norc', '-c', step.run], cwd, {
      PATH: `${cwd}:${path}`,
      RUNNER_TEMP: cwd,
      GITHUB_ENV: join(cwd, 'env'),
      GITHUB_PATH: join(cwd, 'path'),
      GITHUB_OUTPUT: join(cwd, 'output'),
      FLAGS: flags,
      PACKAGE: './natter.tgz',
      TIMEOUT: action.inputs.timeout.default,
    })
    const read = (file: string) => readFileSync(join(cwd, file), 'utf8')
    const env = Object.fromEntries(
      read('env')
        .trim()
        .split('\n')
        .map(line => line.split(/=(.*)/s, 2)),
    )
    return { status, output, env, read }
  }

  /** The step of the action keep, after that one. */
  function keep(env: Record<string, string>) {
    const { run: script } = parse(readFileSync(join(root, 'docs/action/keep/action.yml'), 'utf8')).runs.steps[0]
    return run('bash', ['--noprofile', '--norc', '-c', script], folder, env)
  }

  test('starts a daemon that later steps find, and hides its keys', async t => {
    const { status, output, env, read } = start('runner', action.inputs.flags.default)
    assert.equal(status, 0, output)
    const { pid, owner, control_token } = JSON.parse(readFileSync(env.NATTER_READY_FILE, 'utf8'))
    t.after(() => process.kill(pid))
    for (const secret of [owner.api_key, control_token]) assert.ok(output.includes(`::add-mask::${secret}\n`))
    assert.equal(read('output'), `url=${env.NATTER_SITE}\n`)
    const seen = run(join(read('path').trim(), 'natter'), ['users', 'me', '--json'], folder, env)
    assert.equal(JSON.parse(seen.output).is_owner, true)
    assert.equal(run('natter', ['reset'], folder, env).status, 0)
    assert.match(readFileSync(env.NATTER_LOG, 'utf8'), /natter is ready/)
    assert.equal(run('natter', ['spaces', 'create', 'of-a-test'], folder, env).status, 0)
    for (const kept of [keep(env), keep(env)]) assert.equal(kept.status, 0, kept.output)
    const files = ['daemon.log', 'calls.ndjson', 'spaces/of-a-test/calls.ndjson']
    for (const file of files) assert.ok(existsSync(join(env.NATTER_ON_FAILURE!, file)), file)
  })

  test('fails loudly, with the log of the daemon, when that does not start', () => {
    const { status, output, env } = start('failing', '--seed nowhere.yaml')
    assert.equal(status, 1)
    assert.match(output, /Its log:\nnatterd: the seed .*nowhere.yaml cannot be read: ENOENT/)
    assert.match(output, /::error title=natterd did not start::natterd: the seed .*nowhere\.yaml/)
    const kept = keep(env)
    assert.deepEqual([kept.status, kept.output], [0, 'The daemon was not started, so there is nothing to keep.\n'])
  })

  test('names the flag that the daemon refuses', () => {
    const { status, output } = start('refused', '--bogus')
    assert.equal(status, 1)
    assert.match(output, /::error title=natterd did not start::natterd: .*'--bogus'/)
  })

  test('shows what npm says when natter cannot be installed', () => {
    const { status, output } = start('uninstalled', '', '#!/bin/sh\necho npm error 404 >&2\nexit 1\n')
    assert.equal(status, 1)
    assert.match(output, /npm error 404/)
    assert.match(output, /::error title=natter could not be installed::npm install \.\/natter\.tgz failed/)
  })
})

const npmStandIn = `#!/bin/sh
while [ "$1" != --prefix ]; do shift; done
mkdir -p "$2/node_modules/.bin"
ln -s ${join(root, 'bin/natter')} ${join(root, 'bin/natterd')} "$2/node_modules/.bin/"
`
