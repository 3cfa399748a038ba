// The life of the daemon: founding, the ready file, keys, and every way a start can fail with a sentence.

import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  watch,
  writeFileSync,
} from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { savedSnippets } from '../../daemon/api/messages/saved-snippets.ts'
import { server } from '../../daemon/api/organization/server.ts'
import { users } from '../../daemon/api/people/users.ts'
import type { Ready } from '../../daemon/local/ready-file.ts'
import { readConfig, UsageError } from '../../daemon/start/config.ts'
import { prepareReadyFile } from '../../daemon/start/ready.ts'
import { host, launch, readReady, type TestDaemon } from '../support/daemon.ts'
import { assertPlain, givesUp, refusal } from '../support/gives-up.ts'
import { send } from '../support/http.ts'
import { root } from '../support/sources.ts'

const scratch = mkdtempSync(join(tmpdir(), 'natter-life-'))
const running = new Set<TestDaemon>()
after(() => {
  for (const daemon of running) daemon.process.kill('SIGKILL')
  rmSync(scratch, { recursive: true, force: true })
})

const newFolder = () => mkdtempSync(join(scratch, 'store-'))

async function started(data: string, ...flags: string[]): Promise<TestDaemon> {
  const daemon = await launch(data, { flags })
  running.add(daemon)
  return daemon
}

/** In the process that daemons share: for what is in the store, and not about the process. */
function hosted(data: string, ...flags: string[]): Promise<TestDaemon> {
  return host(data, { flags })
}

const mode = (path: string) => (statSync(path).mode & 0o777).toString(8)

describe('natterd, first start', () => {
  test('an empty folder becomes an organization with an owner, and keeps them and their keys', async () => {
    const data = join(newFolder(), 'new', 'store')
    let daemon = await started(data, '--owner', 'Pat@Example.com', '--org', 'Plants')
    assert.equal(daemon.ready.owner.email, 'Pat@Example.com')
    assert.equal((await daemon.anonymous.call(server.settings, {})).realm_name, 'Plants')
    const { key } = daemon.owner
    await daemon.owner.call(savedSnippets.create, { title: 'kept', content: 'x' })
    await daemon.stop()
    daemon = await started(data, '--owner', 'other@example.com', '--org', 'Other')
    assert.deepEqual([daemon.owner.email, daemon.owner.key], ['Pat@Example.com', key])
    assert.equal((await daemon.anonymous.call(server.settings, {})).realm_name, 'Plants')
    assert.equal((await daemon.owner.call(savedSnippets.list, {})).saved_snippets.length, 1)
    await daemon.stop()
  })

  test('the store is for its owner alone', async () => {
    const data = join(newFolder(), 'store')
    const daemon = await hosted(data)
    await daemon.compact()
    assert.equal(mode(data), '700')
    for (const name of readdirSync(data)) assert.equal(mode(join(data, name)), '600', name)
    await daemon.stop()
  })

  test('two stores have different keys; with --secret they are known beforehand, and the secret is not stored', async () => {
    const keys: string[] = []
    for (const flags of [[], [], ['--secret', 'known beforehand'], ['--secret', 'known beforehand']]) {
      const data = newFolder()
      const daemon = await hosted(data, ...flags)
      keys.push(daemon.owner.key!)
      await daemon.stop()
      for (const name of readdirSync(data))
        assert.ok(!readFileSync(join(data, name), 'utf8').includes('known beforehand'), name)
    }
    assert.equal(new Set(keys).size, 3)
    assert.equal(keys[2], keys[3])
    assert.ok(keys.every(key => /^[A-Za-z0-9]{32}$/.test(key)))
  })

  test('a store without its secret can be shared: with --new-secret it starts, with other keys', async () => {
    const data = newFolder()
    const daemon = await hosted(data)
    await daemon.stop()
    const shared = newFolder()
    cpSync(data, shared, { recursive: true, filter: source => !source.endsWith('/secret') })
    const other = await hosted(shared, '--new-secret')
    assert.equal(other.owner.email, daemon.owner.email)
    assert.notEqual(other.owner.key, daemon.owner.key)
    await other.stop()
  })

  test('--memory touches no disk', async () => {
    const data = join(newFolder(), 'never')
    const daemon = await launch(data, { flags: ['--memory'], env: { XDG_DATA_HOME: data, NATTER_DATA: data } })
    await daemon.owner.call(savedSnippets.create, { title: 'x', content: 'x' })
    assert.ok(!existsSync(data))
    await daemon.stop()
  })

  test('--memory with --data is refused, since the folder would stay empty', () => {
    assert.throws(() => readConfig(['--memory', '--data', 'store'], {}), /--memory and --data exclude each other/)
  })

  test('a --data flag wins over NATTER_MEMORY', async () => {
    const folder = join(newFolder(), 'store')
    const daemon = await host(folder, { env: { NATTER_MEMORY: '1' } })
    await daemon.stop()
    assert.ok(existsSync(join(folder, 'journal.ndjson')))
  })
})

describe('the ready file', () => {
  test('appears whole, for its owner alone, when the daemon answers, and says what --json says', async () => {
    const folder = newFolder()
    const file = join(folder, 'deep', 'ready.json')
    mkdirSync(join(folder, 'deep'))
    const seen: Promise<void>[] = []
    const check = async () => {
      // Whatever is there under that name, at any moment, is whole, and its daemon answers.
      const ready = readReady(file)
      assert.equal((await send(`${ready.url}/readyz`)).status, 200)
      const auth = `${ready.owner.email}:${ready.owner.api_key}`
      assert.equal((await send(`${ready.url}/api/v1/users/me`, { auth })).body.user_id, ready.owner.user_id)
    }
    const watcher = watch(join(folder, 'deep'), () => {
      if (existsSync(file)) seen.push(check())
    })
    const daemon = await started(join(folder, 'store'), '--ready-file', file)
    await check()
    watcher.close()
    await Promise.all(seen)
    assert.equal(mode(file), '600')
    const ready = JSON.parse(readFileSync(file, 'utf8')) as Ready
    assert.deepEqual(ready, daemon.ready)
    assert.deepEqual(Object.keys(ready), ['url', 'pid', 'owner', 'inspector', 'level'])
    assert.deepEqual(Object.keys(ready.owner), ['user_id', 'email', 'api_key'])
    assert.equal(ready.pid, daemon.process.pid)
    assert.match(ready.url, /^http:\/\/127\.0\.0\.1:\d+$/)
    assert.deepEqual(readdirSync(join(folder, 'deep')), ['ready.json'])
    await daemon.stop()
  })

  test('one that belongs to a living daemon is left alone by a start that fails; after its end, it does not outlive one', async () => {
    const folder = newFolder()
    const file = join(folder, 'ready.json')
    const daemon = await started(join(folder, 'store'), '--ready-file', file)
    givesUp(['--data', join(folder, 'store'), '--ready-file', file], 1, /in use/)
    assert.deepEqual(readReady(file), daemon.ready)
    await daemon.kill()
    assert.ok(existsSync(file))
    // This start fails, after it has looked at the file: the old file must not be taken for its answer.
    writeFileSync(join(folder, 'store', 'journal.ndjson'), 'nonsense\nmore\n')
    givesUp(['--data', join(folder, 'store'), '--ready-file', file], 1, /journal\.ndjson/)
    assert.ok(!existsSync(file))
  })

  test('a file that no daemon wrote is refused and stays as it is; an empty one is replaced', async () => {
    const folder = newFolder()
    const [file, empty] = [join(folder, 'notes.json'), join(folder, 'empty')]
    for (const content of [
      'my notes',
      '{"pid":1}',
      '{"url":"x","owner":{"email":"y","api_key":"z"}}',
      'x'.repeat(2e6),
    ]) {
      writeFileSync(file, content)
      await assert.rejects(prepareReadyFile(file), /is no ready file/)
      assert.equal(readFileSync(file, 'utf8'), content)
    }
    givesUp(['--memory', '--ready-file', file], 1, /is no ready file/)
    assert.deepEqual(readdirSync(folder), ['notes.json'])
    writeFileSync(empty, '')
    await prepareReadyFile(empty)
    assert.ok(!existsSync(empty))
  })

  test('one that cannot be written is refused before anything starts', async () => {
    const folder = newFolder()
    const plain = join(folder, 'file')
    writeFileSync(plain, '')
    mkdirSync(join(folder, 'folder'))
    const pipe = join(folder, 'pipe')
    execFileSync('mkfifo', [pipe])
    for (const file of [join(plain, 'ready.json'), join(folder, 'folder'), '/proc/ready.json', '/dev/full/x'])
      await assert.rejects(prepareReadyFile(file), /ready file/)
    givesUp(['--data', join(folder, 'store'), '--ready-file', pipe], 1, /ready file/)
    assert.ok(!existsSync(join(folder, 'store')), 'something started')
  })
})

describe('the profile', () => {
  const profiled = async (data: string, folder: string) => {
    const args = [join(root, 'bin/natterd'), '--data', data, '--port', '0', '--json']
    const env = { ...process.env, NATTER_CONFIG_DIR: folder }
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], env })
    let stderr = ''
    child.stderr.setEncoding('utf8').on('data', text => {
      stderr += text
    })
    const [line] = await once(child.stdout.setEncoding('utf8'), 'data')
    const ready = JSON.parse(line) as Ready
    assert.equal((await send(`${ready.url}/readyz`)).status, 200)
    child.kill()
    await once(child, 'close')
    return { ready, stderr }
  }

  test('of the new daemon is written for the command line, beside those that were there', async () => {
    const folder = join(newFolder(), 'config')
    const file = join(folder, 'profiles.json')
    const store = newFolder()
    const { ready } = await profiled(store, folder)
    const local = { site: ready.url, email: ready.owner.email, api_key: ready.owner.api_key, store }
    assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), { current: 'local', profiles: { local } })
    assert.equal(mode(file), '600')
    const mine = { site: 'https://example.com', email: 'me@example.com', api_key: 'x' }
    writeFileSync(file, JSON.stringify({ current: 'work', profiles: { work: mine } }))
    const { ready: next } = await profiled(newFolder(), folder)
    const { current, profiles } = JSON.parse(readFileSync(file, 'utf8'))
    assert.deepEqual([current, profiles.work, profiles.local.site], ['work', mine, next.url])
  })

  test('that cannot be read or written is a warning, and harms neither the file nor the daemon', async () => {
    const folder = newFolder()
    const file = join(folder, 'profiles.json')
    writeFileSync(file, '{ broken')
    const { stderr } = await profiled(newFolder(), folder)
    assert.match(stderr, /profile .*profiles\.json/)
    assertPlain(stderr)
    assert.equal(readFileSync(file, 'utf8'), '{ broken')
    const { stderr: other } = await profiled(newFolder(), join(file, 'x'))
    assert.match(other, /profile/)
    assertPlain(other)
  })
})

describe('natterd refuses to start', () => {
  test('on a folder that another daemon holds, also under another name, and says who', async () => {
    const data = newFolder()
    const daemon = await started(data)
    const link = join(newFolder(), 'link')
    symlinkSync(data, link)
    for (const path of [data, link]) {
      const said = await refusal(path)
      assert.match(said, /in use by another natterd/)
      assert.ok(said.includes(String(daemon.process.pid)) && said.includes(daemon.url), said)
    }
    await daemon.owner.call(users.me, {})
    await daemon.kill()
    const next = await hosted(data)
    await next.stop()
  })

  test('on what is no folder', async () => {
    const file = join(newFolder(), 'file')
    writeFileSync(file, 'mine')
    givesUp(['--data', file], 1, /not a folder/)
    assert.match(await refusal(join(file, 'store')), /not a folder/)
    assert.equal(readFileSync(file, 'utf8'), 'mine')
  })

  test('on a damaged journal, and names the line', async () => {
    const data = newFolder()
    const daemon = await hosted(data)
    for (const title of ['1', '2', '3']) await daemon.owner.call(savedSnippets.create, { title, content: 'x' })
    await daemon.end()
    const file = join(data, 'journal.ndjson')
    const whole = readFileSync(file, 'utf8')
    const line = whole.split('\n').findIndex(text => text.includes('"title":"2"')) + 1
    assert.ok(line > 1)
    writeFileSync(file, whole.replace('"title":"2"', '"title":"9"'))
    const said = await refusal(data)
    assert.match(said, /journal\.ndjson/)
    assert.match(said, new RegExp(`line ${line}\\b`))
    writeFileSync(file, whole)
    const mended = await hosted(data)
    assert.equal((await mended.owner.call(savedSnippets.list, {})).saved_snippets.length, 3)
    await mended.stop()
  })

  test('on a damaged snapshot', async () => {
    const data = newFolder()
    const daemon = await hosted(data)
    await daemon.stop()
    const file = join(data, 'state.json')
    writeFileSync(file, readFileSync(file, 'utf8').slice(0, -40))
    assert.match(await refusal(data), /state\.json/)
  })

  test('on a port in use, and releases the store', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const data = newFolder()
    givesUp(['--data', data, '--port', String(port)], 1, new RegExp(`port ${port} .*in use`))
    other.close()
    const daemon = await hosted(data)
    await daemon.stop()
  })

  test('on an address that is not of this machine', async () => {
    givesUp(['--memory', '--host', '192.0.2.1'], 1, /192\.0\.2\.1/)
    assert.match(await refusal(newFolder(), ['--memory', '--host', 'no-such-host.invalid']), /no-such-host\.invalid/)
  })

  test('on an owner with the address of a system bot, or one that the API has for itself', async () => {
    givesUp(['--memory', '--owner', 'notification-bot@example.com'], 1, /^natterd: --owner: .* is already in use/)
    for (const [email, words] of [
      ['Welcome-Bot@Example.com', /--owner: "Welcome-Bot@Example\.com" is already in use/],
      ['user2@example.com', /--owner: "user2@example\.com" is reserved for the API/],
    ] as const)
      assert.match(await refusal(newFolder(), ['--owner', email]), words)
  })

  test('on flags it does not know or cannot read: exit 2, and where to look', () => {
    givesUp(['--nonsense'], 2, /--help/)
    // The program ends like this for every usage error: the other flags need no process.
    for (const flags of [
      ['extra'],
      ['--port', '70000'],
      ['--port', 'x'],
      ['--port', '-1'],
      ['--durability', 'maybe'],
      ['--log-level', 'loud'],
      ['--clock', 'frozen@yesterday'],
      ['--owner', 'nobody'],
      ['--max-queues', '1.5'],
      ['--heartbeat', 'x'],
      ['--data'],
      ['--memory=yes'],
    ])
      assert.throws(() => readConfig(flags, {}), UsageError, flags.join(' '))
    givesUp([], 2, /NATTER_LOG_LEVEL takes/, { NATTER_LOG_LEVEL: 'loud' })
  })
})

describe('natterd --help and --version', () => {
  test('need nothing', () => {
    for (const [flag, words] of [
      ['--help', /Usage: natterd/],
      ['-h', /--ready-file FILE/],
      ['--version', /^natterd \d+\.\d+\.\d+\n$/],
    ] as const) {
      const run = spawnSync(process.execPath, [join(root, 'bin/natterd'), flag], { encoding: 'utf8' })
      assert.equal(run.status, 0)
      assert.match(run.stdout, words)
      assert.equal(run.stderr, '')
    }
  })
})
