// Messages that are sent, as clients of the public server know them.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { person } from '../support/world.ts'
import { ask, assertHas, cases, type Fields, ok } from './support/cases.ts'
import { amy, bob, cat, channel, daemon, kitchen, openKitchen, owner, refused, say } from './support/kitchen.ts'

const choice = { short_name: 'A', long_name: 'Apple', reply: 'apple' }

describe('sending', () => {
  openKitchen()
  describe('POST /messages', sending)
  describe('POST /messages by bridges', mirroring)
})

function sending(): void {
  const message = { type: 'channel', to: 'kitchen', topic: 'lunch', content: 'soup' }
  cases([
    ['takes a channel by name', () => amy, 'POST /messages', message, { result: 'success' }],
    [
      'takes a channel by name in quotes',
      () => amy,
      'POST /messages',
      { ...message, to: '"kitchen"' },
      { result: 'success' },
    ],
    [
      'takes a channel by name in a list',
      () => amy,
      'POST /messages',
      { ...message, to: ['kitchen'] },
      { result: 'success' },
    ],
    [
      'takes a channel by name in another case',
      () => amy,
      'POST /messages',
      { ...message, to: 'KITCHEN' },
      { result: 'success' },
    ],
    ['takes a channel by ID', () => amy, 'POST /messages', () => ({ ...message, to: kitchen }), { result: 'success' }],
    [
      'takes a channel by ID in a list',
      () => amy,
      'POST /messages',
      () => ({ ...message, to: [kitchen] }),
      { result: 'success' },
    ],
    ['takes stream for channel', () => amy, 'POST /messages', { ...message, type: 'stream' }, { result: 'success' }],
    [
      'takes subject for topic',
      () => amy,
      'POST /messages',
      { ...message, topic: undefined, subject: 'lunch' },
      { result: 'success' },
    ],
    [
      'takes users by ID',
      () => amy,
      'POST /messages',
      () => ({ type: 'direct', to: [bob.id], content: 'x' }),
      { result: 'success' },
    ],
    [
      'takes users by address',
      () => amy,
      'POST /messages',
      () => ({ type: 'private', to: [bob.email], content: 'x' }),
      { result: 'success' },
    ],
    [
      'takes users by addresses with commas',
      () => amy,
      'POST /messages',
      () => ({ type: 'private', to: `${bob.email},${cat.email}`, content: 'x' }),
      { result: 'success' },
    ],
    [
      'takes oneself',
      () => amy,
      'POST /messages',
      () => ({ type: 'direct', to: [amy.id], content: 'x' }),
      { result: 'success' },
    ],
    refused('refuses two channels', 'POST /messages', { ...message, to: ['kitchen', 'general'] }),
    refused(
      'refuses an unknown channel by name',
      'POST /messages',
      { ...message, to: 'nowhere' },
      { code: 'STREAM_DOES_NOT_EXIST', stream: 'nowhere' },
    ),
    refused(
      'refuses an unknown channel by ID',
      'POST /messages',
      { ...message, to: 99_999 },
      { code: 'STREAM_DOES_NOT_EXIST', stream_id: 99_999 },
    ),
    refused('refuses an unknown user by ID', 'POST /messages', { type: 'direct', to: [99_999], content: 'x' }),
    refused('refuses an unknown user by address', 'POST /messages', {
      type: 'direct',
      to: 'none@example.com',
      content: 'x',
    }),
    refused('refuses no users', 'POST /messages', { type: 'direct', to: [], content: 'x' }),
    refused('refuses IDs beside addresses', 'POST /messages', () => ({
      type: 'direct',
      to: [bob.id, cat.email],
      content: 'x',
    })),
    refused('refuses a number for users', 'POST /messages', () => ({ type: 'direct', to: bob.id, content: 'x' })),
    refused('refuses an unknown type', 'POST /messages', { ...message, type: 'letter' }),
    refused('refuses an empty content', 'POST /messages', { ...message, content: '' }),
    refused('refuses a blank content', 'POST /messages', { ...message, content: ' \n ' }),
    refused('refuses a null byte', 'POST /messages', { ...message, content: 'a\0b' }),
    refused('refuses a topic with a line break', 'POST /messages', { ...message, topic: 'a\nb' }),
    refused('needs a type', 'POST /messages', { ...message, type: undefined }, { code: 'REQUEST_VARIABLE_MISSING' }),
    refused(
      'needs a content',
      'POST /messages',
      { ...message, content: undefined },
      { code: 'REQUEST_VARIABLE_MISSING' },
    ),
    refused('needs recipients', 'POST /messages', { ...message, to: undefined }),
    refused('refuses a widget that is no JSON', 'POST /messages', { ...message, widget_content: '{' }),
    refused('refuses a widget that is a list', 'POST /messages', { ...message, widget_content: [] }),
    refused('refuses a widget without a type', 'POST /messages', { ...message, widget_content: { extra_data: {} } }),
    refused('refuses a widget without data', 'POST /messages', {
      ...message,
      widget_content: { widget_type: 'zform' },
    }),
    refused('refuses a widget with data that is a text', 'POST /messages', {
      ...message,
      widget_content: { widget_type: 'zform', extra_data: 'x' },
    }),
    refused('refuses an unknown widget', 'POST /messages', {
      ...message,
      widget_content: { widget_type: 'poll', extra_data: {} },
    }),
    refused('refuses a form without a type', 'POST /messages', {
      ...message,
      widget_content: { widget_type: 'zform', extra_data: {} },
    }),
    refused('refuses an unknown form', 'POST /messages', {
      ...message,
      widget_content: { widget_type: 'zform', extra_data: { type: 'x' } },
    }),
    refused('refuses a form without choices', 'POST /messages', {
      ...message,
      widget_content: { widget_type: 'zform', extra_data: { type: 'choices', heading: 'x' } },
    }),
    refused('refuses a choice without a reply', 'POST /messages', {
      ...message,
      widget_content: form([{ short_name: 'a', long_name: 'b' }]),
    }),
    [
      'takes a form',
      () => amy,
      'POST /messages',
      { ...message, widget_content: form([choice]) },
      { result: 'success' },
    ],
  ])

  const contents: [title: string, content: string, stored: string][] = [
    ['cuts spaces at the end', 'soup  \n ', 'soup'],
    ['cuts line breaks at the beginning', '\n\n soup', ' soup'],
    [
      'cuts what is too long',
      'x'.repeat(10_001),
      `${'x'.repeat(10_000 - '\n[message truncated]'.length)}\n[message truncated]`,
    ],
  ]
  for (const [title, content, stored] of contents)
    test(title, async () => {
      const id = await say(amy, 'lunch', content)
      assert.equal((await ok(amy, `GET /messages/${id}`)).raw_content, stored)
    })

  const topics: [title: string, topic: string, stored: string][] = [
    ['cuts a long topic', 'x'.repeat(61), `${'x'.repeat(57)}...`],
    ['trims a topic', '  lunch ', 'lunch'],
    ['reads (no topic) as the empty topic', '(no topic)', ''],
    ['reads general chat as the empty topic', 'general chat', ''],
  ]
  for (const [title, topic, stored] of topics)
    test(title, async () => {
      const id = await say(amy, topic)
      assert.equal((await ok(amy, `GET /messages/${id}`, { allow_empty_topic_name: true })).message.subject, stored)
    })

  test('the sender gets their own ID for it back in the event of their queue', async () => {
    const { queue_id } = await ok(amy, 'POST /register', { event_types: ['message'] })
    await ok(amy, 'POST /messages', { ...message, queue_id, local_id: '17.01' })
    const { events } = await ok(amy, 'GET /events', { queue_id, last_event_id: -1, dont_block: true })
    assertHas(events, [{ local_message_id: '17.01', flags: [] }])
  })

  test('read_by_sender decides whether it is read', async () => {
    for (const read of [true, false]) {
      const { id } = await ok(amy, 'POST /messages', { ...message, read_by_sender: read })
      assert.deepEqual((await ok(amy, `GET /messages/${id}`)).message.flags, read ? ['read'] : [])
    }
  })

  test('channels that one cannot post in', async () => {
    const closed = (
      await channel([owner, amy], {
        name: 'closed',
        can_send_message_group: { direct_members: [owner.id], direct_subgroups: [] },
      })
    ).id
    assertHas(await ask(amy, 'POST /messages', { ...message, to: closed }), {
      status: 400,
      body: { code: 'BAD_REQUEST' },
    })
    const hidden = (await channel([owner], { name: 'hidden', invite_only: true })).id
    assertHas(await ask(amy, 'POST /messages', { ...message, to: hidden }), {
      status: 400,
      body: { code: 'STREAM_DOES_NOT_EXIST' },
    })
    const strict = (await channel([owner, amy], { name: 'strict', topics_policy: 'disable_empty_topic' })).id
    for (const topic of ['', '(no topic)', 'general chat'])
      assertHas(await ask(amy, 'POST /messages', { ...message, to: strict, topic }), {
        status: 400,
        body: { empty_topic_display_name: 'general chat' },
      })
    const plain = (await channel([owner, amy], { name: 'plain', topics_policy: 'empty_topic_only' })).id
    assertHas(await ask(amy, 'POST /messages', { ...message, to: plain }), {
      status: 400,
      body: { empty_topic_display_name: 'general chat' },
    })
  })

  test('deactivated users', async () => {
    const gone = await person(daemon, 'gone')
    await ok(owner, `DELETE /users/${gone.id}`)
    assertHas(await ask(amy, 'POST /messages', { type: 'direct', to: [gone.id], content: 'x' }), {
      status: 400,
      body: { code: 'BAD_REQUEST' },
    })
  })
}

function mirroring(): void {
  const message = { type: 'direct', to: [1], content: 'x' }
  cases([
    refused('refuses to write for others', 'POST /messages', { ...message, forged: 'true' }),
    refused('refuses it in the older word', 'POST /messages', { ...message, forged: 'yes' }),
    refused('refuses a sender', 'POST /messages', { ...message, sender: 'bob@example.com' }),
    refused('asks bridges for a sender', 'POST /messages', { ...message, client: 'irc_mirror' }),
    refused('refuses bridges with one', 'POST /messages', {
      ...message,
      client: 'zephyr_mirror',
      sender: 'bob@example.com',
    }),
    refused('refuses a time that is no number', 'POST /messages', { ...message, time: 'noon' }),
    [
      'ignores a time',
      () => amy,
      'POST /messages',
      () => ({ ...message, to: [amy.id], time: 5.5, forged: 'no' }),
      { ignored_parameters_unsupported: undefined },
    ],
  ])
}

function form(choices: Fields[]): Fields {
  return { widget_type: 'zform', extra_data: { type: 'choices', heading: 'Fruit', choices } }
}
