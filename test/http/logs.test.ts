// What the log holds, and what it must never hold.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { savedSnippets } from '../../daemon/api/messages/saved-snippets.ts'
import { users } from '../../daemon/api/people/users.ts'
import { Caller, startDaemon } from '../support/daemon.ts'
import { sendBytes } from '../support/http.ts'
import { until } from '../support/until.ts'
import { person } from '../support/world.ts'

describe('logs', () => {
  test('at the most talkative level they name every request, and never a key, a password or a parameter', async t => {
    const daemon = await startDaemon(t, { flags: ['--memory', '--log-level', 'trace', '--secret', 'hush-hush-secret'] })
    const { owner } = daemon
    const amy = await person(daemon, 'amy')
    await daemon.nobody.try(users.fetchApiKey, { username: 'amy@example.com', password: 'wrong-password-tried' })
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
})
