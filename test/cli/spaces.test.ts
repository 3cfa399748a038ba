// Spaces from the command line: `natter spaces …` and `natter exec --in`.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { exitCodes } from '../../cli/base/failure.ts'
import { newShell, type Shell } from '../support/cli.ts'
import { Control } from '../support/control.ts'
import { sharedDaemon } from '../support/daemon.ts'

const daemon = sharedDaemon({ flags: ['--memory', '--preset', 'dev'] })

function tokenOf(shell: Shell): Shell {
  const file = join(shell.home, 'ready.json')
  writeFileSync(file, JSON.stringify(daemon().ready))
  return shell.with({ NATTER_READY_FILE: file })
}

async function run(shell: Shell, ...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await shell.run(words)
  assert.equal(code, 0, `${words.join(' ')}: ${stderr}`)
  return stdout
}

describe('natter spaces', () => {
  test('creates, lists, shows, uses and deletes a space', async t => {
    const shell = tokenOf(newShell(t))
    const seed = join(shell.home, 'world.yaml')
    writeFileSync(seed, 'users:\n  - name: zoe\n')
    const words = ['worker-1', '--preset', 'empty', '--seed', seed, '--clock', 'frozen@2030-01-01T00:00:00Z']
    const made = JSON.parse(await run(shell, 'spaces', 'create', ...words, '--json'))
    assert.equal(made.url, `${daemon().url}/spaces/worker-1`)
    assert.match(await run(shell, 'spaces', 'list'), /worker-1 +http.*\/spaces\/worker-1/)
    assert.equal(JSON.parse(await run(shell, 'spaces', 'show', 'worker-1', '--json')).control_token, made.control_token)
    const home = newShell(t)
    const tokenless = await home.run(['whoami', '--site', made.url, '--as', 'zoe'])
    assert.match(tokenless.stderr, /no control token: a space has one of its own\n.*natter spaces use NAME/)
    await run(home, 'spaces', 'use', 'worker-1', '--ready-file', shell.env.NATTER_READY_FILE!)
    assert.match(await run(home, 'whoami'), /spaces\/worker-1/)
    assert.equal(JSON.parse(await run(home, 'clock', 'show', '--json')).time, '2030-01-01T00:00:00.000Z')
    assert.match(await run(home, '--as', 'zoe', 'users', 'me', '--json'), /zoe@example.com/)
    const refused = await home.run(['spaces', 'list'])
    assert.match(refused.stderr, /A space has no spaces of its own/)
    const stays = await shell.run(['spaces', 'use', 'worker-1'])
    assert.equal(stays.code, exitCodes.usage)
    assert.match(stays.stderr, /NATTER_READY_FILE is set and comes before profiles/)
    assert.equal(await run(shell, 'profile', 'list', '--json'), '[]\n')
    await run(shell, 'spaces', 'delete', 'worker-1')
    const gone = await home.run(['users', 'me'])
    assert.deepEqual(
      [gone.code, /There is no space "worker-1"/.test(gone.stderr)],
      [exitCodes.notFound, true],
      gone.stderr,
    )
    const missing = await shell.run(['spaces', 'create', '--seed', join(shell.home, 'none.yaml')])
    assert.match(missing.stderr, /--seed: cannot read .*none\.yaml: ENOENT/)
  })
})

describe('natter spaces delete', () => {
  test('removes the profile of the space, and switches back to the one before', async t => {
    const shell = newShell(t)
    const ready = tokenOf(shell).env.NATTER_READY_FILE!
    await run(shell, 'spaces', 'create', 'short', '--ready-file', ready)
    const { url, owner } = daemon()
    await run(shell, 'profile', 'add', 'local', '--site', url, '--user', owner.email!, '--api-key', owner.key!)
    await run(shell, 'spaces', 'use', 'short', '--ready-file', ready)
    const { stderr } = await shell.run(['spaces', 'delete', 'short', '--ready-file', ready])
    assert.match(stderr, /removed profile space-short; switched to profile local/)
    assert.match(await run(shell, 'whoami'), new RegExp(owner.email!))
  })
})

describe('natter exec --in', () => {
  test('runs a command in a space of a running daemon, and deletes the space', async t => {
    const shell = newShell(t)
    const script = '(echo $NATTER_SITE; cat $ZULIP_CONFIG; echo $NATTER_CONTROL_TOKEN) > printed; exit 3'
    const words = [
      'exec',
      '--in',
      daemon().ready.inspector,
      '--clock',
      'frozen@2030-01-01T00:00:00Z',
      '--',
      'sh',
      '-c',
      script,
    ]
    const { code, stderr } = await shell.run(words)
    assert.equal(code, 3, stderr)
    const [site, ...rest] = readFileSync(join(shell.home, 'printed'), 'utf8').trim().split('\n')
    assert.match(site!, new RegExp(`^${daemon().url}/spaces/\\d+$`))
    assert.ok(rest.includes(`site=${site}`))
    assert.notEqual(rest.at(-1), daemon().ready.control_token)
    const { spaces } = await new Control(daemon()).call('GET', '/spaces')
    assert.ok(!spaces.some(({ url }: { url: string }) => url === site))
  })

  test('acts as an account, takes a seed, and finds the token with the site it belongs to', async t => {
    const shell = newShell(t)
    const seed = join(shell.home, 'world.yaml')
    writeFileSync(seed, 'users:\n  - name: zoe\n')
    const env = { NATTER_SITE: daemon().url, NATTER_CONTROL_TOKEN: daemon().ready.control_token! }
    const script = 'echo $NATTER_EMAIL:$NATTER_CONTROL_TOKEN > printed'
    const words = ['exec', '--in', daemon().url, '--seed', seed, '--as', 'zoe', '--', 'sh', '-c', script]
    const { code, stderr } = await shell.run(words, { env })
    assert.equal(code, 0, stderr)
    assert.equal(readFileSync(join(shell.home, 'printed'), 'utf8'), 'zoe@example.com:\n')
  })

  test('refuses what a space cannot be given, and a daemon without a token', async t => {
    const shell = newShell(t)
    const odd = await shell.run(['exec', '--in', daemon().url, '--port', '1', '--', 'true'])
    assert.equal(odd.code, 2)
    assert.match(odd.stderr, /--port cannot be combined with --in/)
    const closed = await shell.run(['exec', '--in', daemon().url, '--', 'true'])
    assert.match(closed.stderr, /no control token/)
    const bad = await shell.run(['exec', '--in', daemon().ready.inspector, '--preset', 'huge', '--', 'true'])
    assert.match(bad.stderr, /preset: /)
  })

  test('keeps the exit code of a command that deleted its own space', async t => {
    const shell = newShell(t)
    const script = `curl -s -X DELETE -H "Authorization: Bearer ${daemon().ready.control_token}" ${daemon().url}/control/v1/spaces/$(basename $NATTER_SITE) > out`
    const { code, stderr } = await shell.run(['exec', '--in', daemon().ready.inspector, '--', 'sh', '-c', script])
    assert.deepEqual([code, stderr], [0, ''])
    assert.match(readFileSync(join(shell.home, 'out'), 'utf8'), /success/)
  })
})
