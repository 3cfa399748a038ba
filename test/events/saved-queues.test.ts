// Queues in snapshots and at the start: each text of an event is kept once, and nothing is done for queues that are gone.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SteeredClock } from '../../daemon/clock.ts'
import type { Fact } from '../../daemon/domain/facts.ts'
import { Engine } from '../../daemon/engine.ts'
import { idStep } from '../../daemon/events/event-ids.ts'
import { Queues } from '../../daemon/events/queues.ts'
import { queuesOfRows } from '../../daemon/events/saved-queues.ts'
import { MemoryJournal } from '../../daemon/journal/memory-journal.ts'
import { registration } from '../support/in-process.ts'

function newQueues(): Queues {
  return new Queues({
    clock: new SteeredClock(0),
    limits: { maxPending: Number.MAX_SAFE_INTEGER, maxPendingSize: Number.MAX_SAFE_INTEGER, heartbeatMs: () => 50_000 },
    remove: () => {},
    tick: () => {},
  })
}

const owned = (id: string, userId = 1) => ({ ...registration([]), id, userId, step: idStep })
const registered = (id: string): Fact => ({ type: 'queue.registered', queue: owned(id) })

describe('queues in a snapshot', () => {
  const queues = newQueues()
  for (let n = 0; n < 50; n++) queues.register(owned(`queue ${n}`), n + 1)
  for (let n = 0; n < 200; n++) queues.push(100 + n, [{ to: [1], event: { type: 'news', text: `${n} `.repeat(100) } }])
  queues.push(400, [{ to: [1], event: { type: 'typing' } }], false)
  queues.push(401, [{ to: [1], event: { type: 'bot' }, secretsOf: 7 }])
  const rows = JSON.parse(JSON.stringify([...queues.save()]))

  test('keep the text of an event once, however many queues wait for it', () => {
    assert.equal(rows.filter((row: unknown) => typeof row === 'string').length, 202)
    const bodies = 200 * 300
    const references = 50 * 202 * 30
    assert.ok(JSON.stringify(rows).length < 2 * bodies + references)
  })

  test('come back as they were, and share their texts', () => {
    const loaded = newQueues()
    loaded.load(rows)
    for (const queue of queues.values()) {
      const { waiter, client, lastSeen, ...kept } = loaded.get(queue.id)!
      assert.deepEqual(kept, Object.fromEntries(Object.entries(queue).filter(([name]) => name in kept)))
    }
    assert.deepEqual(JSON.parse(JSON.stringify([...loaded.save()])), rows)
  })

  test('that refer to a text which is missing are refused', () => {
    assert.throws(() => [...queuesOfRows(rows.slice(1))], /event text 201, which is missing/)
  })
})

describe('a start', () => {
  test('tells nothing to queues that are gone by its end, and everything to those that live', async () => {
    const journal = new MemoryJournal<Fact>({ keep: true })
    const engineOf = (queues: Queues) =>
      new Engine({ journal, snapshots: null, queues, now: () => 0, onFailure: assert.fail, onChange: () => {} })
    const first = newQueues()
    const engine = engineOf(first)
    await engine.boot()
    const snippet = (id: number): Fact => ({
      type: 'saved-snippet.created',
      snippet: { id, userId: 1, title: 't', content: 'x', dateCreated: 0 },
    })
    await engine.record('test', null, [registered('gone')])
    for (let id = 1; id <= 100; id++) await engine.record('test', null, [snippet(id)])
    assert.equal(first.get('gone')?.pending.length, 100)
    await engine.record('test', null, [{ type: 'queue.removed', queueId: 'gone', reason: 'expired' }])
    await engine.record('test', null, [snippet(101), registered('alive'), snippet(102)])
    const second = newQueues()
    let pushes = 0
    const push = second.push.bind(second)
    second.push = (...args) => {
      pushes++
      push(...args)
    }
    await engineOf(second).boot()
    assert.equal(pushes, 1)
    assert.deepEqual(
      [...second.values()].map(({ id, pending }) => [id, pending.length]),
      [['alive', 1]],
    )
  })
})
