// A queue whose reader never comes: it ends as a whole, and never loses one event out of the middle.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { events } from '../../daemon/api/events.ts'
import { savedSnippets } from '../../daemon/api/messages/saved-snippets.ts'
import { typing } from '../../daemon/api/messages/typing.ts'
import { Boundary } from '../../daemon/boundary.ts'
import { SteeredClock } from '../../daemon/clock.ts'
import { Clients } from '../../daemon/events/adapt.ts'
import type { QueuesParts } from '../../daemon/events/queue.ts'
import { Queues } from '../../daemon/events/queues.ts'
import { Control } from '../support/control.ts'
import { startDaemon } from '../support/daemon.ts'
import { registration } from '../support/in-process.ts'

/** Timers ring late when the process was stopped. */
class StoppableClock {
  readonly setting = { ahead: 0 }
  readonly boundary = new Boundary()
  #time = 0
  #due: { readonly at: number; readonly run: () => void }[] = []

  now = () => this.#time
  elapsed = () => this.#time
  heading = () => this.#time

  after(ms: number, run: () => void): () => void {
    const due = { at: this.#time + ms, run }
    this.#due.push(due)
    return () => {
      this.#due = this.#due.filter(each => each !== due)
    }
  }

  pass(ms: number): void {
    for (const end = this.#time + ms; this.#time < end; ) this.stopFor(Math.min(1000, end - this.#time))
  }

  stopFor(ms: number): void {
    this.#time += ms
    const late = this.#due.filter(({ at }) => at <= this.#time)
    this.#due = this.#due.filter(each => !late.includes(each))
    for (const { run } of late) run()
  }
}

function queuesOf(maxPending: number, maxPendingSize = Number.MAX_SAFE_INTEGER) {
  return queuesBy(new SteeredClock(0), maxPending, maxPendingSize)
}

function queuesBy<T extends QueuesParts['clock']>(
  clock: T,
  maxPending: number,
  maxPendingSize = Number.MAX_SAFE_INTEGER,
) {
  const ended: string[] = []
  const removals: (readonly string[])[] = []
  let position = 1
  const register = (id: string, userId = 1) => {
    queues.register({ ...registration([]), id, userId }, ++position)
    queues.release(position)
  }
  const queues: Queues = new Queues({
    clock,
    limits: { maxPending, maxPendingSize, heartbeatMs: () => 50_000 },
    // The users from 100 on are bots of the user 1.
    ownerOf: userId => (userId < 100 ? userId : 1),
    remove: (ids, reason) => {
      removals.push(ids)
      for (const queueId of ids) {
        ended.push(`${queueId} ${reason}`)
        queues.remove(queueId)
        queues.release(++position)
      }
    },
    tick: () => {},
  })
  queues.resume(position)
  for (const id of ['slow', 'quick']) register(id)
  const tell = () => {
    queues.push(++position, [{ to: [1], event: { type: 'news' } }])
    queues.release(position)
  }
  return { clock, queues, ended, removals, tell, register }
}

/** Characters of one event that `tell` tells. */
const news = '"type":"news"}'.length

describe('a poll that waits', () => {
  test('hears of nothing that is not on disk, not even with its heartbeat', async () => {
    const { clock, queues } = queuesOf(3)
    const answers: string[] = []
    queues.addWaiter(queues.get('quick')!, {
      answer: events => answers.push(events.map(({ body }) => body).join()),
      refuse: assert.fail,
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

describe('a queue that no one reads', () => {
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

  test('is ended when it holds more characters than one queue may', () => {
    const { queues, ended, tell } = queuesOf(1000, 2 * 4 * news)
    for (let i = 0; i < 4; i++) {
      tell()
      queues.forget(queues.get('quick')!, queues.get('quick')!.newest)
    }
    assert.equal(queues.get('slow')!.size, 4 * news)
    assert.deepEqual(ended, [])
    tell()
    assert.deepEqual(ended, ['slow overflowed'])
    assert.ok(queues.get('quick'))
  })

  test('is ended when it is the largest of an account whose queues hold too much together', () => {
    const { queues, ended, tell, register } = queuesOf(1000, 8 * news)
    tell()
    queues.forget(queues.get('quick')!, queues.get('quick')!.newest)
    register('late')
    tell()
    tell()
    assert.deepEqual(ended, [], '3, 2 and 2 of 8 in all, and no more than 4 each')
    tell()
    assert.deepEqual(ended, ['slow overflowed'])
    assert.equal(queues.get('late')!.pending.length, 3, 'the others have room again')
  })

  test('counts for the owner of its bot: many bots have no more room than one', () => {
    const { queues, ended, removals, register } = queuesOf(1000, 8 * news)
    const bots = [101, 102, 103, 104, 105]
    for (const bot of bots) register(`bot ${bot}`, bot)
    let position = 100
    const tellAll = () => {
      queues.push(++position, [{ to: bots, event: { type: 'news' } }])
      queues.release(position)
    }
    tellAll()
    assert.equal(ended.length, 0)
    tellAll()
    assert.deepEqual(ended, ['bot 101 overflowed'])
    bots.push(...Array.from({ length: 100 }, (_, n) => 200 + n))
    for (const bot of bots.slice(5)) register(`bot ${bot}`, bot)
    tellAll()
    assert.deepEqual([removals.length, ended.length], [2, 99], 'all at once: to find each by itself would take long')
    const left = [...queues.values()].filter(({ id }) => id.startsWith('bot'))
    assert.ok(left.length > 0 && left.every(({ pending }) => pending.at(-1)?.position === position), 'none has a gap')
    let size = 0
    for (const queue of queues.values()) size += queue.size
    assert.ok(size <= 8 * news, `${size} characters`)
  })

  test('does not expire because the process was stopped past its time, but after its lifespan from then on', () => {
    const clock = new StoppableClock()
    const { queues, ended } = queuesBy(clock, 3)
    clock.pass(30_000)
    clock.stopFor(900_000)
    assert.deepEqual([ended, queues.size], [[], 2])
    clock.pass(590_000)
    assert.deepEqual(ended, [])
    clock.pass(20_000)
    assert.deepEqual(ended, ['slow expired', 'quick expired'])
  })

  test('expires after its lifespan, and a poll that waits gets its heartbeat before', async () => {
    const { clock, queues, ended } = queuesOf(3)
    const answers: string[] = []
    queues.addWaiter(queues.get('quick')!, {
      answer: events => answers.push(events.map(({ body }) => body).join()),
      refuse: assert.fail,
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

describe('forms of events', () => {
  test('are shared by queues that differ in their event types only, and forgotten with the last queue', () => {
    const clients = new Clients()
    const typed = (...eventTypes: string[]) => ({ ...registration([]), eventTypes })
    const first = clients.take(typed('message'))
    assert.equal(clients.take(typed('message', 'reaction')), first)
    assert.notEqual(clients.take(typed('user_topic', 'muted_topics')), first)
    assert.equal(clients.size, 2)
    clients.release(typed('message'))
    assert.equal(clients.size, 2)
    clients.release(typed('message', 'reaction'))
    clients.release(typed('user_topic', 'muted_topics'))
    assert.equal(clients.size, 0)
  })
})

describe('POST /register by an account that wants too much', () => {
  test('is refused beyond 1,000 queues or with a narrow of more than 2,000 characters; repeated terms and event types that do not exist are dropped', async t => {
    const daemon = await startDaemon(t, { flags: ['--control', '--durability', 'os'] })
    const { owner } = daemon
    const listQueues = async () => {
      const { queues } = await new Control(daemon).call('GET', '/queues')
      return queues as { event_types: string[]; narrow: string[][] }[]
    }
    const narrow = Array.from({ length: 20 }, () => ['topic', 'x'.repeat(100)])
    const long = await owner.refused(events.register, { narrow, fetch_event_types: [] }, 'BAD_REQUEST')
    assert.match(long.msg, /narrow: must have at most 2000 characters in all/)
    const many = [
      ['is', 'unread'],
      ['channel', 'General'],
      ['stream', 'GENERAL'],
      ['topic', 'x'],
      ['topic', 'X '],
    ]
    const repeated = await owner.call(events.register, {
      narrow: [...many, ...many],
      fetch_event_types: [],
    })
    assert.deepEqual((await listQueues())[0]!.narrow, [
      ['is', 'unread'],
      ['stream', 'GENERAL'],
      ['topic', 'X '],
    ])
    await owner.call(events.delete, { queue_id: repeated.queue_id })
    const register = (n: number) =>
      owner.call(events.register, { event_types: ['message', `made-up-${n}`], fetch_event_types: [] })
    for (let made = 0; made < 1000; made += 50)
      await Promise.all(Array.from({ length: 50 }, (_, n) => register(made + n)))
    const { msg } = await owner.refused(events.register, { fetch_event_types: [] }, 'BAD_REQUEST')
    assert.match(msg, /1000 event queues/)
    const queues = await listQueues()
    assert.equal(queues.length, 1000)
    for (const { event_types } of queues) assert.deepEqual(event_types, ['message'])
  })
})

describe('GET /events of a queue with too many events', () => {
  test('is refused as for any queue that is gone; one with as many as may be gives them all', async t => {
    const { owner } = await startDaemon(t, { flags: ['--max-pending', '5'] })
    const register = async (): Promise<string> => {
      const params = { event_types: ['saved_snippets'], fetch_event_types: [] }
      return (await owner.call(events.register, params)).queue_id
    }
    const write = () => owner.call(savedSnippets.create, { title: 'x', content: 'x' })
    const read = (queue_id: string, last_event_id = -1) =>
      owner.call(events.get, { queue_id, last_event_id, dont_block: true })
    const slow = await register()
    await write()
    const slower = await register()
    const reader = await register()
    for (let i = 0; i < 4; i++) await write()
    const full = (await read(slow)).events
    assert.equal(full.length, 5)
    const { events: seen } = await read(reader)
    const last = seen.at(-1)!.id
    await read(reader, last)
    await Promise.all([write(), write()])
    const { msg, ...rest } = await owner.refused(events.get, { queue_id: slow, last_event_id: 0 }, 'BAD_EVENT_QUEUE_ID')
    assert.deepEqual(rest, { result: 'error', code: 'BAD_EVENT_QUEUE_ID', queue_id: slow })
    assert.match(msg, new RegExp(slow))
    await owner.refused(events.delete, { queue_id: slow }, 'BAD_EVENT_QUEUE_ID')
    await owner.refused(events.get, { queue_id: slower, dont_block: true }, 'BAD_EVENT_QUEUE_ID')
    assert.equal((await read(reader, last)).events.length, 2)
    const again = await register()
    await write()
    assert.equal((await read(again)).events.length, 1)
  })
})

test('what a client reads of signals is recorded now and then: another daemon of a cluster keeps them until then', async t => {
  const daemon = await startDaemon(t, { flags: ['--max-pending', '32'] })
  const { owner } = daemon
  const { queue_id } = await owner.call(events.register, { event_types: ['typing'] })
  const recorded = () =>
    readFileSync(join(daemon.data, 'journal.ndjson'), 'utf8')
      .split('\n')
      .filter(line => line.includes('queue.acknowledged')).length
  let last_event_id = -1
  const read = async (signals: number) => {
    for (let n = 0; n < signals; n++) {
      await owner.call(typing.set, { op: 'start', to: [owner.id] })
      const { events: found } = await owner.call(events.get, { queue_id, last_event_id })
      last_event_id = found.at(-1)!.id
    }
    return recorded()
  }
  assert.equal(await read(8), 0)
  assert.equal(await read(1), 1)
  assert.equal(await read(7), 1)
  assert.equal(await read(1), 2)
})
