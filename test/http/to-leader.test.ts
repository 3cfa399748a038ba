// Calls at a follower, before it uses a connection to the leader.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { webhooks } from '../../daemon/api/bots/webhooks.ts'
import type { Endpoint } from '../../daemon/api/define.ts'
import { users } from '../../daemon/api/people/users.ts'
import { createAnswering } from '../../daemon/http/answer.ts'
import { HeldBytes } from '../../daemon/http/body.ts'
import type { Answering, ForwardedCall, Response } from '../../daemon/http/exchange.ts'
import { Incoming } from '../../daemon/http/incoming.ts'
import type { FieldMap } from '../../daemon/http/parameters.ts'
import { keyIn } from '../../daemon/http/posted.ts'
import type { Found } from '../../daemon/http/routes.ts'
import { ToLeader, type ToLeaderParts } from '../../daemon/http/to-leader.ts'

/** Calls of an endpoint at a follower, from an address that has two left. Two accounts: `bot` is known, `new` after catching up. */
function callsOf(endpoint: Endpoint) {
  const sent: { path: string; account: number | undefined }[] = []
  let left = 2
  const accounts = new Map([['bot', 7]])
  const parts = {
    forwarding: {
      forward: async ({ path, account }: ForwardedCall) => void sent.push({ path, account }),
      catchUp: async () => accounts.set('new', 8) !== undefined,
    },
    intake: { held: new HeldBytes(0) },
    files: {},
    known(request: Incoming, _answering: Answering, posted: FieldMap | undefined) {
      const id = accounts.get(String(posted ? keyIn(posted) : request.headers.authorization))
      if (id === undefined) throw new Error('not known')
      return { id }
    },
    countUnknown() {
      if (left-- === 0) throw new Error('too many')
    },
  } as unknown as ToLeaderParts
  const toLeader = new ToLeader(parts)
  const found = { route: { endpoint, pattern: '/x' }, path: {} } as unknown as Found
  const call = (headers: Record<string, string> = {}, posted?: FieldMap) => {
    const head = { method: 'POST', url: '/api/v1/x', headers, socket: { remoteAddress: '127.0.0.1' } }
    const request = new Incoming(head, 'req-1', false)
    return toLeader.send(found, request, undefined, createAnswering(request, {} as Response), posted)
  }
  return { sent, call }
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
