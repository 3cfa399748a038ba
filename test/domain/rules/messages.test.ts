// Messages in channels, spoken to through the daemon: who may call everyone, what may move, who has read what.

import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { channels } from '../../../daemon/api/channels/channels.ts'
import { messageFlags as flags } from '../../../daemon/api/messages/message-flags.ts'
import { messages as api } from '../../../daemon/api/messages/messages.ts'
import { organization } from '../../../daemon/api/organization/organization.ts'
import { Caller, newStoreFolder, sharedDaemon, startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { listen, people } from '../../support/world.ts'

const daemon = sharedDaemon()

/** A public channel with these subscribers; its ID. */
async function channel(by: TestDaemon, name: string, subscribers: readonly Caller[]): Promise<number> {
  return (await by.owner.call(channels.create, { name, subscribers: subscribers.map(({ id }) => id) })).id
}

async function say(from: Caller, to: number, topic: string, content = 'x'): Promise<number> {
  return (await from.call(api.send, { type: 'channel', to, topic, content })).id
}

describe('calling everyone of a large channel or topic', () => {
  let amy: Caller
  let large: number
  let small: number

  before(async () => {
    const names = Array.from({ length: 16 }, (_, i) => `crowd${i}`)
    const crowd = await people(daemon(), ...names)
    ;[amy] = await people(daemon(), 'wild-amy')
    large = await channel(daemon(), 'large', [amy, ...crowd])
    small = await channel(daemon(), 'small', [amy, crowd[0]!])
    for (const member of crowd) await say(member, large, 'crowded', 'here')
  })

  test('POST /messages: with more than 15 subscribers or participants it needs can_mention_many_users_group', async () => {
    const to = { type: 'channel', to: large, topic: 'crowded' }
    await amy.refused(api.send, { ...to, content: 'hi @**all**' }, 'STREAM_WILDCARD_MENTION_NOT_ALLOWED')
    await amy.refused(api.send, { ...to, content: 'hi @**topic**' }, 'TOPIC_WILDCARD_MENTION_NOT_ALLOWED')
    await say(amy, large, 'quiet', '@**topic**')
    await say(amy, small, 'crowded', '@**all** @**topic**')
    await say(daemon().owner, large, 'crowded', '@**all** @**topic**')
  })

  test('PATCH /messages/{message_id}: an edit may not call those whom a new message could not', async () => {
    const id = await say(amy, large, 'crowded', 'hi')
    const edit = (content: string) => ({ message_id: id, content })
    await amy.refused(api.update, edit('@**channel**'), 'STREAM_WILDCARD_MENTION_NOT_ALLOWED')
    await amy.refused(api.update, edit('@**topic**'), 'TOPIC_WILDCARD_MENTION_NOT_ALLOWED')
    assert.equal((await amy.call(api.get, { message_id: id })).raw_content, 'hi')
  })
})

describe('GET /messages', () => {
  test('a message that was starred, found or answered and is gone is in no narrow', async () => {
    const [amy, bob] = await people(daemon(), 'gone-amy', 'gone-bob')
    const place = await channel(daemon(), 'gone', [amy])
    const id = await say(amy, place, 'short', 'vanishing https://example.com/a.png')
    const kept = await say(amy, place, 'short', 'staying')
    for (const reader of [amy, bob]) await reader.call(flags.update, { messages: [id], op: 'add', flag: 'starred' })
    await daemon().owner.call(api.delete, { message_id: id })
    for (const term of [
      ['is', 'starred'],
      ['id', String(id)],
      ['search', 'vanishing'],
      ['has', 'link'],
      ['in', 'home'],
      ['near', String(id)],
    ])
      for (const reader of [amy, bob]) {
        const asked = { anchor: 'newest', num_before: 100, narrow: [term] }
        const found = (await reader.call(api.list, asked)).messages.map(message => message.id)
        assert.ok(!found.includes(id), `${term}: ${found}`)
      }
    const narrow = [{ operator: 'id', operand: id, negated: true }]
    const rest = await amy.call(api.list, { anchor: 'newest', num_before: 1, narrow })
    assert.deepEqual(
      rest.messages.map(message => message.id),
      [kept],
    )
  })

  test('names that every object has are no operators', async () => {
    const { owner } = daemon()
    for (const name of ['__proto__', 'constructor', 'toString'])
      await owner.refused(api.list, { anchor: 'newest', narrow: [[name, 'x']] }, 'BAD_NARROW')
  })
})

describe('message IDs', () => {
  test('that no message can have are not taken for those that some have', async () => {
    const [amy] = await people(daemon(), 'far-amy')
    const place = await channel(daemon(), 'far', [amy])
    const far = 2 ** 32 + (await say(amy, place, 't'))
    for (const message_id of [far, 2 ** 40 + 1]) {
      await amy.refused(api.get, { message_id }, 'BAD_REQUEST')
      await amy.refused(api.update, { message_id, content: 'y' }, 'BAD_REQUEST')
      await amy.refused(api.delete, { message_id }, 'BAD_REQUEST')
      await amy.refused(flags.update, { messages: [message_id], op: 'add', flag: 'starred' }, 'BAD_REQUEST')
      const narrow = [{ operator: 'id', operand: message_id }]
      await amy.refused(api.list, { anchor: 'newest', num_before: 5, narrow }, 'BAD_NARROW')
      assert.deepEqual((await amy.call(api.list, { message_ids: [message_id] })).messages, [])
    }
  })
})

describe('PATCH /messages/{message_id} to another place', () => {
  test('the display name of the empty topic is read as empty; (no topic) is a topic like any other here', async () => {
    const [amy] = await people(daemon(), 'topic-amy')
    const place = await channel(daemon(), 'topical', [amy])
    const message_id = await say(amy, place, 'one')
    const typing = await listen(amy, ['typing_edit_message'], {
      client_capabilities: { stream_typing_notifications: true },
    })
    for (const [topic, kept] of [
      ['(no topic)', '(no topic)'],
      ['general chat', ''],
    ]) {
      await amy.call(api.update, { message_id, topic })
      assert.equal((await amy.call(api.get, { message_id, allow_empty_topic_name: true })).message.subject, kept)
    }
    await amy.call(api.typing, { message_id, op: 'start' })
    assert.deepEqual(
      (await typing()).map(event => event.recipient),
      [{ type: 'channel', channel_id: place, topic: 'general chat' }],
    )
  })

  test('a channel that does not exist and one that may not be known are refused alike', async () => {
    const { owner } = daemon()
    const [bob] = await people(daemon(), 'move-bob')
    const open = await channel(daemon(), 'move-open', [bob])
    const { id: closed } = await owner.call(channels.create, {
      name: 'move-closed',
      subscribers: [owner.id],
      invite_only: true,
    })
    const id = await say(bob, open, 'x')
    for (const stream_id of [closed, 999_999]) {
      const { msg } = await bob.refused(api.update, { message_id: id, stream_id }, 'BAD_REQUEST')
      assert.equal(msg, `stream_id: there is no channel with ID ${stream_id}`)
    }
    await owner.call(api.update, { message_id: id, stream_id: closed })
    await bob.refused(api.get, { message_id: id }, 'BAD_REQUEST')
  })

  test('a member cannot move a whole topic part of which is older than the limit', async t => {
    const data = newStoreFolder()
    const at = (time: string) => startDaemon(t, { data, flags: ['--clock', `frozen@${time}`] })
    const early = await at('2030-01-01T12:00:00Z')
    const [amy] = await people(early, 'amy')
    const general = await channel(early, 'limited', [amy])
    await early.owner.call(organization.update, { move_messages_within_stream_limit_seconds: 1 })
    await say(amy, general, 'lunch', 'old')
    await early.stop()

    const late = await at('2030-01-01T13:00:00Z')
    const again = new Caller(late.url, amy.email, amy.key, amy.id)
    const fresh = await say(again, general, 'lunch', 'new')
    const whole = { message_id: fresh, topic: 'dinner', propagate_mode: 'change_all' } as const
    const refusal = await again.refused(api.update, whole, 'MOVE_MESSAGES_TIME_LIMIT_EXCEEDED')
    assert.deepEqual(
      [
        refusal.first_message_id_allowed_to_move,
        refusal.total_messages_in_topic,
        refusal.total_messages_allowed_to_move,
      ],
      [fresh, 2, 1],
    )
    await again.call(api.update, { ...whole, propagate_mode: 'change_later' })
    await late.owner.call(api.update, { ...whole, topic: 'lunch' })
  })
})

describe('what has been read', () => {
  test('GET /messages/{message_id}/read_receipts: readers who tell, without the sender', async () => {
    const { owner } = daemon()
    const [amy, bob, cat] = await people(daemon(), 'read-amy', 'read-bob', 'read-cat')
    const general = await channel(daemon(), 'receipts', [amy, bob, cat])
    const id = await say(amy, general, 'x')
    await amy.refused(api.receipts, { message_id: id }, 'BAD_REQUEST')
    await owner.call(organization.update, { enable_read_receipts: true })
    assert.deepEqual((await amy.call(api.receipts, { message_id: id })).user_ids, [])
    for (const reader of [amy, bob]) await reader.call(flags.update, { messages: [id], op: 'add', flag: 'read' })
    assert.deepEqual((await amy.call(api.receipts, { message_id: id })).user_ids, [bob.id])
  })

  test('POST /mark_stream_as_read and POST /mark_topic_as_read read that and nothing else', async () => {
    const [amy, bob] = await people(daemon(), 'mark-amy', 'mark-bob')
    const one = await channel(daemon(), 'mark-one', [amy, bob])
    const two = await channel(daemon(), 'mark-two', [amy, bob])
    const lunch = await say(bob, one, 'Lunch')
    const tea = await say(bob, one, 'tea')
    const other = await say(bob, two, 'lunch')
    const heard = await listen(amy, ['update_message_flags'])
    await amy.call(flags.markTopic, { stream_id: one, topic_name: 'lunch' })
    await amy.call(flags.markTopic, { stream_id: one, topic_name: 'lunch' })
    await amy.refused(flags.markTopic, { stream_id: one, topic_name: 'supper' }, 'BAD_REQUEST')
    assert.deepEqual(
      (await heard()).map(event => [event.op, event.flag, event.messages, event.all]),
      [['add', 'read', [lunch], false]],
    )
    await amy.call(flags.markChannel, { stream_id: one })
    await amy.refused(flags.markChannel, { stream_id: 999_999 }, 'BAD_REQUEST')
    const read = (await heard()).flatMap(event => event.messages)
    assert.ok(read.includes(tea) && !read.includes(lunch) && !read.includes(other), JSON.stringify(read))
    const { message } = await amy.call(api.get, { message_id: other })
    assert.ok(!message.flags?.includes('read'))
  })
})
