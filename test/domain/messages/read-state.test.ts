// Unread messages, as the daemon counts them and as a client knows them from events alone.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { unreadIds } from '../../../daemon/domain/messages/message-flags/unread.ts'
import { isUnread } from '../../../daemon/domain/model/message-reader.ts'
import { cases } from '../../support/cases.ts'
import { threePeople } from '../../support/domain-world.ts'

const kinds = (events: Record<string, any>[]) => events.map(event => [event.type, event.op].filter(Boolean).join('/'))

describe('leaving a channel', () => {
  test('unread messages there become read, after the subscription has ended', () => {
    const { world: w, amy, bob } = threePeople()
    const general = w.channel('general', [amy, bob])
    const other = w.channel('other', [amy, bob])
    const ids = [1, 2].map(() => w.send(amy, general, 'x', 'x'))
    const kept = w.send(amy, other, 'x', 'x')
    w.heard(bob)
    w.unsubscribe(bob, general)
    const events = w.heard(bob)
    assert.deepEqual(kinds(events), ['subscription/remove', 'update_message_flags/add'])
    assert.deepEqual(events.at(-1), {
      type: 'update_message_flags',
      op: 'add',
      operation: 'add',
      flag: 'read',
      messages: ids,
      all: false,
    })
    assert.deepEqual(unreadIds(w.state, bob.id), [kept])
    w.subscribe(bob, general)
    assert.deepEqual(unreadIds(w.state, bob.id), [kept])
  })

  test('many channels costs no more when a message was moved once', t => {
    const { world: w, amy, bob } = threePeople()
    const general = w.channel('general', [amy, bob, w.owner])
    const other = w.channel('other', [amy, bob, w.owner])
    const more = Array.from({ length: 50 }, (_, n) => w.channel(`more ${n}`, [bob]))
    const id = w.send(amy, general, 'x', 'x')
    const move = (stream_id: number) =>
      w.run(w.owner, 'update-message', { message_id: id, stream_id, send_notification_to_new_thread: false })
    move(other.id)
    assert.deepEqual(w.state.messages.movedFrom(general.id).slice(), [id])
    const looked = t.mock.method(w.state.conversations, 'where')
    w.run(bob, 'unsubscribe', { subscriptions: more.map(({ name }) => name) })
    assert.ok(looked.mock.callCount() < 10, `${looked.mock.callCount()} looks at conversations`)
    move(general.id)
    assert.equal(w.state.messages.movedFrom(general.id).length, 0)
    move(other.id)
    w.run(w.owner, 'delete-message', { message_id: id })
    assert.equal(w.state.messages.movedFrom(general.id).length, 0)
  })

  test('with several accounts is refused where millions of messages would become read', t => {
    const { world: w, amy } = threePeople()
    const general = w.channel('general', [amy])
    const bots = [1, 2].map(n => w.account(`bot ${n}`))
    for (const bot of bots) {
      w.state.users.put({ ...bot, bot: { type: 1, ownerId: amy.id, system: false } as never })
      w.subscribe(bot, general)
    }
    const leaving = { subscriptions: ['general'], principals: bots.map(({ id }) => id) }
    const list = Object.assign(Object.create(w.state.messages.inChannel(general.id)), { lowerBound: () => 0 })
    Object.defineProperty(list, 'length', { value: 2_000_000 })
    const many = t.mock.method(w.state.messages, 'inChannel', () => list)
    assert.match(w.refused(amy, 'unsubscribe', leaving).message, /^principals: too many messages would become read/)
    many.mock.restore()
    assert.deepEqual(w.run(amy, 'unsubscribe', leaving).removed, ['general', 'general'])
  })

  test('what was moved from it to a channel the user follows stays unread', () => {
    const { world: w, amy, bob } = threePeople()
    const general = w.channel('general', [amy, bob, w.owner])
    const other = w.channel('other', [amy, bob, w.owner])
    const id = w.send(amy, general, 'x', 'x')
    w.run(w.owner, 'update-message', {
      message_id: id,
      stream_id: other.id,
      send_notification_to_new_thread: false,
    })
    w.unsubscribe(bob, general)
    assert.deepEqual(unreadIds(w.state, bob.id), [id])
    w.unsubscribe(bob, other)
    assert.deepEqual(unreadIds(w.state, bob.id), [])
  })
})

describe('muting', () => {
  test('a person: what they sent becomes read first, and what they send later is read from the start', () => {
    const { world: w, amy, bob, cat } = threePeople()
    const general = w.channel('general', [amy, bob, cat])
    const [first, direct] = [
      w.send(amy, general, 'x', 'x'),
      w.run(amy, 'send-message', { type: 'direct', to: [bob.id], content: 'x' }).id,
    ]
    const kept = w.send(cat, general, 'x', 'x')
    w.heard(bob)
    w.run(bob, 'mute-user', { muted_user_id: amy.id })
    const events = w.heard(bob)
    assert.deepEqual(kinds(events), ['update_message_flags/add', 'muted_users'])
    assert.deepEqual(events[0]!.messages, [first, direct])
    w.send(amy, general, 'x', '@**bob**')
    const later = w.heard(bob).at(-1)
    assert.deepEqual(later!.flags, ['read', 'mentioned'])
    assert.deepEqual(unreadIds(w.state, bob.id), [kept])
  })

  test('a channel: its messages stay unread and count for nothing, unless their topic is unmuted', () => {
    const { world: w, amy, bob } = threePeople()
    w.state.users.put({ ...bob, settings: { automatically_follow_topics_where_mentioned: false } })
    const general = w.channel('general', [amy, bob])
    const ids = [w.send(amy, general, 'quiet', '@**all**'), w.send(amy, general, 'loud', '@**bob**')]
    w.heard(bob)
    w.run(bob, 'update-subscription-settings', {
      subscription_data: [{ stream_id: general.id, property: 'is_muted', value: true }],
    })
    assert.deepEqual(
      w.heard(bob).map(event => [event.property, event.value]),
      [
        ['in_home_view', false],
        ['is_muted', true],
      ],
    )
    const unread = () => w.section(bob, 'update_message_flags').unread_msgs
    assert.deepEqual([unread().count, unread().streams.length, unread().mentions], [0, 2, [ids[1]]])
    const home = () =>
      w
        .run(bob, 'get-messages', { anchor: 'newest', num_before: 9, narrow: [['in', 'home']] })
        .messages.map((message: any) => message.id)
    assert.deepEqual(home(), [])
    const first = w.run(bob, 'get-messages', { anchor: 'first_unread', num_before: 9 })
    assert.equal(first.found_anchor, false)
    w.run(bob, 'update-user-topic', { stream_id: general.id, topic: 'quiet', visibility_policy: 2 })
    assert.deepEqual([unread().count, unread().mentions, home()], [1, ids, [ids[0]]])
  })
})

test('all unread messages are in channels the user is subscribed to, and clients know which, whatever happens', () => {
  const step = fc.tuple(fc.nat(11), fc.nat(2), fc.nat(2), fc.nat(30), fc.boolean())
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), steps => {
      const { world: w, amy, bob, cat } = threePeople()
      const users = [amy, bob, cat]
      const channels = [
        w.channel('one', users),
        w.channel('two', [amy]),
        w.channel('three', [amy, bob, w.owner], { inviteOnly: true }),
      ]
      const clients = users.map(user => ({ user, unread: new Set<number>() }))
      for (const [what, who, where, id, flag] of steps) {
        const user = users[who]!
        const channel = channels[where]!
        const active = w.state.subscriptions.isActive(channel.id, user.id)
        const toggled = flag ? 'add' : 'remove'
        if (what < 4)
          w.attempt(user, 'send-message', { type: 'channel', to: channel.id, topic: `t${id % 3}`, content: 'x' })
        else if (what === 4 && active) w.unsubscribe(user, channel)
        else if (what === 5 && !active) w.attempt(user, 'subscribe', { subscriptions: [channel.name] })
        else if (!w.state.messages.has(id)) continue
        else if (what === 6) w.attempt(user, 'update-message-flags', { messages: [id], op: toggled, flag: 'read' })
        else if (what === 7)
          w.attempt(w.owner, 'update-message', {
            message_id: id,
            stream_id: channel.id,
            propagate_mode: flag ? 'change_all' : 'change_one',
          })
        else if (what === 8) w.attempt(w.owner, 'delete-message', { message_id: id })
        else if (what === 9) w.attempt(user, 'mark-stream-as-read', { stream_id: channel.id })
        else if (what === 10) w.attempt(user, flag ? 'mute-user' : 'unmute-user', { muted_user_id: users[where]!.id })
        else w.attempt(user, 'update-message-flags', { messages: [id], op: toggled, flag: 'starred' })
      }
      for (const { user, unread } of clients) {
        const slow: number[] = []
        for (let id = w.state.messages.lastId; id > 0; id--)
          if (w.state.messages.has(id) && isUnread(w.state, user.id, id)) slow.push(id)
        assert.deepEqual(unreadIds(w.state, user.id), slow)
        for (const id of slow)
          assert.ok(w.state.subscriptions.isActive(w.state.messages.place(id).thread.channelId, user.id))
        follow(unread, w.heard(user))
        assert.deepEqual(
          [...unread].sort((a, b) => b - a),
          slow,
          `what ${user.fullName} received`,
        )
      }
    }),
    { numRuns: cases(60) },
  )
})

/** What a client makes of the events about messages. */
function follow(unread: Set<number>, events: Record<string, any>[]): void {
  for (const event of events)
    if (event.type === 'message') {
      if (!event.flags.includes('read')) unread.add(event.message.id)
    } else if (event.type === 'delete_message') for (const id of event.message_ids) unread.delete(id)
    else if (event.type === 'update_message_flags' && event.flag === 'read')
      for (const id of event.messages)
        if (event.op === 'add') unread.delete(id)
        else unread.add(id)
}
