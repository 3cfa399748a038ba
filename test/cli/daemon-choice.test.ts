// The daemon that `natter daemon stop` and its neighbours are about.

import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { isAlive } from '../../daemon/local/processes.ts'
import { endAt, started } from '../support/background.ts'
import { fakeServer, newShell, Watched } from '../support/cli.ts'
import { until } from '../support/until.ts'

test('the daemon of another folder is not stopped, restarted or reloaded by a copy of its daemon.json', async t => {
  const shell = newShell(t)
  const [store, memory] = [join(shell.home, 'store'), join(shell.home, 'memory')]
  const [copy, link] = [join(shell.home, 'copy'), join(shell.home, 'link')]
  t.after(() => [store, memory].forEach(endAt))
  mkdirSync(copy)
  assert.equal((await started(shell, store)).code, 0)
  assert.equal((await started(shell, memory, '--memory')).code, 0)
  for (const folder of [store, memory]) {
    copyFileSync(join(folder, 'daemon.json'), join(copy, 'daemon.json'))
    for (const verb of ['status', 'stop', 'reload', 'restart'])
      assert.equal((await shell.run(['daemon', verb, '--data', copy])).code, 3, `${verb} of a copy of ${folder}`)
    // By another path it is the same folder.
    symlinkSync(folder, link)
    assert.equal((await shell.run(['daemon', 'status', '--data', link])).code, 0)
    rmSync(link)
    assert.equal((await shell.run(['daemon', 'stop', '--data', folder])).code, 0)
  }
})

test('without --data, a command is about the daemon of the profile local, whatever its folder', async t => {
  const shell = newShell(t)
  const usual = join(shell.home, '.local/share/natter/memory')
  const others = [join(shell.home, 'store'), join(shell.home, 'memory')]
  t.after(() => [usual, ...others].forEach(endAt))
  const first = await shell.run(['daemon', 'start', '--memory', '--port', '0', '--json'])
  const { url } = JSON.parse(first.stdout)
  for (const [folder, flags] of [
    [others[0]!, []],
    [others[1]!, ['--memory']],
  ] as const) {
    const other = await started(shell, folder, '--json', ...flags)
    assert.match(other.stderr, /; natter daemon stop goes back to it\n/)
    const own = JSON.parse(other.stdout).url
    assert.ok((await shell.run(['daemon', 'status'])).stdout.includes(own))
    assert.equal((await shell.run(['daemon', 'reload'])).code, 0)
    assert.equal((await shell.run(['daemon', 'logs'])).code, 0)
    assert.ok((await shell.run(['daemon', 'restart'])).stdout.includes(own))
    const stopped = await shell.run(['daemon', 'stop'])
    assert.ok(stopped.stderr.includes(`stopped the daemon at ${own}`), stopped.stderr)
    assert.ok(stopped.stderr.includes(`the profile local is for the daemon at ${url} again`), stopped.stderr)
  }
  // Such as under `natter exec`.
  const elsewhere = shell.with({ NATTER_SITE: 'http://127.0.0.1:1' })
  for (const verb of ['stop', 'restart']) {
    const { code, stderr } = await elsewhere.run(['daemon', verb])
    assert.equal(code, 2)
    assert.match(
      stderr,
      /NATTER_SITE names http:\/\/127\.0\.0\.1:1, which is not the daemon of \S+, at http.*\n.* add --data \S+\n/,
    )
  }
  const own = shell.with({ NATTER_SITE: url })
  assert.ok((await own.run(['daemon', 'stop'])).stderr.includes(`stopped the daemon at ${url}`))
})

test('no other daemon is taken for that of the profile local, if that one cannot be found', async t => {
  const shell = newShell(t)
  const usual = join(shell.home, '.local/share/natter/memory')
  t.after(() => endAt(usual))
  const site = await fakeServer(t, (_request, response) => response.end('{}'))
  const { url } = JSON.parse((await shell.run(['daemon', 'start', '--memory', '--port', '0', '--json'])).stdout)
  saveLocal(shell.home, site)
  for (const verb of ['status', 'stop', 'reload', 'restart', 'logs']) {
    const { code, stderr } = await shell.run(['daemon', verb])
    assert.equal(code, 1, verb)
    assert.ok(stderr.includes(`the profile local is for ${site}`) && stderr.includes(`at ${url} is ${usual}`), stderr)
  }
  // Nothing answers there.
  saveLocal(shell.home, 'http://127.0.0.1:1')
  assert.ok((await shell.run(['daemon', 'status'])).stdout.includes(url))
  saveLocal(shell.home, site)
  assert.equal((await shell.run(['daemon', 'stop', '--data', usual])).code, 0)
})

test('a stop that is held up leaves the file of a daemon that started meanwhile', {
  skip: process.platform !== 'linux' && 'it reads /proc',
}, async t => {
  const shell = newShell(t)
  const store = join(shell.home, 'store')
  t.after(() => endAt(store))
  assert.equal((await started(shell, store)).code, 0)
  const { pid } = JSON.parse(readFileSync(join(store, 'daemon.json'), 'utf8'))
  // The daemon cannot end before the stop is held up, too.
  process.kill(pid, 'SIGSTOP')
  const stop = new Watched(t, shell.spawn(['daemon', 'stop', '--data', store]))
  const isAsked = () => /ShdPnd:\t[0-9a-f]*[4-7c-f]...\n/.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  await until(isAsked)
  stop.child.kill('SIGSTOP')
  process.kill(pid, 'SIGCONT')
  await until(() => !isAlive(pid))
  assert.equal((await started(shell, store)).code, 0)
  stop.child.kill('SIGCONT')
  assert.equal(await stop.ended, 0, stop.stderr)
  assert.equal((await shell.run(['daemon', 'stop', '--data', store])).code, 0)
})

test('a start that is interrupted leaves no daemon and no ready file', async t => {
  const shell = newShell(t)
  const folder = join(shell.home, 'scratch')
  mkdirSync(folder)
  const env = { TMPDIR: folder, NODE_OPTIONS: '' }
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    const start = new Watched(t, shell.spawn(['daemon', 'start', '--memory', '--port', '0'], { env }))
    await until(() => readdirSync(folder).some(name => name.startsWith('natter-')))
    start.child.kill(signal)
    assert.equal(await start.ended, code, start.stderr)
    assert.deepEqual(
      readdirSync(folder).filter(name => name.startsWith('natter-')),
      [],
    )
    assert.equal((await shell.run(['daemon', 'status'])).code, 3)
  }
})

function saveLocal(home: string, site: string): void {
  const profiles = { local: { site, email: 'owner@example.com', api_key: 'x' } }
  writeFileSync(join(home, '.config/natter/profiles.json'), JSON.stringify({ profiles }), { mode: 0o600 })
}
