// Ways to the tools: stdio and HTTP, both eras of the protocol, and what goes wrong on the way.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { describe, test } from 'node:test'
import { keys } from '../../daemon/api/people/keys.ts'
import { users } from '../../daemon/api/people/users.ts'
import { sharedDaemon } from '../support/daemon.ts'
import { eraName, eras, overHttp, overStdio, ownerOf, use } from '../support/mcp.ts'
import { openSpace } from '../support/spaces.ts'
import { until } from '../support/until.ts'
import { person } from '../support/world.ts'

describe('the Model Context Protocol', () => {
  const daemon = sharedDaemon({ flags: ['--memory', '--preset', 'dev', '--control'] })
  const address = () => `${daemon().url}/mcp`
  const key = () => daemon().ready.owner.api_key
  const queues = async () => {
    const headers = { Authorization: `Bearer ${daemon().ready.control_token}` }
    const reply = await fetch(`${daemon().url}/control/v1/queues`, { headers })
    return ((await reply.json()) as { queues: unknown[] }).queues
  }

  for (const era of eras) {
    test(`is served on stdio to a client of ${eraName(era)}`, async t => {
      const client = await overStdio(t, ownerOf(daemon()), [], era)
      assert.equal((await use(client, 'list_channels')).failed, false)
    })

    test(`is served at /mcp to a client of ${eraName(era)}`, async t => {
      const client = await overHttp(t, `${address()}?toolsets=read,write`, key(), era)
      const { data } = await use(client, 'send_message', { channel: 'general', topic: 'http', content: 'over HTTP' })
      const found = await use(client, 'get_messages', { anchor: data.link, limit: 1 })
      assert.equal(found.data.messages[0].content, 'over HTTP')
    })

    test(`waits at /mcp for a client of ${eraName(era)}`, async t => {
      const client = await overHttp(t, `${address()}?toolsets=read,write`, key(), era)
      const coming = use(client, 'wait_for_message', { search: 'zebra', after: 0, timeout_seconds: 60 })
      const content = `zebra ${eraName(era)}`
      await use(client, 'send_message', { channel: 'general', topic: 'http', content })
      assert.match((await coming).text, /zebra/)
    })

    test(`ends a wait at /mcp when a client of ${eraName(era)} disconnects`, async t => {
      const client = await overHttp(t, address(), key(), era)
      const aborted = assert.rejects(use(client, 'wait_for_message', { timeout_seconds: 300 }))
      await until(async () => (await queues()).length === 1)
      await client.close()
      await aborted
      await until(async () => (await queues()).length === 0)
    })

    test(`ends a wait on stdio when a client of ${eraName(era)} closes it`, async t => {
      const client = await overStdio(t, ownerOf(daemon()), [], era)
      const aborted = assert.rejects(use(client, 'wait_for_message', { timeout_seconds: 300 }))
      await until(async () => (await queues()).length === 1)
      await client.close()
      await aborted
      await until(async () => (await queues()).length === 0)
    })
  }

  test('is served at /mcp of a space, to its own accounts', async t => {
    const { url, owner } = await openSpace(daemon(), { preset: 'dev' })
    const client = await overHttp(t, `${url}/mcp`, owner.key!, eras[0])
    assert.match((await use(client, 'get_users')).text, /amy@example\.com/)
    await assert.rejects(overHttp(t, `${url}/mcp`, key(), eras[0]))
  })

  test('needs an API key at /mcp, and a right one', async () => {
    const ask = (headers: Record<string, string>) =>
      fetch(address(), {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', ...headers },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
      })
    assert.equal((await ask({})).status, 401)
    assert.equal((await ask({ Authorization: 'Bearer wrong' })).status, 401)
    assert.equal((await ask({ Authorization: `Bearer ${key()}` })).status, 200)
    const foreign = await ask({ Authorization: `Bearer ${key()}`, Origin: 'https://evil.example' })
    assert.equal(foreign.status, 403)
  })

  test('refuses an unknown toolset, a broken frame, a batch and too large a request with a message', async () => {
    const post = (body: string, query = '') =>
      fetch(`${address()}${query}`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${key()}`,
          'Content-Type': 'application/json',
          Accept: 'application/json, text/event-stream',
        },
        body,
      })
    assert.match(await (await post('{}', '?toolsets=control')).text(), /takes read, write, api/)
    assert.match(await (await post('{}', '?toolsets=read&toolsets=control')).text(), /takes read, write, api/)
    const head = await fetch(address(), { method: 'HEAD', headers: { Authorization: `Bearer ${key()}` } })
    assert.equal(head.status, 404)
    const broken = await post('{"jsonrpc":')
    assert.equal(broken.status, 400)
    assert.match(await broken.text(), /-32700/)
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_channels', arguments: {} } }
    const batch = await post(` ${JSON.stringify([call, { ...call, id: 2 }])}`)
    assert.equal(batch.status, 400)
    assert.match(await batch.text(), /Send each message in a request of its own/)
    assert.equal((await post(JSON.stringify(call))).status, 200)
    assert.equal((await post(`"${'x'.repeat(2_000_000)}"`)).status, 413)
    const deep = await post(`{"jsonrpc":"2.0","id":1,"method":${'['.repeat(400_000)}${']'.repeat(400_000)}}`)
    assert.equal(deep.status, 400)
    assert.match(await deep.text(), /nested too deeply/)
  })

  test('answers GET at once: there is no stream of notices', async t => {
    const client = await overHttp(t, address(), key())
    const session = (client.transport as { sessionId?: string }).sessionId!
    const reply = await fetch(address(), {
      headers: { Authorization: `Bearer ${key()}`, Accept: 'text/event-stream', 'Mcp-Session-Id': session },
      signal: AbortSignal.timeout(20_000),
    })
    assert.deepEqual([reply.status, reply.headers.get('allow')], [405, 'POST, DELETE'])
    assert.equal((await use(client, 'list_channels')).failed, false)
  })

  test('gives a session to its own account only', async t => {
    const client = await overHttp(t, address(), key())
    const session = (client.transport as { sessionId?: string }).sessionId
    assert.ok(session)
    const { api_key: other } = await daemon().owner.call((await import('../../daemon/api/bots/bots.ts')).bots.create, {
      full_name: 'Spy Bot',
      short_name: 'spy',
    })
    assert.equal((await listTools(address(), other, { 'Mcp-Session-Id': session })).status, 404)
  })

  test('has a session opened again once the address or the API key of its account was changed', async t => {
    const yan = await person(daemon(), 'yan')
    const client = await overHttp(t, address(), yan.key!)
    const headers = { 'Mcp-Session-Id': client.transport!.sessionId! }
    assert.equal((await listTools(address(), yan.key!, headers)).status, 200)
    const { api_key: changed } = await yan.call(keys.regenerate, {})
    assert.equal((await listTools(address(), yan.key!, headers)).status, 401)
    const reply = await listTools(address(), changed, headers)
    assert.equal(reply.status, 404)
    assert.match(await reply.text(), /API key was changed.* Initialize a new one/)
    const again = await overHttp(t, address(), changed)
    assert.equal((await use(again, 'list_channels')).failed, false)
    await daemon().owner.call(users.update, { user_id: yan.id, new_email: 'yan.other@example.com' })
    await assert.rejects(use(again, 'list_channels'), /Initialize a new one/)
  })

  test('ends the oldest sessions of an account that opens many with its bots, and none of another', async t => {
    const zoe = await person(daemon(), 'zoe')
    const client = await overHttp(t, address(), zoe.key!)
    const first = await overHttp(t, address(), key())
    const { bots } = await import('../../daemon/api/bots/bots.ts')
    for (const short_name of ['opening', 'other']) {
      const { api_key: other } = await daemon().owner.call(bots.create, { full_name: `${short_name} bot`, short_name })
      for (let n = 0; n < 15; n++) await openSession(address(), other)
    }
    assert.equal((await use(client, 'list_channels')).failed, false)
    await assert.rejects(
      use(first, 'list_channels'),
      /no such session: .* opened 20 others since, .* Initialize a new one/i,
    )
  })

  test('goes on after lines on stdin that are no frames', async t => {
    const { PATH = '', HOME = '' } = process.env
    const child = spawn(process.execPath, ['bin/natter', 'mcp'], { env: { PATH, HOME, ...ownerOf(daemon()) } })
    t.after(() => child.kill())
    const lines = createInterface({ input: child.stdout })
    const hello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } }
    child.stdin.write('this is not JSON\n{"half":\n')
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'initialize', params: hello })}\n`)
    const [line] = (await once(lines, 'line')) as [string]
    assert.equal(JSON.parse(line).id, 7)
    child.stdin.end()
    const [code] = (await once(child, 'exit')) as [number]
    assert.equal(code, 0)
  })

  test('says that a server is down, and that the key is wrong', async t => {
    const nowhere = await overStdio(t, { ...ownerOf(daemon()), NATTER_SITE: 'http://127.0.0.1:9' })
    assert.match((await use(nowhere, 'list_channels')).text, /cannot be reached/)
    const stranger = await overStdio(t, { ...ownerOf(daemon()), NATTER_API_KEY: 'wrong' })
    assert.match((await use(stranger, 'list_channels')).text, /its API key is wrong/)
  })
})

function listTools(url: string, key: string, more: Record<string, string>): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${key}`,
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      ...more,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  })
}

async function openSession(url: string, key: string): Promise<void> {
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } }
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${key}`,
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
  })
  assert.equal(response.status, 200)
  await response.text()
}
