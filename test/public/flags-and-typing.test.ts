// Flags of messages and typing notifications, as clients of the public server know them.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { listen } from '../support/world.ts'
import { ask, assertHas, cases, type Fields, ok } from './support/cases.ts'
import { amy, bob, cat, kitchen, lunch, openKitchen, owner, refused, say } from './support/kitchen.ts'

describe('what users signal', () => {
  openKitchen()
  describe('flags', flags)
  describe('typing', typing)
})

function flags(): void {
  const flag = (messages: () => number[], op: string, name: string) => () => ({ messages: messages(), op, flag: name })
  const one = () => [lunch]
  cases([
    refused('refuses an unknown flag', 'POST /messages/flags', flag(one, 'add', 'shiny')),
    refused('refuses mentioned', 'POST /messages/flags', flag(one, 'add', 'mentioned')),
    refused('refuses historical', 'POST /messages/flags', flag(one, 'add', 'historical')),
    refused('refuses has_alert_word', 'POST /messages/flags', flag(one, 'remove', 'has_alert_word')),
    refused('refuses topic_wildcard_mentioned', 'POST /messages/flags', flag(one, 'add', 'topic_wildcard_mentioned')),
    refused('refuses an unknown op', 'POST /messages/flags', flag(one, 'toggle', 'starred')),
    refused(
      'refuses a message that does not exist',
      'POST /messages/flags',
      flag(() => [99_999], 'add', 'starred'),
    ),
    refused(
      'refuses all if one does not exist',
      'POST /messages/flags',
      flag(() => [lunch, 99_999], 'add', 'starred'),
    ),
    [
      'ignores a message that does not exist when it is marked as read',
      () => amy,
      'POST /messages/flags',
      flag(() => [99_999], 'add', 'read'),
      { result: 'success' },
    ],
    ['takes no messages', () => amy, 'POST /messages/flags', flag(() => [], 'add', 'starred'), { result: 'success' }],
    refused('mark_topic_as_read refuses an unknown topic', 'POST /mark_topic_as_read', () => ({
      stream_id: kitchen,
      topic_name: 'none',
    })),
    refused('mark_topic_as_read refuses an unknown channel', 'POST /mark_topic_as_read', {
      stream_id: 99_999,
      topic_name: 'none',
    }),
    refused('mark_stream_as_read refuses an unknown channel', 'POST /mark_stream_as_read', { stream_id: 99_999 }),
  ])

  test('a star on a message that was never received makes it historical', async () => {
    await ok(cat, 'POST /messages/flags', { messages: [lunch], op: 'add', flag: 'starred' })
    assert.deepEqual((await ok(cat, `GET /messages/${lunch}`)).message.flags, ['read', 'starred', 'historical'])
    await ok(cat, 'POST /messages/flags', { messages: [lunch], op: 'remove', flag: 'starred' })
    assert.deepEqual((await ok(cat, `GET /messages/${lunch}`)).message.flags, ['read', 'historical'])
  })

  test('unread in a channel that is not followed is ignored, and said', async () => {
    const reply = await ok(cat, 'POST /messages/flags', { messages: [lunch], op: 'remove', flag: 'read' })
    assert.deepEqual(reply.ignored_because_not_subscribed_channels, [kitchen])
  })

  test('reading is told with its messages, and unreading with details', async () => {
    const id = await say(amy, 'tea')
    const heard = await listen(bob, ['update_message_flags'])
    await ok(bob, 'POST /mark_topic_as_read', { stream_id: kitchen, topic_name: 'TEA' })
    await ok(bob, 'POST /messages/flags', { messages: [id], op: 'remove', flag: 'read' })
    await ok(bob, 'POST /mark_stream_as_read', { stream_id: kitchen })
    assertHas(await heard(), [
      { op: 'add', operation: 'add', flag: 'read', messages: [id], all: false },
      {
        op: 'remove',
        flag: 'read',
        messages: [id],
        message_details: { [id]: { type: 'stream', stream_id: kitchen, topic: 'tea', unmuted_stream_msg: true } },
      },
      { op: 'add', flag: 'read', messages: (ids: number[]) => ids.includes(id) },
    ])
  })

  test('by narrow, they say how far they went', async () => {
    const id = await say(amy, 'narrow')
    await say(amy, 'narrow')
    const fields = {
      anchor: String(id),
      num_before: 5,
      num_after: 0,
      op: 'add',
      flag: 'starred',
      narrow: [['topic', 'narrow']],
    }
    const reply = await ok(bob, 'POST /messages/flags/narrow', fields)
    assertHas(reply, {
      processed_count: 1,
      updated_count: 1,
      first_processed_id: id,
      last_processed_id: id,
      found_oldest: true,
      found_newest: false,
    })
    assertHas(await ok(bob, 'POST /messages/flags/narrow', fields), { processed_count: 1, updated_count: 0 })
    const empty = { ...fields, narrow: [['topic', 'nothing here']] }
    assertHas(await ok(bob, 'POST /messages/flags/narrow', empty), {
      processed_count: 0,
      first_processed_id: null,
      last_processed_id: null,
    })
  })

  test('mark_all_as_read is complete', async () => {
    await say(amy, 'tea')
    const heard = await listen(bob, ['update_message_flags'])
    assert.equal((await ok(bob, 'POST /mark_all_as_read')).complete, true)
    assertHas(await heard(), [{ flag: 'read', op: 'add', all: true, messages: [] }])
  })
}

function typing(): void {
  cases([
    refused('needs op', 'POST /typing', () => ({ to: [bob.id] }), { code: 'REQUEST_VARIABLE_MISSING' }),
    refused('refuses an unknown op', 'POST /typing', () => ({ op: 'pause', to: [bob.id] })),
    refused('refuses an unknown type', 'POST /typing', { op: 'start', type: 'letter', to: [1] }),
    refused('needs recipients', 'POST /typing', { op: 'start' }),
    refused('refuses no recipients', 'POST /typing', { op: 'start', to: [] }),
    refused('refuses an unknown user', 'POST /typing', { op: 'start', to: [99_999] }),
    refused('refuses addresses', 'POST /typing', { op: 'start', to: ['bob@example.com'] }),
    refused('needs a channel', 'POST /typing', { op: 'start', type: 'channel', topic: 'x' }),
    refused('needs a topic', 'POST /typing', () => ({ op: 'start', type: 'channel', stream_id: kitchen })),
    refused('refuses an unknown channel', 'POST /typing', {
      op: 'start',
      type: 'stream',
      stream_id: 99_999,
      topic: 'x',
    }),
    ['takes a user', () => amy, 'POST /typing', () => ({ op: 'start', to: [bob.id] }), { result: 'success' }],
    [
      'takes a channel by both words',
      () => amy,
      'POST /typing',
      () => ({ op: 'stop', type: 'stream', stream_id: kitchen, topic: 'x' }),
      { result: 'success' },
    ],
  ])

  test('reaches all in the conversation, the sender too', async () => {
    const [mine, yours] = [await listen(amy, ['typing']), await listen(bob, ['typing'])]
    await ok(amy, 'POST /typing', { op: 'start', to: [bob.id] })
    for (const heard of [mine, yours]) {
      const [event] = await heard()
      assertHas(event, { op: 'start', message_type: 'direct', sender: { user_id: amy.id } })
      assert.deepEqual(event!.recipients.map((one: Fields) => one.user_id).sort(), [amy.id, bob.id].sort())
    }
  })

  test('in channels reaches clients that understand it', async () => {
    const capable = { notification_settings_null: true, stream_typing_notifications: true }
    const [with_, without] = [
      await listen(bob, ['typing'], { client_capabilities: capable }),
      await listen(bob, ['typing']),
    ]
    await ok(amy, 'POST /typing', { op: 'start', type: 'channel', stream_id: kitchen, topic: '(no topic)' })
    assertHas(await with_(), [
      { op: 'start', message_type: 'stream', stream_id: kitchen, topic: 'general chat', sender: { user_id: amy.id } },
    ])
    assert.deepEqual(await without(), [])
  })

  test('follows the settings of sender and receiver', async () => {
    await ok(amy, 'PATCH /settings', {
      send_private_typing_notifications: false,
      send_stream_typing_notifications: false,
    })
    assert.equal((await ask(amy, 'POST /typing', { op: 'start', to: [bob.id] })).status, 400)
    assert.equal(
      (await ask(amy, 'POST /typing', { op: 'start', type: 'channel', stream_id: kitchen, topic: 'x' })).status,
      400,
    )
    await ok(amy, 'PATCH /settings', {
      send_private_typing_notifications: true,
      send_stream_typing_notifications: true,
    })
    await ok(bob, 'PATCH /settings', { receives_typing_notifications: false })
    const heard = await listen(bob, ['typing'])
    await ok(amy, 'POST /typing', { op: 'start', to: [bob.id] })
    assert.deepEqual(await heard(), [])
    await ok(bob, 'PATCH /settings', { receives_typing_notifications: true })
  })

  test('asks no right to write', async () => {
    const { realm_user_groups } = await ok(owner, 'POST /register', { event_types: ['realm_user_groups'] })
    const group = (name: string) => realm_user_groups.find((one: Fields) => one.name === name).id
    const set = (name: string) => ok(owner, 'PATCH /realm', { direct_message_permission_group: { new: group(name) } })
    await set('role:nobody')
    assert.equal((await ask(amy, 'POST /messages', { type: 'direct', to: [bob.id], content: 'x' })).status, 400)
    await ok(amy, 'POST /typing', { op: 'start', to: [bob.id] })
    await set('role:everyone')
  })

  test('while editing reaches the channel, or the conversation', async () => {
    const id = await say(amy, 'edited')
    const heard = await listen(bob, ['typing_edit_message'])
    await ok(amy, `POST /messages/${id}/typing`, { op: 'start' })
    const direct = await ok(amy, 'POST /messages', { type: 'direct', to: [bob.id], content: 'hi' })
    await ok(amy, `POST /messages/${direct.id}/typing`, { op: 'stop' })
    assertHas(await heard(), [
      {
        op: 'start',
        sender_id: amy.id,
        message_id: id,
        recipient: { type: 'channel', channel_id: kitchen, topic: 'edited' },
      },
      { op: 'stop', sender_id: amy.id, message_id: direct.id, recipient: { type: 'direct' } },
    ])
    assert.equal((await ask(bob, `POST /messages/${id}/typing`, { op: 'start' })).status, 400)
  })
}
