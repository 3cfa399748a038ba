// Calls at a follower, before it uses a connection to the leader.

import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { webhooks } from '../../daemon/api/bots/webhooks.ts'
import type { Endpoint } from '../../daemon/api/define.ts'
import { uploads } from '../../daemon/api/files/uploads.ts'
import { users } from '../../daemon/api/people/users.ts'
import type { User } from '../../daemon/domain/model/state.ts'
import { createAnswering } from '../../daemon/http/answer.ts'
import type { Answering, ForwardedCall, Response } from '../../daemon/http/exchange.ts'
import { HeldBytes } from '../../daemon/http/held-bytes.ts'
import { Incoming } from '../../daemon/http/incoming.ts'
import type { FieldMap } from '../../daemon/http/parameters.ts'
import { keyIn } from '../../daemon/http/posted.ts'
import { budgets, RateLimiter } from '../../daemon/http/rate-limit.ts'
import type { Found } from '../../daemon/http/routes.ts'
import { ToLeader, type ToLeaderParts } from '../../daemon/http/to-leader.ts'

/**
 * Calls of an endpoint at a follower, from an address that has two left. Three accounts: `bot`, `bot of it` and, after catching up, `new`.
 */
function callsOf(endpoint: Endpoint) {
  const sent: { path: string; account: number | undefined; held: number | undefined }[] = []
  let left = 2
  const accounts = new Map<string, object>([
    ['bot', { id: 7 }],
    ['bot of it', { id: 9, bot: { ownerId: 7 } }],
  ])
  const opened: string[] = []
  const parts = {
    forwarding: {
      forward: async ({ path, account, body }: ForwardedCall) => void sent.push({ path, account, held: body?.held }),
      catchUp: async () => accounts.set('new', { id: 8 }) !== undefined,
    },
    intake: { held: new HeldBytes(0), uploadBytes: 100 },
    arriving: {
      begin: ({ id }: User) => ({
        receive: () => ({ size: 3 }),
        write: async (_file: object, bytes: Buffer) => opened.push(`${id} ${bytes}`),
        end: async () => opened.push(`${id} ended`),
      }),
    },
    limiter: new RateLimiter({ now: () => 0, elapsed: () => 0 }),
    known(request: Incoming, _answering: Answering, posted: FieldMap | undefined) {
      const account = accounts.get(String(posted ? keyIn(posted) : request.headers.authorization))
      if (!account) throw new Error('not known')
      return account
    },
    countUnknown() {
      if (left-- === 0) throw new Error('too many')
    },
  } as unknown as ToLeaderParts
  const toLeader = new ToLeader(parts)
  const found = { route: { endpoint, pattern: '/x' }, path: {} } as unknown as Found
  const call = (headers: Record<string, string> = {}, posted?: FieldMap, body?: Buffer | IncomingMessage) => {
    const head = { method: 'POST', url: '/api/v1/x', headers, socket: { remoteAddress: '127.0.0.1' } }
    const request = new Incoming(head, 'req-1', false)
    return toLeader.send(found, request, body, createAnswering(request, {} as Response), posted)
  }
  return { sent, opened, call }
}

test('a caller without an account whose address is over its limit does not reach the leader', async () => {
  const { sent, call } = callsOf(users.fetchApiKey)
  await call()
  await call()
  await assert.rejects(call(), /too many/)
  assert.equal(sent.length, 2)
})

test('a webhook with a wrong key, or without one, counts for its address and does not reach the leader', async () => {
  const { sent, call } = callsOf(webhooks.post)
  await assert.rejects(call({}, new Map([['api_key', 'wrong']])), /not known/)
  await assert.rejects(call({}, new Map()), /not known/)
  await assert.rejects(call({}, new Map([['api_key', 'wrong']])), /too many/)
  assert.deepEqual(sent, [])
})

test('a webhook with a key is sent on as a call of its account, also if this daemon lags', async () => {
  const { sent, call } = callsOf(webhooks.post)
  await call({}, new Map([['api_key', 'bot']]))
  await call({}, new Map([['api_key', 'new']]))
  assert.deepEqual(
    sent.map(({ account }) => account),
    [7, 8],
  )
})

test('a bot is sent on as its owner, whose calls take turns with those of others', async () => {
  const { sent, call } = callsOf(users.me)
  await call({ authorization: 'bot of it' }, undefined, Buffer.from('abc'))
  assert.deepEqual(
    sent.map(({ account, held }) => [account, held]),
    [[7, 3]],
  )
})

test('an account over its limit is refused before its file is put on the disk', async () => {
  const { sent, opened, call } = callsOf(uploads.upload)
  const upload = () => call({ authorization: 'bot' }, undefined, fileOf('abc'))
  for (let sentOn = 0; sentOn < budgets.user.limit; sentOn++) await upload()
  assert.deepEqual(opened.slice(0, 2), ['7 abc', '7 ended'])
  assert.equal(opened.length, 2 * budgets.user.limit)
  assert.ok(sent.every(({ held }) => held === 0))
  await assert.rejects(upload(), { code: 'RATE_LIMIT_HIT' })
  assert.equal(opened.length, 2 * budgets.user.limit)
})

/** The part of a request that its body is read from. */
function fileOf(text: string): IncomingMessage {
  const body = Readable.from([Buffer.from(text)])
  return Object.assign(body, { headers: {}, iterator: () => body[Symbol.asyncIterator]() }) as never
}
