// Calls at a follower, before it uses a connection to the leader.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { users } from '../../daemon/api/people/users.ts'
import { createAnswering } from '../../daemon/http/answer.ts'
import { HeldBytes } from '../../daemon/http/body.ts'
import type { Response } from '../../daemon/http/exchange.ts'
import { Incoming } from '../../daemon/http/incoming.ts'
import type { Found } from '../../daemon/http/routes.ts'
import { ToLeader, type ToLeaderParts } from '../../daemon/http/to-leader.ts'

test('a caller without an account whose address is over its limit does not reach the leader', async () => {
  const sent: string[] = []
  let left = 2
  const parts = {
    forwarding: { forward: async ({ path }: { path: string }) => void sent.push(path) },
    intake: { held: new HeldBytes(0) },
    files: {},
    countUnknown() {
      if (left-- === 0) throw new Error('too many')
    },
  } as unknown as ToLeaderParts
  const toLeader = new ToLeader(parts)
  const found = { route: { endpoint: users.fetchApiKey, pattern: '/fetch_api_key' }, path: {} } as unknown as Found
  const head = { method: 'POST', url: '/api/v1/fetch_api_key', headers: {}, socket: { remoteAddress: '127.0.0.1' } }
  const call = () => {
    const request = new Incoming(head, 'req-1', false)
    return toLeader.send(found, request, undefined, createAnswering(request, {} as Response))
  }
  await call()
  await call()
  await assert.rejects(call, /too many/)
  assert.equal(sent.length, 2)
})
