// A queue whose reader never comes: it ends as a whole, and never loses one event out of the middle.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SteeredClock } from '../daemon/clock.ts'
import type { QueueFact } from '../daemon/domain/facts.ts'
import { Queues } from '../daemon/events/queues.ts'
import { registration } from './support/in-process.ts'

function queuesOf(maxPending: number) {
  const clock = new SteeredClock(0)
  const ended: string[] = []
  let position = 1
  const take = (fact: QueueFact) => {
    queues.apply(++position, fact)
    queues.release(position)
  }
  const queues: Queues = new Queues({
    clock,
    limits: { maxPending, heartbeatMs: () => 50_000 },
    remove: (ids, reason) => {
      for (const queueId of ids) {
        ended.push(`${queueId} ${reason}`)
        take({ type: 'queue.removed', queueId, reason })
      }
    },
    tick: () => {},
  })
  queues.resume(position)
  for (const id of ['slow', 'quick']) take({ type: 'queue.registered', queue: { ...registration([]), id, userId: 1 } })
  const tell = () => {
    queues.push(++position, [{ to: [1], event: { type: 'news', at: position } }])
    queues.release(position)
  }
  return { clock, queues, ended, tell }
}

describe('a poll that waits', () => {
  test('hears of nothing that is not on disk, not even with its heartbeat', async () => {
    const { clock, queues } = queuesOf(3)
    const answers: string[] = []
    queues.park(queues.get('quick')!, {
      answer: (_queue, events) => answers.push(events.map(({ body }) => body).join()),
    })
    queues.push(10, [{ to: [1], event: { type: 'news' } }])
    await clock.moveTo(
      () => 55_000,
      async () => {},
    )
    assert.deepEqual(answers, [])
    queues.release(10)
    assert.deepEqual(answers, ['"type":"news"}'])
  })
})

describe('a queue that nobody reads', () => {
  test('is ended when it has too many events; others go on, with every event in order', () => {
    const { queues, ended, tell } = queuesOf(3)
    for (let i = 0; i < 3; i++) tell()
    const ids = queues.get('slow')!.pending.map(event => event.id)
    assert.deepEqual(
      ids,
      [...ids].sort((a, b) => a - b),
    )
    assert.equal(ids.length, 3)
    queues.forget(queues.get('quick')!, queues.get('quick')!.newest)
    tell()
    assert.deepEqual(ended, ['slow overflowed'])
    assert.equal(queues.get('slow'), undefined)
    assert.equal(queues.ready(queues.get('quick')!).length, 1)
    for (let i = 0; i < 2; i++) tell()
    assert.deepEqual(ended, ['slow overflowed'])
  })

  test('expires after its lifespan, and a poll that waits gets its heartbeat before', async () => {
    const { clock, queues, ended } = queuesOf(3)
    const answers: string[] = []
    queues.park(queues.get('quick')!, {
      answer: (_queue, events) => answers.push(events.map(({ body }) => body).join()),
    })
    await clock.moveTo(
      () => 45_000,
      async () => {},
    )
    assert.deepEqual(answers, [])
    await clock.moveTo(
      () => 55_000,
      async () => {},
    )
    assert.deepEqual(answers, ['"type":"heartbeat"}'])
    await clock.moveTo(
      () => 602_000,
      async () => {},
    )
    assert.deepEqual(ended, ['slow expired'])
    await clock.moveTo(
      () => 660_000,
      async () => {},
    )
    assert.deepEqual(ended, ['slow expired', 'quick expired'])
  })
})
