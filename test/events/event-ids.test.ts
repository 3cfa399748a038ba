// Event IDs: they grow, follow from the journal, never come again after a crash, and fit into 32 bits.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { SteeredClock } from '../../daemon/clock.ts'
import { hasRoom, idStep, takeId } from '../../daemon/events/event-ids.ts'
import { Queues } from '../../daemon/events/queues.ts'
import { cases } from '../support/cases.ts'
import { registration } from '../support/in-process.ts'

/** One entry: the numbers of its lasting events and of the signals after them, which no journal keeps. */
type Step = { readonly lasting: number; readonly signals: number }

/** A daemon's queues over a log: positions and lasting events are the log, signals are not. */
class Replica {
  position = 1
  readonly ended: string[] = []
  readonly told: number[] = []
  readonly lasting: number[] = []
  readonly queues: Queues

  constructor(step: number | undefined) {
    this.queues = new Queues({
      clock: new SteeredClock(0),
      limits: {
        maxPending: Number.MAX_SAFE_INTEGER,
        maxPendingSize: Number.MAX_SAFE_INTEGER,
        heartbeatMs: () => 50_000,
      },
      remove: ids => this.ended.push(...ids),
      tick: () => {},
    })
    const queue = { ...registration([]), id: 'q', userId: 1, ...(step !== undefined && { step }) }
    this.queues.register(queue, this.position)
  }

  take({ lasting, signals }: Step): void {
    this.position++
    this.#push(lasting, true)
    for (let n = 0; n < signals; n++) {
      if (this.queues.full(announcements(1), this.position)) this.position++
      this.#push(1, false)
    }
  }

  #push(count: number, lasting: boolean): void {
    const { pending } = this.queues.get('q')!
    const before = pending.length
    this.queues.push(this.position, announcements(count), lasting)
    for (const { id } of pending.slice(before)) {
      this.told.push(id)
      if (lasting) this.lasting.push(id)
    }
  }
}

/** What a restart or another replica makes of the same log: lasting events at their positions, and no signal. */
function replayOf(live: Replica): Replica {
  const replica = new Replica(idStep)
  const lasting = live.queues.get('q')!.pending.filter(event => event.lasting)
  for (const position of new Set(lasting.map(event => event.position))) {
    replica.position = position - 1
    replica.take({ lasting: lasting.filter(event => event.position === position).length, signals: 0 })
  }
  return replica
}

const announcements = (count: number) => Array.from({ length: count }, () => ({ to: [1], event: { type: 'news' } }))

const steps = fc.array(
  fc.record({
    lasting: fc.oneof(fc.nat(3), fc.nat(5 * idStep)),
    signals: fc.oneof(fc.nat(3), fc.nat(3 * idStep)),
  }),
  { maxLength: 12 },
)

describe('event IDs', () => {
  for (const step of [idStep, undefined])
    test(`grow without end or repetition, with a step of ${step ?? 10_000}`, () => {
      fc.assert(
        fc.property(steps, story => {
          const replica = new Replica(step)
          for (const part of story) replica.take(part)
          const { told } = replica
          assert.equal(
            told.length,
            story.reduce((sum, { lasting, signals }) => sum + lasting + signals, 0),
          )
          for (let at = 1; at < told.length; at++) assert.ok(told[at]! > told[at - 1]!)
        }),
        { numRuns: cases(30) },
      )
    })

  test('of lasting events are the same at a replica that heard no signal', () => {
    fc.assert(
      fc.property(steps, story => {
        const leader = new Replica(idStep)
        for (const part of story) leader.take(part)
        const replayed = replayOf(leader)
        assert.deepEqual(replayed.lasting, leader.lasting)
      }),
      { numRuns: cases(30) },
    )
  })

  test('told before a crash do not come again, whatever was forgotten', () => {
    fc.assert(
      fc.property(steps, steps, (before, after) => {
        const live = new Replica(idStep)
        for (const part of before) live.take(part)
        const revived = replayOf(live)
        // The empty entry of the start.
        revived.position = live.position + 1
        revived.queues.resume(revived.position)
        revived.told.length = 0
        for (const part of after) revived.take(part)
        const newest = live.told.at(-1) ?? -1
        for (const id of revived.told) assert.ok(id > newest, `${id} after ${newest}`)
      }),
      { numRuns: cases(30) },
    )
  })

  test('stay below 2^31 for 21 million entries, and a queue that comes near is ended', () => {
    const replica = new Replica(idStep)
    replica.queues.resume(replica.position)
    replica.position = 21_000_000
    replica.take({ lasting: 1, signals: 1 })
    assert.ok(replica.told.at(-1)! < 2 ** 31)
    assert.deepEqual(replica.ended, [])
    replica.position = 21_474_830
    for (let n = 0; n < 5; n++) replica.take({ lasting: 1, signals: 0 })
    assert.deepEqual([...new Set(replica.ended)], ['q'])
    assert.ok(replica.told.at(-1)! < 2 ** 31)
  })

  test('are given out at once in a queue of a file with a far newer ID', () => {
    const queue = { step: 1, birth: 5, newest: 2 ** 48 }
    assert.equal(takeId(queue, 9, true), 2 ** 48 + 1)
    assert.ok(hasRoom(queue, 9, 1))
    assert.equal(hasRoom({ ...queue, birth: queue.birth + 1 }, 9, 1), false)
  })
})
