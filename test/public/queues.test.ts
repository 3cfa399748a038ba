// Event queues, as clients of the public server know them: what register takes, what a narrow lets through, how changes of flags are joined.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Caller, sharedDaemon, type TestDaemon } from '../support/daemon.ts'
import { person } from '../support/world.ts'
import { ask, cases, type Fields, ok } from './support/cases.ts'

let daemon: TestDaemon
let owner: Caller
let amy: Caller
let bob: Caller
let guest: Caller
/** Channels: `open` and `plaza` are public, `closed` is private; amy and the owner are in all of them. */
const at: Record<string, number> = {}

sharedDaemon({ flags: ['--memory', '--dialect', 'zulip', '--max-queues', '1000'] }, async started => {
  daemon = started
  owner = daemon.owner
  amy = await person(daemon, 'amy')
  bob = await person(daemon, 'bob')
  guest = await person(daemon, 'gus', { role: 600 })
  for (const name of ['open', 'plaza', 'closed']) {
    const more = { subscribers: [owner.id, amy.id], invite_only: name === 'closed' }
    at[name] = (await ok(owner, 'POST /channels/create', { name, ...more })).id
  }
})

const who = { owner: () => owner, amy: () => amy, bob: () => bob, guest: () => guest }

/** Registers a queue and returns how to read what it got since. */
async function queueOf(caller: Caller, fields: Fields = {}) {
  const { queue_id } = await ok(caller, 'POST /register', { event_types: ['message'], ...fields })
  return async (last_event_id = -1): Promise<Record<string, any>[]> =>
    (await ok(caller, 'GET /events', { queue_id, last_event_id, dont_block: true })).events
}

async function say(from: Caller, to: string, topic: string, content = 'hello'): Promise<number> {
  return (await ok(from, 'POST /messages', { type: 'channel', to: at[to], topic, content })).id
}

describe('POST /register', () => {
  const capable = (given: unknown) => ({ client_capabilities: given })
  const refused = { status: 400, code: 'BAD_REQUEST' }
  const rows: [string, Fields, Fields][] = [
    [
      'nothing given: a queue for everything',
      {},
      { queue_id: (id: unknown) => typeof id === 'string', last_event_id: -1 },
    ],
    ['capabilities need the first one there was', capable({}), refused],
    ['other capabilities do not replace it', capable({ bulk_message_deletion: true }), refused],
    ['a capability is true or false, not a text', capable({ notification_settings_null: 'yes' }), refused],
    ['a capability is true or false, not a number', capable({ notification_settings_null: 1 }), refused],
    ['a capability is true or false, not null', capable({ notification_settings_null: null }), refused],
    [
      'another capability that is no boolean',
      capable({ notification_settings_null: true, empty_topic_name: 1 }),
      refused,
    ],
    ['capabilities that are a list', capable([]), refused],
    ['capabilities that are a number', capable(3), refused],
    ['an unknown capability is ignored', capable({ notification_settings_null: false, telepathy: 'maybe' }), {}],
    ['a false capability', capable({ notification_settings_null: false }), {}],
    ['a term of three', { narrow: [['a', 'b', 'c']] }, refused],
    ['a term of one', { narrow: [['channel']] }, refused],
    ['a term that is an object', { narrow: [{ operator: 'channel', operand: 'open' }] }, refused],
    ['an operator that queues do not know', { narrow: [['near', '1']] }, refused],
    ['an operator that is none', { narrow: [['flavour', 'sweet']] }, refused],
    ['is:followed', { narrow: [['is', 'followed']] }, refused],
    ['channels:public', { narrow: [['channels', 'public']] }, refused],
    ['channel', { narrow: [['channel', 'open']] }, {}],
    ['stream, its older name', { narrow: [['stream', 'open']] }, {}],
    ['topic', { narrow: [['topic', 'x']] }, {}],
    ['sender', { narrow: [['sender', 'amy@example.com']] }, {}],
    ['is:dm', { narrow: [['is', 'dm']] }, {}],
    ['is:private, its older name', { narrow: [['is', 'private']] }, {}],
    ['is:starred', { narrow: [['is', 'starred']] }, {}],
    ['is:unread', { narrow: [['is', 'unread']] }, {}],
    ['is:alerted', { narrow: [['is', 'alerted']] }, {}],
    ['is:mentioned', { narrow: [['is', 'mentioned']] }, {}],
    ['is:resolved', { narrow: [['is', 'resolved']] }, {}],
    ['event types that are no list', { event_types: 'message' }, refused],
    ['event types that are numbers', { event_types: [1] }, refused],
    ['subscribers: partial', { include_subscribers: 'partial' }, {}],
    ['subscribers: an unknown word', { include_subscribers: 'some' }, refused],
    ['a lifespan that is a text', { queue_lifespan_secs: 'long' }, refused],
    ['a lifespan above the most', { queue_lifespan_secs: 100_000_000 }, {}],
    ['a boolean that is none', { apply_markdown: 'maybe' }, refused],
    ['a boolean in capitals', { slim_presence: 'True' }, refused],
  ]
  cases(
    rows.map(([title, fields, answer]) => [
      title,
      who.amy,
      'POST /register',
      { fetch_event_types: [], ...fields },
      answer,
    ]),
  )

  cases([
    ['guests may not follow all public channels', who.guest, 'POST /register', { all_public_streams: true }, refused],
    ['members may', who.bob, 'POST /register', { all_public_streams: true, fetch_event_types: [] }, {}],
    [
      'the version is that of the level, with our name',
      who.bob,
      'POST /register',
      { fetch_event_types: [] },
      { zulip_version: '11.0-dev-natter', zulip_merge_base: '11.0-dev-natter', zulip_feature_level: 417 },
    ],
  ])
})

describe('GET and DELETE /events', () => {
  const bad = (queue_id: string) => ({ status: 400, code: 'BAD_EVENT_QUEUE_ID', queue_id })
  cases([
    ['an unknown queue', who.amy, 'GET /events', { queue_id: 'fake:1', last_event_id: -1 }, bad('fake:1')],
    ['no queue and no dont_block', who.amy, 'GET /events', { last_event_id: -1 }, { status: 400, code: 'BAD_REQUEST' }],
    ['no queue, but dont_block, makes one', who.amy, 'GET /events', { dont_block: true }, { events: [] }],
    ['deleting an unknown queue', who.amy, 'DELETE /events', { queue_id: 'fake:1' }, bad('fake:1')],
    ['deleting nothing', who.amy, 'DELETE /events', {}, { status: 400, code: 'REQUEST_VARIABLE_MISSING' }],
  ])

  test('a queue needs last_event_id, belongs to one account, and is deleted once', async () => {
    const { queue_id } = await ok(amy, 'POST /register', { event_types: ['message'] })
    const poll = { queue_id, last_event_id: -1, dont_block: true }
    assert.equal((await ask(amy, 'GET /events', { queue_id, dont_block: true })).status, 400)
    assert.equal((await ask(bob, 'GET /events', poll)).body.code, 'BAD_EVENT_QUEUE_ID')
    assert.equal((await ask(bob, 'DELETE /events', { queue_id })).body.code, 'BAD_EVENT_QUEUE_ID')
    assert.deepEqual((await ok(amy, 'GET /events', poll)).events, [])
    assert.equal((await ask(amy, 'GET /events', { ...poll, last_event_id: 18 })).status, 400)
    await ok(amy, 'DELETE /events', { queue_id })
    assert.equal((await ask(amy, 'DELETE /events', { queue_id })).body.code, 'BAD_EVENT_QUEUE_ID')
    assert.equal((await ask(amy, 'GET /events', poll)).body.code, 'BAD_EVENT_QUEUE_ID')
  })

  test('an event that was acknowledged cannot be asked for again', async () => {
    const { queue_id } = await ok(amy, 'POST /register', { event_types: ['message'] })
    await say(amy, 'open', 'acknowledged')
    const poll = { queue_id, dont_block: true }
    const [event] = (await ok(amy, 'GET /events', { ...poll, last_event_id: -1 })).events
    assert.deepEqual((await ok(amy, 'GET /events', { ...poll, last_event_id: event.id })).events, [])
    assert.equal((await ask(amy, 'GET /events', { ...poll, last_event_id: -1 })).status, 400)
  })
})

describe('the narrow of a queue', () => {
  type Row = [title: string, reader: () => Caller, narrow: string[][], send: () => Promise<unknown>, received: boolean]
  const dm = (from: () => Caller, to: () => Caller) => () =>
    ok(from(), 'POST /messages', { type: 'direct', to: [to().id], content: 'hello' })
  const open =
    (topic = 'x', content?: string) =>
    () =>
      say(amy, 'open', topic, content)
  const rows: Row[] = [
    ['a public channel that the reader does not follow', who.bob, [['channel', 'open']], open(), true],
    ['its name in another case', who.bob, [['stream', 'OPEN']], open(), true],
    ['its name with a space', who.bob, [['stream', ' open']], open(), false],
    ['another public channel', who.bob, [['channel', 'plaza']], open(), false],
    [
      'a private channel that the reader does not follow',
      who.bob,
      [['channel', 'closed']],
      () => say(amy, 'closed', 'x'),
      false,
    ],
    ['a private channel of the reader', who.owner, [['channel', 'closed']], () => say(amy, 'closed', 'x'), true],
    ['a guest and a public channel', who.guest, [['channel', 'open']], open(), false],
    ['a topic of any public channel', who.bob, [['topic', 'news']], open('news'), true],
    ['a topic in another case', who.bob, [['topic', 'NEWS']], open('news'), true],
    ['another topic', who.bob, [['topic', 'olds']], open('news'), false],
    [
      'channel and topic',
      who.bob,
      [
        ['channel', 'open'],
        ['topic', 'news'],
      ],
      open('news'),
      true,
    ],
    [
      'channel and another topic',
      who.bob,
      [
        ['channel', 'open'],
        ['topic', 'olds'],
      ],
      open('news'),
      false,
    ],
    ['a sender in public channels', who.bob, [['sender', 'amy@example.com']], open(), true],
    ['a sender in another case', who.bob, [['sender', 'AMY@example.com']], open(), true],
    ['another sender', who.bob, [['sender', 'owner@example.com']], open(), false],
    ['resolved topics of public channels', who.bob, [['is', 'resolved']], open('✔ done'), true],
    ['a topic that is not resolved', who.bob, [['is', 'resolved']], open('done'), false],
    ['unread messages of public channels', who.bob, [['is', 'unread']], open(), true],
    ['a mention of the reader', who.owner, [['is', 'mentioned']], open('x', 'hello @**Olive Owner**'), true],
    ['a mention of everyone', who.owner, [['is', 'mentioned']], open('x', 'hello @**all**'), false],
    ['a mention where the reader is not', who.bob, [['is', 'mentioned']], open('x', 'hello @**Bob**'), false],
    ['direct messages', who.bob, [['is', 'dm']], dm(who.amy, who.bob), true],
    ['direct messages by the older name', who.bob, [['is', 'private']], dm(who.amy, who.bob), true],
    ['direct messages of others', who.bob, [['is', 'dm']], dm(who.amy, who.owner), false],
    ['a channel message is no direct one', who.owner, [['is', 'dm']], open(), false],
    ['a direct message is in no channel', who.bob, [['channel', 'open']], dm(who.amy, who.bob), false],
    ['no narrow, and a channel that the reader does not follow', who.bob, [], open(), false],
    ['no narrow, and a channel of the reader', who.owner, [], open(), true],
  ]
  for (const [title, reader, narrow, send, received] of rows)
    test(`${title}: ${received ? 'arrives' : 'does not'}`, async () => {
      const heard = await queueOf(reader(), { narrow })
      await send()
      assert.equal((await heard()).length, received ? 1 : 0)
    })

  test('a message that is only overheard has no flags, and its sender gets the local ID back', async () => {
    const { queue_id } = await ok(bob, 'POST /register', { event_types: ['message'], narrow: [['channel', 'open']] })
    const echo = { queue_id, local_id: '17.01' }
    await ok(bob, 'POST /messages', { type: 'channel', to: at.open, topic: 'x', content: 'mine', ...echo })
    const [event] = (await ok(bob, 'GET /events', { queue_id, last_event_id: -1, dont_block: true })).events
    assert.deepEqual([event.flags, event.local_message_id], [[], '17.01'])
  })

  for (const [title, fields, count] of [
    ['all public channels', { default_all_public_streams: true }, 2],
    ['one channel', { default_events_register_stream: 'plaza' }, 1],
  ] as const)
    test(`a bot that is set up for ${title} needs to ask for nothing`, async () => {
      const name = `bot${count}`
      const made = await ok(owner, 'POST /bots', { full_name: name, short_name: name, ...fields })
      const bot = new Caller(daemon.url, `${name}-bot@example.com`, made.api_key, made.user_id)
      const heard = await queueOf(bot)
      await say(amy, 'plaza', 'x')
      await say(amy, 'open', 'x')
      await say(amy, 'closed', 'x')
      assert.equal((await heard()).length, count)
    })
})

describe('changes of flags that no one has read', () => {
  type Change = [op: string, flag: string, ...messages: number[]]
  const messages: number[] = []

  async function messagesOf(count: number): Promise<void> {
    while (messages.length < count) messages.push(await say(amy, 'open', 'flags'))
  }

  async function change([op, flag, ...numbers]: Change): Promise<void> {
    await ok(owner, 'POST /messages/flags', { op, flag, messages: numbers.map(number => messages[number]) })
  }

  const brief = ({ op, flag, messages: ids, type }: Record<string, any>) =>
    type === 'message' ? 'message' : `${op} ${flag} ${ids.map((id: number) => messages.indexOf(id)).join()}`

  const rows: [title: string, before: Change[], changes: (Change | 'message')[], expected: string[]][] = [
    [
      'two additions are one',
      [],
      [
        ['add', 'starred', 0],
        ['add', 'starred', 1],
      ],
      ['add starred 0,1'],
    ],
    [
      'many additions are one',
      [],
      [
        ['add', 'starred', 2],
        ['add', 'starred', 0, 1],
        ['add', 'starred', 3],
      ],
      ['add starred 2,0,1,3'],
    ],
    [
      'two removals are one',
      [['add', 'collapsed', 0, 1]],
      [
        ['remove', 'collapsed', 0],
        ['remove', 'collapsed', 1],
      ],
      ['remove collapsed 0,1'],
    ],
    [
      'two flags are two',
      [],
      [
        ['add', 'starred', 0],
        ['add', 'collapsed', 0],
      ],
      ['add starred 0', 'add collapsed 0'],
    ],
    [
      'two flags in turn are two',
      [],
      [
        ['add', 'starred', 0],
        ['add', 'collapsed', 0],
        ['add', 'starred', 1],
        ['add', 'collapsed', 1],
      ],
      ['add starred 0,1', 'add collapsed 0,1'],
    ],
    [
      'reading is joined',
      [],
      [
        ['add', 'read', 0],
        ['add', 'read', 1, 2],
      ],
      ['add read 0,1,2'],
    ],
    [
      'marking as unread is not',
      [['add', 'read', 0, 1]],
      [
        ['remove', 'read', 0],
        ['remove', 'read', 1],
      ],
      ['remove read 0', 'remove read 1'],
    ],
    [
      'another event stays before the last addition',
      [],
      [['add', 'starred', 0], 'message', ['add', 'starred', 1]],
      ['message', 'add starred 0,1'],
    ],
    [
      'what is undone in between keeps its order',
      [],
      [
        ['add', 'starred', 0],
        ['remove', 'starred', 0],
        ['add', 'starred', 0],
      ],
      ['add starred 0', 'remove starred 0', 'add starred 0'],
    ],
  ]
  for (const [title, before, changes, expected] of rows)
    test(title, async () => {
      await messagesOf(5)
      await ok(owner, 'POST /messages/flags', { op: 'remove', flag: 'starred', messages })
      await ok(owner, 'POST /messages/flags', { op: 'remove', flag: 'collapsed', messages })
      await ok(owner, 'POST /messages/flags', { op: 'remove', flag: 'read', messages })
      for (const one of before) await change(one)
      const heard = await queueOf(owner, { event_types: ['update_message_flags', 'message'] })
      for (const one of changes) {
        if (one === 'message') await say(amy, 'open', 'between')
        else await change(one)
      }
      assert.deepEqual((await heard()).map(brief), expected)
    })

  test('what was answered once is not joined with what comes later, and part of an answer can be acknowledged', async () => {
    await messagesOf(5)
    await ok(owner, 'POST /messages/flags', { op: 'remove', flag: 'starred', messages })
    const heard = await queueOf(owner, { event_types: ['update_message_flags', 'message'] })
    await change(['add', 'starred', 0])
    await say(amy, 'open', 'between')
    await change(['add', 'starred', 1])
    const first = await heard()
    assert.deepEqual(first.map(brief), ['message', 'add starred 0,1'])
    await change(['add', 'starred', 2])
    assert.deepEqual((await heard()).map(brief), ['message', 'add starred 0,1', 'add starred 2'])
    assert.deepEqual((await heard(first[0]!.id)).map(brief), ['add starred 0,1', 'add starred 2'])
    assert.deepEqual((await heard(first[1]!.id)).map(brief), ['add starred 2'])
  })
})
