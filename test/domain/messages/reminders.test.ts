// Reminders: what the notification bot says, and when.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { channels } from '../../../daemon/api/channels/channels.ts'
import { messages } from '../../../daemon/api/messages/messages.ts'
import { reminders as api } from '../../../daemon/api/messages/reminders.ts'
import { Control } from '../../support/control.ts'
import { type Caller, sharedDaemon } from '../../support/daemon.ts'
import { DomainWorld } from '../../support/domain-world.ts'
import { fetched, listen, people } from '../../support/world.ts'

let amy: Caller
let bob: Caller
let inChannel: number
let direct: number

/** The clock is frozen; only `pass` moves it. */
let now = Date.parse('2030-01-01T00:00:00Z') / 1000

const daemon = sharedDaemon({ flags: ['--control', '--clock', 'frozen@2030-01-01T00:00:00Z'] }, async running => {
  ;[amy, bob] = await people(running, 'amy', 'bob')
  await amy.call(channels.create, { name: 'lunch', subscribers: [amy.id, bob.id] })
  const place = { type: 'channel', to: 'lunch', topic: 'pizza' } as const
  inChannel = (await bob.call(messages.send, { ...place, content: 'Who is in?\n```\ncode\n```' })).id
  direct = (await bob.call(messages.send, { type: 'direct', to: [amy.id], content: 'psst' })).id
})

const soon = (after: number) => now + after

/** What falls due meanwhile has been sent when it returns. */
async function pass(seconds: number): Promise<void> {
  await new Control(daemon()).advance(`${seconds}s`)
  now += seconds
}

describe('POST /reminders', () => {
  test('keeps a reminder of a message, told to its owner only', async () => {
    const heard = await listen(amy, ['reminders'])
    const at = soon(3600)
    const { reminder_id } = await amy.call(api.create, {
      message_id: inChannel,
      scheduled_delivery_timestamp: at,
      note: 'order\nbefore noon',
    })
    const { reminders } = await amy.call(api.list, {})
    const [record] = reminders
    assert.deepEqual(
      { ...record, rendered_content: '' },
      {
        reminder_id,
        type: 'private',
        to: [amy.id],
        content:
          `You requested a reminder for #**lunch>pizza@${inChannel}**. Note:\n > order\n > before noon\n\n` +
          `@_**bob example|${bob.id}** [said](${daemon().url}/#narrow/channel/1-lunch/topic/pizza/near/${inChannel}):\n` +
          '````quote\nWho is in?\n```\ncode\n```\n````',
        rendered_content: '',
        scheduled_delivery_timestamp: at,
        failed: false,
        reminder_target_message_id: inChannel,
      },
    )
    assert.match(record!.rendered_content, /class="message-link"/)
    assert.deepEqual(await heard(), [{ type: 'reminders', op: 'add', reminders }])
    assert.deepEqual((await fetched(amy, ['reminders'])).reminders, reminders)
    assert.deepEqual((await bob.call(api.list, {})).reminders, [])
    await amy.call(api.delete, { reminder_id })
    assert.deepEqual(await heard(), [{ type: 'reminders', op: 'remove', reminder_id }])
  })

  test('all parameters are optional: a note alone, in an hour when no time is given', async () => {
    const { reminder_id } = await amy.call(api.create, { note: 'water the plants' })
    const [record] = (await amy.call(api.list, {})).reminders
    assert.equal(record!.scheduled_delivery_timestamp, soon(3600))
    assert.equal(record!.reminder_target_message_id, null)
    assert.match(record!.content, /> water the plants$/)
    await amy.call(api.delete, { reminder_id })
  })

  test('refuses nothing at all, the past, a note too long, and messages that cannot be read', async () => {
    const [cat] = await people(daemon(), 'cat')
    for (const given of [
      {},
      { note: '  ' },
      { note: 'x'.repeat(1001) },
      { message_id: inChannel, scheduled_delivery_timestamp: soon(-1) },
      { message_id: 9999 },
    ])
      await amy.refused(api.create, given, 'BAD_REQUEST')
    await cat.refused(api.create, { message_id: direct }, 'BAD_REQUEST')
    assert.deepEqual((await amy.call(api.list, {})).reminders, [])
  })
})

describe('DELETE /reminders/{reminder_id}', () => {
  test('one that does not exist, or is another account’s, is 404 with BAD_REQUEST', async () => {
    const { reminder_id } = await amy.call(api.create, { note: 'mine' })
    for (const [caller, id] of [
      [bob, reminder_id],
      [amy, 9999],
    ] as const) {
      const reply = await caller.try(api.delete, { reminder_id: id })
      assert.deepEqual([reply.status, reply.body.code], [404, 'BAD_REQUEST'])
    }
    await amy.call(api.delete, { reminder_id })
  })
})

describe('delivery', () => {
  test('by the notification bot, within a second, unread, with note, link and quote; then the reminder is gone', async () => {
    const heard = await listen(amy, ['message', 'reminders'])
    const at = soon(2)
    const { reminder_id } = await amy.call(api.create, {
      message_id: direct,
      scheduled_delivery_timestamp: at,
      note: 'answer',
    })
    await pass(1)
    assert.equal((await amy.call(api.list, {})).reminders.length, 1)
    await pass(1)
    assert.equal((await amy.call(api.list, {})).reminders.length, 0)
    const [, message, removed, ...more] = await heard()
    assert.deepEqual(more, [])
    assert.deepEqual(removed, { type: 'reminders', op: 'remove', reminder_id })
    assert.deepEqual(message!.flags, [])
    assert.equal(message!.message.timestamp, at)
    assert.equal(message!.message.sender_full_name, 'Notification Bot')
    const { raw_content } = await amy.call(messages.get, { message_id: message!.message.id })
    assert.equal(
      raw_content,
      'You requested a reminder for the following direct message. Note:\n > answer\n\n' +
        `@_**bob example|${bob.id}** [said](${daemon().url}/#narrow/dm/${amy.id},${bob.id}/near/${direct}):\n` +
        '```quote\npsst\n```',
    )
    assert.deepEqual((await amy.call(api.list, {})).reminders, [])
  })

  test('however late, with the words of now; when they cannot be read any more, with those of then', () => {
    const world = new DomainWorld()
    const user = world.account('amy')
    const channel = world.channel('lunch', [user])
    const [edited, deleted] = ['first words', 'lost words'].map(words => world.send(user, channel, 't', words))
    for (const message_id of [edited, deleted]) world.run(user, 'create-message-reminder', { message_id })
    world.run(user, 'update-message', { message_id: edited, content: 'new words' })
    world.run(world.owner, 'delete-message', { message_id: deleted })
    world.heard(user)
    world.now += 30 * 86_400_000
    world.runJobs()
    const heard = world.heard(user).filter(event => event.type === 'message')
    assert.deepEqual(
      heard.map(({ message }) => /(new|first|lost) words/.exec(message.content)?.[0]),
      ['new words', 'lost words'],
    )
  })

  test('a poll is named, not quoted', () => {
    const world = new DomainWorld()
    const user = world.account('amy')
    const poll = world.send(user, world.channel('lunch', [user]), 't', '/poll Where?\nhere')
    world.run(user, 'create-message-reminder', { message_id: poll })
    const [record] = world.run(user, 'get-reminders', {}).reminders
    assert.match(record.content, /\*\* \[sent\]\(.*\) a poll\.$/)
  })

  test('text too long for a message is cut', () => {
    const world = new DomainWorld()
    const user = world.account('amy')
    const long = world.send(user, world.channel('lunch', [user]), 't', 'x'.repeat(10_000))
    world.run(user, 'create-message-reminder', { message_id: long, note: 'n'.repeat(1000) })
    const [record] = world.run(user, 'get-reminders', {}).reminders
    assert.equal([...record.content].length, 10_000)
    assert.match(record.content, /\[message truncated\]\n```$/)
  })
})
