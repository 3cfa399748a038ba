// Lines for people, made from messages and from every kind of event.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ChatEvent, Place } from '../../cli/base/chat-event.ts'
import { summarize } from '../../cli/terminal/event-summaries.ts'
import { messageLines, renderLine } from '../../cli/terminal/message-lines.ts'

const plain = { columns: undefined, colors: undefined }
const now = new Date('2030-01-02T10:00:00Z')

describe('renderLine', () => {
  const place: Place = { channelId: 3, channel: 'general', topic: 'lunch' }
  const said = (event: ChatEvent, at: Place | undefined = place) =>
    renderLine(event, at, plain, now).replace(/^\S+ *#general > lunch */, '')

  test('says what happened to a message, and who did it', () => {
    const amy = { user: { full_name: 'Amy', email: 'amy@example.com' } }
    const cases: [ChatEvent, string][] = [
      [
        { type: 'reaction', op: 'add', emoji_name: 'tada', message_id: 7, ...amy },
        'Amy reacted with :tada: to message 7',
      ],
      [
        { type: 'reaction', op: 'remove', emoji_name: 'tada', message_id: 7, ...amy },
        'Amy removed :tada: from message 7',
      ],
      [{ type: 'update_message', content: 'new', message_id: 7, user_id: 8 }, 'user 8 edited message 7 to “new”'],
      [
        { type: 'update_message', subject: 'dinner', message_ids: [7, 8], user_id: 8 },
        'user 8 moved messages 7, 8 to dinner',
      ],
      [{ type: 'update_message', message_ids: [7] }, 'moved message 7'],
      [{ type: 'delete_message', message_id: 7 }, 'deleted message 7'],
      [{ type: 'typing', op: 'start', sender: { email: 'amy@example.com' } }, 'amy@example.com is typing'],
      [{ type: 'typing', op: 'stop', sender: 'amy' }, 'amy stopped typing'],
      [{ type: 'typing_edit_message', op: 'start', sender_id: 8 }, 'user 8 is editing'],
      [{ type: 'typing_edit_message', op: 'stop', sender_id: 8 }, 'user 8 stopped editing'],
      [
        { type: 'presence', email: 'amy@example.com', presence: { web: { status: 'idle' } } },
        'amy@example.com is idle',
      ],
      [{ type: 'presence', email: 'amy@example.com' }, 'amy@example.com is here'],
      [{ type: '_gap', reason: 'the queue had expired', lost_types: [] }, '--- gap: the queue had expired ---'],
      [{ type: '_gap', reason: 'x', lost_types: ['*'] }, '--- gap: x; events other than messages may be missing ---'],
      [{ type: '_gap', reason: 'x', lost_types: ['a', 'b'] }, '--- gap: x; may be missing: a, b ---'],
    ]
    for (const [event, text] of cases) assert.equal(said(event), text)
  })

  test('quotes a message that is known, cut to 40 letters', () => {
    const event = { type: 'delete_message', message_id: 7, user_id: 8 }
    const known = { ...place, content: `${'x'.repeat(30)}\n${'y'.repeat(30)}`, senderId: 8, senderName: 'Amy' }
    assert.equal(said(event, known), `Amy deleted “${'x'.repeat(30)} ${'y'.repeat(8)}…”`)
  })

  test('indents the lines after the first, and removes control characters', () => {
    const message = { id: 1, sender_full_name: 'Bo\nb', content: 'two\n\u001b[31mlines  ' }
    assert.equal(said({ type: 'message', message }), 'Bo\nb: two\n      \\x1b[31mlines')
  })

  test('a /me message begins with its sender', () => {
    const message = { id: 1, sender_full_name: 'Amy', content: '/me waves', is_me_message: true }
    assert.equal(said({ type: 'message', message }), '* Amy waves')
  })

  test('a list of messages begins with their IDs', () => {
    const message = {
      sender_full_name: 'Amy',
      display_recipient: 'general',
      stream_id: 3,
      subject: 'lunch',
      timestamp: 0,
    }
    const lines = messageLines(
      [7, 12].map(id => ({ ...message, id, content: 'a\nb' })),
      plain,
    )
    assert.match(lines[0]!, /^ 7 {2}.*#general > lunch {2}Amy: a\n {4} {6}b$/)
    assert.match(lines[1]!, /^12 {2}/)
  })

  test('no line of a list ends in a space', () => {
    const [lines] = messageLines([{ id: 7, sender_full_name: 'Amy', content: 'a\n\nb', timestamp: 0 }], plain)
    assert.match(lines!, /Amy: a\n\n +b$/)
  })

  test('a direct conversation is named after the others, and the empty topic as servers show it', () => {
    const [amy, bob] = ['amy', 'bob'].map(name => ({ email: `${name}@example.com`, full_name: name }))
    const name = (place: Place, self?: string) =>
      /^\S+ {2}(.*?) {2}/.exec(renderLine(hello, place, plain, now, self))![1]
    const hello = { type: 'message', message: { id: 1, sender_full_name: 'Amy', content: 'Hello' } }
    assert.equal(name({ people: [amy!, bob!] }, 'amy@example.com'), '@ bob')
    assert.equal(name({ people: [amy!] }, 'amy@example.com'), '@ amy')
    assert.equal(name({ channelId: 3, topic: '' }), '#3 > general chat')
  })
})

describe('summarize', () => {
  test('writes changes of channels, subscriptions and flags as sentences', () => {
    const streams = ['one', 'two', 'three', 'four', 'five', 'six'].map((name, at) => ({ stream_id: at + 1, name }))
    const cases: [ChatEvent, string][] = [
      [{ type: 'stream', op: 'create', streams }, 'new channel: #one, #two, #three, #four, #five and 1 more'],
      [{ type: 'stream', op: 'delete', stream_ids: [4, 5] }, 'channel removed: 4, 5'],
      [{ type: 'stream', op: 'delete', streams: [{ stream_id: 4 }] }, 'channel removed: 4'],
      [{ type: 'stream', op: 'update', name: 'one', property: 'is_archived', value: true }, '#one was archived'],
      [{ type: 'stream', op: 'update', name: 'one', property: 'is_archived', value: false }, '#one was unarchived'],
      [
        { type: 'stream', op: 'update', name: 'one', property: 'description', value: 'x' },
        '#one: description is now "x"',
      ],
      [{ type: 'stream', op: 'occupy', streams: [] }, 'stream occupy  streams=[]'],
      [{ type: 'subscription', op: 'add', subscriptions: streams.slice(0, 1) }, 'subscribed to #one'],
      [{ type: 'subscription', op: 'remove', subscriptions: streams.slice(0, 2) }, 'unsubscribed from #one, #two'],
      [
        { type: 'subscription', op: 'peer_add', user_ids: [8], stream_ids: [1, 2] },
        'user 8 subscribed to channels 1, 2',
      ],
      [{ type: 'subscription', op: 'peer_remove', user_ids: [8, 9] }, 'users 8, 9 unsubscribed from a channel'],
      [{ type: 'subscription', op: 'update', property: 'color', value: '#fff' }, 'color is now "#fff"'],
      [{ type: 'subscription', op: 'other' }, 'subscription other'],
      [{ type: 'update_message_flags', op: 'add', flag: 'read', all: true }, 'added the flag read to all messages'],
      [
        { type: 'update_message_flags', op: 'remove', flag: 'read', messages: [7] },
        'removed the flag read from message 7',
      ],
      [{ type: 'update_message_flags', op: 'add' }, 'update_message_flags add'],
    ]
    for (const [event, text] of cases) assert.equal(summarize(event), text)
  })

  test('lists the fields of other events, each cut to 40 letters', () => {
    const person = { user_id: 8, full_name: 'Amy' }
    assert.equal(
      summarize({ id: 1, type: 'realm_user', op: 'update', person }),
      'realm_user update  user_id=8 full_name="Amy"',
    )
    assert.equal(
      summarize({ id: 1, type: 'x', list: [person, { title: 'T' }, { other: 1 }, 'text'], none: undefined }),
      'x  list=[Amy, T, {"other":1}, "text"] none=none',
    )
    assert.equal(summarize({ type: 'x', long: 'y'.repeat(50) }), `x  long="${'y'.repeat(38)}…`)
  })
})
