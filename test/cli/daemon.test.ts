// `natter daemon`: a daemon in the background, from start to stop.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { daemonFlagList } from '../../daemon/local/flags.ts'
import { isAlive } from '../../daemon/local/processes.ts'
import type { Ready } from '../../daemon/local/ready-file.ts'
import { endAt, started } from '../support/background.ts'
import { fakeServer, newShell, type Shell, Watched } from '../support/cli.ts'
import { endProcess } from '../support/end-process.ts'
import { send } from '../support/http.ts'
import { terminals } from '../support/terminal.ts'
import { until } from '../support/until.ts'

const openTerminal = await terminals()

test('a daemon is started, used, restarted and stopped with no other set-up', async t => {
  const shell = newShell(t)
  const store = join(shell.home, '.local/share/natter/store')
  t.after(() => endAt(store))

  const none = await shell.run(['daemon', 'status'])
  assert.equal(none.code, 3)
  assert.match(none.stdout, /^not running\n/)

  const started = await shell.natter(['daemon', 'start', '--port', '0', '--json'])
  assert.equal(started.code, 0, started.stderr)
  const { url, owner } = JSON.parse(started.stdout)

  const profiles = join(shell.home, '.config/natter/profiles.json')
  assert.equal(statSync(profiles).mode & 0o777, 0o600)
  assert.equal(JSON.parse(readFileSync(profiles, 'utf8')).profiles.local.site, url)
  assert.equal(statSync(join(store, 'daemon.log')).mode & 0o777, 0o600)
  assert.equal((await shell.run(['snippets', 'create', 'Kept', 'over a restart'])).code, 0)

  const again = await shell.run(['daemon', 'start'])
  assert.equal(again.code, 1)
  assert.ok(again.stderr.includes(url))

  const restarted = await shell.natter(['daemon', 'restart', '--json'])
  assert.equal(restarted.code, 0, restarted.stderr)
  assert.equal(JSON.parse(restarted.stdout).url, url)
  assert.match((await shell.run(['snippets', 'list'])).stdout, /over a restart/)

  // It waits two seconds for the daemon to say so.
  const status = await until(async () => {
    const said = JSON.parse((await shell.run(['daemon', 'status', '--json'])).stdout)
    return said.ready && said
  })
  assert.deepEqual([status.running, status.ready, status.url], [true, true, url])
  assert.ok(!readFileSync(join(store, 'daemon.log'), 'utf8').includes(owner.api_key))

  // A daemon in the foreground leaves the profile to the one that runs, and gets another.
  const foreground = new Watched(t, shell.spawn(['daemon', 'run', '--port', '0', '--data', join(shell.home, 'third')]))
  await foreground.said(/natter --profile local-\d+ tail/)
  assert.equal(JSON.parse(readFileSync(profiles, 'utf8')).profiles.local.site, url)
  foreground.child.kill('SIGTERM')
  await foreground.ended

  // A second daemon takes over the profile, says so, and gives it back when it is stopped.
  const other = ['--data', join(shell.home, 'other')]
  const second = await shell.run(['daemon', 'start', '--memory', '--port', '0', ...other])
  assert.equal(second.code, 0, second.stderr)
  assert.ok(second.stderr.includes(`was for the daemon at ${url}, which still runs`), second.stderr)
  const first = ['--profile', `local-${new URL(url).port}`]
  assert.equal((await shell.run(['whoami', '--fields', 'site', ...first])).stdout, `${url}\n`)
  const emptied = await shell.run(['daemon', 'restart', ...other, '--log-level', 'info'])
  assert.match(emptied.stderr, /in memory is gone, and its accounts have new keys; --secret TEXT/)
  const running = JSON.parse(readFileSync(join(shell.home, 'other', 'daemon.json'), 'utf8'))
  assert.ok(
    ['--memory', '--log-level'].every(flag => running.args.includes(flag)),
    running.args.join(' '),
  )
  const saved = JSON.parse(readFileSync(profiles, 'utf8'))
  const cluster = { ...saved.profiles.local, site: 'http://127.0.0.1:1,http://127.0.0.1:2' }
  writeFileSync(profiles, JSON.stringify({ ...saved, profiles: { cluster, ...saved.profiles } }), { mode: 0o600 })
  const stopped = await shell.run(['daemon', 'stop', ...other])
  assert.equal(stopped.code, 0, stopped.stderr)
  assert.ok(stopped.stderr.includes(`the profile local is for the daemon at ${url} again`), stopped.stderr)
  assert.equal((await shell.run(['whoami', '--fields', 'site'])).stdout, `${url}\n`)

  assert.equal((await shell.natter(['daemon', 'stop'])).code, 0)
  assert.ok(!existsSync(join(store, 'daemon.json')))
  assert.equal((await shell.run(['daemon', 'stop'])).code, 3)
  assert.equal((await shell.run(['users', 'me'])).code, 6)
})

test('a daemon that is not ready in time is reported with the flag that gives it longer', async t => {
  const { code, stderr } = await newShell(t).run(['exec', '--timeout', '1ms', '--', 'true'])
  assert.equal(code, 8)
  assert.match(stderr, /was not ready within 0\.001 s\n[\s\S]*--timeout 2m/)
})

test('the help of daemon run, daemon start, daemon restart and exec explains every flag of natterd', async t => {
  const shell = newShell(t)
  for (const [words, own] of [
    [['daemon', 'run'], ['version']],
    [
      ['daemon', 'start'],
      ['json', 'version'],
    ],
    [
      ['daemon', 'restart'],
      ['json', 'version'],
    ],
    [['exec'], ['json', 'version', 'ready-file', 'no-profile']],
  ] as const) {
    const { stdout } = await shell.run([...words, '--help'])
    for (const [name] of daemonFlagList)
      if (!(own as readonly string[]).includes(name)) assert.match(stdout, new RegExp(`--${name}\\b`), words.join(' '))
  }
})

for (const [title, flags] of [
  ['of a daemon in memory', ['--memory']],
  ['of a daemon whose profile is not the current one', ['--data', 'second']],
] as const)
  test(`the banner ${title} shows commands that reach it`, {
    skip: typeof openTerminal === 'string' && openTerminal,
  }, async t => {
    assert.ok(typeof openTerminal !== 'string')
    const shell = newShell(t)
    mkdirSync(join(shell.home, '.config/natter'), { recursive: true })
    const other = { site: 'http://127.0.0.1:1', email: 'amy@example.com', api_key: 'x' }
    const profiles = join(shell.home, '.config/natter/profiles.json')
    writeFileSync(profiles, JSON.stringify({ current: 'other', profiles: { other } }))
    const screen = openTerminal(t, shell, ['daemon', 'run', '--port', '0', ...flags], { columns: 400 })
    await screen.shows(/curl -sS .*\n/)
    const [, steps] = /in another terminal:\n(.*?)\n\n/s.exec(screen.plain)!
    // All but the last, which follows events until it is stopped.
    const run = runSteps(shell, steps!.split('\n').slice(0, -1))
    screen.type('\x03')
    await screen.shows(/natter has stopped\n/)
    assert.equal(run.status, 0, run.stderr)
    assert.match(run.stdout, /^\d+$/m)
    await screen.ended
  })

describe('without a terminal, the banner', () => {
  const keyLine = /^ {2}API key {2}(.*)$/m
  const started = async (t: TestContext, ...flags: string[]) => {
    const shell = newShell(t)
    const daemon = new Watched(t, shell.spawn(['daemon', 'run', '--port', '0', ...flags]))
    await daemon.said(/Store .*\n/)
    return { shell, daemon, file: keyLine.exec(daemon.stderr)![1]! }
  }
  const holdsNoKey = (text: string, { owner, control_token = owner.api_key }: Ready) => {
    for (const key of [owner.api_key, control_token]) assert.ok(!text.includes(key), text)
  }

  for (const [title, flags] of [
    ['in the folder of a service', ['--no-profile', '--control', '--data', 'store']],
    ['given with --ready-file', ['--memory', '--ready-file', 'given.json']],
  ] as const)
    test(`names the ready file ${title}, and no key`, async t => {
      const { shell, daemon, file } = await started(t, ...flags)
      assert.equal(statSync(file).mode & 0o777, 0o600)
      holdsNoKey(daemon.stderr, JSON.parse(readFileSync(file, 'utf8')))
      const run = runSteps(shell, [/^ *natter .*'Hello!'$/m.exec(daemon.stderr)![0]])
      assert.equal(run.status, 0, run.stderr)
      daemon.child.kill('SIGTERM')
      assert.equal(await daemon.ended, 0)
      // The daemon's own file goes with it.
      assert.equal(existsSync(file), flags[0] === '--memory')
    })

  test('names the file of the profiles where it wrote a profile', async t => {
    const { shell, daemon, file } = await started(t, '--data', 'store')
    assert.equal(file, join(shell.home, '.config/natter/profiles.json'))
    const { api_key } = JSON.parse(readFileSync(file, 'utf8')).profiles.local
    assert.ok(!daemon.stderr.includes(api_key), daemon.stderr)
    assert.ok(!existsSync(join(shell.home, 'store/ready.json')))
  })

  test('says how to get the key where no file has it', async t => {
    const { file, daemon } = await started(t, '--memory')
    assert.match(file, /--ready-file/)
    assert.doesNotMatch(daemon.stderr, /token=|[A-Za-z0-9]{32}/)
  })
})

/** Runs lines of a banner as a person would who copies them. */
function runSteps({ home }: Shell, steps: readonly string[]) {
  const natter = join(import.meta.dirname, '../../bin/natter')
  const env = { ...process.env, HOME: home, NATTER_CONFIG_DIR: join(home, '.config/natter') }
  const script = steps.join('\n').replaceAll(/^ *natter /gm, `"${natter}" `)
  return spawnSync('sh', ['-c', script], { env, encoding: 'utf8' })
}

test('a daemon without a store can be found and stopped as well', async t => {
  const shell = newShell(t)
  const store = join(shell.home, 'elsewhere')
  t.after(() => endAt(store))
  const started = await shell.run(['daemon', 'start', '--memory', '--port', '0', '--data', store, '--no-profile'])
  assert.equal(started.code, 0, started.stderr)
  assert.match(started.stdout, /^store +memory only$/m)
  assert.match((await shell.run(['daemon', 'status', '--data', store])).stdout, /^store +memory only$/m)
  const again = await shell.run(['daemon', 'start', '--memory', '--port', '0', '--data', store])
  assert.match(again.stderr, /stop it with `natter daemon stop --data /)
  const { url } = JSON.parse((await shell.run(['daemon', 'status', '--data', store, '--json'])).stdout)
  for (const verb of ['stop', 'status']) {
    const asked = await shell.run(['daemon', verb], { env: { NATTER_SITE: url } })
    assert.equal(asked.code, 3)
    assert.match(asked.stderr, /another (folder|store): name (it|its folder) with --data\./)
    assert.match(asked.stderr, /One of `natter daemon run --memory` has no folder: stop it with Ctrl-C, or with kill /)
  }
  assert.equal((await shell.run(['daemon', 'stop', '--data', store])).code, 0)
})

test('daemons in memory run beside that of the default store, and are stopped first', async t => {
  const shell = newShell(t)
  const folders = ['store', 'memory', 'memory-2'].map(name => join(shell.home, '.local/share/natter', name))
  t.after(() => folders.forEach(endAt))
  const inMemory = ['daemon', 'start', '--memory', '--port', '0', '--json']
  const urls: string[] = []
  for (const words of [['daemon', 'start', '--port', '0', '--json'], inMemory, inMemory]) {
    const started = await shell.run(words)
    assert.equal(started.code, 0, started.stderr)
    urls.push(JSON.parse(started.stdout).url)
  }
  assert.match((await shell.run(['daemon', 'start'])).stderr, /`natter daemon stop --data \S+\/natter\/store`/)
  const again = await shell.run(['daemon', 'start', '--memory'])
  assert.match(
    again.stderr,
    /`natter daemon stop --data \S+\/natter\/memory`, or start another one beside it with --port 0/,
  )
  for (const url of urls.toReversed()) {
    assert.ok((await shell.run(['daemon', 'status'])).stdout.includes(url))
    assert.ok((await shell.run(['daemon', 'stop'])).stderr.includes(url))
  }
  assert.equal((await shell.run(['daemon', 'stop'])).code, 3)
  // The profiles of daemons beside it end with them.
  assert.equal((await shell.run(['profile', 'list', '--jq', '.[].name'])).stdout, 'local\n')
  // The log of the daemon that stopped last.
  assert.equal((await shell.run(['daemon', 'logs'])).code, 0)
})

test('daemons in memory that start at the same time have folders of their own', async t => {
  const shell = newShell(t)
  const folders = ['memory', 'memory-2', 'memory-3'].map(name => join(shell.home, '.local/share/natter', name))
  const starts = folders.map(() => shell.natter(['daemon', 'start', '--memory', '--port', '0', '--json']))
  const ended = await Promise.all(starts)
  for (const { code, stderr } of ended) assert.equal(code, 0, stderr)
  const started = ended.map(({ stdout }) => JSON.parse(stdout).pid)
  t.after(() => started.forEach(pid => void process.kill(pid)))
  const running = folders.map(folder => JSON.parse(readFileSync(join(folder, 'daemon.json'), 'utf8')).pid)
  assert.deepEqual(running.sort(), started.sort())
  for (const folder of folders) assert.ok(!existsSync(join(folder, 'starting')))
})

test('a daemon that has stopped is named with its store', async t => {
  const shell = newShell(t)
  const store = join(shell.home, 'my store')
  t.after(() => endAt(store))
  assert.equal((await shell.run(['daemon', 'start', '--port', '0', '--data', store])).code, 0)
  assert.equal((await shell.run(['daemon', 'stop', '--data', store])).code, 0)
  const start = `\`natter daemon start --data '${store}'\``
  for (const words of [['whoami'], ['doctor'], ['daemon', 'stop', '--data', store]]) {
    const { stdout, stderr } = await shell.run(words)
    // The machine may have a daemon at the usual port, and doctor names that one.
    const isOther = words[0] === 'doctor' && stdout.includes('A daemon answers at http://127.0.0.1:9991.')
    assert.ok(isOther || (stdout + stderr).includes(start), stdout + stderr)
  }
})

test('a daemon that cannot start says why, and a wrong flag is wrong usage', async t => {
  const shell = newShell(t)
  const wrong = await shell.run(['daemon', 'start', '--prot', '0'])
  assert.equal(wrong.code, 2)
  assert.match(wrong.stderr, /did not start: exit code 2\n.*--prot/)
  writeFileSync(join(shell.home, 'file'), '')
  const blocked = await shell.run(['daemon', 'start', '--data', join(shell.home, 'file/store')])
  assert.equal(blocked.code, 1)
  assert.match(blocked.stderr, /cannot create the folder/)
  if (!existsSync('/proc')) return
  const odd = await shell.run(['daemon', 'start', '--data', '/proc/no-such-folder'])
  assert.equal(odd.code, 1)
  assert.match(odd.stderr, /cannot create the folder \/proc\/no-such-folder: \w+\n {2}Give a folder/)
  const mine = join(shell.home, 'mine')
  writeFileSync(mine, 'mine')
  const foreign = await shell.run(['daemon', 'start', '--memory', '--port', '0', '--ready-file', mine])
  assert.match(foreign.stderr, /mine exists and is no ready file/)
  assert.equal(readFileSync(mine, 'utf8'), 'mine')
})

test('a claim on the folder that a crash cut off is no claim', async t => {
  const shell = newShell(t)
  const folder = join(shell.home, '.local/share/natter/memory')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'starting'), '')
  const { code, stderr } = await shell.run(['daemon', 'start', '--memory', '--port', '0'])
  assert.equal(code, 0, stderr)
  assert.deepEqual(readdirSync(folder).sort(), ['daemon.json', 'daemon.log'])
  assert.equal((await shell.run(['daemon', 'stop'])).code, 0)
})

test('a daemon that was killed is not running, even if another process has its ID', async t => {
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
  assert.equal((await shell.run(['daemon', 'status', '--data', store])).code, 3)
  assert.equal((await shell.run(['daemon', 'stop', '--data', store])).code, 3)
  assert.equal((await started(shell, store)).code, 0)
  assert.equal((await shell.run(['daemon', 'stop', '--data', store])).code, 0)
})

test('no process but a daemon is stopped or reloaded, and no flags but its own are taken, whatever daemon.json says', async t => {
  const shell = newShell(t)
  const [store, mine] = [join(shell.home, 'theirs'), join(shell.home, 'mine.txt')]
  mkdirSync(store)
  writeFileSync(mine, 'mine')
  const url = await fakeServer(t, (_request, response) => response.end('{}'))
  const other = spawn('sleep', ['600'])
  const log = join(shell.home, 'natterd')
  writeFileSync(log, '')
  const reader = spawn('tail', ['-f', log])
  t.after(() => Promise.all([other, reader].map(child => endProcess(child))))
  const real = join(shell.home, 'real')
  t.after(() => endAt(real))
  assert.equal((await started(shell, real)).code, 0)
  const { pid } = JSON.parse(readFileSync(join(real, 'daemon.json'), 'utf8'))
  const foreign = ['--memory', '--port', '0', '--ready-file', mine]
  for (const claimed of [
    { pid: other.pid, url, args: foreign },
    { pid: other.pid, url, args: ['600'] },
    { pid: other.pid, url },
    // Other systems print flags in other ways, and do not name the program.
    ...(process.platform === 'linux'
      ? [
          { pid, url, args: foreign },
          { pid: reader.pid, url },
        ]
      : []),
  ])
    for (const verb of ['status', 'stop', 'reload', 'restart']) {
      writeFileSync(join(store, 'daemon.json'), JSON.stringify(claimed))
      assert.equal((await shell.run(['daemon', verb, '--data', store])).code, 3, verb)
    }
  assert.ok([other.pid!, reader.pid!, pid].every(isAlive))
  assert.equal((await shell.run(['daemon', 'stop', '--data', real])).code, 0)
  assert.equal(readFileSync(mine, 'utf8'), 'mine')
})

test('a daemon in a terminal reloads, and stops when the terminal is closed', {
  skip: typeof openTerminal === 'string' && openTerminal,
}, async t => {
  if (typeof openTerminal === 'string') return
  const shell = newShell(t)
  const store = join(shell.home, 'store')
  t.after(() => endAt(store))
  const screen = openTerminal(t, shell, ['daemon', 'run', '--port', '0', '--data', store])
  await screen.shows(/natter is ready/)
  const { pid } = JSON.parse(readFileSync(join(store, 'daemon.json'), 'utf8'))
  const reloaded = await shell.run(['daemon', 'reload', '--data', store, '--log-level', 'info'])
  assert.equal(reloaded.code, 0, reloaded.stderr)
  await screen.shows(/reloaded; the log level is info|natter has stopped/)
  assert.equal((await shell.run(['daemon', 'status', '--data', store])).code, 0)
  screen.close()
  await until(() => !isAlive(pid))
  // It has not been killed.
  assert.ok(!existsSync(join(store, 'daemon.json')))
})

test('daemon stop and daemon restart say that the snapshot of --snapshot-on-exit was not written', async t => {
  const shell = newShell(t)
  t.after(() => endAt(join(shell.home, '.local/share/natter/store')))
  const kept = join(shell.home, 'kept')
  assert.equal((await shell.run(['daemon', 'start', '--port', '0', '--snapshot-on-exit', 'kept/world.json'])).code, 0)
  rmSync(kept, { recursive: true })
  const restarted = await shell.run(['daemon', 'restart'])
  assert.equal(restarted.code, 0, restarted.stderr)
  assert.match(restarted.stderr, /the snapshot .*world\.json could not be written: /)
  rmSync(kept, { recursive: true })
  const stopped = await shell.run(['daemon', 'stop'])
  assert.equal(stopped.code, 1, stopped.stderr)
  assert.match(
    stopped.stderr,
    /the daemon at http.* has stopped, but the snapshot .*world\.json could not be written: /,
  )
  assert.equal((await shell.run(['daemon', 'status'])).code, 3)
})
