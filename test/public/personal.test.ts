// What users prepare, plan and mark around messages, as clients of the public server know it: drafts, snippets, scheduled messages,
// reminders, flags, receipts, typing, reactions.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Caller, sharedDaemon } from '../support/daemon.ts'
import { listen, person } from '../support/world.ts'
import { ask, assertHas, type Case, cases, type Fields, ok } from './support/cases.ts'

let owner: Caller
let amy: Caller
let bob: Caller
let cat: Caller
let kitchen: number
let lunch: number

const later = 4_000_000_000

describe('personal records around messages', () => {
  sharedDaemon({ flags: ['--memory'] }, async daemon => {
    owner = daemon.owner
    amy = await person(daemon, 'amy')
    bob = await person(daemon, 'bob')
    cat = await person(daemon, 'cat')
    const subscribers = [owner.id, amy.id, bob.id]
    kitchen = (await ok(owner, 'POST /channels/create', { name: 'kitchen', subscribers })).id
    lunch = await say(amy, 'lunch')
    await ok(owner, 'PATCH /realm', { enable_read_receipts: true })
  })
  describe('drafts', drafts)
  describe('saved snippets', snippets)
  describe('scheduled messages', scheduled)
  describe('reminders', reminders)
  describe('flags', flags)
  describe('read receipts', receipts)
  describe('typing', typing)
  describe('reactions', reactions)
})

async function say(from: Caller, topic: string, content = 'hello'): Promise<number> {
  return (await ok(from, 'POST /messages', { type: 'channel', to: kitchen, topic, content })).id
}

function refused(
  title: string,
  line: string | (() => string),
  fields: Fields | (() => Fields),
  answer: Fields = {},
): Case {
  return [title, () => amy, line, fields, { status: 400, code: 'BAD_REQUEST', ...answer }]
}

function drafts(): void {
  const draft = { type: 'stream', to: [] as number[], topic: 'lunch', content: 'later', timestamp: 100 }
  const shapes: [title: string, given: () => Fields, expected: () => Fields][] = [
    [
      'of a channel',
      () => ({ ...draft, to: [kitchen] }),
      () => ({ type: 'stream', to: [kitchen], topic: 'lunch', content: 'later', timestamp: 100 }),
    ],
    [
      'to one user',
      () => ({ ...draft, type: 'private', to: [bob.id] }),
      () => ({ type: 'private', to: [bob.id], topic: '' }),
    ],
    [
      'to oneself and one user',
      () => ({ ...draft, type: 'private', to: [bob.id, amy.id] }),
      () => ({ type: 'private', to: [bob.id] }),
    ],
    ['to oneself', () => ({ ...draft, type: 'private', to: [amy.id] }), () => ({ type: 'private', to: [amy.id] })],
    [
      'to a group, in any order',
      () => ({ ...draft, type: 'private', to: [cat.id, bob.id] }),
      () => ({ type: 'private', to: [bob.id, cat.id] }),
    ],
    ['to no one yet', () => ({ ...draft, type: 'private', to: [] }), () => ({ type: '', to: [], topic: '' })],
    ['of no type', () => ({ ...draft, type: '', to: [bob.id] }), () => ({ type: '', to: [], topic: '' })],
    ['with a time between two seconds', () => ({ ...draft, type: '', timestamp: 1.75 }), () => ({ timestamp: 1 })],
    [
      'without a time',
      () => ({ ...draft, type: '', timestamp: undefined }),
      () => ({ timestamp: (time: number) => time > 1_000_000_000 }),
    ],
    ['with spaces at the end', () => ({ ...draft, type: '', content: 'later \n ' }), () => ({ content: 'later' })],
  ]
  for (const [title, given, expected] of shapes)
    test(title, async () => {
      const heard = await listen(amy, ['drafts'])
      const { ids } = await ok(amy, 'POST /drafts', { drafts: [given()] })
      const all = (await ok(amy, 'GET /drafts')).drafts
      assertHas(
        all.find(({ id }: Fields) => id === ids[0]),
        expected(),
      )
      assertHas(await heard(), [{ op: 'add', drafts: [{ id: ids[0], ...expected() }] }])
      await ok(amy, `DELETE /drafts/${ids[0]}`)
      assertHas(await heard(), [{ op: 'remove', draft_id: ids[0] }])
    })

  test('are listed by their last edit, oldest first; register has the newest first', async () => {
    const given = [300, 100, 200].map(timestamp => ({ ...draft, type: '', timestamp }))
    const { ids } = await ok(cat, 'POST /drafts', { drafts: given })
    await ok(cat, `PATCH /drafts/${ids[1]}`, { draft: { ...given[1], timestamp: 400 } })
    const { count, drafts: all } = await ok(cat, 'GET /drafts')
    assert.deepEqual([count, all.map((one: Fields) => one.timestamp)], [3, [200, 300, 400]])
    const state = await ok(cat, 'POST /register', { event_types: ['drafts'] })
    assert.deepEqual(
      state.drafts.map((one: Fields) => one.timestamp),
      [400, 300, 200],
    )
  })

  test('are gone and refused when they are not synchronized', async () => {
    await ok(cat, 'PATCH /settings', { enable_drafts_synchronization: false })
    assertHas(await ask(cat, 'GET /drafts'), { status: 400 })
    assertHas(await ask(cat, 'POST /drafts', { drafts: [] }), { status: 400 })
    await ok(cat, 'PATCH /settings', { enable_drafts_synchronization: true })
    assert.equal((await ok(cat, 'GET /drafts')).count, 0)
  })

  const one = (more: Fields) => () => ({ drafts: [{ ...draft, type: '', ...more }] })
  cases([
    refused('refuses two channels', 'POST /drafts', () => one({ type: 'stream', to: [kitchen, 1] })()),
    refused('refuses no channel', 'POST /drafts', one({ type: 'stream', to: [] })),
    refused('refuses an unknown channel', 'POST /drafts', one({ type: 'stream', to: [99_999] })),
    refused('refuses an unknown user', 'POST /drafts', one({ type: 'private', to: [99_999] })),
    refused('refuses an unknown type', 'POST /drafts', one({ type: 'other' })),
    refused('refuses a negative time', 'POST /drafts', one({ timestamp: -10.1 })),
    refused('refuses a blank content', 'POST /drafts', one({ content: ' ' })),
    refused('refuses a field that it does not know', 'POST /drafts', one({ mood: 'good' })),
    refused('refuses a null byte in the topic', 'POST /drafts', () =>
      one({ type: 'stream', to: [kitchen], topic: 'a\0b' })(),
    ),
    refused('refuses a draft that is not a list', 'POST /drafts', { drafts: 'x' }),
    refused('an unknown draft to edit', 'PATCH /drafts/99999', () => ({ draft: { ...draft, type: '' } }), {
      status: 404,
    }),
    refused('an unknown draft to delete', 'DELETE /drafts/99999', {}, { status: 404 }),
  ])
}

function snippets(): void {
  test('are created, edited, listed and deleted with their events', async () => {
    const heard = await listen(amy, ['saved_snippets'])
    const { saved_snippet_id: id } = await ok(amy, 'POST /saved_snippets', { title: ' Hi ', content: ' there ' })
    await ok(amy, `PATCH /saved_snippets/${id}`, { title: 'Hello' })
    await ok(amy, `PATCH /saved_snippets/${id}`, { title: 'Hello' })
    await ok(amy, `PATCH /saved_snippets/${id}`)
    assertHas((await ok(amy, 'GET /saved_snippets')).saved_snippets, [{ id, title: 'Hello', content: 'there' }])
    await ok(amy, `DELETE /saved_snippets/${id}`)
    assertHas(await heard(), [
      { op: 'add', saved_snippet: { id, title: 'Hi', content: 'there' } },
      { op: 'update', saved_snippet: { id, title: 'Hello' } },
      { op: 'update', saved_snippet: { id, title: 'Hello' } },
      { op: 'remove', saved_snippet_id: id },
    ])
  })

  cases([
    refused('refuses a blank title', 'POST /saved_snippets', { title: ' ', content: 'x' }),
    refused('refuses a blank content', 'POST /saved_snippets', { title: 'x', content: ' ' }),
    refused('refuses a title of 61 characters', 'POST /saved_snippets', { title: 'x'.repeat(61), content: 'x' }),
    refused('refuses a content of 10001 characters', 'POST /saved_snippets', {
      title: 'x',
      content: 'x'.repeat(10_001),
    }),
    refused('needs a title', 'POST /saved_snippets', { content: 'x' }, { code: 'REQUEST_VARIABLE_MISSING' }),
    refused('an unknown snippet to edit', 'PATCH /saved_snippets/99999', { title: 'x' }, { status: 404 }),
    refused('an unknown snippet to delete', 'DELETE /saved_snippets/99999', {}, { status: 404 }),
    ['takes an edit of nothing', () => amy, 'PATCH /saved_snippets/99999', {}, { result: 'success' }],
  ])

  test('belong to one user', async () => {
    const { saved_snippet_id: id } = await ok(amy, 'POST /saved_snippets', { title: 'Mine', content: 'x' })
    assert.equal((await ask(bob, `PATCH /saved_snippets/${id}`, { title: 'x' })).status, 404)
    assert.equal((await ask(bob, `DELETE /saved_snippets/${id}`)).status, 404)
    assert.deepEqual((await ok(bob, 'GET /saved_snippets')).saved_snippets, [])
  })
}

function scheduled(): void {
  const message = () => ({
    type: 'channel',
    to: kitchen,
    topic: 'lunch',
    content: 'soon',
    scheduled_delivery_timestamp: later,
  })
  const shapes: [title: string, given: () => Fields, expected: () => Fields][] = [
    [
      'to a channel',
      message,
      () => ({
        type: 'stream',
        to: kitchen,
        topic: 'lunch',
        content: 'soon',
        rendered_content: '<p>soon</p>',
        failed: false,
      }),
    ],
    [
      'to a channel by the older word',
      () => ({ ...message(), type: 'stream' }),
      () => ({ type: 'stream', to: kitchen }),
    ],
    ['to a channel in a list', () => ({ ...message(), to: [kitchen] }), () => ({ type: 'stream', to: kitchen })],
    [
      'to users',
      () => ({ ...message(), type: 'direct', to: [bob.id, cat.id] }),
      () => ({ type: 'private', to: [bob.id, cat.id], topic: undefined }),
    ],
    [
      'to a user by the older word',
      () => ({ ...message(), type: 'private', to: [bob.id] }),
      () => ({ type: 'private', to: [bob.id] }),
    ],
    ['to oneself', () => ({ ...message(), type: 'direct', to: [amy.id] }), () => ({ type: 'private', to: [amy.id] })],
    ['to the empty topic', () => ({ ...message(), topic: '(no topic)' }), () => ({ topic: 'general chat' })],
  ]
  for (const [title, given, expected] of shapes)
    test(title, async () => {
      const heard = await listen(amy, ['scheduled_messages'])
      const { scheduled_message_id: id } = await ok(amy, 'POST /scheduled_messages', given())
      const all = (await ok(amy, 'GET /scheduled_messages')).scheduled_messages
      assertHas(
        all.find((one: Fields) => one.scheduled_message_id === id),
        { scheduled_delivery_timestamp: later, ...expected() },
      )
      await ok(amy, `DELETE /scheduled_messages/${id}`)
      assertHas(await heard(), [
        { op: 'add', scheduled_messages: [expected()] },
        { op: 'remove', scheduled_message_id: id },
      ])
    })

  test('are listed by their time', async () => {
    for (const wait of [3, 1, 2])
      await ok(bob, 'POST /scheduled_messages', { ...message(), scheduled_delivery_timestamp: later + wait })
    const { scheduled_messages } = await ok(bob, 'GET /scheduled_messages')
    assert.deepEqual(
      scheduled_messages.map((one: Fields) => one.scheduled_delivery_timestamp),
      [later + 1, later + 2, later + 3],
    )
  })

  const edits: [title: string, fields: () => Fields, expected: () => Fields | undefined][] = [
    [
      'the content',
      () => ({ content: 'sooner' }),
      () => ({ content: 'sooner', rendered_content: '<p>sooner</p>', topic: 'lunch' }),
    ],
    ['the topic alone', () => ({ topic: 'dinner' }), () => ({ topic: 'dinner', content: 'soon' })],
    [
      'the time',
      () => ({ scheduled_delivery_timestamp: later + 9 }),
      () => ({ scheduled_delivery_timestamp: later + 9 }),
    ],
    ['the type, with recipients', () => ({ type: 'direct', to: [bob.id] }), () => ({ type: 'private', to: [bob.id] })],
    ['the channel', () => ({ to: kitchen }), () => ({ to: kitchen, topic: 'lunch' })],
    ['nothing', () => ({}), () => undefined],
    ['the type without recipients', () => ({ type: 'direct' }), () => undefined],
    ['the same type without recipients', () => ({ type: 'channel', topic: 'x' }), () => undefined],
    ['the type of a channel without a topic', () => ({ type: 'channel', to: kitchen }), () => undefined],
    ['two channels', () => ({ to: [kitchen, 1] }), () => undefined],
    ['a time in the past', () => ({ scheduled_delivery_timestamp: 1000 }), () => undefined],
    ['a topic that cannot be printed', () => ({ topic: 'a\nb' }), () => undefined],
  ]
  for (const [title, fields, expected] of edits)
    test(`edits ${title}`, async () => {
      const { scheduled_message_id: id } = await ok(amy, 'POST /scheduled_messages', message())
      const heard = await listen(amy, ['scheduled_messages'])
      const { status, body } = await ask(amy, `PATCH /scheduled_messages/${id}`, fields())
      const wanted = expected()
      assertHas({ status, ...body }, wanted ? { status: 200 } : { status: 400, code: 'BAD_REQUEST' })
      assertHas(
        await heard(),
        wanted ? [{ op: 'update', scheduled_message: { scheduled_message_id: id, ...wanted } }] : [],
      )
    })

  cases([
    refused('refuses a time in the past', 'POST /scheduled_messages', () => ({
      ...message(),
      scheduled_delivery_timestamp: 1000,
    })),
    refused('refuses a channel that does not exist', 'POST /scheduled_messages', () => ({ ...message(), to: 99_999 }), {
      code: 'STREAM_DOES_NOT_EXIST',
      stream_id: 99_999,
    }),
    refused('refuses two channels', 'POST /scheduled_messages', () => ({ ...message(), to: [kitchen, 1] })),
    refused('refuses an unknown user', 'POST /scheduled_messages', () => ({
      ...message(),
      type: 'direct',
      to: [99_999],
    })),
    refused('refuses a user that is not in a list', 'POST /scheduled_messages', () => ({
      ...message(),
      type: 'direct',
      to: bob.id,
    })),
    refused('refuses the name of a channel', 'POST /scheduled_messages', () => ({ ...message(), to: 'kitchen' })),
    refused('refuses an unknown type', 'POST /scheduled_messages', () => ({ ...message(), type: 'letter' })),
    refused('refuses an empty content', 'POST /scheduled_messages', () => ({ ...message(), content: '' })),
    refused(
      'needs a time',
      'POST /scheduled_messages',
      () => ({ ...message(), scheduled_delivery_timestamp: undefined }),
      { code: 'REQUEST_VARIABLE_MISSING' },
    ),
    refused('an unknown one to edit', 'PATCH /scheduled_messages/99999', { content: 'x' }, { status: 404 }),
    refused('an unknown one to delete', 'DELETE /scheduled_messages/99999', {}, { status: 404 }),
  ])

  test('of others cannot be edited or deleted', async () => {
    const { scheduled_message_id: id } = await ok(amy, 'POST /scheduled_messages', message())
    assert.equal((await ask(bob, `PATCH /scheduled_messages/${id}`, { content: 'x' })).status, 404)
    assert.equal((await ask(bob, `DELETE /scheduled_messages/${id}`)).status, 404)
  })
}

function reminders(): void {
  test('are created, listed and deleted with their events', async () => {
    const heard = await listen(amy, ['reminders'])
    const given = { message_id: lunch, scheduled_delivery_timestamp: later, note: 'remember' }
    const { reminder_id: id } = await ok(amy, 'POST /reminders', given)
    const { reminders: all } = await ok(amy, 'GET /reminders')
    assertHas(all, [
      {
        reminder_id: id,
        type: 'private',
        to: [amy.id],
        reminder_target_message_id: lunch,
        failed: false,
        scheduled_delivery_timestamp: later,
      },
    ])
    assert.match(all[0].content, /remember/)
    await ok(amy, `DELETE /reminders/${id}`)
    assertHas(await heard(), [
      { op: 'add', reminders: [{ reminder_id: id }] },
      { op: 'remove', reminder_id: id },
    ])
  })

  cases([
    refused('refuses a time in the past', 'POST /reminders', () => ({
      message_id: lunch,
      scheduled_delivery_timestamp: 1000,
    })),
    refused('refuses an unknown message', 'POST /reminders', {
      message_id: 99_999,
      scheduled_delivery_timestamp: later,
    }),
    refused('an unknown reminder to delete', 'DELETE /reminders/99999', {}, { status: 404 }),
  ])

  test('of others cannot be deleted', async () => {
    const { reminder_id: id } = await ok(amy, 'POST /reminders', {
      message_id: lunch,
      scheduled_delivery_timestamp: later,
    })
    assert.equal((await ask(bob, `DELETE /reminders/${id}`)).status, 404)
  })
}

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

function receipts(): void {
  const seen = async (id: number, who = amy) => (await ok(who, `GET /messages/${id}/read_receipts`)).user_ids
  const read = (who: Caller, id: number) => ok(who, 'POST /messages/flags', { messages: [id], op: 'add', flag: 'read' })

  test('name readers, not the sender', async () => {
    const id = await say(amy, 'receipts')
    assert.deepEqual(await seen(id), [])
    await read(bob, id)
    await read(amy, id)
    assert.deepEqual(await seen(id), [bob.id])
  })

  test('name users who took the message into their history', async () => {
    const id = await say(amy, 'receipts')
    await ok(cat, 'POST /messages/flags', { messages: [id], op: 'add', flag: 'starred' })
    assert.deepEqual(await seen(id), [cat.id])
  })

  test('leave out users whose settings say so, and users who muted each other', async () => {
    const id = await say(amy, 'receipts')
    await read(bob, id)
    await ok(bob, 'PATCH /settings', { send_read_receipts: false })
    assert.deepEqual(await seen(id), [])
    await ok(bob, 'PATCH /settings', { send_read_receipts: true })
    await ok(amy, `POST /users/me/muted_users/${bob.id}`)
    assert.deepEqual(await seen(id), [])
    assert.deepEqual(await seen(id, owner), [bob.id])
    await ok(amy, `DELETE /users/me/muted_users/${bob.id}`)
    await ok(bob, `POST /users/me/muted_users/${amy.id}`)
    assert.deepEqual(await seen(id), [])
    await ok(bob, `DELETE /users/me/muted_users/${amy.id}`)
  })

  test('of a direct message name its readers', async () => {
    const { id } = await ok(amy, 'POST /messages', { type: 'direct', to: [bob.id], content: 'hi' })
    assert.deepEqual(await seen(id), [])
    await read(bob, id)
    assert.deepEqual(await seen(id), [bob.id])
    assert.equal((await ask(cat, `GET /messages/${id}/read_receipts`)).status, 400)
  })

  test('can be turned off for the organization', async () => {
    await ok(owner, 'PATCH /realm', { enable_read_receipts: false })
    assertHas(await ask(amy, `GET /messages/${lunch}/read_receipts`), { status: 400, body: { code: 'BAD_REQUEST' } })
    await ok(owner, 'PATCH /realm', { enable_read_receipts: true })
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

function reactions(): void {
  const line = (method: string) => () => `${method} /messages/${lunch}/reactions`
  cases([
    refused('needs a name', line('POST'), {}, { code: 'REQUEST_VARIABLE_MISSING' }),
    refused('refuses an unknown name', line('POST'), { emoji_name: 'no_such_emoji' }),
    refused('refuses a wrong code', line('POST'), {
      emoji_name: 'tada',
      emoji_code: 'ffff',
      reaction_type: 'unicode_emoji',
    }),
    refused('refuses an unknown type', line('POST'), {
      emoji_name: 'tada',
      emoji_code: '1f389',
      reaction_type: 'stamp',
    }),
    refused('refuses the name of another emoji', line('POST'), {
      emoji_name: 'tada',
      emoji_code: '1f602',
      reaction_type: 'unicode_emoji',
    }),
    refused('refuses an unknown message', 'POST /messages/99999/reactions', { emoji_name: 'tada' }),
    refused(
      'refuses to remove what is not there',
      line('DELETE'),
      { emoji_name: 'tada' },
      { code: 'REACTION_DOES_NOT_EXIST' },
    ),
    refused('needs a name or a code to remove', line('DELETE'), {}),
    ['adds one', () => amy, line('POST'), { emoji_name: 'octopus' }, { result: 'success' }],
    refused('refuses it twice', line('POST'), { emoji_name: 'octopus' }, { code: 'REACTION_ALREADY_EXISTS' }),
    refused(
      'refuses it twice by its code',
      line('POST'),
      { emoji_name: 'octopus', emoji_code: '1f419', reaction_type: 'unicode_emoji' },
      { code: 'REACTION_ALREADY_EXISTS' },
    ),
    ['takes the same of another user', () => bob, line('POST'), { emoji_name: 'octopus' }, { result: 'success' }],
    [
      'removes it by its code',
      () => bob,
      line('DELETE'),
      { emoji_code: '1f419', reaction_type: 'unicode_emoji' },
      { result: 'success' },
    ],
    ['removes it by its name', () => amy, line('DELETE'), { emoji_name: 'octopus' }, { result: 'success' }],
  ])

  test('are told to subscribers and to users who have the message in their history', async () => {
    const id = await say(amy, 'reacting')
    const [subscriber, stranger] = [await listen(bob, ['reaction']), await listen(cat, ['reaction'])]
    await ok(amy, `POST /messages/${id}/reactions`, { emoji_name: 'tada' })
    assertHas(await subscriber(), [
      {
        op: 'add',
        message_id: id,
        user_id: amy.id,
        emoji_name: 'tada',
        reaction_type: 'unicode_emoji',
        user: { user_id: amy.id },
      },
    ])
    assert.deepEqual(await stranger(), [])
    await ok(cat, `POST /messages/${id}/reactions`, { emoji_name: 'tada' })
    await ok(amy, `DELETE /messages/${id}/reactions`, { emoji_name: 'tada' })
    assertHas(await stranger(), [
      { op: 'add', user_id: cat.id },
      { op: 'remove', user_id: amy.id },
    ])
    assert.deepEqual((await ok(cat, `GET /messages/${id}`)).message.flags, ['read', 'historical'])
  })

  test('a vote for an emoji takes the name that it has', async () => {
    const id = await say(amy, 'reacting')
    await ok(amy, `POST /messages/${id}/reactions`, { emoji_name: '+1' })
    await ok(bob, `POST /messages/${id}/reactions`, { emoji_name: 'thumbs_up' })
    const { message } = await ok(amy, `GET /messages/${id}`)
    assert.deepEqual(
      message.reactions.map((one: Fields) => one.emoji_name),
      ['+1', '+1'],
    )
  })

  test('make a topic followed only for subscribers', async () => {
    const set = { automatically_follow_topics_policy: 1 }
    await ok(bob, 'PATCH /settings', set)
    await ok(cat, 'PATCH /settings', set)
    const id = await say(amy, 'taking part')
    for (const who of [bob, cat]) await ok(who, `POST /messages/${id}/reactions`, { emoji_name: 'tada' })
    const followed = async (who: Caller) =>
      (await ok(who, 'POST /register', { event_types: ['user_topic'] })).user_topics.some(
        (one: Fields) => one.topic_name === 'taking part',
      )
    assert.deepEqual([await followed(bob), await followed(cat)], [true, false])
  })
}
