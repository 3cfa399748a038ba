// Scheduled messages: the record, its checks, and delivery by the clock.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { channels } from '../../../daemon/api/channels/channels.ts'
import { subscriptions } from '../../../daemon/api/channels/subscriptions.ts'
import { messages } from '../../../daemon/api/messages/messages.ts'
import { scheduledMessages as api } from '../../../daemon/api/messages/scheduled-messages.ts'
import { users } from '../../../daemon/api/people/users.ts'
import { Control } from '../../support/control.ts'
import { type Caller, host, sharedDaemon } from '../../support/daemon.ts'
import { DomainWorld } from '../../support/domain-world.ts'
import { until } from '../../support/until.ts'
import { fetched, listen, people } from '../../support/world.ts'

let amy: Caller
let bob: Caller
let lunch: number

/** The clock is frozen; only `pass` moves it. */
let now = Date.parse('2030-01-01T00:00:00Z') / 1000

const daemon = sharedDaemon({ flags: ['--control', '--clock', 'frozen@2030-01-01T00:00:00Z'] }, async running => {
  ;[amy, bob] = await people(running, 'amy', 'bob')
  lunch = await channel(amy, 'lunch', bob)
})

async function channel(owner: Caller, name: string, ...others: Caller[]): Promise<number> {
  const { id } = await owner.call(channels.create, { name, subscribers: [owner, ...others].map(caller => caller.id) })
  return id
}

function soon(after: number): number {
  return now + after
}

/** What falls due meanwhile has been sent when it returns. */
async function pass(seconds: number): Promise<void> {
  await new Control(daemon()).advance(`${seconds}s`)
  now += seconds
}

const hour = () => soon(3600)

async function newestIn(caller: Caller, narrow: [string, string][]) {
  const { messages: found } = await caller.call(messages.list, {
    anchor: 'newest',
    num_before: 20,
    num_after: 0,
    narrow,
    apply_markdown: false,
  })
  return found
}

async function mine(caller: Caller) {
  return (await caller.call(api.list, {})).scheduled_messages
}

describe('POST /scheduled_messages', () => {
  test('keeps a message for a channel and tells its author', async () => {
    const heard = await listen(amy, ['scheduled_messages'])
    const at = hour()
    const { scheduled_message_id } = await amy.call(api.create, {
      type: 'channel',
      to: lunch,
      topic: 'pizza',
      content: '**Now**',
      scheduled_delivery_timestamp: at,
    })
    const record = {
      scheduled_message_id,
      type: 'stream',
      to: lunch,
      topic: 'pizza',
      content: '**Now**',
      rendered_content: '<p><strong>Now</strong></p>',
      scheduled_delivery_timestamp: at,
      failed: false,
    }
    assert.deepEqual(await heard(), [{ type: 'scheduled_messages', op: 'add', scheduled_messages: [record] }])
    assert.deepEqual(await mine(amy), [record])
    assert.deepEqual(await fetched(amy, ['scheduled_messages']).then(reply => reply.scheduled_messages), [record])
    assert.deepEqual(await mine(bob), [])
    await amy.call(api.delete, { scheduled_message_id })
    assert.deepEqual(await heard(), [{ type: 'scheduled_messages', op: 'remove', scheduled_message_id }])
  })

  test('to names the other participants, and oneself only for a note to self', async () => {
    const make = async (to: number[]) => {
      const given = { type: 'direct', to, content: 'hi', scheduled_delivery_timestamp: hour() } as const
      const { scheduled_message_id } = await amy.call(api.create, given)
      const record = (await mine(amy)).find(one => one.scheduled_message_id === scheduled_message_id)!
      await amy.call(api.delete, { scheduled_message_id })
      return [record.type, record.to]
    }
    assert.deepEqual(await make([amy.id, bob.id]), ['private', [bob.id]])
    assert.deepEqual(await make([amy.id]), ['private', [amy.id]])
  })

  test('all checks of sending are made, and the time must be in the future', async () => {
    const good = { type: 'channel', to: lunch, topic: 't', content: 'hi', scheduled_delivery_timestamp: hour() }
    const refused = (changed: object, code = 'BAD_REQUEST') => amy.refused(api.create, { ...good, ...changed }, code)
    const missing = await refused({ to: 9999 }, 'STREAM_DOES_NOT_EXIST')
    assert.equal(missing.stream_id, 9999)
    await refused({ type: 'direct', to: [9999] })
    await refused({ type: 'direct', to: bob.id })
    await refused({ topic: undefined })
    await refused({ content: ' \n ' })
    await refused({ scheduled_delivery_timestamp: soon(-1) })
    await refused({ scheduled_delivery_timestamp: now })
    await refused({ scheduled_delivery_timestamp: Number.MAX_SAFE_INTEGER })
    assert.deepEqual(await mine(amy), [])
  })

  test('mentions of many people need the permission', async () => {
    const crowd: Caller[] = await people(daemon(), ...Array.from({ length: 16 }, (_, index) => `crowd${index}`))
    const square = await channel(daemon().owner, 'square', amy, ...crowd)
    for (const caller of crowd)
      await caller.call(messages.send, { type: 'channel', to: square, topic: 'busy', content: 'here' })
    const given = { type: 'channel', to: square, topic: 'busy', scheduled_delivery_timestamp: hour() } as const
    await amy.refused(api.create, { ...given, content: '@**all**' }, 'STREAM_WILDCARD_MENTION_NOT_ALLOWED')
    await amy.refused(api.create, { ...given, content: '@**topic**' }, 'TOPIC_WILDCARD_MENTION_NOT_ALLOWED')
    const { scheduled_message_id } = await amy.call(api.create, { ...given, content: 'all' })
    const edit = (content: string, code: string) => amy.refused(api.update, { scheduled_message_id, content }, code)
    await edit('@**all**', 'STREAM_WILDCARD_MENTION_NOT_ALLOWED')
    await edit('@**topic**', 'TOPIC_WILDCARD_MENTION_NOT_ALLOWED')
    await amy.call(api.delete, { scheduled_message_id })
  })
})

describe('PATCH /scheduled_messages/{scheduled_message_id}', () => {
  async function planned(): Promise<number> {
    const given = { type: 'channel', to: lunch, topic: 'pizza', content: 'hi', scheduled_delivery_timestamp: hour() }
    return (await amy.call(api.create, given as never)).scheduled_message_id
  }
  async function shown(id: number) {
    return (await mine(amy)).find(one => one.scheduled_message_id === id)!
  }

  test('changes content, topic and time, each by itself', async () => {
    const id = await planned()
    const heard = await listen(amy, ['scheduled_messages'])
    await amy.call(api.update, { scheduled_message_id: id, content: 'ho' })
    await amy.call(api.update, { scheduled_message_id: id, topic: '(no topic)' })
    const at = soon(7200)
    await amy.call(api.update, { scheduled_message_id: id, scheduled_delivery_timestamp: at })
    const record = await shown(id)
    assert.deepEqual(
      [record.content, record.rendered_content, record.topic, record.scheduled_delivery_timestamp, record.to],
      ['ho', '<p>ho</p>', '', at, lunch],
    )
    const told = await heard()
    assert.deepEqual(
      told.map(({ type, op }) => [type, op]),
      Array.from({ length: 3 }, () => ['scheduled_messages', 'update']),
    )
    assert.deepEqual(told.at(-1)!.scheduled_message, record)
    await amy.call(api.delete, { scheduled_message_id: id })
  })

  test('to is required when the type changes, and topic when it changes to a channel', async () => {
    const id = await planned()
    const refused = (changed: object) =>
      amy.refused(api.update, { scheduled_message_id: id, ...changed }, 'BAD_REQUEST')
    await refused({ type: 'direct' })
    // The type it has is no change: nothing else is needed.
    for (const type of ['stream', 'channel'] as const) await amy.call(api.update, { scheduled_message_id: id, type })
    assert.deepEqual([(await shown(id)).to, (await shown(id)).topic], [lunch, 'pizza'])
    await amy.call(api.update, { scheduled_message_id: id, type: 'direct', to: [bob.id], topic: 'ignored' })
    for (const type of ['private', 'direct'] as const) await amy.call(api.update, { scheduled_message_id: id, type })
    assert.deepEqual((await shown(id)).to, [bob.id])
    assert.equal((await shown(id)).topic, undefined)
    await refused({ type: 'stream', to: lunch })
    await refused({ type: 'channel', topic: 'pizza' })
    await amy.call(api.update, { scheduled_message_id: id, type: 'stream', to: lunch, topic: 'general chat' })
    assert.deepEqual([(await shown(id)).to, (await shown(id)).topic], [lunch, ''])
    assert.equal((await fetched(amy, ['scheduled_messages'])).scheduled_messages[0].topic, '')
    await amy.call(api.delete, { scheduled_message_id: id })
  })

  test('a channel that does not exist gives STREAM_DOES_NOT_EXIST with stream_id; other mistakes BAD_REQUEST', async () => {
    const id = await planned()
    const before = await shown(id)
    const missing = await amy.refused(api.update, { scheduled_message_id: id, to: 9999 }, 'STREAM_DOES_NOT_EXIST')
    assert.equal(missing.stream_id, 9999)
    for (const changed of [
      {},
      { to: [9999], type: 'direct' },
      { to: [lunch, lunch + 1] },
      { content: '' },
      { content: 'changed', scheduled_delivery_timestamp: soon(-5) },
    ])
      await amy.refused(api.update, { scheduled_message_id: id, ...changed }, 'BAD_REQUEST')
    assert.deepEqual(await shown(id), before)
    for (const [caller, wrong] of [
      [bob, id],
      [amy, 9999],
    ] as const) {
      const reply = await caller.try(api.update, { scheduled_message_id: wrong, content: 'x' })
      assert.deepEqual([reply.status, reply.body.code], [404, 'BAD_REQUEST'])
    }
    await amy.call(api.delete, { scheduled_message_id: id })
  })
})

describe('DELETE /scheduled_messages/{scheduled_message_id}', () => {
  test('a record that does not exist, or is another account’s, is 404 with BAD_REQUEST', async () => {
    const reply = await amy.try(api.delete, { scheduled_message_id: 9999 })
    assert.deepEqual([reply.status, reply.body.code], [404, 'BAD_REQUEST'])
  })
})

describe('delivery', () => {
  test('once, at the due time, in due order, as if sent then', async () => {
    const heard = await listen(amy, ['message', 'scheduled_messages'])
    const at = soon(2)
    const make = (content: string, due: number) =>
      amy.call(api.create, {
        type: 'channel',
        to: lunch,
        topic: 'delivery',
        content,
        scheduled_delivery_timestamp: due,
      })
    const { scheduled_message_id: last } = await make('third', at)
    const { scheduled_message_id: first } = await make('first', at - 1)
    const { scheduled_message_id: second } = await make('second @**bob example**', at - 1)
    await pass(2)
    const found = await newestIn(bob, [['topic', 'delivery']])
    assert.deepEqual(
      found.map(({ content, sender_id, timestamp }) => [content, sender_id, timestamp]),
      [
        ['first', amy.id, at - 1],
        ['second @**bob example**', amy.id, at - 1],
        ['third', amy.id, at],
      ],
    )
    assert.ok(found[1]!.flags!.includes('mentioned'))
    assert.deepEqual(
      (await heard())
        .filter(({ op }) => op !== 'add')
        .map(event => event.scheduled_message_id ?? event.message.content),
      ['first', first, 'second @**bob example**', second, 'third', last],
    )
    assert.deepEqual(await mine(amy), [])
    await amy.refused(api.update, { scheduled_message_id: last, content: 'late' }, 'BAD_REQUEST')
  })

  test('two that begin the same conversation end up in one', async () => {
    const [cat, dan] = await people(daemon(), 'cat', 'dan')
    const at = soon(2)
    for (const content of ['one', 'two'])
      await cat.call(api.create, { type: 'direct', to: [dan.id], content, scheduled_delivery_timestamp: at })
    await pass(2)
    const found = await newestIn(dan, [['dm', cat.email!]])
    assert.deepEqual(
      found.map(message => message.content),
      ['one', 'two'],
    )
    assert.equal(found[0]!.recipient_id, found[1]!.recipient_id)
  })

  test('what may no longer be sent fails: a notice, failed, an event; a new time sends it after all', async () => {
    const secret = (
      await amy.call(channels.create, { name: 'secret', subscribers: [amy.id, bob.id], invite_only: true } as never)
    ).id
    const at = soon(2)
    const { scheduled_message_id } = await bob.call(api.create, {
      type: 'channel',
      to: secret,
      topic: 't',
      content: 'psst',
      scheduled_delivery_timestamp: at,
    })
    await bob.call(subscriptions.unsubscribe, { subscriptions: ['secret'] })
    const heard = await listen(bob, ['message', 'scheduled_messages'])
    await pass(2)
    const events = await heard()
    const update = events.find(event => event.op === 'update')!
    assert.equal(update.scheduled_message.failed, true)
    const notice = events.find(event => event.type === 'message')!.message
    assert.ok(
      notice.content.includes(`<time:${new Date(at * 1000).toISOString().slice(0, 19).replace('T', ' ')}+00:00>`),
      notice.content,
    )
    assert.equal((await mine(bob))[0]!.failed, true)
    const edit = { scheduled_message_id, type: 'channel', to: lunch, topic: 'again' } as const
    await bob.refused(api.update, edit, 'BAD_REQUEST')
    const again = soon(2)
    await bob.call(api.update, { ...edit, scheduled_delivery_timestamp: again })
    assert.equal((await mine(bob))[0]!.failed, false)
    await pass(2)
    assert.deepEqual(
      (await newestIn(amy, [['topic', 'again']])).map(message => message.content),
      ['psst'],
    )
    assert.deepEqual(await mine(bob), [])
  })

  test('no notice when the account is deactivated', async () => {
    const [eve] = await people(daemon(), 'eve')
    const at = soon(2)
    await eve.call(api.create, { type: 'direct', to: [amy.id], content: 'hi', scheduled_delivery_timestamp: at })
    await daemon().owner.call(users.deactivate, { user_id: eve.id })
    await pass(2)
    await daemon().owner.call(users.reactivate, { user_id: eve.id })
    const [record] = await mine(eve)
    assert.equal(record!.failed, true)
    const received = await newestIn(eve, [['is', 'dm']])
    assert.ok(
      received.every(message => message.flags!.includes('starred')),
      'only the greeting of a new account',
    )
  })

  test('what fell due while the daemon was down is sent when it is back, once', async () => {
    const data = mkdtempSync(join(tmpdir(), 'natter-scheduled-'))
    const at = Date.parse('2030-01-01T00:00:02Z') / 1000
    const startAt = (time: string) => host(data, { flags: ['--control', '--clock', `frozen@2030-01-01T${time}Z`] })
    let running = await startAt('00:00:00')
    try {
      const { owner } = running
      const make = (content: string, due: number) =>
        owner.call(api.create, { type: 'direct', to: [owner.id], content, scheduled_delivery_timestamp: due })
      await make('b', at + 1)
      await make('a', at)
      await running.end()
      running = await startAt('00:00:03')
      await new Control(running).call('POST', '/clock/resume')
      const seen = async () => (await newestIn(running.owner, [['is', 'dm']])).map(message => message.content)
      await until(async () => (await seen()).length >= 2)
      assert.deepEqual(await seen(), ['a', 'b'])
      await running.end()
      running = await startAt('00:10:00')
      await new Control(running).call('POST', '/clock/resume')
      assert.deepEqual(await mine(running.owner), [])
      assert.deepEqual(await seen(), ['a', 'b'])
      await running.stop()
    } finally {
      await running.discard()
      rmSync(data, { recursive: true, force: true })
    }
  })
})

describe('lateness', () => {
  function late(by: number) {
    const world = new DomainWorld()
    const user = world.account('amy')
    world.run(user, 'create-scheduled-message', {
      type: 'direct',
      to: [user.id],
      content: 'hi',
      scheduled_delivery_timestamp: world.now / 1000 + 60,
    })
    world.now += 60_000 + by
    world.heard(user)
    world.runJobs()
    return { world, user }
  }

  test('up to ten minutes late it is still sent', () => {
    const { world, user } = late(600_000)
    assert.deepEqual(
      world.heard(user).map(({ type, op }) => [type, op]),
      [
        ['message', undefined],
        ['scheduled_messages', 'remove'],
      ],
    )
  })

  test('later it fails, its author is told, and it is not tried again', () => {
    const { world, user } = late(600_001)
    const [update, notice, ...more] = world.heard(user)
    assert.deepEqual(more, [])
    assert.equal(update!.scheduled_message.failed, true)
    assert.equal(notice!.message.sender_full_name, 'Notification Bot')
    world.now += 86_400_000
    world.runJobs()
    assert.deepEqual(world.heard(user), [])
    const [record] = world.run(user, 'get-scheduled-messages', {}).scheduled_messages
    const { scheduled_message_id } = record
    world.run(user, 'update-scheduled-message', {
      scheduled_message_id,
      scheduled_delivery_timestamp: world.now / 1000 + 5,
    })
    world.now += 5000
    world.runJobs()
    assert.deepEqual(world.run(user, 'get-scheduled-messages', {}).scheduled_messages, [])
  })
})
