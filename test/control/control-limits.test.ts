// Limits on what a program with the token of a space can leave behind in the control plane: waits, faults and recordings have limits.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { events } from '../../daemon/api/events.ts'
import { Boundary } from '../../daemon/boundary.ts'
import { SteeredClock } from '../../daemon/clock.ts'
import type { Call } from '../../daemon/control/calls.ts'
import { ControlPlane } from '../../daemon/control/control-plane.ts'
import { Deliveries } from '../../daemon/control/deliveries.ts'
import { Faults, pollerOf } from '../../daemon/control/faults.ts'
import { Live } from '../../daemon/control/live.ts'
import { Recent, Slices } from '../../daemon/control/recent.ts'
import { Findings } from '../../daemon/control/strict.ts'
import { explainToAll } from '../../daemon/control/why.ts'
import type { Fact } from '../../daemon/domain/facts.ts'
import { roles } from '../../daemon/domain/model/roles.ts'
import { RowHistory } from '../../daemon/domain/model/row-history.ts'
import type { WebhookDelivery } from '../../daemon/domain/model/rows/messages.ts'
import { type Bot, type Group, State } from '../../daemon/domain/model/state.ts'
import { Refusal } from '../../daemon/domain/refusal.ts'
import type { Keys } from '../../daemon/domain/resource.ts'
import type { Engine } from '../../daemon/engine.ts'
import type { KnownCall } from '../../daemon/http/exchange.ts'
import { Control } from '../support/control.ts'
import { sharedDaemon } from '../support/daemon.ts'
import { World } from '../support/in-process.ts'
import { until } from '../support/until.ts'

/** Of an engine that can do no more than this. */
function planeOf(engine: Partial<Engine>): ControlPlane {
  const parts = {
    engine: { boundary: new Boundary(), keepFiles: () => {}, ...engine },
    clock: new SteeredClock(0),
    quiet: async () => {},
  }
  return new ControlPlane(parts as unknown as ConstructorParameters<typeof ControlPlane>[0])
}

describe('the control plane', () => {
  const daemon = sharedDaemon({ flags: ['--memory'] })

  test('has 1,000 waits at a time, and room again when they end', async () => {
    const recent = new Recent<{ id: number }>(10, new Boundary())
    const wish = { fits: () => false, size: 0, characters: 0, isTooCostly: false }
    const waits = Array.from({ length: 1000 }, () => recent.wait(wish, 0, 60_000))
    await assert.rejects(recent.wait(wish, 0, 60_000), /1000 waits are in progress; let some of them end/)
    recent.end()
    await Promise.all(waits)
    const long = { ...wish, characters: 3 * 1024 * 1024 }
    const other = new Recent<{ id: number }>(10, new Boundary())
    const first = other.wait(long, 0, 60_000)
    await assert.rejects(other.wait(long, 0, 60_000), /waits in progress are too long together; let some of them end/)
    other.end()
    await first
    assert.equal(await recent.wait(wish, 0, 0), undefined)
  })

  test('has 100 calls at a time that wait for any change', async () => {
    const live = new Live([], new Boundary())
    const waits = Array.from({ length: 100 }, () => live.next(60_000))
    await assert.rejects(live.next(60_000), /100 calls already wait for a change/)
    live.end()
    await Promise.all(waits)
  })

  test('keeps findings of one space beside those of others and of the daemon', () => {
    const all = new Findings()
    const call = { id: 1, user: null, user_agent: 'x', endpoint: 'y' } as unknown as Call
    const find = (from: Findings, says: string, count: number) =>
      from.add(
        call,
        Array.from({ length: count }, (_, n) => ({ kind: 'ignored', parameter: `x${n}`, says })),
      )
    find(all.ofSpace('a'), 'of a', 1500)
    find(all.ofSpace('b'), 'of b', 50)
    find(all, 'own', 1000)
    const kept = (space: string | null) => all.list().filter(finding => finding.space === space).length
    assert.deepEqual(['a', 'b', null].map(kept), [100, 50, 1000])
    assert.equal(all.leftOut, 1400)
  })

  test('keeps as many items of a log as their size allows, and the newest of any size', () => {
    const recent = new Recent<{ id: number }>(10, new Boundary(), 100)
    const add = (size: number) => recent.add(id => ({ id }), size)
    for (let i = 0; i < 1000; i++) {
      add(30)
      assert.ok(recent.since().length < 7)
    }
    assert.equal(recent.since().at(-1)!.id, 1000)
    add(1000)
    assert.deepEqual(recent.since(), [{ id: 1001 }])
    for (let i = 0; i < 15; i++) add(0)
    assert.equal(recent.since().length, 10)
    const grown = add(0)
    recent.resize(grown, 1000)
    assert.deepEqual(recent.since(), [grown])
  })

  test('keeps 8 Mi characters of mails, the newest', () => {
    const plane = planeOf({})
    const text = 'x'.repeat(1024 * 1024)
    for (let n = 1; n <= 40; n++) plane.post([{ to: 'amy@example.com', subject: String(n), text }])
    const kept = plane.outbox.since()
    assert.ok(kept.length < 16, `${kept.length} are kept`)
    assert.equal(kept.at(-1)!.subject, '40')
  })

  test('keeps 500,000 rows of snapshots, or one that has more, and has room again when one is removed', () => {
    const rows = Array(300_000).fill({})
    const { snapshots } = planeOf({ sections: () => ({ users: rows }) })
    snapshots.save('one')
    snapshots.save('one')
    assert.throws(
      () => snapshots.save('two'),
      /name: all snapshots together have more than 500000 rows; remove one first/,
    )
    snapshots.remove('one')
    for (let n = 0; n < 300_000; n++) rows.push({})
    snapshots.save('two')
  })

  test('ends a move of the clock with its world', async () => {
    const refusal = new Refusal('This space has been deleted.', { code: 'SERVER_NOT_READY' })
    const plane = planeOf({ settled: async () => {}, mustBeOpen: () => assert.fail(refusal) })
    plane.clock.after(1000, () => {})
    await assert.rejects(
      plane.moveTo(now => now + 2000),
      refusal,
    )
    assert.equal(plane.clock.now(), 1000)
  })

  test('keeps 4 Mi characters of requests to bots, the newest of each delivery', () => {
    const state = new State()
    const deliveries = new Deliveries({ state, boundary: new Boundary() } as Engine, {} as Keys)
    const body = 'x'.repeat(1024 * 1024)
    const send = (id: number) => {
      const delivery = { id, botId: 1 } as WebhookDelivery
      if (!state.webhookDeliveries.get(id)) state.webhookDeliveries.put(delivery)
      deliveries.sending(delivery, { url: 'http://bot', contentType: 'application/x-www-form-urlencoded', body })
    }
    for (const id of [1, 2, 3, 4, 3, 3, 5]) send(id)
    const kept = deliveries.since().filter(({ request }) => request)
    assert.deepEqual(
      kept.map(({ id }) => id),
      [2, 3, 4, 5],
    )
    assert.equal(kept[0]!.request!.body, body)
  })

  test('explains a message to all accounts in slices, with a look at those deliveries only that called them for it', async t => {
    const world = new World()
    const { state, owner } = world
    const bot = world.join(roles.member, { bot: { type: 3, ownerId: owner.id } as Bot })
    const { id } = world.run(owner, 'send-message', { type: 'direct', to: [bot.id], content: 'x' })
    state.webhookDeliveries.remove(1)
    let looks = 0
    const add = (delivery: number, botId: number, messageId: number) =>
      state.webhookDeliveries.put({
        ...({ id: delivery, botId, messageId, attempts: 1, error: 'no' } as WebhookDelivery),
        get status(): 'failed' {
          looks++
          return 'failed'
        },
      })
    for (let n = 1; n <= 11_000; n++) add(n, n % 2 === 0 ? bot.id : owner.id, n === 5000 ? id : id + n)
    const queues = { values: () => [] } as unknown as Engine['queues']
    const plane = planeOf({ state, queues, position: 0 })
    let now = 0
    // Every look at the clock finds that a slice is over.
    t.mock.method(performance, 'now', () => (now += 1000))
    let explained: Awaited<ReturnType<typeof explainToAll>> | undefined
    const explaining = explainToAll(plane, id).then(reply => {
      explained = reply
    })
    let turns = 0
    for (; !explained; turns++) await nextTurn()
    await explaining
    assert.equal(looks, 1)
    assert.ok(turns >= explained.steps.length && explained.steps.length > 1, `${turns} turns`)
    assert.match(explained.steps.at(-1)!.says, /^The server of .* was called for message 1: failed\.$/)
    const listed = plane.deliveries.since()
    assert.deepEqual([listed.length, listed[0]!.id, listed.at(-1)!.id], [10_000, 1001, 11_000])
  })

  test('looks only at the deliveries that an entry changes, for waits in progress', async () => {
    const state = new State()
    const deliveries = new Deliveries({ state, boundary: new Boundary() } as Engine, {} as Keys)
    for (let id = 1; id <= 100; id++) state.webhookDeliveries.put({ id, botId: 1 } as WebhookDelivery)
    const seen: number[] = []
    const wish = { size: 0, characters: 0, isTooCostly: false, fits: ({ id }: { id: number }) => seen.push(id) === 0 }
    const waiting = deliveries.wait(wish, 90, 60_000)
    await until(() => seen.length === 10)
    for (const fact of [
      { type: 'user.deactivated', userId: 1 },
      { type: 'webhook.attempted', delivery: { id: 95 } },
      { type: 'message.sent', calls: [{ id: 97 }] },
    ]) {
      deliveries.take(fact as Fact)
      deliveries.reconsider()
    }
    assert.deepEqual(seen.slice(10), [95, 97])
    deliveries.end()
    assert.equal(await waiting, undefined)
  })

  test('gives long work of many waits one slice in each turn, so that other calls are answered between them', async t => {
    let now = 0
    // Every look at the clock finds that a slice is over.
    t.mock.method(performance, 'now', () => (now += 1000))
    let steps = 0
    let working = 50
    const work = async () => {
      const slices = new Slices()
      for (let i = 0; i < 3; i++, steps++) await slices.take()
      working--
    }
    const all = Array.from({ length: working }, work)
    let [before, most] = [0, 0]
    while (working > 0) {
      await nextTurn()
      most = Math.max(most, steps - before)
      before = steps
    }
    await Promise.all(all)
    assert.equal(steps, 150)
    assert.ok(most <= 2, `${most} in one turn`)
  })

  test('remembers fewer changes of large rows, and says from where on', () => {
    const history = new RowHistory()
    const state = new State()
    history.follow(state, 0)
    const members = Array.from({ length: 5000 }, (_, n) => n)
    for (let position = 1; position <= 3000; position++) {
      history.moveTo(position)
      state.groups.put({ id: 1, members, subgroups: [] } as unknown as Group)
    }
    assert.ok(history.reach > 2000 && history.reach < 2999, String(history.reach))
    assert.equal(history.stateAt(2999).groups.get(1)!.members, members)
    assert.equal(history.stateAt(2999), history.stateAt(2999), 'the state of then is worked out once')
    history.moveTo(3001)
    state.groups.put({ id: 1, members: [], subgroups: [] } as unknown as Group)
    assert.equal(history.stateAt(3000).groups.get(1)!.members, members)
    assert.deepEqual(history.stateAt(3001).groups.get(1)!.members, [])
  })

  test('has 1,000 faults, and room again when one is removed', () => {
    const faults = new Faults(() => 0)
    const add = () => faults.add({ kind: 'latency', ms: 1 })
    for (let i = 0; i < 1000; i++) add()
    assert.throws(add, /there are already 1000 faults; remove one first/)
    assert.ok(faults.remove(1))
    add()
  })

  test('keeps 1 Mi characters of answers for stale-queue, the newest, and none that is longer', () => {
    const faults = new Faults(() => 0)
    faults.add({ kind: 'stale-queue' })
    const poll = (queueId: string) =>
      ({ endpoint: events.get, actor: { id: 1 }, fields: new Map([['queue_id', queueId]]) }) as unknown as KnownCall
    const answer = 'x'.repeat(400_000)
    for (const queueId of ['a', 'b', 'c']) faults.remember(pollerOf(poll(queueId))!, answer)
    faults.remember(pollerOf(poll('b'))!, 'x'.repeat(2_000_000))
    const kept = ['a', 'b', 'c'].map(queueId => faults.previousAnswer(poll(queueId))?.length)
    assert.deepEqual(kept, [undefined, undefined, 400_000])
    for (let i = 0; i < 2; i++) faults.remember(pollerOf(poll('d'))!, answer)
    assert.equal(faults.previousAnswer(poll('c')), answer, 'a repeated answer counts once')
  })

  test('has 10 recordings at a time, and room again when they end', async () => {
    const control = new Control(daemon())
    const leaving = new AbortController()
    const headers = { Authorization: `Bearer ${daemon().ready.control_token}` }
    const record = () => fetch(`${daemon().url}/control/v1/recording`, { headers, signal: leaving.signal })
    try {
      const opened = await Promise.all(Array.from({ length: 10 }, record))
      assert.deepEqual(new Set(opened.map(({ status }) => status)), new Set([200]))
      const refused = await control.try('GET', '/recording')
      assert.equal(refused.status, 400)
      assert.match(refused.body.msg, /There are already 10 recordings\. End them with natter recording end\./)
      assert.equal((await control.call('DELETE', '/recording')).ended, 10)
      assert.equal((await record()).status, 200)
    } finally {
      leaving.abort()
    }
  })
})
