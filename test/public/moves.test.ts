// Moves of messages, as clients of the public server know them.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Caller } from '../support/daemon.ts'
import { listen } from '../support/world.ts'
import { ask, assertHas, type Fields, ok } from './support/cases.ts'
import { amy, bob, channel, move, openKitchen, owner, type Place, said, say } from './support/kitchen.ts'

describe('PATCH /messages/{message_id}', () => {
  openKitchen()
  describe('between channels', betweenChannels)
  describe('notices', notices)
  describe('refusals', refusals)
})

async function flagsOf(who: Caller, id: number): Promise<string[]> {
  return (await ok(who, `GET /messages/${id}`)).message.flags
}

function betweenChannels(): void {
  const protect = { invite_only: true, history_public_to_subscribers: false }

  test('subscribers of a channel with protected history gain the messages, as read', async () => {
    const from = await channel([owner, amy])
    const to = await channel([owner, bob], protect)
    const id = await say(amy, 'plans', 'hello', from.id)
    const heard = await listen(bob, ['update_message', 'delete_message'])
    await move(owner, id, { stream_id: to.id, topic: 'plans' })
    assertHas(await heard(), [{ type: 'update_message', message_ids: [id], new_stream_id: to.id, flags: ['read'] }])
    assert.deepEqual(await flagsOf(bob, id), ['read'])
    assert.equal((await ok(bob, 'GET /messages', { message_ids: [id] })).messages.length, 1)
  })

  test('users who lose access get delete_message, and the message is gone for them', async () => {
    const from = await channel([owner, amy, bob])
    const to = await channel([owner, bob], protect)
    const id = await say(amy, 'plans', 'hello', from.id)
    const heard = await listen(amy, ['update_message', 'delete_message'])
    await move(owner, id, { stream_id: to.id })
    assertHas(await heard(), [{ type: 'delete_message', message_id: id, stream_id: from.id, topic: 'plans' }])
    assert.equal((await ask(amy, `GET /messages/${id}`)).status, 400)
  })

  test('former subscribers who lose access get delete_message too', async () => {
    const from = await channel([owner, amy])
    const to = await channel([owner], protect)
    const id = await say(amy, 'plans', 'hello', from.id)
    await ok(amy, 'DELETE /users/me/subscriptions', { subscriptions: [from.name] })
    const heard = await listen(amy, ['update_message', 'delete_message'])
    await move(owner, id, { stream_id: to.id })
    assertHas(await heard(), [{ type: 'delete_message', message_id: id }])
  })

  test('a subscriber of the old channel alone keeps a public message, as history', async () => {
    const from = await channel([owner, amy])
    const to = await channel([owner])
    const id = await say(owner, 'plans', 'hello', from.id)
    await ok(amy, 'POST /messages/flags', { messages: [id], op: 'add', flag: 'starred' })
    const heard = await listen(amy, ['update_message', 'delete_message'])
    await move(owner, id, { stream_id: to.id })
    assertHas(await heard(), [{ type: 'update_message', new_stream_id: to.id, flags: ['read'] }])
    assert.deepEqual(await flagsOf(amy, id), ['read', 'historical'])
    const received = await ok(amy, 'GET /messages', { anchor: 'newest', num_before: 50, num_after: 0 })
    assert.ok(!received.messages.some((m: Fields) => m.id === id))
  })

  test('a subscriber of both channels keeps the message as it was', async () => {
    const from = await channel([owner, amy])
    const to = await channel([owner, amy])
    const id = await say(owner, 'plans', 'hello', from.id)
    await ok(amy, 'POST /messages/flags', { messages: [id], op: 'add', flag: 'starred' })
    await move(owner, id, { stream_id: to.id })
    assert.deepEqual(await flagsOf(amy, id), ['starred'])
  })

  test('a subscriber of the new channel alone sees it as history', async () => {
    const from = await channel([owner])
    const to = await channel([owner, amy])
    const id = await say(owner, 'plans', 'hello', from.id)
    const heard = await listen(amy, ['update_message'])
    await move(owner, id, { stream_id: to.id })
    assertHas(await heard(), [{ new_stream_id: to.id, flags: ['read'] }])
    assert.deepEqual(await flagsOf(amy, id), ['read', 'historical'])
  })

  test('history that was lost does not come back with the message', async () => {
    const from = await channel([owner, amy])
    const to = await channel([owner])
    const id = await say(owner, 'plans', 'hello', from.id)
    await move(owner, id, { stream_id: to.id })
    await move(owner, id, { stream_id: from.id })
    assert.deepEqual(await flagsOf(amy, id), ['read', 'historical'])
  })

  test('an unread message that leaves the subscriptions is no longer unread', async () => {
    const from = await channel([owner, amy])
    const to = await channel([owner])
    const id = await say(owner, 'plans', 'hello', from.id)
    await move(owner, id, { stream_id: to.id })
    const { unread_msgs } = await ok(amy, 'POST /register', { event_types: ['message', 'update_message_flags'] })
    assert.ok(!JSON.stringify(unread_msgs).includes(`${id}`))
  })

  test('an edit reaches subscribers who did not receive the message, as read', async () => {
    const place = await channel([owner])
    const id = await say(owner, 'plans', 'hello', place.id)
    await ok(amy, 'POST /users/me/subscriptions', { subscriptions: [{ name: place.name }] })
    const heard = await listen(amy, ['update_message'])
    await ok(owner, `PATCH /messages/${id}`, { content: 'changed' })
    assertHas(await heard(), [{ content: 'changed', flags: ['read'] }])
  })

  test('moves only what the actor can read', async () => {
    const from = await channel([owner, amy], protect)
    const early = await say(amy, 'plans', 'early', from.id)
    await ok(amy, 'POST /users/me/subscriptions', { subscriptions: [{ name: from.name }], principals: [bob.id] })
    await ok(owner, `PATCH /streams/${from.id}`, {
      can_move_messages_out_of_channel_group: { new: { direct_members: [bob.id], direct_subgroups: [] } },
    })
    const late = await say(amy, 'plans', 'late', from.id)
    const to = await channel([owner, bob])
    await move(bob, late, { stream_id: to.id, propagate_mode: 'change_all' })
    assert.deepEqual(
      (await said(owner, to)).map(([, text]) => text),
      ['late'],
    )
    assert.equal((await ok(amy, `GET /messages/${early}`)).message.stream_id, from.id)
  })
}

function notices(): void {
  test('first in the new place, then in the old, both read for the actor', async () => {
    const from = await channel([owner, amy])
    const to = await channel([owner, amy])
    const id = await say(amy, 'lunch', 'hello', from.id)
    const heard = await listen(owner, ['message'], { apply_markdown: false })
    await ok(owner, `PATCH /messages/${id}`, {
      stream_id: to.id,
      topic: 'dinner',
      propagate_mode: 'change_all',
      send_notification_to_old_thread: true,
    })
    const events = await heard()
    assertHas(events, [
      { message: { stream_id: to.id, subject: 'dinner' }, flags: ['read'] },
      { message: { stream_id: from.id, subject: 'lunch' }, flags: ['read'] },
    ])
    assert.match(events[0]!.message.content, /^This topic was moved here from /)
    assert.match(events[1]!.message.content, /^This topic was moved to /)
    assert.deepEqual((await said(amy, to)).at(-1)![2], [])
  })

  const texts: [title: string, mode: string, before: number, there: number, expected: RegExp][] = [
    ['of one message of several', 'change_one', 2, 0, /^\[A message\]\(.*\) was moved here from /],
    ['of later messages', 'change_later', 2, 0, /^2 messages were moved here from /],
    ['of all messages one by one', 'change_one', 0, 0, /^This topic was moved here from /],
    ['of a topic into another', 'change_all', 1, 1, /^3 messages were moved here from /],
    ['of a topic of one message into another', 'change_all', -1, 1, /^\[A message\]\(.*\) was moved here from /],
  ]
  for (const [title, mode, before, there, expected] of texts)
    test(title, async () => {
      const place = await channel([owner, amy])
      for (let i = 0; i < before; i++) await say(amy, 'old', 'hello', place.id)
      const id = await say(amy, 'old', 'hello', place.id)
      if (before > 0) await say(amy, 'old', 'hello', place.id)
      for (let i = 0; i < there; i++) await say(amy, 'new', 'hello', place.id)
      await ok(owner, `PATCH /messages/${id}`, { topic: 'new', propagate_mode: mode })
      assert.match((await said(owner, place)).at(-1)![1], expected)
    })

  test('none if they are not wanted', async () => {
    const place = await channel([owner, amy])
    const id = await say(amy, 'old', 'hello', place.id)
    await move(owner, id, { topic: 'new' })
    assert.equal((await said(owner, place)).length, 1)
  })
}

function refusals(): void {
  let place: Place
  let id: number
  const prepare = async () => {
    place ??= await channel([owner, amy, bob])
    id ??= await say(amy, 'lunch', 'hello', place.id)
  }
  const rows: [title: string, who: () => Caller, fields: Fields, answer?: Fields][] = [
    ['nothing to change', () => amy, {}],
    ['the topic that it has', () => amy, { topic: 'lunch' }],
    ['the topic that it has, with spaces', () => amy, { topic: ' lunch ' }],
    ['propagate_mode without a move', () => amy, { content: 'x', propagate_mode: 'change_all' }],
    [
      'propagate_mode with the topic that it has',
      () => amy,
      { content: 'x', topic: 'lunch', propagate_mode: 'change_later' },
    ],
    ['an unknown propagate_mode', () => amy, { topic: 'x', propagate_mode: 'change_some' }],
    ['to resolve the empty topic', () => amy, { topic: '✔ ' }],
    ['to resolve the empty topic by its name', () => amy, { topic: '✔ general chat' }],
    ['a topic with a line break', () => amy, { topic: 'a\nb' }],
    ['content beside a channel', () => amy, { content: 'x', stream_id: 1 }],
    ['the content of another user', () => bob, { content: 'x' }],
    ['an unknown channel', () => owner, { stream_id: 99_999 }],
    [
      'a digest of other content',
      () => amy,
      { content: 'x', prev_content_sha256: '0'.repeat(64) },
      { code: 'EXPECTATION_MISMATCH' },
    ],
    [
      'a digest of other content beside a topic',
      () => amy,
      { topic: 'x', prev_content_sha256: '0'.repeat(64) },
      { code: 'EXPECTATION_MISMATCH' },
    ],
  ]
  for (const [title, who, fields, answer] of rows)
    test(title, async () => {
      await prepare()
      const { status, body } = await ask(who(), `PATCH /messages/${id}`, fields)
      assertHas({ status, ...body }, { status: 400, code: 'BAD_REQUEST', ...answer })
    })

  test('a topic of a direct message', async () => {
    const { id: direct } = await ok(amy, 'POST /messages', { type: 'direct', to: [bob.id], content: 'hi' })
    assert.equal((await ask(amy, `PATCH /messages/${direct}`, { topic: 'x' })).status, 400)
    assert.equal((await ask(amy, `PATCH /messages/${direct}`, { stream_id: place.id })).status, 400)
  })

  test('the empty topic where it is disabled, by both of its names', async () => {
    const strict = await channel([owner, amy], { topics_policy: 'disable_empty_topic' })
    const there = await say(amy, 'lunch', 'hello', strict.id)
    for (const topic of ['', 'general chat', '(no topic)']) {
      const { status, body } = await ask(amy, `PATCH /messages/${there}`, { topic })
      assertHas({ status, ...body }, { status: 400, code: 'BAD_REQUEST', empty_topic_display_name: 'general chat' })
    }
    await move(amy, there, { topic: 'dinner' })
  })

  test('a named topic where only the empty one is allowed', async () => {
    const plain = await channel([owner, amy], { topics_policy: 'empty_topic_only' })
    const there = await say(amy, '', 'hello', plain.id)
    const { status, body } = await ask(amy, `PATCH /messages/${there}`, { topic: 'lunch' })
    assertHas({ status, ...body }, { status: 400, empty_topic_display_name: 'general chat' })
  })

  test('takes topic moves of users who cannot post there', async () => {
    const closed = await channel([owner, amy, bob])
    const there = await say(owner, 'lunch', 'hello', closed.id)
    const none = { direct_members: [owner.id], direct_subgroups: [] }
    await ok(owner, `PATCH /streams/${closed.id}`, { can_send_message_group: { new: none } })
    await move(amy, there, { topic: 'dinner' })
    assert.equal((await ask(owner, `PATCH /messages/${there}`, { stream_id: closed.id })).status, 400)
    const open = await channel([owner, amy])
    const here = await say(amy, 'lunch', 'hello', open.id)
    await ok(owner, `PATCH /streams/${open.id}`, {
      can_move_messages_out_of_channel_group: { new: { direct_members: [amy.id], direct_subgroups: [] } },
    })
    assert.equal((await ask(amy, `PATCH /messages/${here}`, { stream_id: closed.id })).status, 400)
  })

  test('an archived message and an archived target', async () => {
    const old = await channel([owner, amy])
    const there = await say(amy, 'lunch', 'hello', old.id)
    await ok(owner, `DELETE /streams/${old.id}`)
    assert.equal((await ask(amy, `PATCH /messages/${there}`, { topic: 'x' })).status, 400)
    assert.equal((await ask(owner, `PATCH /messages/${id}`, { stream_id: old.id })).status, 400)
  })

  test('content that is empty becomes a mark of deletion', async () => {
    const there = await say(amy, 'lunch', 'hello', place.id)
    await ok(amy, `PATCH /messages/${there}`, { content: ' \n' })
    assert.equal((await ok(amy, `GET /messages/${there}`)).raw_content, '(deleted)')
  })
}
