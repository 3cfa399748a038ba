// Sending, reading, editing and deleting messages, widgets, and warnings to owners of bots, as clients of the public server know them.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Caller, sharedDaemon, type TestDaemon } from '../support/daemon.ts'
import { listen, person } from '../support/world.ts'
import { ask, assertHas, type Case, cases, type Fields, ok } from './support/cases.ts'

let daemon: TestDaemon
let owner: Caller
let amy: Caller
let bob: Caller
let cat: Caller
let kitchen: number

const choice = { short_name: 'A', long_name: 'Apple', reply: 'apple' }

describe('messages', () => {
  sharedDaemon({ flags: ['--memory'] }, async started => {
    daemon = started
    owner = daemon.owner
    amy = await person(daemon, 'amy')
    bob = await person(daemon, 'bob')
    cat = await person(daemon, 'cat')
    kitchen = await channel('kitchen', [owner, amy, bob])
  })
  describe('POST /messages', sending)
  describe('bots that reach no one', bots)
  describe('polls and to-do lists', widgets)
  describe('GET /messages/{message_id}', reading)
  describe('DELETE /messages/{message_id}', deleting)
  describe('POST /messages/{message_id}/report', reports)
})

async function channel(name: string, subscribers: Caller[], more: Fields = {}): Promise<number> {
  return (await ok(owner, 'POST /channels/create', { name, subscribers: subscribers.map(({ id }) => id), ...more })).id
}

async function say(from: Caller, topic: string, content = 'hello', to = kitchen): Promise<number> {
  return (await ok(from, 'POST /messages', { type: 'channel', to, topic, content })).id
}

function refused(title: string, fields: Fields | (() => Fields), answer: Fields = {}): Case {
  return [title, () => amy, 'POST /messages', fields, { status: 400, code: 'BAD_REQUEST', ...answer }]
}

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
    refused('refuses two channels', { ...message, to: ['kitchen', 'general'] }),
    refused(
      'refuses an unknown channel by name',
      { ...message, to: 'nowhere' },
      { code: 'STREAM_DOES_NOT_EXIST', stream: 'nowhere' },
    ),
    refused(
      'refuses an unknown channel by ID',
      { ...message, to: 99_999 },
      { code: 'STREAM_DOES_NOT_EXIST', stream_id: 99_999 },
    ),
    refused('refuses an unknown user by ID', { type: 'direct', to: [99_999], content: 'x' }),
    refused('refuses an unknown user by address', { type: 'direct', to: 'none@example.com', content: 'x' }),
    refused('refuses no users', { type: 'direct', to: [], content: 'x' }),
    refused('refuses IDs beside addresses', () => ({ type: 'direct', to: [bob.id, cat.email], content: 'x' })),
    refused('refuses a number for users', () => ({ type: 'direct', to: bob.id, content: 'x' })),
    refused('refuses an unknown type', { ...message, type: 'letter' }),
    refused('refuses an empty content', { ...message, content: '' }),
    refused('refuses a blank content', { ...message, content: ' \n ' }),
    refused('refuses a null byte', { ...message, content: 'a\0b' }),
    refused('refuses a topic with a line break', { ...message, topic: 'a\nb' }),
    refused('needs a type', { ...message, type: undefined }, { code: 'REQUEST_VARIABLE_MISSING' }),
    refused('needs a content', { ...message, content: undefined }, { code: 'REQUEST_VARIABLE_MISSING' }),
    refused('needs recipients', { ...message, to: undefined }),
    refused('refuses a widget that is no JSON', { ...message, widget_content: '{' }),
    refused('refuses a widget that is a list', { ...message, widget_content: [] }),
    refused('refuses a widget without a type', { ...message, widget_content: { extra_data: {} } }),
    refused('refuses a widget without data', { ...message, widget_content: { widget_type: 'zform' } }),
    refused('refuses a widget with data that is a text', {
      ...message,
      widget_content: { widget_type: 'zform', extra_data: 'x' },
    }),
    refused('refuses an unknown widget', { ...message, widget_content: { widget_type: 'poll', extra_data: {} } }),
    refused('refuses a form without a type', { ...message, widget_content: { widget_type: 'zform', extra_data: {} } }),
    refused('refuses an unknown form', {
      ...message,
      widget_content: { widget_type: 'zform', extra_data: { type: 'x' } },
    }),
    refused('refuses a form without choices', {
      ...message,
      widget_content: { widget_type: 'zform', extra_data: { type: 'choices', heading: 'x' } },
    }),
    refused('refuses a choice without a reply', {
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
    const closed = await channel('closed', [owner, amy], {
      can_send_message_group: { direct_members: [owner.id], direct_subgroups: [] },
    })
    assertHas(await ask(amy, 'POST /messages', { ...message, to: closed }), {
      status: 400,
      body: { code: 'BAD_REQUEST' },
    })
    const hidden = await channel('hidden', [owner], { invite_only: true })
    assertHas(await ask(amy, 'POST /messages', { ...message, to: hidden }), {
      status: 400,
      body: { code: 'STREAM_DOES_NOT_EXIST' },
    })
    const strict = await channel('strict', [owner, amy], { topics_policy: 'disable_empty_topic' })
    for (const topic of ['', '(no topic)', 'general chat'])
      assertHas(await ask(amy, 'POST /messages', { ...message, to: strict, topic }), {
        status: 400,
        body: { empty_topic_display_name: 'general chat' },
      })
    const plain = await channel('plain', [owner, amy], { topics_policy: 'empty_topic_only' })
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

function form(choices: Fields[]): Fields {
  return { widget_type: 'zform', extra_data: { type: 'choices', heading: 'Fruit', choices } }
}

async function bot(name: string): Promise<Caller> {
  const { user_id, api_key } = await ok(amy, 'POST /bots', { full_name: name, short_name: name })
  const { bots } = await ok(amy, 'GET /bots')
  const { username } = bots.find((one: Fields) => one.api_key === api_key)
  return new Caller(amy.url, username, api_key, user_id)
}

function bots(): void {
  const post = (who: Caller, to: unknown) =>
    ask(who, 'POST /messages', { type: 'channel', to, topic: 'x', content: 'x' })

  test('the owner of a bot is told of a channel that does not exist, and not again at once', async () => {
    const robot = await bot('lost')
    const heard = await listen(amy, ['message'], { apply_markdown: false })
    assertHas(await post(robot, 'nowhere'), { status: 400, body: { code: 'STREAM_DOES_NOT_EXIST' } })
    assertHas(await post(robot, 99_999), { status: 400, body: { code: 'STREAM_DOES_NOT_EXIST' } })
    const events = await heard()
    assertHas(events, [
      { message: { type: 'private', sender_email: (email: string) => email.includes('notification') } },
    ])
    assert.match(
      events[0]!.message.content,
      /^Your bot `.*` tried to send a message to channel #\*\*nowhere\*\*, but that channel does not exist/,
    )
  })

  test('by ID', async () => {
    const robot = await bot('numbered')
    const heard = await listen(amy, ['message'], { apply_markdown: false })
    await post(robot, 99_999)
    assert.match((await heard())[0]!.message.content, /channel ID 99999, but there is no channel with that ID\.$/)
  })

  test('of a channel without subscribers, to which the message still goes', async () => {
    const robot = await bot('alone')
    const empty = await channel('empty', [owner])
    await ok(owner, 'DELETE /users/me/subscriptions', { subscriptions: ['empty'] })
    const heard = await listen(amy, ['message'], { apply_markdown: false })
    const { id } = (await post(robot, empty)).body
    const [event] = await heard()
    assert.match(
      event!.message.content,
      /channel #\*\*empty\*\*\. The channel exists but does not have any subscribers\.$/,
    )
    assert.ok(event!.message.id < id)
  })

  test('nobody is told of the mistakes of people', async () => {
    const heard = await listen(amy, ['message'])
    await post(amy, 'nowhere')
    assert.deepEqual(await heard(), [])
  })
}

function widgets(): void {
  let poll: number
  let list: number
  const prepare = async () => {
    poll ??= await say(amy, 'widgets', '/poll Lunch?\nSoup\nBread')
    list ??= await say(amy, 'widgets', '/todo Things\nSoup: hot\nBread')
  }
  const rows: [title: string, who: () => Caller, id: () => number, data: unknown, isTaken: boolean][] = [
    ['a vote', () => bob, () => poll, { type: 'vote', key: 'canned,0', vote: 1 }, true],
    ['a vote taken back', () => bob, () => poll, { type: 'vote', key: 'canned,0', vote: -1 }, true],
    ['a vote of two', () => bob, () => poll, { type: 'vote', key: 'canned,0', vote: 2 }, false],
    ['a vote without a key', () => bob, () => poll, { type: 'vote', vote: 1 }, false],
    ['a vote for a number', () => bob, () => poll, { type: 'vote', key: 7, vote: 1 }, false],
    ['a vote with more', () => bob, () => poll, { type: 'vote', key: 'x', vote: 1, extra: 1 }, false],
    ['a question of the author', () => amy, () => poll, { type: 'question', question: 'Dinner?' }, true],
    ['a question of another user', () => bob, () => poll, { type: 'question', question: 'Dinner?' }, false],
    ['a question that is a number', () => amy, () => poll, { type: 'question', question: 7 }, false],
    ['an option', () => bob, () => poll, { type: 'new_option', option: 'Rice', idx: 1 }, true],
    ['an option beyond the last', () => bob, () => poll, { type: 'new_option', option: 'Rice', idx: 1001 }, false],
    ['an option before the first', () => bob, () => poll, { type: 'new_option', option: 'Rice', idx: -1 }, false],
    ['an option that is a number', () => bob, () => poll, { type: 'new_option', option: 7, idx: 1 }, false],
    ['an unknown type of a poll', () => bob, () => poll, { type: 'new_task' }, false],
    ['no type', () => bob, () => poll, {}, false],
    ['a list for a poll', () => bob, () => poll, [], false],
    ['a task', () => bob, () => list, { type: 'new_task', key: 7, task: 'Rice', desc: '', completed: false }, true],
    [
      'a task without a description',
      () => bob,
      () => list,
      { type: 'new_task', key: 7, task: 'Rice', completed: false },
      false,
    ],
    [
      'a task that is half done',
      () => bob,
      () => list,
      { type: 'new_task', key: 7, task: 'Rice', desc: '', completed: 'half' },
      false,
    ],
    [
      'a task with a text for its key',
      () => bob,
      () => list,
      { type: 'new_task', key: 'x', task: 'Rice', desc: '', completed: false },
      false,
    ],
    ['a struck task', () => bob, () => list, { type: 'strike', key: '5,9' }, true],
    ['a struck task by a number', () => bob, () => list, { type: 'strike', key: 5 }, false],
    ['a title of the author', () => amy, () => list, { type: 'new_task_list_title', title: 'More' }, true],
    ['a title of another user', () => bob, () => list, { type: 'new_task_list_title', title: 'More' }, false],
    ['an unknown type of a list', () => bob, () => list, { type: 'vote', key: 'x', vote: 1 }, false],
  ]
  for (const [title, who, id, data, isTaken] of rows)
    test(`${title} is ${isTaken ? 'taken' : 'refused'}`, async () => {
      await prepare()
      const heard = await listen(amy, ['submessage'])
      const content = JSON.stringify(data)
      const { status, body } = await ask(who(), 'POST /submessage', { message_id: id(), msg_type: 'widget', content })
      assertHas({ status, ...body }, isTaken ? { status: 200 } : { status: 400, code: 'BAD_REQUEST' })
      assertHas(await heard(), isTaken ? [{ message_id: id(), msg_type: 'widget', sender_id: who().id, content }] : [])
    })

  test('text that is no JSON is refused', async () => {
    assertHas(await ask(amy, 'POST /submessage', { message_id: poll, msg_type: 'widget', content: '{' }), {
      status: 400,
      body: { code: 'BAD_REQUEST' },
    })
  })

  test('only the author of a message begins a widget', async () => {
    const id = await say(amy, 'plain')
    const content = JSON.stringify({ widget_type: 'poll', extra_data: {} })
    assert.equal((await ask(bob, 'POST /submessage', { message_id: id, msg_type: 'widget', content })).status, 400)
    await ok(amy, 'POST /submessage', { message_id: id, msg_type: 'widget', content })
    const { message } = await ok(amy, `GET /messages/${id}`)
    assertHas(message.submessages, [{ msg_type: 'widget', message_id: id, sender_id: amy.id, content }])
  })

  const commands: [command: string, expected: Fields][] = [
    ['/poll', { widget_type: 'poll', extra_data: { question: '', options: [] } }],
    ['/poll Lunch?', { widget_type: 'poll', extra_data: { question: 'Lunch?', options: [] } }],
    [
      '/poll Lunch?\n- Soup\n* Bread\n\n',
      { widget_type: 'poll', extra_data: { question: 'Lunch?', options: ['Soup', 'Bread'] } },
    ],
    ['/todo', { widget_type: 'todo', extra_data: { task_list_title: '', tasks: [] } }],
    [
      '/todo Things\nSoup: hot\n- Bread',
      {
        widget_type: 'todo',
        extra_data: {
          task_list_title: 'Things',
          tasks: [
            { task: 'Soup', desc: 'hot' },
            { task: 'Bread', desc: '' },
          ],
        },
      },
    ],
  ]
  for (const [command, expected] of commands)
    test(`${JSON.stringify(command)} makes a widget`, async () => {
      const id = await say(amy, 'widgets', command)
      const { message } = await ok(amy, `GET /messages/${id}`)
      assert.deepEqual(JSON.parse(message.submessages[0].content), expected)
      assert.equal((await ask(amy, `PATCH /messages/${id}`, { content: 'x' })).status, 400)
    })

  test('other commands make none', async () => {
    for (const text of ['/polling x', '/pol', 'see /poll', '/me polls']) {
      const id = await say(amy, 'widgets', text)
      assert.deepEqual((await ok(amy, `GET /messages/${id}`)).message.submessages, [])
    }
  })
}

function reading(): void {
  test('a message as text and as Markdown', async () => {
    const id = await say(amy, 'reading', '**soup**')
    assertHas(await ok(bob, `GET /messages/${id}`), {
      raw_content: '**soup**',
      message: { content: '<p><strong>soup</strong></p>', content_type: 'text/html', flags: [] },
    })
    assertHas(await ok(bob, `GET /messages/${id}`, { apply_markdown: false }), {
      message: { content: '**soup**', content_type: 'text/x-markdown' },
    })
  })

  test('what one cannot read looks like nothing', async () => {
    const { id } = await ok(amy, 'POST /messages', { type: 'direct', to: [bob.id], content: 'hi' })
    for (const path of [`/messages/${id}`, '/messages/99999', `/messages/${id}/history`])
      assertHas(await ask(cat, `GET ${path}`), { status: 400, body: { code: 'BAD_REQUEST' } })
    assertHas(await ok(cat, `GET /messages/${await say(amy, 'open')}`), { message: { flags: ['read', 'historical'] } })
  })

  test('the history of edits and moves, oldest first', async () => {
    const id = await say(amy, 'before', 'one')
    await ok(amy, `PATCH /messages/${id}`, { content: 'two' })
    await ok(amy, `PATCH /messages/${id}`, { topic: 'after', send_notification_to_new_thread: false })
    await ok(amy, `PATCH /messages/${id}`, {
      content: 'three',
      topic: 'at last',
      send_notification_to_new_thread: false,
    })
    const { message_history } = await ok(bob, `GET /messages/${id}/history`)
    assertHas(message_history, [
      { content: 'one', topic: 'before', user_id: amy.id, prev_content: undefined },
      {
        content: 'two',
        prev_content: 'one',
        topic: 'before',
        rendered_content: '<p>two</p>',
        prev_rendered_content: '<p>one</p>',
      },
      { content: 'two', topic: 'after', prev_topic: 'before', prev_content: undefined },
      { content: 'three', prev_content: 'two', topic: 'at last', prev_topic: 'after' },
    ])
    const { message } = await ok(bob, `GET /messages/${id}`)
    assertHas(message.edit_history, [
      { prev_content: 'two', prev_topic: 'after', topic: 'at last', user_id: amy.id },
      { prev_topic: 'before', topic: 'after', prev_content: undefined },
      { prev_content: 'one', prev_topic: undefined },
    ])
  })

  const policies: [policy: string, status: number, entries: number, edits: number | undefined][] = [
    ['all', 200, 3, 2],
    ['moves', 200, 2, 1],
    ['none', 400, 0, undefined],
  ]
  for (const [policy, status, entries, edits] of policies)
    test(`the history with message_edit_history_visibility_policy ${policy}`, async () => {
      const id = await say(amy, 'before', 'one')
      await ok(amy, `PATCH /messages/${id}`, { content: 'two' })
      await ok(amy, `PATCH /messages/${id}`, { topic: 'after', send_notification_to_new_thread: false })
      await ok(owner, 'PATCH /realm', { message_edit_history_visibility_policy: policy })
      const reply = await ask(bob, `GET /messages/${id}/history`)
      assert.deepEqual([reply.status, reply.body.message_history?.length ?? 0], [status, entries])
      assert.equal((await ok(bob, `GET /messages/${id}`)).message.edit_history?.length, edits)
      await ok(owner, 'PATCH /realm', { message_edit_history_visibility_policy: 'all' })
    })

  test('matches_narrow marks what it finds, of messages that were received', async () => {
    const [found, other] = [await say(amy, 'reading', 'green soup'), await say(amy, 'reading', 'bread')]
    const narrow = [['search', 'soup']]
    const { messages } = await ok(bob, 'GET /messages/matches_narrow', { msg_ids: [found, other], narrow })
    assert.deepEqual(messages, {
      [found]: { match_content: '<p>green <span class="highlight">soup</span></p>', match_subject: 'reading' },
    })
    assert.deepEqual((await ok(cat, 'GET /messages/matches_narrow', { msg_ids: [found], narrow })).messages, {})
  })
}

function deleting(): void {
  test('administrators delete any message; it is told with its place', async () => {
    const id = await say(amy, 'gone')
    const heard = await listen(bob, ['delete_message'])
    await ok(owner, `DELETE /messages/${id}`)
    assertHas(await heard(), [{ message_id: id, message_type: 'stream', stream_id: kitchen, topic: 'gone' }])
    assertHas(await ask(owner, `DELETE /messages/${id}`), { status: 400, body: { code: 'BAD_REQUEST' } })
  })

  test('a direct message is told without a place', async () => {
    const { id } = await ok(amy, 'POST /messages', { type: 'direct', to: [bob.id], content: 'hi' })
    const heard = await listen(bob, ['delete_message'])
    await ok(owner, 'PATCH /realm', {
      can_delete_own_message_group: { new: { direct_members: [amy.id], direct_subgroups: [] } },
    })
    await ok(amy, `DELETE /messages/${id}`)
    assertHas(await heard(), [{ message_id: id, message_type: 'private', stream_id: undefined, topic: undefined }])
  })

  test('users delete their own, and those of their bots, if they may and in time', async () => {
    const [own, others] = [await say(amy, 'gone'), await say(bob, 'gone')]
    const robot = await bot('deleted')
    await ok(amy, 'POST /users/me/subscriptions', { subscriptions: [{ name: 'kitchen' }], principals: [robot.id] })
    const ofBot = await say(robot, 'gone')
    assert.equal((await ask(amy, `DELETE /messages/${others}`)).status, 400)
    assert.equal((await ask(bob, `DELETE /messages/${others}`)).status, 400)
    await ok(amy, `DELETE /messages/${ofBot}`)
    await ok(amy, `DELETE /messages/${own}`)
  })

  test('the first message of a channel changes', async () => {
    const place = await channel('first', [owner, bob])
    const ids = [await say(bob, 'a', 'x', place), await say(bob, 'a', 'y', place)]
    const first = (
      await ok(owner, 'GET /messages', {
        anchor: 'oldest',
        num_before: 0,
        num_after: 1,
        narrow: [{ operator: 'channel', operand: place }],
      })
    ).messages[0].id
    const heard = await listen(bob, ['stream', 'delete_message'])
    await ok(owner, `DELETE /messages/${first}`)
    assertHas(await heard(), [
      { type: 'stream', op: 'update', property: 'first_message_id', value: ids[0] },
      { type: 'delete_message', message_id: first },
    ])
  })
}

function reports(): void {
  const line = (id: number) => `POST /messages/${id}/report`
  test('need a channel for them', async () => {
    const id = await say(bob, 'bad')
    assertHas(await ask(amy, line(id), { report_type: 'spam' }), { status: 400, body: { code: 'BAD_REQUEST' } })
  })

  test('reach the channel for them', async () => {
    const place = await channel('reports', [owner], { invite_only: true })
    await ok(owner, 'PATCH /realm', { moderation_request_channel_id: place })
    const id = await say(bob, 'bad', 'spam spam')
    const heard = await listen(owner, ['message'], { apply_markdown: false })
    await ok(amy, line(id), { report_type: 'harassment', description: 'not nice' })
    const [event] = await heard()
    assertHas(event, { message: { stream_id: place, type: 'stream' } })
    assert.match(event!.message.content, /not nice/)
    assert.match(event!.message.content, /spam spam/)
  })

  const rows: [title: string, fields: Fields, status: number][] = [
    ['an unknown reason', { report_type: 'boring' }, 400],
    ['another reason without words', { report_type: 'other' }, 400],
    ['another reason with words', { report_type: 'other', description: 'this' }, 200],
    ['1001 characters', { report_type: 'spam', description: 'x'.repeat(1001) }, 400],
    ['1000 characters', { report_type: 'spam', description: 'x'.repeat(1000) }, 200],
    ['no reason', {}, 400],
  ]
  for (const [title, fields, status] of rows)
    test(`${title}: ${status}`, async () => {
      assert.equal((await ask(amy, line(await say(bob, 'bad')), fields)).status, status)
    })

  test('of messages that one cannot read are refused', async () => {
    const { id } = await ok(amy, 'POST /messages', { type: 'direct', to: [bob.id], content: 'hi' })
    assertHas(await ask(cat, line(id), { report_type: 'spam' }), { status: 400, body: { code: 'BAD_REQUEST' } })
  })
}
