// `natter daemon`: a daemon in the background, from start to stop.

import assert from 'node:assert/strict'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { newShell, type Shell } from '../support/cli.ts'
import { send } from '../support/http.ts'
import { until } from '../support/until.ts'

test('a daemon is started, used, restarted and stopped with no other set-up', async t => {
  const shell = newShell(t)
  const store = join(shell.home, '.local/share/natter/store')
  t.after(() => endAt(store))

  const none = await shell.natter(['daemon', 'status'])
  assert.equal(none.code, 3)
  assert.match(none.stdout, /^not running\n/)

  const started = await shell.natter(['daemon', 'start', '--port', '0', '--json'])
  assert.equal(started.code, 0, started.stderr)
  const { url, owner } = JSON.parse(started.stdout)

  const profiles = join(shell.home, '.config/natter/profiles.json')
  assert.equal(statSync(profiles).mode & 0o777, 0o600)
  assert.equal(JSON.parse(readFileSync(profiles, 'utf8')).profiles.local.site, url)
  assert.equal(statSync(join(store, 'daemon.log')).mode & 0o777, 0o600)
  assert.equal((await shell.natter(['snippets', 'create', 'Kept', 'over a restart'])).code, 0)

  const again = await shell.natter(['daemon', 'start'])
  assert.equal(again.code, 1)
  assert.ok(again.stderr.includes(url))

  const restarted = await shell.natter(['daemon', 'restart', '--json'])
  assert.equal(restarted.code, 0, restarted.stderr)
  assert.equal(JSON.parse(restarted.stdout).url, url)
  assert.match((await shell.natter(['snippets', 'list'])).stdout, /over a restart/)

  // It waits two seconds for the daemon to say so.
  const status = await until(async () => {
    const said = JSON.parse((await shell.natter(['daemon', 'status', '--json'])).stdout)
    return said.ready && said
  })
  assert.deepEqual([status.running, status.ready, status.url], [true, true, url])
  assert.ok(!readFileSync(join(store, 'daemon.log'), 'utf8').includes(owner.api_key))

  assert.equal((await shell.natter(['daemon', 'stop'])).code, 0)
  assert.ok(!existsSync(join(store, 'daemon.json')))
  assert.equal((await shell.natter(['daemon', 'stop'])).code, 3)
  assert.equal((await shell.natter(['users', 'me'])).code, 6)
})

test('a daemon without a store can be found and stopped as well', async t => {
  const shell = newShell(t)
  const store = join(shell.home, 'elsewhere')
  t.after(() => endAt(store))
  const started = await shell.natter(['daemon', 'start', '--memory', '--port', '0', '--data', store])
  assert.equal(started.code, 0, started.stderr)
  assert.match(started.stdout, /^store +memory only$/m)
  assert.equal((await shell.natter(['users', 'me'])).code, 0)
  assert.equal((await shell.natter(['daemon', 'stop', '--data', store])).code, 0)
})

test('a daemon that cannot start says why, and a wrong flag is wrong usage', async t => {
  const shell = newShell(t)
  const wrong = await shell.natter(['daemon', 'start', '--prot', '0'])
  assert.equal(wrong.code, 2)
  assert.match(wrong.stderr, /did not start: exit code 2\n.*--prot/)
  writeFileSync(join(shell.home, 'file'), '')
  const blocked = await shell.natter(['daemon', 'start', '--data', join(shell.home, 'file/store')])
  assert.equal(blocked.code, 1)
  assert.match(blocked.stderr, /cannot make the folder/)
})

test('a daemon that died without a word is not running, even if its number lives on', async t => {
  const shell = newShell(t)
  const store = join(shell.home, 'store')
  assert.equal((await started(shell, store)).code, 0)
  const { url } = JSON.parse(readFileSync(join(store, 'daemon.json'), 'utf8'))
  endAt(store)
  await until(() =>
    send(`${url}/livez`).then(
      () => false,
      () => true,
    ),
  )
  const trace = join(store, 'daemon.json')
  writeFileSync(trace, JSON.stringify({ ...JSON.parse(readFileSync(trace, 'utf8')), pid: process.pid }))
  assert.equal((await shell.natter(['daemon', 'status', '--data', store])).code, 3)
  assert.equal((await shell.natter(['daemon', 'stop', '--data', store])).code, 3)
  assert.equal((await started(shell, store)).code, 0)
  assert.equal((await shell.natter(['daemon', 'stop', '--data', store])).code, 0)
})

test('daemon logs prints the last lines', async t => {
  const shell = newShell(t)
  assert.equal((await shell.natter(['daemon', 'logs', '--data', shell.home])).code, 3)
  writeFileSync(join(shell.home, 'daemon.log'), 'one\ntwo\nthree\n')
  assert.equal((await shell.natter(['daemon', 'logs', '--data', shell.home, '-n', '2'])).stdout, 'two\nthree\n')
  const child = shell.spawn(['daemon', 'logs', '--data', shell.home, '-n', '0', '-f'])
  t.after(() => child.kill('SIGKILL'))
  const added = new Promise(resolve => child.stdout!.setEncoding('utf8').once('data', resolve))
  const adding = setInterval(() => writeFileSync(join(shell.home, 'daemon.log'), 'four\n', { flag: 'a' }), 300)
  t.after(() => clearInterval(adding))
  assert.match(String(await added), /^four\n/)
  clearInterval(adding)
})

function started(shell: Shell, store: string) {
  return shell.natter(['daemon', 'start', '--port', '0', '--data', store])
}

/** By the number that the daemon itself wrote down. */
function endAt(store: string): void {
  try {
    process.kill(JSON.parse(readFileSync(join(store, 'daemon.json'), 'utf8')).pid, 'SIGKILL')
  } catch {
    // It has stopped already.
  }
}
