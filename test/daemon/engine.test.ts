// The engine by itself: what a reply waits for, event IDs after a crash, and the end of an engine in a cluster.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SteeredClock } from '../../daemon/clock.ts'
import type { Fact } from '../../daemon/domain/facts.ts'
import { Refusal } from '../../daemon/domain/refusal.ts'
import { Engine, type EngineCluster } from '../../daemon/engine.ts'
import { idStep } from '../../daemon/events/event-ids.ts'
import { Queues } from '../../daemon/events/queues.ts'
import type { Appended, NewEntry } from '../../daemon/journal/journal.ts'
import { MemoryJournal } from '../../daemon/journal/memory-journal.ts'
import { registration } from '../support/in-process.ts'

const noRoom = new Refusal('There is no room.', { code: 'BAD_REQUEST' })

describe('a refusal', () => {
  test('waits for the flush of the facts it rests on', async () => {
    const journal = new HeldJournal()
    const engine = engineOn(journal)
    const first = engine.run('register', 1, () => ({ facts: [registered('first')], reply: {} }))
    const order: string[] = []
    const refused = Promise.resolve(engine.run('register', 2, () => refuseIf(engine.queues.size > 0)))
    const ends = [
      Promise.resolve(first).then(() => order.push('registered')),
      refused.catch(error => order.push(error === noRoom ? 'refused' : String(error))),
    ]
    await turns()
    assert.deepEqual(order, [], 'nothing is answered before the facts are on disk')
    journal.flush()
    await Promise.all(ends)
    assert.deepEqual(order.sort(), ['refused', 'registered'])
  })

  test('is not given for facts that were never written: the daemon is stopping instead', async () => {
    const journal = new HeldJournal()
    const engine = engineOn(journal)
    const first = engine.run('register', 1, () => ({ facts: [registered('first')], reply: {} }))
    const refused = engine.run('register', 2, () => refuseIf(engine.queues.size > 0))
    journal.fail(new Error('the disk is full'))
    for (const answer of [first, refused]) await assert.rejects(async () => answer, { code: 'SERVER_NOT_READY' })
  })

  test('is immediate when everything is on disk', () => {
    const engine = engineOn(new MemoryJournal<Fact>())
    assert.throws(() => engine.run('register', 1, () => refuseIf(true)), noRoom)
  })
})

describe('a restore', () => {
  test('of an organization in memory makes no text of it, which would take seconds in one turn', async () => {
    const engine = engineOn(new MemoryJournal<Fact>())
    const draft = { id: 1, to: [1], toJSON: () => assert.fail('a text was made') }
    await engine.restore('reset', { drafts: [{ last_id: 1 }, draft] })
    assert.deepEqual(engine.state.drafts.get(1)?.to, [1])
    assert.notEqual(engine.state.drafts.get(1), draft, 'caches are keyed by rows')
  })
})

describe('an engine that lost its cluster', () => {
  test('tells only users who wanted to change something that the change may have been saved', async () => {
    const journal = new HeldJournal()
    const engine = engineOn(journal, { record: async () => {}, reach: async () => true, compare: () => {} })
    await engine.lead()
    const perhapsSaved = /may or may not have been saved/
    const change = engine.run('register', 1, () => ({ facts: [registered('first')], reply: {} }))
    const readers = [
      engine.run('read', 2, () => ({ reply: {} })),
      engine.run('read', 2, () => refuseIf(true)),
      engine.record('get-events', 2, [{ type: 'queue.acknowledged', queueId: 'first', upTo: 0 }]),
      engine.settled(),
    ]
    journal.fail(new Error('another daemon leads the cluster'))
    await assert.rejects(async () => change, { code: 'SERVER_NOT_READY', message: perhapsSaved })
    const later = [() => engine.run('read', 2, () => ({ reply: {} })), () => engine.record('get-events', 2, [])]
    for (const reader of [...readers.map(reader => () => reader), ...later])
      await assert.rejects(
        async () => reader(),
        (error: Refusal) => {
          assert.equal(error.code, 'SERVER_NOT_READY')
          assert.doesNotMatch(error.message, perhapsSaved)
          return true
        },
      )
  })
})

describe('event IDs after a crash', () => {
  test('those of signals that no one remembers are not given out again', async () => {
    const journal = new MemoryJournal<Fact>({ keep: true })
    const first = engineOn(journal)
    await first.boot()
    await first.record('register', 1, [registered('queue')])
    const told = [signal(first), signal(first), signal(first)]
    assert.deepEqual(told, [...new Set(told)], 'each signal has an ID of its own')

    const second = engineOn(journal)
    await second.boot()
    assert.deepEqual(second.queues.get('queue')!.pending, [], 'signals are not journaled')
    const next = signal(second)
    assert.ok(next > Math.max(...told), `${next} was given out before: ${told.join(', ')}`)
  })

  test('two crashes without a fact between them do not repeat an ID either', async () => {
    const journal = new MemoryJournal<Fact>({ keep: true })
    await engineOn(journal).record('register', 1, [registered('queue')])
    const told: number[] = []
    for (let start = 0; start < 3; start++) {
      const engine = engineOn(journal)
      await engine.boot()
      told.push(signal(engine), signal(engine))
    }
    assert.deepEqual(
      told,
      [...new Set(told)].sort((a, b) => a - b),
    )
  })
})

describe('an engine that follows', () => {
  test('refuses what was recorded after it was closed: another engine of the daemon has that', async () => {
    let reached = (_there: boolean) => {}
    const there = new Promise<boolean>(resolve => {
      reached = resolve
    })
    const cluster: EngineCluster = { record: async () => void (await there), reach: () => there, compare: () => {} }
    const engine = engineOn(new MemoryJournal<Fact>(), cluster)
    const calls = [engine.record('register', 1, [registered('queue')]), engine.reach(7)]
    const refused = calls.map(call => assert.rejects(call, { code: 'SERVER_NOT_READY' }))
    await engine.close()
    reached(true)
    await Promise.all(refused)
  })

  test('goes on when the daemon has what was recorded', async () => {
    const cluster: EngineCluster = { record: async () => {}, reach: async position => position < 9, compare: () => {} }
    const engine = engineOn(new MemoryJournal<Fact>(), cluster)
    await engine.record('register', 1, [registered('queue')])
    assert.deepEqual([await engine.reach(7), await engine.reach(9)], [true, false])
  })
})

/** A journal whose appends are durable only when the test says so. */
class HeldJournal extends MemoryJournal<Fact> {
  flush = () => {}
  fail: (error: Error) => void = () => {}
  readonly #durable = new Promise<void>((resolve, reject) => {
    this.flush = resolve
    this.fail = reject
  })

  override append(entry: NewEntry<Fact>): Appended {
    return { ...super.append(entry), durable: this.#durable }
  }
}

function engineOn(journal: MemoryJournal<Fact>, cluster?: EngineCluster): Engine {
  const queues = new Queues({
    clock: new SteeredClock(0),
    limits: { maxPending: 1000, maxPendingSize: 1_000_000, heartbeatMs: () => 50_000 },
    remove: () => {},
    tick: () => {},
  })
  return new Engine({
    journal,
    snapshots: null,
    queues,
    now: () => 0,
    onFailure: () => {},
    onChange: () => {},
    cluster,
  })
}

function registered(id: string): Fact {
  return { type: 'queue.registered', queue: { ...registration([]), id, userId: 1, step: idStep } }
}

function refuseIf(full: boolean): { reply: object } {
  if (full) throw noRoom
  return { reply: {} }
}

/** Sends a signal to the queue and returns the ID of its event. */
function signal(engine: Engine): number {
  engine.run('typing', 1, () => ({ signals: [{ to: [1], event: { type: 'typing' } }], reply: {} }))
  return engine.queues.get('queue')!.pending.at(-1)!.id
}

/** Lets everything run that does not wait for the journal. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise(resolve => setImmediate(resolve))
}
