// Event queues: register, read by long poll, acknowledge, delete.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { bots } from '../../daemon/api/bots/bots.ts'
import { events as api } from '../../daemon/api/events.ts'
import { savedSnippets } from '../../daemon/api/messages/saved-snippets.ts'
import { typing } from '../../daemon/api/messages/typing.ts'
import { idStep } from '../../daemon/events/event-ids.ts'
import { Control } from '../support/control.ts'
import { Caller, launch, sharedDaemon, startDaemon } from '../support/daemon.ts'
import { until } from '../support/until.ts'
import { person } from '../support/world.ts'

interface Heard {
  readonly id: number
  readonly type: string
  readonly [field: string]: unknown
}

async function register(caller: Caller, params: Record<string, unknown> = {}): Promise<string> {
  return (await caller.call(api.register, params)).queue_id
}

/** What is in the queue now, after acknowledging up to that ID. */
async function pending(caller: Caller, queue_id: string, last_event_id?: number): Promise<Heard[]> {
  const ack = last_event_id === undefined ? {} : { last_event_id }
  return (await caller.call(api.get, { queue_id, dont_block: true, ...ack })).events as Heard[]
}

async function snippet(caller: Caller, title = 'x'): Promise<number> {
  return (await caller.call(savedSnippets.create, { title, content: 'x' })).saved_snippet_id
}

const titles = (events: readonly Heard[]) => events.map(event => (event.saved_snippet as { title: string }).title)

function rising(ids: readonly number[]): void {
  for (let i = 1; i < ids.length; i++) assert.ok(ids[i]! > ids[i - 1]!, `${ids[i]} comes after ${ids[i - 1]}`)
}

describe('POST /register', () => {
  const daemon = sharedDaemon()

  test('gives a queue, from which nothing has been read', async () => {
    const reply = await daemon().owner.call(api.register, {})
    assert.match(reply.queue_id, /^[\w-]{8,}$/)
    assert.equal(reply.last_event_id, -1)
    assert.equal(reply.svc_feature_level, 417)
    assert.notEqual(await register(daemon().owner), reply.queue_id)
  })

  test('gives the state that belongs to the wanted event types', async () => {
    const { owner } = daemon()
    const all = (await owner.call(api.register, {})) as Record<string, unknown>
    const { saved_snippets: list } = await owner.call(savedSnippets.list, {})
    assert.deepEqual(all.saved_snippets, list)
    const typed = (await owner.call(api.register, { event_types: ['typing'] })) as Record<string, unknown>
    assert.equal(typed.saved_snippets, undefined)
    const fetched = { event_types: ['typing'], fetch_event_types: ['saved_snippets'] }
    assert.deepEqual(((await owner.call(api.register, fetched)) as Record<string, unknown>).saved_snippets, list)
  })

  test('wrong parameters are refused, and nothing is registered', async () => {
    const { owner } = daemon()
    const wrong = [{ event_types: 'x' }, { queue_lifespan_secs: -1 }, { narrow: [['is']] }, { client_capabilities: [] }]
    for (const params of wrong) await owner.refused(api.register, params, 'BAD_REQUEST')
  })

  test('a user may have as many queues as the daemon is told to allow', async t => {
    const small = await startDaemon(t, { flags: ['--max-queues', '3'] })
    const [first] = await Promise.all([1, 2, 3].map(() => register(small.owner)))
    assert.match((await small.owner.refused(api.register, {}, 'BAD_REQUEST')).msg, /3 event queues/)
    await small.owner.refused(api.get, { dont_block: true }, 'BAD_REQUEST')
    const { api_key } = await small.owner.call(bots.create, { full_name: 'A bot', short_name: 'b' })
    const bot = new Caller(small.url, 'b-bot@example.com', api_key)
    await bot.refused(api.register, {}, 'BAD_REQUEST')
    await register(await person(small, 'amy'))
    await small.owner.call(api.delete, { queue_id: first! })
    await register(bot)
    await small.owner.refused(api.register, {}, 'BAD_REQUEST')
  })
})

describe('GET /events', () => {
  // The clock is frozen: every answer is immediate, and heartbeats come only when the test advances the clock.
  const daemon = sharedDaemon({ flags: ['--heartbeat', '1', '--control', '--clock', 'frozen@2030-01-01T00:00:00Z'] })
  const control = () => new Control(daemon())

  test('waits until there is an event, and answers with it at once', async () => {
    const { owner } = daemon()
    const queue_id = await register(owner, { event_types: ['saved_snippets'] })
    const poll = owner.call(api.get, { queue_id, last_event_id: -1 })
    await control().waiting(queue_id)
    await snippet(owner, 'awaited')
    const reply = await poll
    assert.deepEqual(titles(reply.events as Heard[]), ['awaited'])
    assert.equal(reply.queue_id, queue_id)
  })

  test('a heartbeat comes when nothing else does, has an ID, and must be acknowledged', async () => {
    const { owner } = daemon()
    const queue_id = await register(owner, { event_types: ['saved_snippets'] })
    const poll = owner.call(api.get, { queue_id, last_event_id: -1 })
    await control().waiting(queue_id)
    await control().advance('900ms')
    await control().waiting(queue_id)
    await control().advance('100ms')
    const { events } = await poll
    assert.equal(events.length, 1)
    const [beat] = events as Heard[]
    assert.deepEqual(beat, { id: beat!.id, type: 'heartbeat' })
    assert.deepEqual(await pending(owner, queue_id), [beat])
    assert.deepEqual(await pending(owner, queue_id, beat!.id), [])
    await snippet(owner)
    const [next] = await pending(owner, queue_id)
    rising([beat!.id, next!.id])
  })

  test('no event types at all leave heartbeats only', async () => {
    const { owner } = daemon()
    const queue_id = await register(owner, { event_types: [] })
    await snippet(owner)
    assert.deepEqual(await pending(owner, queue_id), [])
    const poll = owner.call(api.get, { queue_id })
    await control().waiting(queue_id)
    await control().advance('1s')
    const { events } = await poll
    assert.deepEqual(
      events.map(({ type }) => type),
      ['heartbeat'],
    )
  })

  test('with dont_block it answers at once, with nothing if there is nothing', async () => {
    assert.deepEqual(await pending(daemon().owner, await register(daemon().owner), -1), [])
  })

  test('everything left comes in one answer, ascending, in the order it happened', async () => {
    const { owner } = daemon()
    const queue_id = await register(owner, { event_types: ['saved_snippets'] })
    const id = await snippet(owner, 'a')
    await owner.call(savedSnippets.edit, { saved_snippet_id: id, title: 'b' })
    await owner.call(savedSnippets.delete, { saved_snippet_id: id })
    const events = await pending(owner, queue_id)
    assert.deepEqual(
      events.map(({ op }) => op),
      ['add', 'update', 'remove'],
    )
    rising([-1, ...events.map(event => event.id)])
  })

  test('without an acknowledgement the same events come again; with one they are gone', async () => {
    const { owner } = daemon()
    const queue_id = await register(owner, { event_types: ['saved_snippets'] })
    for (const title of ['1', '2', '3']) await snippet(owner, title)
    const events = await pending(owner, queue_id, -1)
    assert.deepEqual(await pending(owner, queue_id, -1), events)
    assert.deepEqual(await pending(owner, queue_id), events)
    assert.deepEqual(titles(await pending(owner, queue_id, events[0]!.id)), ['2', '3'])
    // Not saying anything acknowledges nothing, also when something was acknowledged before.
    assert.deepEqual(titles(await pending(owner, queue_id)), ['2', '3'])
    assert.deepEqual(titles(await pending(owner, queue_id, events[0]!.id)), ['2', '3'])
    assert.deepEqual(await pending(owner, queue_id, events[2]!.id), [])
  })

  test('an ID between two events acknowledges those before it', async () => {
    const { owner } = daemon()
    const queue_id = await register(owner, { event_types: ['saved_snippets'] })
    for (const title of ['1', '2']) await snippet(owner, title)
    const events = await pending(owner, queue_id)
    assert.deepEqual(titles(await pending(owner, queue_id, events[1]!.id - 1)), ['2'])
  })

  test('an ID below what is gone, or above what ever was, is refused and harms nothing', async () => {
    const { owner } = daemon()
    const queue_id = await register(owner, { event_types: ['saved_snippets'] })
    for (const title of ['1', '2']) await snippet(owner, title)
    const [first, second] = await pending(owner, queue_id)
    const refused = (last_event_id: number) =>
      owner.refused(api.get, { queue_id, last_event_id, dont_block: true }, 'BAD_REQUEST')
    assert.match((await refused(second!.id + 1)).msg, /^last_event_id/)
    await refused(Number.MAX_SAFE_INTEGER)
    await pending(owner, queue_id, first!.id)
    for (const low of [first!.id - 1, 0, -1, -5]) assert.match((await refused(low)).msg, /^last_event_id/)
    assert.deepEqual(titles(await pending(owner, queue_id, first!.id)), ['2'])
  })

  test('a second poll takes over, and the first is answered with nothing', async () => {
    const { owner } = daemon()
    const queue_id = await register(owner, { event_types: ['saved_snippets'] })
    const first = owner.call(api.get, { queue_id })
    await control().waiting(queue_id)
    const second = owner.call(api.get, { queue_id })
    assert.deepEqual((await first).events, [])
    await snippet(owner, 'for the second')
    assert.deepEqual(titles((await second).events as Heard[]), ['for the second'])
  })

  test('another account’s queue looks like one that never was', async () => {
    const queue_id = await register(daemon().owner, { event_types: ['saved_snippets'] })
    const bob = await person(daemon(), 'bob')
    for (const id of [queue_id, 'never-was', '', '__proto__']) {
      const {
        msg,
        queue_id: echoed,
        ...rest
      } = await bob.refused(api.get, { queue_id: id, dont_block: true }, 'BAD_EVENT_QUEUE_ID')
      assert.equal(echoed, id)
      assert.ok(msg.includes(id))
      assert.deepEqual(rest, { result: 'error', code: 'BAD_EVENT_QUEUE_ID' })
      await bob.refused(api.delete, { queue_id: id }, 'BAD_EVENT_QUEUE_ID')
    }
    assert.deepEqual(await pending(daemon().owner, queue_id), [])
  })

  test('without a queue_id one is registered from the other parameters', async () => {
    const { owner } = daemon()
    const { events, queue_id } = await owner.call(api.get, { event_types: ['saved_snippets'] })
    assert.deepEqual(events, [])
    await owner.call(typing.set, { op: 'start', to: [owner.id] })
    await snippet(owner, 'heard')
    assert.deepEqual(titles(await pending(owner, queue_id)), ['heard'])
  })

  test('events go to those concerned, and to each of their queues', async () => {
    const { owner } = daemon()
    const carl = await person(daemon(), 'carl')
    const queues = [
      await register(owner, { event_types: ['typing'] }),
      await register(owner, { event_types: ['typing'] }),
    ]
    const other = await register(carl, { event_types: ['typing', 'saved_snippets'] })
    await snippet(owner, 'not for carl')
    await owner.call(typing.set, { op: 'start', to: [carl.id] })
    for (const queue_id of queues) assert.equal((await pending(owner, queue_id)).length, 1)
    assert.deepEqual(
      (await pending(carl, other)).map(({ type }) => type),
      ['typing'],
    )
  })

  test('a client that goes away while it waits loses nothing', async () => {
    const { owner } = daemon()
    const queue_id = await register(owner, { event_types: ['saved_snippets'] })
    const gone = new AbortController()
    const poll = owner.raw('GET', `/api/v1/events?queue_id=${queue_id}`, { signal: gone.signal })
    await control().waiting(queue_id)
    gone.abort()
    await assert.rejects(poll)
    await until(async () => {
      const { queues } = await control().call('GET', '/queues')
      return queues.every((queue: { waiting: boolean }) => !queue.waiting)
    })
    await snippet(owner, 'kept')
    assert.deepEqual(titles(await pending(owner, queue_id)), ['kept'])
  })

  test('many writers and one reader: every event once, in order, none missing', async () => {
    const { owner } = daemon()
    const queue_id = await register(owner, { event_types: ['saved_snippets'] })
    const made = Promise.all(Array.from({ length: 60 }, (_, index) => snippet(owner, `${index}`)))
    const heard: Heard[] = []
    for (let last = -1; heard.length < 60; ) {
      const { events } = await owner.call(api.get, { queue_id, last_event_id: last })
      heard.push(...(events as Heard[]).filter(({ type }) => type !== 'heartbeat'))
      last = events.at(-1)?.id ?? last
    }
    rising(heard.map(({ id }) => id))
    const ids = heard.map(event => (event.saved_snippet as { id: number }).id)
    assert.deepEqual(
      ids,
      [...ids].sort((a, b) => a - b),
    )
    assert.deepEqual(
      ids,
      (await made).sort((a, b) => a - b),
    )
  })

  test('more signals than there are IDs between two entries keep rising IDs', async () => {
    const { owner } = daemon()
    const queue_id = await register(owner, { event_types: ['typing'] })
    let last = -1
    for (let round = 0; round < 3; round++) {
      await Promise.all(
        Array.from({ length: 10 }, async () => {
          for (let n = 0; n < idStep / 10; n++) await owner.call(typing.set, { op: 'start', to: [owner.id] })
        }),
      )
      const events = await pending(owner, queue_id, last)
      assert.equal(events.length, idStep)
      rising([last, ...events.map(({ id }) => id)])
      last = events.at(-1)!.id
    }
  })
})

describe('DELETE /events', () => {
  const daemon = sharedDaemon({ flags: ['--control'] })

  test('ends the queue, and answers a poll that waits on it', async () => {
    const { owner } = daemon()
    const queue_id = await register(owner)
    const poll = owner.call(api.get, { queue_id })
    await new Control(daemon()).waiting(queue_id)
    await owner.call(api.delete, { queue_id })
    assert.deepEqual((await poll).events, [])
    await owner.refused(api.get, { queue_id }, 'BAD_EVENT_QUEUE_ID')
    await owner.refused(api.delete, { queue_id }, 'BAD_EVENT_QUEUE_ID')
    await owner.refused(api.delete, {}, 'REQUEST_VARIABLE_MISSING')
  })
})

describe('the life of a queue', () => {
  test('it expires when no one polls for its lifespan, and not while someone waits or keeps asking', async t => {
    const flags = ['--heartbeat', '4', '--control', '--clock', 'frozen@2030-01-01T00:00:00Z']
    const daemon = await startDaemon(t, { flags })
    const control = new Control(daemon)
    const { owner } = daemon
    const lived = { queue_lifespan_secs: 1, event_types: ['saved_snippets'] }
    const [idle, waiting, asked] = [
      await register(owner, lived),
      await register(owner, lived),
      await register(owner, lived),
    ]
    const poll = owner.call(api.get, { queue_id: waiting })
    await control.waiting(waiting)
    for (let round = 0; round < 12; round++) {
      await control.advance('250ms')
      assert.deepEqual(await pending(owner, asked), [])
    }
    const { queue_id } = await owner.refused(api.get, { queue_id: idle, dont_block: true }, 'BAD_EVENT_QUEUE_ID')
    assert.equal(queue_id, idle)
    await snippet(owner, 'alive')
    assert.deepEqual(titles((await poll).events as Heard[]), ['alive'])
    await owner.call(api.delete, { queue_id: waiting })
    await owner.call(api.delete, { queue_id: asked })
  })

  test('it survives kill -9 with what was not acknowledged, without what was, and its IDs rise on', async () => {
    const data = mkdtempSync(join(tmpdir(), 'natter-queues-'))
    let daemon = await launch(data)
    try {
      const queue_id = await register(daemon.owner)
      const deleted = await register(daemon.owner)
      for (const title of ['1', '2', '3']) await snippet(daemon.owner, title)
      await daemon.owner.call(typing.set, { op: 'start', to: [daemon.owner.id] })
      const before = await pending(daemon.owner, queue_id)
      assert.equal(before.length, 4)
      assert.deepEqual(titles((await pending(daemon.owner, queue_id, before[0]!.id)).slice(0, 2)), ['2', '3'])
      await daemon.owner.call(api.delete, { queue_id: deleted })
      for (let round = 0; round < 2; round++) {
        await daemon.kill()
        daemon = await launch(data)
        // The typing signal is forgotten; the rest is there under the same IDs.
        assert.deepEqual(await pending(daemon.owner, queue_id), before.slice(1, 3))
      }
      // A client may have seen the signal before the crash, and acknowledge it now.
      assert.deepEqual(await pending(daemon.owner, queue_id, before[3]!.id), [])
      await snippet(daemon.owner, '4')
      const after = await pending(daemon.owner, queue_id, before[3]!.id)
      assert.deepEqual(titles(after), ['4'])
      rising([before[3]!.id, after[0]!.id])
      await daemon.owner.refused(api.get, { queue_id: deleted, dont_block: true }, 'BAD_EVENT_QUEUE_ID')
      await daemon.stop()
    } finally {
      daemon.process.kill('SIGKILL')
      rmSync(data, { recursive: true, force: true })
    }
  })

  test('an ID that a signal had before a crash is not given to another after it', async () => {
    const data = mkdtempSync(join(tmpdir(), 'natter-queues-'))
    let daemon = await launch(data)
    try {
      const queue_id = await register(daemon.owner, { event_types: ['typing'] })
      let last = -1
      for (let round = 0; round < 3; round++) {
        if (round > 0) {
          await daemon.kill()
          daemon = await launch(data)
        }
        for (let n = 0; n < 3; n++) await daemon.owner.call(typing.set, { op: 'start', to: [daemon.owner.id] })
        const ids = (await pending(daemon.owner, queue_id, last)).map(({ id }) => id)
        assert.equal(ids.length, 3)
        rising([last, ...ids])
        last = ids.at(-1)!
      }
    } finally {
      daemon.process.kill('SIGKILL')
      rmSync(data, { recursive: true, force: true })
    }
  })
})
