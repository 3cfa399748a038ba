// The configuration for nginx that docs/operations.md shows, run with the nginx of this machine, if it has one.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { freePort } from '../support/free-port.ts'
import { startNginx, withoutNginx } from '../support/nginx.ts'
import { root } from '../support/sources.ts'

/** Resolves to the port of nginx. */
async function startProxy(t: TestContext, behind: number): Promise<number> {
  const page = readFileSync(join(root, 'docs/operations.md'), 'utf8')
  const port = await freePort()
  const fixtures = join(root, 'test/fixtures/tls')
  const server = /```nginx\n(.*?)```/s
    .exec(page)![1]!
    .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
    .replace(/\/etc\/ssl\S*fullchain\.pem/, join(fixtures, 'good-cert.pem'))
    .replace(/\/etc\/ssl\S*privkey\.pem/, join(fixtures, 'good-key.pem'))
    .replace('127.0.0.1:9991', `127.0.0.1:${behind}`)
  t.after(await startNginx(server, port))
  return port
}

function call(
  port: number,
  { ready }: TestDaemon,
  method: string,
  path: string,
  body?: string,
  host = 'chat.example.com',
) {
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const auth = `${ready.owner.email}:${ready.owner.api_key}`
    const headers = { Host: host, 'Content-Type': 'application/x-www-form-urlencoded' }
    request({ host: '127.0.0.1', port, method, path, auth, headers, rejectUnauthorized: false }, answer => {
      let text = ''
      answer.setEncoding('utf8').on('data', more => {
        text += more
      })
      answer.on('end', () => resolve({ status: answer.statusCode!, text }))
    })
      .on('error', reject)
      .end(body)
  })
}

describe('natterd behind nginx', { skip: withoutNginx ?? false }, () => {
  test('answers calls and long polls through the proxy', async t => {
    const behind = await freePort()
    const flags = ['--memory', '--port', String(behind), '--url', 'https://chat.example.com', '--trust-proxy']
    const daemon = await startDaemon(t, { flags })
    const port = await startProxy(t, behind)
    for (const host of ['chat.example.com', 'chat.example.com:443']) {
      const me = await call(port, daemon, 'GET', '/api/v1/users/me', undefined, host)
      assert.equal(me.status, 200, me.text)
    }
    const { queue_id } = JSON.parse(
      (await call(port, daemon, 'POST', '/api/v1/register', 'event_types=["message"]')).text,
    )
    const polling = call(port, daemon, 'GET', `/api/v1/events?queue_id=${queue_id}&last_event_id=-1`)
    const content = 'x'.repeat(9000)
    const sent = await call(
      port,
      daemon,
      'POST',
      '/api/v1/messages',
      `type=direct&to=[${daemon.ready.owner.user_id}]&content=${content}`,
    )
    assert.equal(sent.status, 200, sent.text)
    const { events } = JSON.parse((await polling).text)
    assert.equal(events[0].message.content.length, content.length)
  })

  test('answers the host and port of --url, and no others', async t => {
    const behind = await freePort()
    const flags = ['--memory', '--port', String(behind), '--url', 'https://chat.example.com:8443', '--trust-proxy']
    const daemon = await startDaemon(t, { flags })
    const port = await startProxy(t, behind)
    const statusFor = async (host: string) =>
      (await call(port, daemon, 'GET', '/api/v1/users/me', undefined, host)).status
    assert.equal(await statusFor('chat.example.com:8443'), 200)
    for (const host of [
      'chat.example.com',
      'chat.example.com:8444',
      'evil.example',
      'evil.example:8443',
      'evil.example:443',
    ])
      assert.equal(await statusFor(host), 403, host)
  })
})
