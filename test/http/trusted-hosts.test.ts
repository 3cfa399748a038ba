// Trust of the daemon: names it is called by, pages that call it, proxies that speak for clients, secrets in files.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { users } from '../../daemon/api/people/users.ts'
import { readConfig } from '../../daemon/start/config.ts'
import { Caller, host, startDaemon, type TestDaemon } from '../support/daemon.ts'
import { freePort } from '../support/free-port.ts'

const form = { 'Content-Type': 'application/x-www-form-urlencoded' }

describe('on loopback', () => {
  let daemon: TestDaemon
  /** A caller on this machine; the daemon itself goes by the name in --url. */
  let caller: Caller
  const data = mkdtempSync(join(tmpdir(), 'natter-test-'))
  before(async () => {
    const port = await freePort()
    const flags = [
      '--port',
      `${port}`,
      '--dev-auth',
      '--control',
      '--no-rate-limit',
      '--url',
      'https://chat.example.com',
    ]
    daemon = await host(data, { flags })
    const { email, api_key } = daemon.ready.owner
    caller = new Caller(`http://127.0.0.1:${port}`, email, api_key)
  })
  after(async () => {
    await daemon.stop()
    rmSync(data, { recursive: true, force: true })
  })
  const fetchKey = (headers: Record<string, string>) =>
    caller.raw('POST', '/api/v1/dev_fetch_api_key', {
      headers: { ...form, ...headers },
      body: `username=${encodeURIComponent(caller.email!)}`,
    })

  test('a request for another host gets no key, and nothing else', async () => {
    for (const Host of [
      'evil.example',
      'evil.example:9991',
      '127.0.0.1.evil.example',
      'localhost.evil.example',
      '10.0.0.1',
    ])
      for (const path of ['/api/v1/server_settings', '/livez', '/control/v1/clock', '/user_uploads/x']) {
        const refused = await caller.raw('GET', path, { headers: { Host } })
        assert.equal(refused.status, 403, `${Host} ${path}: ${refused.text}`)
        assert.match(refused.body.msg, /--url/)
      }
    assert.equal((await fetchKey({ Host: 'evil.example' })).body.api_key, undefined)
  })

  test('a page of another site is refused, whatever host it names', async () => {
    for (const Origin of ['https://evil.example', 'http://evil.example:80', 'null', 'http://localhost.evil.example'])
      assert.equal((await fetchKey({ Origin })).status, 403, Origin)
  })

  test('loopback names and the name in --url are answered, with any port, and pages of theirs', async () => {
    for (const Host of [
      'localhost',
      'LOCALHOST:1',
      '127.0.0.1:9',
      '127.1.2.3',
      '[::1]:80',
      'x.localhost',
      'chat.example.com',
    ])
      assert.equal((await fetchKey({ Host })).status, 200, Host)
    for (const Origin of ['http://localhost:3000', 'https://chat.example.com', 'http://[::1]'])
      assert.equal((await fetchKey({ Origin })).status, 200, Origin)
  })
})

describe('on an address that others reach', () => {
  for (const host of ['::', '0.0.0.0', '0:0:0:0:0:0:0:0'])
    test(`with --host ${host} and --url, Host and Origin are checked`, async t => {
      const port = await freePort()
      const url = 'https://chat.example.com'
      await startDaemon(t, { flags: ['--memory', '--host', host, '--port', `${port}`, '--url', url] })
      const caller = new Caller(`http://127.0.0.1:${port}`)
      const statusOf = async (headers: Record<string, string>, path = '/api/v1/server_settings') =>
        (await caller.raw('GET', path, { headers })).status
      for (const path of ['/api/v1/server_settings', '/livez', '/control/v1/clock'])
        for (const Host of [
          'evil.example',
          'evil.example:9991',
          '127.0.0.1.evil.example',
          'chat.example.com.evil.example',
        ])
          assert.equal(await statusOf({ Host }, path), 403, `${Host} ${path}`)
      for (const Host of [
        'chat.example.com',
        'CHAT.example.com',
        'localhost:1',
        '10.0.0.7:9991',
        '[fd00::7]:9991',
        'natter:9991',
      ])
        assert.equal(await statusOf({ Host }), 200, Host)
      for (const Origin of ['https://evil.example', 'null', 'http://10.0.0.8', 'http://natter'])
        assert.equal(await statusOf({ Host: '10.0.0.7:9991', Origin }), 403, Origin)
      for (const Origin of [url, 'http://10.0.0.7:9991', 'http://localhost:3000'])
        assert.equal(await statusOf({ Host: '10.0.0.7:9991', Origin }), 200, Origin)
    })

  test('loopback is loopback, however it is written', async t => {
    for (const host of ['::1', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1', '127.1', 'LOCALHOST', '127.0.0.1'])
      assert.equal(readConfig(['--host', host], {}).rateLimit, false, host)
    for (const host of ['::', '::2', '::ffff:10.0.0.1', '10.0.0.1', '0.0.0.0'])
      assert.equal(readConfig(['--host', host], {}).rateLimit, true, host)
    const daemon = await startDaemon(t, { flags: ['--memory', '--host', '::ffff:127.0.0.1'] })
    assert.equal((await daemon.anonymous.raw('GET', '/livez', { headers: { Host: 'evil.example' } })).status, 403)
  })
})

describe('--url', () => {
  test('turns rate limits on and webhooks to this machine off; without it, loopback is for development', () => {
    const trust = (...args: string[]) => {
      const { rateLimit, webhookLoopback } = readConfig(args, {})
      return { rateLimit, webhookLoopback }
    }
    assert.deepEqual(trust(), { rateLimit: false, webhookLoopback: true })
    assert.deepEqual(trust('--memory'), { rateLimit: false, webhookLoopback: true })
    assert.deepEqual(trust('--url', 'https://chat.example.com'), { rateLimit: true, webhookLoopback: false })
    assert.deepEqual(trust('--host', '0.0.0.0'), { rateLimit: true, webhookLoopback: false })
    assert.deepEqual(trust('--url', 'https://chat.example.com', '--no-rate-limit', '--webhook-private'), {
      rateLimit: false,
      webhookLoopback: true,
    })
  })

  test('must be a URL', () => {
    for (const url of ['chat.example.com', 'ftp://x', 'http://'])
      assert.throws(() => readConfig(['--url', url], {}), /--url takes a URL/)
  })
})

describe('--trust-proxy', () => {
  /** Calls until the budget of an address is used up. */
  const callsOf = async (flags: string[], address: (call: number) => string, t: Parameters<typeof startDaemon>[0]) => {
    const daemon = await startDaemon(t, { flags: ['--memory', '--rate-limit', ...flags] })
    for (let call = 0; call < 150; call++) {
      const headers = { 'X-Forwarded-For': address(call) }
      const { status } = await daemon.anonymous.raw('GET', '/api/v1/server_settings', { headers })
      if (status === 429) return call
    }
    return 150
  }

  test('counts clients by the address that the proxy adds, and by no other', async t => {
    assert.equal(await callsOf(['--trust-proxy'], call => `203.0.113.${call}`, t), 150)
    assert.equal(await callsOf(['--trust-proxy'], call => `203.0.113.${call}, 198.51.100.7`, t), 100)
    assert.equal(await callsOf(['--trust-proxy'], call => `not an address ${call}`, t), 100)
  })

  test('without it the header means nothing', async t => {
    assert.equal(await callsOf([], call => `203.0.113.${call}`, t), 100)
  })
})

describe('--secret-file and --smtp-url-file', () => {
  test('keep secrets off the command line', async t => {
    const folder = mkdtempSync(join(tmpdir(), 'natter-secret-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    const file = join(folder, 'secret')
    writeFileSync(file, 'a secret that is long enough\n')
    assert.equal(readConfig(['--secret-file', file], {}).secret, 'a secret that is long enough')
    assert.equal(readConfig([], { NATTER_SECRET_FILE: file }).secret, 'a secret that is long enough')
    const byFile = await startDaemon(t, { flags: ['--memory', '--secret-file', file] })
    const byText = await startDaemon(t, { flags: ['--memory', '--secret', 'a secret that is long enough'] })
    assert.equal(byFile.ready.owner.api_key, byText.ready.owner.api_key)
    assert.equal((await byFile.owner.try(users.me, {})).status, 200)
    writeFileSync(file, 'smtp://user:password@localhost:25\n')
    assert.equal(readConfig(['--smtp-url-file', file], {}).smtpUrl, 'smtp://user:password@localhost:25')
  })

  test('a file that cannot be read, or both, are refused in words', () => {
    assert.throws(() => readConfig(['--secret-file', '/nowhere/x'], {}), /--secret-file: .*ENOENT/)
    assert.throws(
      () => readConfig(['--secret-file', '/dev/zero'], {}),
      /--secret-file: \/dev\/zero has more than 1 MiB/,
    )
    assert.throws(() => readConfig(['--secret', 'x', '--secret-file', '/x'], {}), /exclude each other/)
  })
})
