// The content of the log, and what it must never hold.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { events } from '../../daemon/api/events.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { savedSnippets } from '../../daemon/api/messages/saved-snippets.ts'
import { users } from '../../daemon/api/people/users.ts'
import { ServerLog } from '../../daemon/http/log.ts'
import { newShell } from '../support/cli.ts'
import { Control } from '../support/control.ts'
import { Caller, startDaemon } from '../support/daemon.ts'
import { sendBytes } from '../support/http.ts'
import { quickFolder } from '../support/quick-folder.ts'
import { asService, canBeService, serviceUser } from '../support/service-user.ts'
import { until } from '../support/until.ts'
import { person } from '../support/world.ts'

describe('logs', () => {
  test('at the most talkative level they name every request, and never a key, a password or a parameter', async t => {
    const daemon = await startDaemon(t, {
      alone: true,
      flags: ['--memory', '--log-level', 'trace', '--secret', 'hush-hush-secret'],
    })
    const { owner } = daemon
    const amy = await person(daemon, 'amy')
    await daemon.anonymous.try(users.fetchApiKey, { username: 'amy@example.com', password: 'wrong-password-tried' })
    await owner.call(savedSnippets.create, { title: 'private-title', content: 'private-content' })
    await owner.raw('GET', '/api/v1/users/me?api_key=key-in-the-query&password=password-in-the-query')
    await owner.raw('POST', '/api/v1/typing', {
      body: '{"password":"in-json"',
      headers: { 'Content-Type': 'application/json' },
    })
    await owner.raw('GET', '/nothing?password=in-a-lost-query')
    await sendBytes(
      daemon.url,
      'GET /api/v1/users/me HTTP/1.1\r\nAuthorization: Basic in-a-broken-request\r\nBad Name: x\r\n\r\n',
    )
    await new Caller(daemon.url, 'owner@example.com', 'almost-a-key').try(users.me, {})
    await until(() => /users\/me"[^\n]*"status":401/.test(daemon.stderr))
    const basic = (caller: Caller) => Buffer.from(`${caller.email}:${caller.key}`).toString('base64')
    for (const secret of [
      owner.key!,
      amy.key!,
      basic(owner),
      basic(amy),
      'amy has a long password',
      'wrong-password-tried',
      'hush-hush-secret',
      'private-',
      'in-the-query',
      'in-json',
      'almost-a-key',
      'in-a-lost-query',
      'in-a-broken-request',
      'rawPacket',
    ])
      assert.ok(!daemon.stderr.includes(secret), `the log holds ${secret}`)
    const lines = daemon.stderr
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
    assert.ok(lines.some(({ method, path, status }) => method === 'POST' && path === '/api/v1/users' && status === 200))
    assert.ok(lines.some(({ path, status }) => path === '/api/v1/typing' && status === 400))
  })

  test('the libraries of the daemon write nothing by themselves, whatever they are given', async t => {
    const daemon = await startDaemon(t, { alone: true, flags: ['--memory', '--control'] })
    let stdout = ''
    daemon.process.stdout!.on('data', text => {
      stdout += text
    })
    const odd = String.raw`$$\text{${'\u200d'.repeat(900)}}$$ $$\message{private}$$ $$\errmessage{private}$$ $$\show\alpha$$`
    assert.match((await daemon.owner.call(messages.render, { content: odd })).rendered, /class="katex"/)
    const seed = 'users:\n  ? [private]\n  : amy\n'
    assert.equal((await new Control(daemon).try('POST', '/spaces', { name: 'other', seed })).status, 400)
    daemon.process.kill('SIGTERM')
    await daemon.closed
    assert.deepEqual([daemon.stderr, stdout], ['', ''])
  })

  test('at level info there is one line for each call: request ID, account, operation, status and duration', async t => {
    const daemon = await startDaemon(t, { alone: true, flags: ['--memory', '--log-level', 'info'] })
    const { owner } = daemon
    const { queue_id } = await owner.call(events.register, { event_types: ['heartbeat'] })
    const answered = await owner.raw('GET', '/api/v1/users/me')
    const gone = new AbortController()
    const auth = { Authorization: `Basic ${btoa(owner.auth!)}` }
    const polling = fetch(`${daemon.url}/api/v1/events?queue_id=${queue_id}&last_event_id=-1`, {
      headers: auth,
      signal: gone.signal,
    }).catch(() => {})
    await daemon.anonymous.raw('GET', '/api/v1/nowhere')
    const logged = () =>
      daemon.stderr
        .split('\n')
        .filter(line => line !== '')
        .map(line => JSON.parse(line))
        .filter(({ msg }) => msg === 'request')
    await until(() => logged().length === 3)
    await new Control(daemon).waiting(queue_id)
    gone.abort()
    await polling
    const lines = await until(() => logged().length === 4 && logged())
    assert.deepEqual(
      lines.map(({ operation, account, status }) => [operation, account, status]),
      [
        ['register-queue', owner.id, 200],
        ['get-own-user', owner.id, 200],
        [undefined, undefined, 404],
        // The client went away before there was an event.
        ['get-events', owner.id, 499],
      ],
    )
    assert.equal(lines[1].reqId, answered.headers['x-request-id'])
    for (const { ms, level, time } of lines) assert.ok(ms > 0 && level === 30 && time > 0)
  })

  test('the level can be changed while the daemon runs', async t => {
    const daemon = await startDaemon(t, { alone: true })
    const shell = newShell(t)
    const reload = (...flags: string[]) => shell.run(['daemon', 'reload', '--data', daemon.data, ...flags])
    await daemon.owner.call(users.me, {})
    assert.equal((await reload('--log-level', 'info')).code, 0)
    await until(() => daemon.stderr.includes('reloaded; the log level is info'))
    await daemon.owner.call(users.me, {})
    await until(() => daemon.stderr.includes('"operation":"get-own-user"'))
    assert.equal((await reload()).code, 0)
    await until(() => daemon.stderr.includes('reloaded; the log level is warn'))
    await daemon.owner.call(users.me, {})
    assert.equal(daemon.stderr.split('"operation"').length, 2)
    const wrong = await reload('--log-level', 'loud')
    assert.equal(wrong.code, 2)
    assert.match(wrong.stderr, /--log-level takes trace, .*, not 'loud'/)
    assert.equal((await shell.run(['daemon', 'reload', '--data', shell.home])).code, 3)
  })

  test('the level stays when its file is of no use, and the next reload replaces the file', async t => {
    const daemon = await startDaemon(t, { alone: true })
    const shell = newShell(t)
    const file = join(daemon.data, 'log-level')
    const elsewhere = join(shell.home, 'elsewhere')
    const reload = (...flags: string[]) => shell.run(['daemon', 'reload', '--data', daemon.data, ...flags])
    const times = (text: string) => daemon.stderr.split(text).length - 1
    writeFileSync(elsewhere, 'debug')
    const useless: readonly [() => void, RegExp][] = [
      [() => writeFileSync(file, 'nonsense'), /log-level has no log level; write one of trace/],
      [() => writeFileSync(file, 'debug'.repeat(1_000_000)), /log-level has no log level/],
      [() => symlinkSync(elsewhere, file), /log-level cannot be read \(it is not a plain file\); remove it/],
      [() => symlinkSync('/dev/zero', file), /log-level cannot be read \(it is not a plain file\)/],
      [() => execFileSync('mkfifo', [file]), /log-level cannot be read \(it is not a plain file\)/],
    ]
    for (const [index, [make, said]] of useless.entries()) {
      assert.equal((await reload('--log-level', 'info')).code, 0)
      await until(() => times('reloaded; the log level is info') === 2 * index + 1)
      rmSync(file)
      make()
      const before = daemon.stderr.length
      daemon.process.kill('SIGHUP')
      await until(() => times('reloaded; the log level is info') === 2 * index + 2)
      assert.match(daemon.stderr.slice(before), said)
    }
    assert.equal((await reload('--log-level', 'error')).code, 0)
    await until(() => times('reloaded; the log level is error') === 1)
    assert.equal(readFileSync(elsewhere, 'utf8'), 'debug')
    rmSync(file)
    mkdirSync(file)
    daemon.process.kill('SIGHUP')
    await until(() => times('reloaded; the log level is error') === 2)
    await daemon.owner.call(users.me, {})
  })

  test('a level that root sets reaches the daemon of another user, and a file that it cannot read does not end it', {
    skip: !canBeService(),
  }, async t => {
    // Not in the folder for temporary files, which the user of a service may not enter.
    const data = mkdtempSync(join(quickFolder(), 'natter-service-'))
    t.after(() => rmSync(data, { recursive: true, force: true }))
    chownSync(data, serviceUser, serviceUser)
    const daemon = await startDaemon(t, { data, exec: asService, env: { NATTER_CONFIG_DIR: join(data, 'config') } })
    const shell = newShell(t)
    const file = join(data, 'log-level')
    assert.equal((await shell.run(['daemon', 'reload', '--data', data, '--log-level', 'info'])).code, 0)
    await until(() => daemon.stderr.includes('reloaded; the log level is info'))
    assert.deepEqual([statSync(file).uid, statSync(file).mode & 0o777], [serviceUser, 0o600])
    chownSync(file, 0, 0)
    daemon.process.kill('SIGHUP')
    await until(() => /log-level cannot be read \(EACCES\); remove it, and set the level again/.test(daemon.stderr))
    await until(() => daemon.stderr.split('reloaded; the log level is info').length === 3)
    await daemon.owner.call(users.me, {})
  })

  test('the line of a call has the form of any other line', () => {
    const lines: string[] = []
    const log = new ServerLog('info', { write: line => void lines.push(line) })
    const said = { account: 2, operation: 'get-own-user', method: 'GET', path: '/api/v1/users/"é\n', status: 200 }
    log.call({ requestId: 'req-1', ...said, milliseconds: 1.23456, waited: false })
    log.info({ reqId: 'req-1', ...said, ms: 1.235 }, 'request')
    log.call({ requestId: 'req-2', ...said, account: undefined, operation: undefined, milliseconds: 1, waited: true })
    const timeless = lines.map(line => line.replace(/"time":\d+/, '"time":0'))
    assert.equal(timeless[0], timeless[1])
    const { account, operation, ...anonymous } = said
    const { level, time, pid, hostname, ...rest } = JSON.parse(lines[2]!)
    assert.deepEqual(rest, { reqId: 'req-2', ...anonymous, ms: 1, msg: 'request' })
  })
})
