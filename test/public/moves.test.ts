// Moving and resolving, as clients of the public server know them: who keeps and gains access, notices, policies, refusals.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Caller, sharedDaemon, type TestDaemon } from '../support/daemon.ts'
import { listen, person } from '../support/world.ts'
import { ask, assertHas, type Fields, ok } from './support/cases.ts'

let daemon: TestDaemon
let owner: Caller
let amy: Caller
let bob: Caller
let cat: Caller

describe('PATCH /messages/{message_id}', () => {
  sharedDaemon({ flags: ['--memory'] }, async started => {
    daemon = started
    owner = daemon.owner
    amy = await person(daemon, 'amy')
    bob = await person(daemon, 'bob')
    cat = await person(daemon, 'cat')
  })
  describe('between channels', betweenChannels)
  describe('resolving', resolving)
  describe('notices', notices)
  describe('policies of topics', policiesOfTopics)
  describe('refusals', refusals)
})

let made = 0

async function channel(subscribers: Caller[], more: Fields = {}): Promise<{ id: number; name: string }> {
  const name = `place ${++made}`
  const ids = subscribers.map(({ id }) => id)
  return { id: (await ok(owner, 'POST /channels/create', { name, subscribers: ids, ...more })).id, name }
}

async function say(from: Caller, to: { id: number }, topic: string, content = 'hello'): Promise<number> {
  return (await ok(from, 'POST /messages', { type: 'channel', to: to.id, topic, content })).id
}

const quiet = { send_notification_to_new_thread: false, send_notification_to_old_thread: false }

function move(who: Caller, id: number, fields: Fields): Promise<unknown> {
  return ok(who, `PATCH /messages/${id}`, { ...quiet, ...fields })
}

async function flagsOf(who: Caller, id: number): Promise<string[]> {
  return (await ok(who, `GET /messages/${id}`)).message.flags
}

/** Topics and contents of a channel, oldest first, as the owner sees them. */
async function said(place: { id: number }, who = owner): Promise<[topic: string, text: string, flags: string[]][]> {
  const narrow = [{ operator: 'channel', operand: place.id }]
  const params = {
    anchor: 'newest',
    num_before: 100,
    num_after: 0,
    narrow,
    apply_markdown: false,
    allow_empty_topic_name: true,
  }
  const { messages } = await ok(who, 'GET /messages', params)
  return messages
    .filter((m: Fields) => m.subject !== 'channel events')
    .map((m: Fields) => [m.subject, m.content, m.flags])
}

async function policy(who: Caller, place: { id: number }, topic: string): Promise<number> {
  const { user_topics } = await ok(who, 'POST /register', { event_types: ['user_topic'] })
  const row = user_topics.find((row: Fields) => row.stream_id === place.id && row.topic_name === topic)
  return row?.visibility_policy ?? 0
}

function follow(who: Caller, place: { id: number }, topic: string, visibility_policy: number): Promise<unknown> {
  return ok(who, 'POST /user_topics', { stream_id: place.id, topic, visibility_policy })
}

function betweenChannels(): void {
  const protect = { invite_only: true, history_public_to_subscribers: false }

  test('subscribers of a channel with protected history gain the messages, as read', async () => {
    const from = await channel([owner, amy])
    const to = await channel([owner, bob], protect)
    const id = await say(amy, from, 'plans')
    const heard = await listen(bob, ['update_message', 'delete_message'])
    await move(owner, id, { stream_id: to.id, topic: 'plans' })
    assertHas(await heard(), [{ type: 'update_message', message_ids: [id], new_stream_id: to.id, flags: ['read'] }])
    assert.deepEqual(await flagsOf(bob, id), ['read'])
    assert.equal((await ok(bob, 'GET /messages', { message_ids: [id] })).messages.length, 1)
  })

  test('users who lose access get delete_message, and the message is gone for them', async () => {
    const from = await channel([owner, amy, bob])
    const to = await channel([owner, bob], protect)
    const id = await say(amy, from, 'plans')
    const heard = await listen(amy, ['update_message', 'delete_message'])
    await move(owner, id, { stream_id: to.id })
    assertHas(await heard(), [{ type: 'delete_message', message_id: id, stream_id: from.id, topic: 'plans' }])
    assert.equal((await ask(amy, `GET /messages/${id}`)).status, 400)
  })

  test('former subscribers who lose access get delete_message too', async () => {
    const from = await channel([owner, amy])
    const to = await channel([owner], protect)
    const id = await say(amy, from, 'plans')
    await ok(amy, 'DELETE /users/me/subscriptions', { subscriptions: [from.name] })
    const heard = await listen(amy, ['update_message', 'delete_message'])
    await move(owner, id, { stream_id: to.id })
    assertHas(await heard(), [{ type: 'delete_message', message_id: id }])
  })

  test('a subscriber of the old channel alone keeps a public message, as history', async () => {
    const from = await channel([owner, amy])
    const to = await channel([owner])
    const id = await say(owner, from, 'plans')
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
    const id = await say(owner, from, 'plans')
    await ok(amy, 'POST /messages/flags', { messages: [id], op: 'add', flag: 'starred' })
    await move(owner, id, { stream_id: to.id })
    assert.deepEqual(await flagsOf(amy, id), ['starred'])
  })

  test('a subscriber of the new channel alone sees it as history', async () => {
    const from = await channel([owner])
    const to = await channel([owner, amy])
    const id = await say(owner, from, 'plans')
    const heard = await listen(amy, ['update_message'])
    await move(owner, id, { stream_id: to.id })
    assertHas(await heard(), [{ new_stream_id: to.id, flags: ['read'] }])
    assert.deepEqual(await flagsOf(amy, id), ['read', 'historical'])
  })

  test('history that was lost does not come back with the message', async () => {
    const from = await channel([owner, amy])
    const to = await channel([owner])
    const id = await say(owner, from, 'plans')
    await move(owner, id, { stream_id: to.id })
    await move(owner, id, { stream_id: from.id })
    assert.deepEqual(await flagsOf(amy, id), ['read', 'historical'])
  })

  test('an unread message that leaves the subscriptions is no longer unread', async () => {
    const from = await channel([owner, amy])
    const to = await channel([owner])
    const id = await say(owner, from, 'plans')
    await move(owner, id, { stream_id: to.id })
    const { unread_msgs } = await ok(amy, 'POST /register', { event_types: ['message', 'update_message_flags'] })
    assert.ok(!JSON.stringify(unread_msgs).includes(`${id}`))
  })

  test('an edit reaches subscribers who did not receive the message, as read', async () => {
    const place = await channel([owner])
    const id = await say(owner, place, 'plans')
    await ok(amy, 'POST /users/me/subscriptions', { subscriptions: [{ name: place.name }] })
    const heard = await listen(amy, ['update_message'])
    await ok(owner, `PATCH /messages/${id}`, { content: 'changed' })
    assertHas(await heard(), [{ content: 'changed', flags: ['read'] }])
  })

  test('moves only what the actor can read', async () => {
    const from = await channel([owner, amy], protect)
    const early = await say(amy, from, 'plans', 'early')
    await ok(amy, 'POST /users/me/subscriptions', { subscriptions: [{ name: from.name }], principals: [bob.id] })
    await ok(owner, `PATCH /streams/${from.id}`, {
      can_move_messages_out_of_channel_group: { new: { direct_members: [bob.id], direct_subgroups: [] } },
    })
    const late = await say(amy, from, 'plans', 'late')
    const to = await channel([owner, bob])
    await move(bob, late, { stream_id: to.id, propagate_mode: 'change_all' })
    assert.deepEqual(
      (await said(to)).map(([, text]) => text),
      ['late'],
    )
    assert.equal((await ok(amy, `GET /messages/${early}`)).message.stream_id, from.id)
  })
}

function resolving(): void {
  const cases: [title: string, before: string, after: string, becomes: string, isNotice: boolean][] = [
    ['a topic', 'lunch', '✔ lunch', '✔ lunch', true],
    ['a topic that is as long as it can be', 'x'.repeat(60), `✔ ${'x'.repeat(60)}`, `✔ ${'x'.repeat(55)}...`, true],
    ['no longer resolves', '✔ dinner', 'dinner', 'dinner', true],
    ['no longer resolves what was marked many times', '✔ ✔✔tea', 'tea', 'tea', true],
    ['another name with the mark is a move', 'cake', '✔ pie', '✔ pie', false],
    ['one mark of two is a move', '✔ ✔ jam', '✔ jam', '✔ jam', false],
  ]
  for (const [title, before, after, becomes, isNotice] of cases)
    test(title, async () => {
      const place = await channel([owner, amy])
      const id = await say(amy, place, before)
      await ok(amy, `PATCH /messages/${id}`, { topic: after, propagate_mode: 'change_all' })
      const messages = await said(place)
      assert.deepEqual(
        messages.map(([topic]) => topic),
        [becomes, becomes],
      )
      assert.equal(/has marked this topic as (un)?resolved\.$/.test(messages[1]![1]), isNotice, messages[1]![1])
    })

  test('a resolved topic was not moved', async () => {
    const place = await channel([owner, amy])
    const id = await say(amy, place, 'x'.repeat(60))
    await ok(amy, `PATCH /messages/${id}`, { topic: `✔ ${'x'.repeat(60)}`, propagate_mode: 'change_all' })
    const { message } = await ok(amy, `GET /messages/${id}`)
    assert.equal(message.last_moved_timestamp, undefined)
    assert.equal(message.edit_history.length, 1)
  })

  test('the notice is read for the actor and, by default, for everyone who does not follow the topic', async () => {
    const place = await channel([owner, amy, bob, cat])
    const id = await say(amy, place, 'lunch')
    await follow(bob, place, 'lunch', 3)
    await follow(amy, place, 'lunch', 3)
    await ok(amy, `PATCH /messages/${id}`, { topic: '✔ lunch', propagate_mode: 'change_all' })
    const flags = async (who: Caller) => (await said(place, who)).at(-1)![2]
    assert.deepEqual([await flags(amy), await flags(bob), await flags(cat)], [['read'], [], ['read']])
  })

  const settings: [string, string[]][] = [
    ['always', ['read']],
    ['never', []],
    ['except_followed', ['read']],
  ]
  for (const [setting, expected] of settings)
    test(`the notice with resolved_topic_notice_auto_read_policy ${setting}`, async () => {
      await ok(cat, 'PATCH /settings', { resolved_topic_notice_auto_read_policy: setting })
      const place = await channel([owner, amy, cat])
      const id = await say(amy, place, 'lunch')
      await ok(amy, `PATCH /messages/${id}`, { topic: '✔ lunch', propagate_mode: 'change_all' })
      assert.deepEqual((await said(place, cat)).at(-1)![2], expected)
    })

  test('undone at once, it leaves no notice', async () => {
    const place = await channel([owner, amy])
    const id = await say(amy, place, 'lunch')
    await ok(amy, `PATCH /messages/${id}`, { topic: '✔ lunch', propagate_mode: 'change_all' })
    await ok(amy, `PATCH /messages/${id}`, { topic: 'lunch', propagate_mode: 'change_all' })
    assert.deepEqual(
      (await said(place)).map(([topic]) => topic),
      ['lunch'],
    )
  })

  test('with a notice in the old topic, if asked for', async () => {
    const place = await channel([owner, amy])
    const id = await say(amy, place, 'lunch')
    await ok(amy, `PATCH /messages/${id}`, {
      topic: '✔ lunch',
      propagate_mode: 'change_all',
      send_notification_to_old_thread: true,
    })
    assert.deepEqual(
      (await said(place)).map(([topic]) => topic),
      ['✔ lunch', '✔ lunch', 'lunch'],
    )
  })

  test('beside a move to another channel, it is a move', async () => {
    const from = await channel([owner, amy])
    const to = await channel([owner, amy])
    const id = await say(amy, from, 'lunch')
    await ok(owner, `PATCH /messages/${id}`, { topic: '✔ lunch', stream_id: to.id, propagate_mode: 'change_all' })
    const texts = (await said(to)).map(([, text]) => text)
    assert.match(texts[1]!, /^This topic was moved here from /)
  })
}

function notices(): void {
  test('first in the new place, then in the old, both read for the actor', async () => {
    const from = await channel([owner, amy])
    const to = await channel([owner, amy])
    const id = await say(amy, from, 'lunch')
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
    assert.deepEqual((await said(to, amy)).at(-1)![2], [])
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
      for (let i = 0; i < before; i++) await say(amy, place, 'old')
      const id = await say(amy, place, 'old')
      if (before > 0) await say(amy, place, 'old')
      for (let i = 0; i < there; i++) await say(amy, place, 'new')
      await ok(owner, `PATCH /messages/${id}`, { topic: 'new', propagate_mode: mode })
      assert.match((await said(place)).at(-1)![1], expected)
    })

  test('none if they are not wanted', async () => {
    const place = await channel([owner, amy])
    const id = await say(amy, place, 'old')
    await move(owner, id, { topic: 'new' })
    assert.equal((await said(place)).length, 1)
  })
}

function policiesOfTopics(): void {
  const merges: [title: string, here: number, there: number, isEmpty: boolean, expected: number][] = [
    ['go with the whole topic', 3, 0, true, 3],
    ['replace what was set for a topic that is empty now', 1, 3, true, 1],
    ['clear what was set for a topic that is empty now', 0, 1, true, 0],
    ['the more visible one stays: followed over muted', 3, 1, false, 3],
    ['the more visible one stays: what is there', 1, 3, false, 3],
    ['the more visible one stays: unmuted over muted', 2, 1, false, 2],
    ['the more visible one stays: nothing over muted', 0, 1, false, 0],
    ['the more visible one stays: nothing of its own over muted', 1, 0, false, 0],
    ['both muted stays muted', 1, 1, false, 1],
  ]
  for (const [title, here, there, isEmpty, expected] of merges)
    test(title, async () => {
      const place = await channel([owner, amy])
      const id = await say(owner, place, 'old')
      if (!isEmpty) await say(owner, place, 'new')
      await follow(amy, place, 'old', here)
      await follow(amy, place, 'new', there)
      await move(owner, id, { topic: 'new', propagate_mode: 'change_all' })
      assert.deepEqual([await policy(amy, place, 'old'), await policy(amy, place, 'new')], [0, expected])
    })

  test('stay when a part of the topic goes', async () => {
    const place = await channel([owner, amy])
    await say(owner, place, 'old')
    const id = await say(owner, place, 'old')
    await follow(amy, place, 'old', 3)
    await move(owner, id, { topic: 'new' })
    assert.deepEqual([await policy(amy, place, 'old'), await policy(amy, place, 'new')], [3, 0])
  })

  test('are lost by users who lose access', async () => {
    const from = await channel([owner, amy])
    const to = await channel([owner], { invite_only: true })
    const id = await say(owner, from, 'old')
    await follow(amy, from, 'old', 3)
    const heard = await listen(amy, ['user_topic', 'delete_message'])
    await move(owner, id, { stream_id: to.id, propagate_mode: 'change_all' })
    assert.deepEqual(
      (await heard()).map(event => event.type),
      ['delete_message', 'user_topic'],
    )
    assert.equal(await policy(amy, from, 'old'), 0)
  })

  const beginning: [title: string, settings: Fields, isMuted: boolean, there: boolean, expected: number][] = [
    [
      'the author of a message that begins a topic follows it',
      { automatically_follow_topics_policy: 3 },
      false,
      false,
      3,
    ],
    ['not if the topic has older messages', { automatically_follow_topics_policy: 3 }, false, true, 0],
    ['not if the author follows topics when sending', { automatically_follow_topics_policy: 2 }, false, false, 0],
    [
      'or unmutes it in a muted channel',
      { automatically_follow_topics_policy: 4, automatically_unmute_topics_in_muted_streams_policy: 3 },
      true,
      false,
      2,
    ],
    [
      'but not in one that is not muted',
      { automatically_follow_topics_policy: 4, automatically_unmute_topics_in_muted_streams_policy: 3 },
      false,
      false,
      0,
    ],
  ]
  for (const [title, settings, isMuted, there, expected] of beginning)
    test(title, async () => {
      await ok(bob, 'PATCH /settings', {
        automatically_follow_topics_policy: 4,
        automatically_unmute_topics_in_muted_streams_policy: 4,
      })
      const place = await channel([owner, bob])
      if (there) await say(owner, place, 'new')
      await say(owner, place, 'old')
      const id = await say(bob, place, 'old')
      await ok(bob, 'PATCH /settings', settings)
      if (isMuted)
        await ok(bob, 'POST /users/me/subscriptions/properties', {
          subscription_data: [{ stream_id: place.id, property: 'is_muted', value: true }],
        })
      await move(owner, id, { topic: 'new' })
      assert.equal(await policy(bob, place, 'new'), expected)
    })
}

function refusals(): void {
  let place: { id: number; name: string }
  let id: number
  const prepare = async () => {
    place ??= await channel([owner, amy, bob])
    id ??= await say(amy, place, 'lunch')
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
    const there = await say(amy, strict, 'lunch')
    for (const topic of ['', 'general chat', '(no topic)']) {
      const { status, body } = await ask(amy, `PATCH /messages/${there}`, { topic })
      assertHas({ status, ...body }, { status: 400, code: 'BAD_REQUEST', empty_topic_display_name: 'general chat' })
    }
    await move(amy, there, { topic: 'dinner' })
  })

  test('a named topic where only the empty one is allowed', async () => {
    const plain = await channel([owner, amy], { topics_policy: 'empty_topic_only' })
    const there = await say(amy, plain, '')
    const { status, body } = await ask(amy, `PATCH /messages/${there}`, { topic: 'lunch' })
    assertHas({ status, ...body }, { status: 400, empty_topic_display_name: 'general chat' })
  })

  test('takes topic moves of users who cannot post there', async () => {
    const closed = await channel([owner, amy, bob])
    const there = await say(owner, closed, 'lunch')
    const none = { direct_members: [owner.id], direct_subgroups: [] }
    await ok(owner, `PATCH /streams/${closed.id}`, { can_send_message_group: { new: none } })
    await move(amy, there, { topic: 'dinner' })
    assert.equal((await ask(owner, `PATCH /messages/${there}`, { stream_id: closed.id })).status, 400)
    const open = await channel([owner, amy])
    const here = await say(amy, open, 'lunch')
    await ok(owner, `PATCH /streams/${open.id}`, {
      can_move_messages_out_of_channel_group: { new: { direct_members: [amy.id], direct_subgroups: [] } },
    })
    assert.equal((await ask(amy, `PATCH /messages/${here}`, { stream_id: closed.id })).status, 400)
  })

  test('an archived message and an archived target', async () => {
    const old = await channel([owner, amy])
    const there = await say(amy, old, 'lunch')
    await ok(owner, `DELETE /streams/${old.id}`)
    assert.equal((await ask(amy, `PATCH /messages/${there}`, { topic: 'x' })).status, 400)
    assert.equal((await ask(owner, `PATCH /messages/${id}`, { stream_id: old.id })).status, 400)
  })

  test('content that is empty becomes a mark of deletion', async () => {
    const there = await say(amy, place, 'lunch')
    await ok(amy, `PATCH /messages/${there}`, { content: ' \n' })
    assert.equal((await ok(amy, `GET /messages/${there}`)).raw_content, '(deleted)')
  })
}
