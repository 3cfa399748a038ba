// Polls, to-do lists and messages of bots that reach no one, as clients of the public server know them.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Caller } from '../support/daemon.ts'
import { listen } from '../support/world.ts'
import { ask, assertHas, type Fields, ok } from './support/cases.ts'
import { amy, bob, channel, openKitchen, owner, say } from './support/kitchen.ts'

describe('widgets and bots', () => {
  openKitchen()
  describe('bots that reach no one', bots)
  describe('polls and to-do lists', widgets)
})

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
    const empty = (await channel([owner], { name: 'empty' })).id
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

  test('no one is told of the mistakes of people', async () => {
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

async function bot(name: string): Promise<Caller> {
  const { user_id, api_key } = await ok(amy, 'POST /bots', { full_name: name, short_name: name })
  const { bots } = await ok(amy, 'GET /bots')
  const { username } = bots.find((one: Fields) => one.api_key === api_key)
  return new Caller(amy.url, username, api_key, user_id)
}
