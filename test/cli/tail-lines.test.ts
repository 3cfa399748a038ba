// The lines of `natter tail`, made from events: every kind of event, and messages without parsing them.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type ChatEvent, type Message, type Place, placeOfMessage } from '../../cli/base/chat-event.ts'
import { MessageForm } from '../../cli/commands/follow/tail/message-form.ts'
import { QuickLines } from '../../cli/commands/follow/tail/quick-lines.ts'
import { summaryOf } from '../../cli/print/event-summaries.ts'
import { lineOf, messageLines } from '../../cli/print/message-lines.ts'

const plain = { columns: undefined, colors: undefined }
const now = new Date('2030-01-02T10:00:00Z')

/** A message event as our daemon writes it. */
function messageText(id: number, content: string, others: Partial<Message> = {}): string {
  const { subject = 'lunch', sender_full_name = 'Amy', display_recipient = 'general' } = others
  const message = {
    id,
    sender_full_name,
    sender_email: 'amy@example.com',
    subject,
    content,
    content_type: 'text/x-markdown',
    display_recipient,
    stream_id: 3,
    is_me_message: false,
    timestamp: 1_893_578_400 + id,
    type: typeof display_recipient === 'string' ? 'stream' : 'private',
  }
  return JSON.stringify({ id, type: 'message', message, flags: [] })
}

describe('QuickLines', () => {
  test('prints the same line as for the parsed event', () => {
    const contents = [
      'hello',
      'two\nlines',
      'a "quoted" \\ word',
      'spaces after  ',
      '',
      'ü 🦔',
      '\u001b[31mred',
      '**bold**',
    ]
    const places = [
      {},
      { subject: 'other' },
      { sender_full_name: 'Bo\nb' },
      {
        display_recipient: [
          { id: 1, email: 'amy@example.com', full_name: 'Amy' },
          { id: 2, email: 'bo@example.com', full_name: 'Bo' },
        ],
      },
    ]
    const quick = new QuickLines('amy@example.com')
    let form: MessageForm | undefined
    let id = 0
    for (const place of [...places, ...places])
      for (const content of contents) {
        const text = messageText(++id, content, place)
        const parts = MessageForm.partsOf(text, form)
        assert.ok(parts, text)
        form = parts.form
        const event = JSON.parse(text) as ChatEvent
        const slow = lineOf(event, placeOfMessage(event.message!), plain, new Date(), 'amy@example.com')
        assert.equal(quick.lineOf(parts, text), `${slow}\n`)
      }
  })

  test('a form that is frequent has a pattern, which finds IDs, text and time', () => {
    let form: MessageForm | undefined
    for (let id = 1; id <= 8; id++) {
      assert.equal(form?.pattern, undefined)
      form = MessageForm.partsOf(messageText(id, `text ${id}`), form)!.form
    }
    const found = form!.pattern!.exec(messageText(9, 'new "text"'))
    assert.deepEqual(found?.slice(1), ['9', '9', 'new \\"text\\"', '1893578409'])
    assert.equal(form!.pattern, form!.pattern)
    form!.pattern!.lastIndex = 0
    assert.equal(form!.pattern!.exec(messageText(10, 'a', { subject: 'elsewhere' })), null)
  })

  test('an event in another format has no parts', () => {
    const text = messageText(1, 'text')
    for (const other of [
      text.replace('"id":1', '"id":"1"'),
      text.replace(',"content":"', ',"contents":"'),
      text.replace('text/x-markdown', 'text/html'),
      text.replace(',"is_me_message":false', ',"is_me_message":true'),
      text.replace(/"timestamp":\d+/, '"timestamp":null'),
      '{"id":1,"type":"heartbeat"}',
    ])
      assert.equal(MessageForm.partsOf(other, undefined), undefined, other)
  })
})

describe('lineOf', () => {
  const place: Place = { channelId: 3, channel: 'general', topic: 'lunch' }
  const said = (event: ChatEvent, at: Place | undefined = place) =>
    lineOf(event, at, plain, now).replace(/^\S+ *#general > lunch */, '')

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

  test('a /me message begins with its sender', () => {
    const message = { id: 1, sender_full_name: 'Amy', content: '/me waves', is_me_message: true }
    assert.equal(said({ type: 'message', message }), '* Amy waves')
  })

  test('a list of messages begins with their IDs', () => {
    const lines = messageLines(
      [7, 12].map(id => JSON.parse(messageText(id, 'a\nb')).message),
      plain,
    )
    assert.match(lines[0]!, /^ 7 {2}.*#general > lunch {2}Amy: a\n {4} {6}b$/)
    assert.match(lines[1]!, /^12 {2}/)
  })
})

describe('summaryOf', () => {
  test('channels, subscriptions and flags are sentences', () => {
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
    for (const [event, text] of cases) assert.equal(summaryOf(event), text)
  })

  test('other events are their fields, each cut to 40 letters', () => {
    const person = { user_id: 8, full_name: 'Amy' }
    assert.equal(
      summaryOf({ id: 1, type: 'realm_user', op: 'update', person }),
      'realm_user update  user_id=8 full_name="Amy"',
    )
    assert.equal(
      summaryOf({ id: 1, type: 'x', list: [person, { title: 'T' }, { other: 1 }, 'text'], none: undefined }),
      'x  list=[Amy, T, {"other":1}, "text"] none=none',
    )
    assert.equal(summaryOf({ type: 'x', long: 'y'.repeat(50) }), `x  long="${'y'.repeat(38)}…`)
  })
})
