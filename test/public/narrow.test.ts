// Narrows, as clients of the public server know them: which messages they mean, and which of them are refused.

import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { type Caller, sharedDaemon } from '../support/daemon.ts'
import { person } from '../support/world.ts'
import { type Case, cases, ok } from './support/cases.ts'

describe('narrows', () => {
  const daemon = sharedDaemon({ flags: ['--memory'] })
  let amy: Caller
  let bob: Caller
  let cat: Caller
  let channel: number
  let muted: number
  let foreign: number
  const ids: Record<string, number> = {}

  before(async () => {
    amy = await person(daemon(), 'amy')
    bob = await person(daemon(), 'bob')
    cat = await person(daemon(), 'cat')
    channel = (await ok(bob, 'POST /channels/create', { name: 'kitchen', subscribers: [amy.id, bob.id] })).id
    muted = (await ok(bob, 'POST /channels/create', { name: 'basement', subscribers: [amy.id, bob.id] })).id
    foreign = (await ok(bob, 'POST /channels/create', { name: 'attic', subscribers: [bob.id] })).id
    const say = async (name: string, to: number, topic: string, content: string) => {
      ids[name] = (await ok(bob, 'POST /messages', { type: 'channel', to, topic, content })).id
    }
    const write = async (name: string, from: Caller, to: number[], content: string) => {
      ids[name] = (await ok(from, 'POST /messages', { type: 'direct', to, content })).id
    }
    await say('apples', channel, 'fruit', 'red apples')
    await say('pears', channel, 'fruit', 'green pears')
    await say('both', channel, 'fruit', 'apples and pears')
    await say('apple topic', channel, 'apples', 'what else')
    await say('resolved', channel, '✔ done', 'finished')
    await say('link', channel, 'links', 'see https://example.com/page')
    await say('empty', channel, '', 'no topic at all')
    await say('muted', muted, 'damp', 'pears below')
    await say('muted loud', muted, 'loud', 'plums below')
    await say('foreign', foreign, 'dust', 'old apples')
    await write('to amy', bob, [amy.id], 'apples for you')
    await write('to self', amy, [amy.id], 'note to self')
    await write('group', cat, [amy.id, bob.id], 'pears for all')
    await write('others', cat, [bob.id], 'plums')
    await ok(amy, 'POST /users/me/subscriptions/properties', {
      subscription_data: [{ stream_id: muted, property: 'is_muted', value: true }],
    })
    await ok(amy, 'POST /messages/flags', { messages: [ids.apples, ids['to amy']], op: 'add', flag: 'starred' })
    await ok(amy, 'POST /user_topics', { stream_id: channel, topic: 'links', visibility_policy: 3 })
    await ok(amy, 'POST /user_topics', { stream_id: channel, topic: 'apples', visibility_policy: 1 })
    await ok(cat, `POST /messages/${ids.pears}/reactions`, { emoji_name: 'tada' })
  })

  const found = async (narrow: unknown, more: object = {}) => {
    const params = { anchor: 'newest', num_before: 100, num_after: 0, narrow, ...more }
    const { messages } = await ok(amy, 'GET /messages', params)
    const names = new Map(Object.entries(ids).map(([name, id]) => [id, name]))
    return messages.map(({ id }: { id: number }) => names.get(id)).filter(Boolean)
  }
  const own = 'apples,pears,both,apple topic,resolved,link,empty,muted,muted loud,to amy,to self,group'.split(',')
  const not = (...left: string[]) => own.filter(name => !left.includes(name))
  const term = (operator: string, operand: unknown, negated?: boolean) => ({ operator, operand, negated })

  const finds: [string, () => unknown[], readonly string[]][] = [
    ['everything received, without a narrow', () => [], own],
    ['a word', () => [term('search', 'apples')], ['apples', 'both', 'apple topic', 'to amy']],
    ['two words of one search', () => [term('search', 'apples pears')], ['both']],
    ['the words of two searches', () => [term('search', 'apples'), term('search', 'pears')], ['both']],
    ['a phrase', () => [term('search', '"apples and"')], ['both']],
    [
      'what a negated search does not match',
      () => [term('search', 'apples', true)],
      not('apples', 'both', 'apple topic', 'to amy'),
    ],
    ['what a negated phrase does not match', () => [term('search', '"apples and"', true)], not('both')],
    [
      'a search without another',
      () => [term('search', 'apples'), term('search', 'pears', true)],
      ['apples', 'apple topic', 'to amy'],
    ],
    [
      'what two negated searches both miss',
      () => [term('search', 'apples', true), term('search', 'pears', true)],
      ['resolved', 'link', 'empty', 'muted loud', 'to self'],
    ],
    [
      'a negated search of two words leaves out what has both',
      () => [term('search', 'apples pears', true)],
      not('both'),
    ],
    [
      'a negated search in a channel',
      () => [term('channel', channel), term('search', 'pears', true)],
      ['apples', 'apple topic', 'resolved', 'link', 'empty'],
    ],
    [
      'a channel by its name',
      () => [['channel', 'Kitchen']],
      ['apples', 'pears', 'both', 'apple topic', 'resolved', 'link', 'empty'],
    ],
    ['a channel by its ID', () => [term('stream', muted)], ['muted', 'muted loud']],
    ['a public channel that was never followed', () => [term('channel', foreign)], ['foreign']],
    [
      'all public channels',
      () => [term('channels', 'public'), term('search', 'apples')],
      ['apples', 'both', 'apple topic', 'foreign'],
    ],
    ['public channels, by the older name', () => [term('streams', 'public'), term('search', 'plums')], ['muted loud']],
    [
      'everything but a channel',
      () => [term('channel', channel, true)],
      ['muted', 'muted loud', 'to amy', 'to self', 'group'],
    ],
    ['a topic', () => [['topic', 'FRUIT']], ['apples', 'pears', 'both']],
    ['the empty topic by its name', () => [['topic', 'general chat']], ['empty']],
    ['the empty topic', () => [['topic', '']], ['empty']],
    ['everything but a topic', () => [term('topic', 'fruit', true)], not('apples', 'pears', 'both')],
    ['a sender by address', () => [['sender', cat.email]], ['group']],
    ['a sender by ID', () => [term('sender', amy.id)], ['to self']],
    ['everything but a sender', () => [term('sender', bob.id, true)], ['to self', 'group']],
    ['a conversation by address', () => [['dm', bob.email]], ['to amy']],
    ['a conversation by the older name', () => [['pm-with', bob.email]], ['to amy']],
    ['a conversation by the oldest name', () => [['pm_with', bob.email]], ['to amy']],
    ['a conversation by IDs', () => [term('dm', [bob.id, cat.id])], ['group']],
    ['a conversation by IDs with oneself among them', () => [term('dm', [amy.id, bob.id])], ['to amy']],
    ['messages to oneself', () => [term('dm', [amy.id])], ['to self']],
    ['nothing in a conversation with no one', () => [term('dm', [])], []],
    ['everything but a conversation with no one', () => [term('dm', [], true)], own],
    ['nothing in a conversation that does not exist', () => [term('dm', [cat.id])], []],
    ['all conversations with someone', () => [term('dm-including', bob.id)], ['to amy', 'group']],
    ['all conversations with oneself', () => [term('dm-including', amy.id)], ['to amy', 'to self', 'group']],
    ['group conversations with someone', () => [['group-pm-with', bob.email]], ['group']],
    ['group conversations by the oldest name', () => [['group_pm_with', bob.email]], ['group']],
    ['direct messages', () => [['is', 'dm']], ['to amy', 'to self', 'group']],
    ['direct messages by the older name', () => [['is', 'private']], ['to amy', 'to self', 'group']],
    ['messages of channels', () => [term('is', 'dm', true)], not('to amy', 'to self', 'group')],
    [
      'messages of a channel that are not direct',
      () => [term('is', 'dm', true), term('channel', muted)],
      ['muted', 'muted loud'],
    ],
    ['starred messages', () => [['is', 'starred']], ['apples', 'to amy']],
    ['messages without a star', () => [term('is', 'starred', true), term('search', 'apples')], ['both', 'apple topic']],
    ['resolved topics', () => [['is', 'resolved']], ['resolved']],
    [
      'no resolved topic among direct messages',
      () => [
        ['is', 'resolved'],
        ['is', 'dm'],
      ],
      [],
    ],
    ['everything that is not resolved', () => [term('is', 'resolved', true)], not('resolved')],
    ['followed topics', () => [['is', 'followed']], ['link']],
    [
      'no followed topic among direct messages',
      () => [
        ['is', 'followed'],
        ['is', 'dm'],
      ],
      [],
    ],
    ['muted messages', () => [['is', 'muted']], ['apple topic', 'muted', 'muted loud']],
    ['messages that are not muted', () => [['in', 'home']], not('apple topic', 'muted', 'muted loud')],
    ['all of them', () => [['in', 'all']], own],
    ['links', () => [['has', 'link']], ['link']],
    ['messages without links', () => [term('has', 'link', true)], not('link')],
    ['reactions', () => [['has', 'reaction']], ['pears']],
    ['messages without reactions', () => [term('has', 'reaction', true)], not('pears')],
    ['one message by its ID', () => [term('id', ids.pears)], ['pears']],
    ['one message by its ID as a text', () => [['id', String(ids.pears)]], ['pears']],
    ['no message that was never received by its ID', () => [term('id', ids.foreign)], []],
    ['everything but one message', () => [term('id', ids.pears, true)], not('pears')],
    ['everything near a message', () => [['near', String(ids.pears)]], own],
    ['the topic that holds a message', () => [term('with', ids.pears)], ['apples', 'pears', 'both']],
    [
      'the topic that holds a message, whatever else is named',
      () => [['channel', 'basement'], ['topic', 'damp'], term('with', ids.pears)],
      ['apples', 'pears', 'both'],
    ],
    ['the conversation that holds a message', () => [['with', String(ids.group)]], ['group']],
    [
      'the topic that is named when the message is gone',
      () => [['channel', 'basement'], ['topic', 'damp'], term('with', 99_999)],
      ['muted'],
    ],
  ]
  for (const [title, narrow, names] of finds)
    test(`finds ${title}`, async () => assert.deepEqual(await found(narrow()), names))

  const refused = (title: string, narrow: () => unknown, code: string): Case => [
    `refuses ${title}`,
    () => amy,
    'GET /messages',
    () => ({ anchor: 'newest', num_before: 1, num_after: 0, narrow: narrow() }),
    { status: 400, code },
  ]
  cases([
    refused('an unknown operator', () => [['colour', 'red']], 'BAD_NARROW'),
    refused('an unknown operand of is', () => [['is', 'green']], 'BAD_NARROW'),
    refused('an unknown operand of has', () => [['has', 'links']], 'BAD_NARROW'),
    refused('an unknown operand of in', () => [['in', 'garden']], 'BAD_NARROW'),
    refused('an unknown operand of channels', () => [['channels', 'private']], 'BAD_NARROW'),
    refused('an unknown channel', () => [['channel', 'nowhere']], 'BAD_NARROW'),
    refused('an unknown channel that is left out', () => [term('channel', 99_999, true)], 'BAD_NARROW'),
    refused('an unknown sender', () => [['sender', 'none@example.com']], 'BAD_NARROW'),
    refused('an unknown user in a conversation', () => [['dm', `${'none@example.com'}`]], 'BAD_NARROW'),
    refused('an unknown ID in a conversation', () => [term('dm', [99_999])], 'BAD_NARROW'),
    refused('an unknown user of conversations', () => [term('dm-including', 99_999)], 'BAD_NARROW'),
    refused('an unknown user of group conversations', () => [['group-pm-with', 'none@example.com']], 'BAD_NARROW'),
    refused(
      'direct messages in a channel',
      () => [
        ['is', 'dm'],
        ['channel', 'kitchen'],
      ],
      'BAD_NARROW',
    ),
    refused('a conversation in a topic', () => [term('dm', [bob.id]), ['topic', 'fruit']], 'BAD_NARROW'),
    refused('a topic of a conversation', () => [['topic', 'fruit'], term('dm', [bob.id])], 'BAD_NARROW'),
    refused('a conversation that is not direct', () => [term('is', 'dm', true), term('dm', [bob.id])], 'BAD_NARROW'),
    refused(
      'conversations with someone in public channels',
      () => [term('dm-including', bob.id), ['channels', 'public']],
      'BAD_NARROW',
    ),
    refused('direct messages that are not direct', () => [term('is', 'dm', true), ['is', 'dm']], 'BAD_NARROW'),
    refused(
      'two messages to stand for a conversation',
      () => [term('with', ids.pears), term('with', ids.apples)],
      'BAD_NARROW',
    ),
    refused('a message that is gone without a conversation', () => [term('with', 99_999)], 'BAD_NARROW'),
    refused('a message ID that is no number', () => [['with', 'pears']], 'BAD_NARROW'),
    refused('an ID that is no number', () => [['id', 'pears']], 'BAD_NARROW'),
    refused('an empty ID', () => [['id', '']], 'BAD_NARROW'),
    refused('an ID that is too large', () => [['id', '2147483648']], 'BAD_NARROW'),
    refused('near with a number', () => [term('near', ids.pears)], 'BAD_REQUEST'),
    refused('a topic that is a number', () => [term('topic', 7)], 'BAD_REQUEST'),
    refused('is with a number', () => [term('is', 1)], 'BAD_REQUEST'),
    refused('has with a list', () => [term('has', [1])], 'BAD_REQUEST'),
    refused('a search for a number', () => [term('search', 7)], 'BAD_REQUEST'),
    refused('a blank search', () => [['search', '']], 'BAD_REQUEST'),
    refused('a search for spaces', () => [['search', '  ']], 'BAD_REQUEST'),
    refused('a conversation with a number', () => [term('dm', 7)], 'BAD_REQUEST'),
    refused('a list of senders', () => [term('sender', [7])], 'BAD_REQUEST'),
    refused('a list of channels', () => [term('channel', [7])], 'BAD_REQUEST'),
    refused('a term of one word', () => [['is']], 'BAD_REQUEST'),
    refused('a term of three words', () => [['is', 'dm', 'now']], 'BAD_REQUEST'),
    refused('a term without an operand', () => [{ operator: 'is' }], 'BAD_REQUEST'),
    refused('a term without an operator', () => [{ operand: 'dm' }], 'BAD_REQUEST'),
    refused('a term that is a number', () => [7], 'BAD_REQUEST'),
    refused('a narrow that is an object', () => ({ is: 'dm' }), 'BAD_REQUEST'),
    refused('negated that is a text', () => [{ operator: 'is', operand: 'dm', negated: 'yes' }], 'BAD_REQUEST'),
  ])

  test('marks what is searched for, and nothing of what is left out', async () => {
    const narrow = [term('search', 'apples'), term('search', 'pears', true), term('channel', channel)]
    const { messages } = await ok(amy, 'GET /messages', { anchor: 'newest', num_before: 1, num_after: 0, narrow })
    assert.equal(messages[0].match_content, '<p>what else</p>')
    assert.equal(messages[0].match_subject, '<span class="highlight">apples</span>')
  })

  test('marks an address without its scheme, and escapes topics', async () => {
    const topic = "cat's & dog's amp"
    await ok(bob, 'POST /messages', { type: 'channel', to: channel, topic, content: 'see https://example.net & amp' })
    const marked = async (operand: string) => {
      const narrow = [term('search', operand), term('topic', topic)]
      const { messages } = await ok(amy, 'GET /messages', { anchor: 'newest', num_before: 1, num_after: 0, narrow })
      return [messages[0].match_subject, messages[0].match_content]
    }
    const link = (text: string) => `<p>see <a href="https://example.net">${text}</a> &amp; amp</p>`
    assert.deepEqual(await marked('https://example.net'), [
      'cat&#39;s &amp; dog&#39;s amp',
      link('https://<span class="highlight">example.net</span>'),
    ])
    assert.deepEqual(await marked('amp'), [
      'cat&#39;s &amp; dog&#39;s <span class="highlight">amp</span>',
      link('https://example.net').replace(/amp<\/p>/, '<span class="highlight">amp</span></p>'),
    ])
  })

  const range = { anchor: 'newest', num_before: 1, num_after: 0 }
  cases([
    ['an anchor is needed', () => amy, 'GET /messages', { num_before: 1 }, { status: 400, code: 'BAD_REQUEST' }],
    [
      'an anchor beyond every message is the newest',
      () => amy,
      'GET /messages',
      { anchor: '9'.repeat(30), num_before: 1, num_after: 1 },
      { found_newest: true, anchor: 10_000_000_000_000_000 },
    ],
    ['an anchor below every message is the oldest', () => amy, 'GET /messages', { anchor: '-5' }, { anchor: 0 }],
    [
      'flags cannot follow a message',
      () => amy,
      'POST /messages/flags/narrow',
      () => ({ ...range, op: 'add', flag: 'starred', narrow: [term('with', ids.pears)] }),
      { status: 400, code: 'BAD_NARROW' },
    ],
    [
      'matches_narrow cannot follow a message',
      () => amy,
      'GET /messages/matches_narrow',
      () => ({ msg_ids: [ids.pears], narrow: [term('with', ids.pears)] }),
      { status: 400, code: 'BAD_NARROW' },
    ],
    ['nothing to render', () => amy, 'POST /messages/render', { content: ' ' }, { rendered: '' }],
  ])

  test('flags by a negated search change what does not match', async () => {
    const narrow = [term('channel', channel), term('search', 'apples', true)]
    const params = { anchor: 'oldest', num_before: 0, num_after: 100, narrow, op: 'add', flag: 'collapsed' }
    await ok(amy, 'POST /messages/flags/narrow', params)
    const { messages } = await ok(amy, 'GET /messages', { message_ids: Object.values(ids) })
    const collapsed = messages.filter((m: { flags: string[] }) => m.flags.includes('collapsed'))
    assert.deepEqual(
      collapsed.map((m: { id: number }) => m.id),
      [ids.pears, ids.resolved, ids.link, ids.empty],
    )
  })

  test('matches_narrow leaves out what a negated search matches', async () => {
    const msg_ids = [ids.apples, ids.pears, ids.both, ids.foreign]
    const { messages } = await ok(amy, 'GET /messages/matches_narrow', {
      msg_ids,
      narrow: [term('search', 'pears', true)],
    })
    assert.deepEqual(Object.keys(messages), [String(ids.apples)])
  })

  test('first_unread passes over a muted topic', async () => {
    const { anchor } = await ok(amy, 'GET /messages', {
      anchor: 'first_unread',
      num_before: 0,
      num_after: 1,
      narrow: [['search', 'else']],
    })
    assert.equal(anchor, 10_000_000_000_000_000)
  })

  test('first_unread passes over a muted channel, unless the narrow names it', async () => {
    const ask = async (narrow: unknown) =>
      (await ok(amy, 'GET /messages', { anchor: 'first_unread', num_before: 0, num_after: 1, narrow })).anchor
    assert.equal(await ask([['search', 'below']]), 10_000_000_000_000_000)
    assert.equal(
      await ask([
        ['search', 'below'],
        ['channel', 'basement'],
      ]),
      ids.muted,
    )
  })
})
