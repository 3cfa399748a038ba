// natter/client and a hostile or broken server: it cannot keep a follower busy, fill its memory or make it fail without a reason.

import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { createClient, NatterError } from '../../daemon/client/index.ts'
import { startNatter } from '../../daemon/testing/index.ts'
import { fakeServer, json } from '../support/cli.ts'
import { until } from '../support/until.ts'

describe('client.events', () => {
  const heartbeat = (id: number) => ({ type: 'heartbeat', id })
  const nothing = (n: number) => (n % 2 ? [] : [{ type: 'message', id: 5, message: { id: 1 } }])
  for (const [what, answer] of [
    ['nothing new', nothing],
    ['heartbeats', (n: number) => [heartbeat(5 + n)]],
  ] as const)
    test(`a server that answers polls with ${what} is not asked without a pause`, t => askedSlowly(t, answer))

  async function askedSlowly(t: TestContext, answer: (n: number) => unknown) {
    let polls = 0
    const site = await fakeServer(t, (request, response) => {
      if (request.url!.includes('/register')) json(response, { result: 'success', queue_id: 'q', last_event_id: 5 })
      else if (request.method === 'GET' && request.url!.includes('/events')) {
        polls++
        json(response, { result: 'success', events: answer(polls) })
      } else json(response, { result: 'success' })
    })
    const client = createClient({ site, email: 'amy@example.com', apiKey: 'key' })
    const ending = new AbortController()
    const following = (async () => {
      for await (const event of client.events({ signal: ending.signal })) assert.fail(JSON.stringify(event))
    })()
    await until(() => polls > 1)
    await sleep(1000)
    ending.abort()
    await following
    assert.ok(polls < 20, `${polls} polls`)
  }

  test('a server that loses each queue at once is not asked without a pause', async t => {
    let queues = 0
    const site = await fakeServer(t, (request, response) => {
      if (request.url!.includes('/register')) json(response, { result: 'success', queue_id: `q${++queues}` })
      else if (request.method === 'GET' && request.url!.includes('/events'))
        json(response, { result: 'error', code: 'BAD_EVENT_QUEUE_ID', msg: 'no queue' }, 400)
      else json(response, { result: 'success' })
    })
    const client = createClient({ site, email: 'amy@example.com', apiKey: 'key' })
    const ending = new AbortController()
    const following = (async () => {
      for await (const event of client.events({ signal: ending.signal, gaps: false })) assert.fail(event.type)
    })()
    await until(() => queues > 2)
    await sleep(1000)
    ending.abort()
    await following
    assert.ok(queues < 20, `${queues} queues`)
  })

  test('a server whose past has no end fills no memory: a gap is marked before what was fetched', async t => {
    let queues = 0
    let pages = 0
    const site = await fakeServer(t, (request, response) => {
      const { pathname, searchParams } = new URL(request.url!, 'http://server')
      if (pathname.endsWith('/register'))
        return json(response, { result: 'success', queue_id: `q${++queues}`, max_message_id: 5 })
      if (pathname.endsWith('/messages')) {
        const anchor = Number(searchParams.get('anchor'))
        const content = 'x'.repeat(2_000_000)
        const messages = [null, { id: 'x' }, ...[1, 2, 3, 4].map(step => ({ id: anchor + step, content }))]
        pages++
        return json(response, { result: 'success', messages, found_newest: false })
      }
      if (request.method === 'GET' && queues === 1)
        return json(response, { result: 'error', code: 'BAD_EVENT_QUEUE_ID', msg: 'no queue' }, 400)
      json(response, { result: 'success', events: [{ id: 1, type: 'presence' }] })
    })
    const client = createClient({ site, email: 'amy@example.com', apiKey: 'key' })
    const heard: string[] = []
    for await (const event of client.events({ gaps: true })) {
      if (event.type === 'presence') break
      heard.push(event.type)
      if (event.type === 'gap') assert.deepEqual(event.filled, [])
    }
    assert.deepEqual(heard, ['gap', ...Array.from({ length: 4 * pages }, () => 'message')])
    assert.equal(pages, 9)
  })

  test('takes each event once, in whatever order and however often the server sends them', async t => {
    const message = (id: number, number: number) => ({ id, type: 'message', message: { id: number }, flags: [] })
    const answers = [
      [message(2, 12), message(1, 11), message(1, 11)],
      [message(2, 12), message(4, 14)],
      [message(3, 13)],
    ]
    const asked: string[] = []
    const site = await fakeServer(t, (request, response) => {
      const { pathname, searchParams } = new URL(request.url!, 'http://server')
      if (pathname.endsWith('/register'))
        return json(response, { result: 'success', queue_id: 'q', last_event_id: -1, max_message_id: 10 })
      if (request.method === 'GET') asked.push(searchParams.get('last_event_id')!)
      json(response, { result: 'success', events: answers.shift() ?? [{ id: 5, type: 'presence' }] })
    })
    const heard: unknown[] = []
    for await (const event of createClient({ site }).events()) {
      heard.push(event.message?.id ?? event.type)
      if (event.type === 'presence') break
    }
    assert.deepEqual(heard, [12, 11, 14, 13, 'presence'])
    assert.deepEqual(asked, ['-1', '2', '4', '4'])
  })

  test('an answer without a list of events is refused with the name of the call', async t => {
    for (const events of [undefined, 5, [null], [{ type: 'presence' }], [{ id: 1, type: 'message' }]]) {
      const site = await fakeServer(t, (_request, response) =>
        json(response, { result: 'success', queue_id: 'q', events }),
      )
      const client = createClient({ site, email: 'amy@example.com', apiKey: 'key' })
      await assert.rejects(client.events().next(), {
        code: 'BAD_ANSWER',
        message: /answer to GET \/events is not a list/,
      })
    }
  })

  for (const [what, answer] of [
    ['does not answer', () => {}],
    ['answers byte by byte', (response: ServerResponse) => drip(response)],
    ['asks to wait for an hour', (response: ServerResponse) => json(response, {}, 429, { 'Retry-After': '3600' })],
  ] as const)
    for (const how of ['break', 'signal'])
      test(`${how} ends it, though the server ${what} when the queue is deleted`, { timeout: 20_000 }, async t => {
        let deletions = 0
        const site = await fakeServer(t, (request, response) => {
          if (request.url!.includes('/register')) return json(response, { result: 'success', queue_id: 'q' })
          if (request.method === 'GET')
            return json(response, { result: 'success', events: [{ type: 'presence', id: 1 }] })
          deletions++
          answer(response)
        })
        const ending = new AbortController()
        for await (const _event of createClient({ site }).events({ signal: ending.signal })) {
          if (how === 'break') break
          ending.abort()
        }
        assert.equal(deletions, 1)
      })

  function drip(response: ServerResponse) {
    const timer = setInterval(() => response.write(' '), 300)
    response.on('close', () => clearInterval(timer))
  }

  test('a registration that is never answered is made again', async t => {
    const { setTimeout: start } = globalThis
    const soon = (work: () => void, ms = 0) => start(work, ms === 300_000 ? 10 : ms)
    t.mock.method(globalThis, 'setTimeout', soon as typeof setTimeout)
    let asked = 0
    const neverAnswering: typeof fetch = (_input, init) => {
      asked++
      return new Promise((_resolve, reject) =>
        init?.signal?.addEventListener('abort', () => reject(init.signal!.reason)),
      )
    }
    const ending = new AbortController()
    let away: Error | undefined
    const onAway = (error: Error) => {
      away = error
    }
    const client = createClient({ site: 'http://127.0.0.1:9991', fetch: neverAnswering })
    const first = client.events({ signal: ending.signal, onAway }).next()
    t.after(() => ending.abort())
    await until(() => asked === 2)
    assert.match(String(away), /cannot reach http:\/\/127.0.0.1:9991: no whole answer within 300 s/)
    ending.abort()
    await first
  })

  test('a server that allows a poll more time than a timer can take is waited for', async t => {
    let polls = 0
    const site = await fakeServer(t, (request, response) => {
      if (request.url!.includes('/register'))
        json(response, { result: 'success', queue_id: 'q', event_queue_longpoll_timeout_seconds: 1e9 })
      else if (request.method === 'GET' && request.url!.includes('/events')) {
        polls++
        setTimeout(() => json(response, { result: 'success', events: [{ type: 'presence', id: 1 }] }), 300)
      } else json(response, { result: 'success' })
    })
    const client = createClient({ site, email: 'amy@example.com', apiKey: 'key' })
    for await (const { type } of client.events()) {
      assert.equal(type, 'presence')
      break
    }
    assert.equal(polls, 1)
  })
})

test('an answer that is compressed more than once is refused before it is unpacked', async t => {
  const body = gzipSync(gzipSync('{"result":"success"}'))
  const site = await fakeServer(t, (_request, response) =>
    response.writeHead(200, { 'Content-Encoding': 'gzip, gzip' }).end(body),
  )
  const refused = { code: 'BAD_ANSWER', message: /compressed more than once/ }
  await assert.rejects(createClient({ site }).request('GET', '/users/me'), refused)
  await assert.rejects(startNatter({ in: `${site}#token=token` }), refused)
})

test('the text of an error does not steer the terminal, and its body is as the server sent it', async t => {
  const msg = '\u001b]0;title\u0007\u202eno'
  const site = await fakeServer(t, (_request, response) =>
    json(response, { result: 'error', code: '\u001b[31mX', msg }, 400),
  )
  const error = await createClient({ site })
    .request('GET', '/server_settings')
    .catch((error: unknown) => error)
  assert.ok(error instanceof NatterError)
  for (const character of '\u001b\u0007\u202e') assert.ok(!String(error.stack).includes(character))
  assert.match(error.message, /^\\x1b\]0;title/)
  assert.equal(error.body.msg, msg)
})
