// Polls at a daemon of a cluster that does not know the queue. The engine is a stand-in.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { QueueEndpoints } from '../../daemon/http/long-poll.ts'

/** A poll of a queue that the daemon has only if catching up brings it. */
function pollUnknown(catchUp: 'brings it' | 'brings nothing' | 'fails' | 'ends the world') {
  const queue = { id: 'q', userId: 7, acknowledged: -1, newest: -1, pending: [] }
  const queues = new Map<string, object>()
  const bodies: string[] = []
  const closed = new Error('closed')
  const engine = {
    queues: { get: (id: string) => queues.get(id), touch() {}, ready: () => [] },
    settled: async () => {},
    mustBeOpen() {
      if (catchUp === 'ends the world') throw closed
    },
  }
  const forwarding = {
    async catchUp() {
      if (catchUp === 'brings it') queues.set('q', queue)
      return catchUp !== 'fails'
    },
  }
  const parts = { engine, resources: [], maxQueuesPerUser: 1, forwarding }
  const raw = { writeHead() {}, end: (body: string) => bodies.push(body) }
  const call = {
    ctx: { actor: { id: 7 }, dialect: 'spec' },
    answering: { raw, id: 'x', headers: [], dialect: 'spec' },
    ignored: [],
  }
  const polled = new QueueEndpoints(parts as never).get(call as never, { queue_id: 'q', dont_block: true } as never)
  return { polled, bodies, closed }
}

test('a queue that is newer than what the daemon has is polled when the daemon has caught up', async () => {
  const { polled, bodies } = pollUnknown('brings it')
  await polled
  assert.equal(JSON.parse(bodies[0]!).queue_id, 'q')
})

test('only a daemon that has caught up says that there is no such queue', async () => {
  await assert.rejects(pollUnknown('brings nothing').polled, { code: 'BAD_EVENT_QUEUE_ID' })
  await assert.rejects(pollUnknown('fails').polled, { code: 'SERVER_NOT_READY', status: 503, retryAfter: 1 })
  const { polled, closed } = pollUnknown('ends the world')
  await assert.rejects(polled, closed)
})
