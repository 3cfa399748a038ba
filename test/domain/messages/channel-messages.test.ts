// Messages in channels: who may, who hears, what is unread, and what moving them does.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { unreadIds } from '../../../daemon/domain/messages/message-flags/unread.ts'
import { roles } from '../../../daemon/domain/model/roles.ts'
import type { Channel, User } from '../../../daemon/domain/model/state.ts'
import { systemGroup } from '../../../daemon/domain/rules/group-values.ts'
import { threePeople } from '../../support/domain-world.ts'

describe('POST /messages to a channel', () => {
  test('reaches subscribers with their flags, and no one else', () => {
    const { world: w, amy, bob, cat } = threePeople()
    const general = w.channel('general', [amy, bob])
    const id = w.send(amy, general, ' Lunch ', 'at noon, @**bob**? @**cat**')
    const messages = (user: User) => w.heard(user).filter(event => event.type === 'message')
    const [event] = messages(bob)
    assert.deepEqual(event!.flags, ['mentioned'])
    assert.equal(event!.message.subject, 'Lunch')
    assert.equal(event!.message.display_recipient, 'general')
    assert.equal(messages(amy).length, 1)
    assert.deepEqual(w.heard(cat), [])
    const { message } = w.run(cat, 'get-message', { message_id: id })
    assert.deepEqual(message.flags, ['read', 'historical'])
  })

  test('the empty topic has a name, and policies about it', () => {
    const { world: w, amy } = threePeople()
    const open = w.channel('open', [amy])
    const id = w.send(amy, open, 'general chat', 'x')
    assert.equal(w.run(amy, 'get-message', { message_id: id }).message.subject, 'general chat')
    const shown = w.run(amy, 'get-message', { message_id: id, allow_empty_topic_name: true }).message.subject
    assert.equal(shown, '')
    const named = w.channel('named', [amy], { topicsPolicy: 'disable_empty_topic' })
    const only = w.channel('only', [amy], { topicsPolicy: 'empty_topic_only' })
    for (const [channel, topic] of [
      [named, '(no topic)'],
      [only, 'x'],
    ] as const) {
      const refusal = w.refused(amy, 'send-message', { type: 'channel', to: channel.id, topic, content: 'x' })
      assert.equal(refusal.code, 'BAD_REQUEST')
      assert.equal(refusal.fields!.empty_topic_display_name, 'general chat')
    }
  })

  test('a private channel that the sender does not know looks like none', () => {
    const { world: w, amy, bob } = threePeople()
    const secret = w.channel('secret', [amy], { inviteOnly: true })
    const to = { type: 'channel', to: 'secret', topic: 'x', content: 'x' }
    const refusal = w.refused(bob, 'send-message', to)
    assert.deepEqual([refusal.code, refusal.fields!.stream], ['STREAM_DOES_NOT_EXIST', 'secret'])
    const nobody = systemGroup(w.state, 'role:nobody').id
    w.state.channels.put({ ...secret, permissions: { ...secret.permissions, can_send_message_group: nobody } })
    assert.equal(w.refused(amy, 'send-message', to).code, 'BAD_REQUEST')
    w.state.channels.put({ ...secret, archived: true })
    assert.equal(w.refused(amy, 'send-message', to).code, 'BAD_REQUEST')
  })

  test('a guest cannot post in a channel without a subscription, or where only members may post', () => {
    const { world: w, amy } = threePeople()
    const guest = w.account('guest', roles.guest)
    const post = (channel: Channel) => ({ type: 'channel', to: channel.id, topic: 'x', content: 'x' })
    const others = w.channel('others', [amy])
    assert.equal(w.refused(guest, 'send-message', post(others)).code, 'STREAM_DOES_NOT_EXIST')
    const shared = w.channel('shared', [amy, guest])
    w.run(guest, 'send-message', post(shared))
    const members = systemGroup(w.state, 'role:members').id
    w.state.channels.put({ ...shared, permissions: { ...shared.permissions, can_send_message_group: members } })
    assert.equal(w.refused(guest, 'send-message', post(shared)).message, 'You cannot post in this channel.')
    w.run(amy, 'send-message', post(shared))
  })

  test('mentioning everyone of a large channel or topic needs permission', () => {
    const { world: w, amy, bob } = threePeople()
    const crowd = Array.from({ length: 16 }, (_, i) => w.account(`crowd ${i}`))
    const large = w.channel('large', [amy, ...crowd])
    const small = w.channel('small', [amy, bob])
    const send = (channel: Channel, content: string) => ({ type: 'channel', to: channel.id, topic: 'x', content })
    assert.equal(w.refused(amy, 'send-message', send(large, '@**all**')).code, 'STREAM_WILDCARD_MENTION_NOT_ALLOWED')
    for (const user of crowd) w.send(user, large, 'x', 'here')
    assert.equal(w.refused(amy, 'send-message', send(large, '@**topic**')).code, 'TOPIC_WILDCARD_MENTION_NOT_ALLOWED')
    w.run(w.owner, 'send-message', send(large, '@**topic** @**all**'))
    const event = w.heard(crowd[0]!).at(-1)!
    assert.deepEqual(event.flags, ['stream_wildcard_mentioned', 'topic_wildcard_mentioned', 'wildcard_mentioned'])
    w.run(amy, 'send-message', send(small, '@**all**'))
    assert.deepEqual(w.heard(bob)[0]!.flags, ['stream_wildcard_mentioned', 'wildcard_mentioned'])
  })
})

describe('PATCH /messages/{message_id}: moving', () => {
  test('a topic moves as a whole, keeps flags, and leaves notices', () => {
    const { world: w, amy, bob } = threePeople()
    const general = w.channel('general', [amy, bob])
    const ids = [1, 2, 3].map(n => w.send(amy, general, 'Lunch', `m${n}`))
    w.run(bob, 'update-message-flags', { messages: [ids[0]], op: 'add', flag: 'starred' })
    w.heard(bob)
    w.run(amy, 'update-message', {
      message_id: ids[1],
      topic: 'Dinner',
      propagate_mode: 'change_all',
      send_notification_to_old_thread: true,
    })
    const [event, fresh, old] = w.heard(bob)
    assert.deepEqual(
      [event!.type, event!.message_ids, event!.orig_subject, event!.subject, event!.propagate_mode],
      ['update_message', ids, 'Lunch', 'Dinner', 'change_all'],
    )
    assert.match(old!.message.content, /^This topic was moved to #\*\*general>Dinner\*\* by @_\*\*amy\|\d+\*\*\.$/)
    assert.equal(fresh!.message.subject, 'Dinner')
    const { message } = w.run(bob, 'get-message', { message_id: ids[0] })
    assert.deepEqual([message.subject, message.flags], ['Dinner', ['starred']])
    assert.equal(message.edit_history[0].prev_topic, 'Lunch')
    assert.equal(message.last_moved_timestamp, message.edit_history[0].timestamp)
    assert.deepEqual(w.state.messages.inTopic(general.id, 'lunch').length, 1)
    const { message_history } = w.run(bob, 'get-message-history', { message_id: ids[0] })
    assert.deepEqual(
      message_history.map((entry: any) => [entry.topic, entry.prev_topic]),
      [
        ['Lunch', undefined],
        ['Dinner', 'Lunch'],
      ],
    )
  })

  test('to a private channel: users who lose access hear of a deletion', () => {
    const { world: w, amy, bob, cat } = threePeople()
    const general = w.channel('general', [amy, bob, cat])
    const secret = w.channel('secret', [amy, cat, w.owner], { inviteOnly: true })
    const id = w.send(amy, general, 'x', 'psst')
    w.heard(bob)
    w.heard(cat)
    w.run(w.owner, 'update-message', { message_id: id, stream_id: secret.id, send_notification_to_new_thread: false })
    assert.deepEqual(
      w.heard(bob).map(event => [event.type, event.message_ids ?? event.messages]),
      [
        ['stream', undefined],
        ['delete_message', [id]],
        ['update_message_flags', [id]],
      ],
    )
    const event = w.heard(cat).find(({ type }) => type === 'update_message')
    assert.deepEqual([event!.new_stream_id, event!.stream_id, event!.flags], [secret.id, general.id, []])
    assert.equal(w.refused(bob, 'get-message', { message_id: id }).code, 'BAD_REQUEST')
    assert.deepEqual(unreadIds(w.state, bob.id), [])
    assert.deepEqual(unreadIds(w.state, cat.id), [id])
  })

  test('to another channel: who left the old one hears nothing, and others of the messages that they could read', () => {
    for (const historyPublic of [true, false]) {
      const { world: w, amy, bob, cat } = threePeople()
      const dan = w.account('dan')
      const secret = w.channel('secret', [w.owner, amy, bob], { inviteOnly: true, historyPublic })
      const target = w.channel('target', [w.owner], { inviteOnly: true, historyPublic: true })
      const first = w.send(w.owner, secret, 'open', 'hello')
      w.unsubscribe(bob, secret)
      w.subscribe(cat, secret)
      const second = w.send(w.owner, secret, 'open', 'bob is gone')
      w.subscribe(dan, secret)
      const move = { message_id: first, propagate_mode: 'change_all', send_notification_to_new_thread: false }
      w.run(w.owner, 'update-message', { ...move, topic: 'hidden from bob' })
      for (const user of [amy, bob, cat, dan]) w.heard(user)
      w.run(w.owner, 'update-message', { ...move, stream_id: target.id })
      const all = [first, second]
      assert.deepEqual(
        [amy, bob, cat, dan].map(user => deletedFor(w, user)),
        [[all], [], [historyPublic ? all : [second]], historyPublic ? [all] : []],
      )
    }
  })

  test('with a protected history: the event names the messages that one can read', () => {
    const { world: w, amy, bob } = threePeople()
    const secret = w.channel('secret', [w.owner, amy], { inviteOnly: true, historyPublic: false })
    const first = w.send(w.owner, secret, 'x', 'before bob')
    w.subscribe(bob, secret)
    const second = w.send(w.owner, secret, 'x', 'hello, bob')
    const move = { message_id: second, topic: 'y', propagate_mode: 'change_all' }
    w.run(w.owner, 'update-message', { ...move, send_notification_to_new_thread: false })
    const moved = [amy, bob].map(user => w.heard(user).find(({ type }) => type === 'update_message')!.message_ids)
    assert.deepEqual(moved, [[first, second], [second]])
  })

  test('old messages are moved by moderators only', () => {
    const { world: w, amy, bob } = threePeople()
    const moderator = w.account('mod', roles.moderator)
    const general = w.channel('general', [amy, bob, moderator])
    const old = w.send(amy, general, 'x', 'old')
    w.now += 8 * 86_400_000
    const young = w.send(amy, general, 'x', 'young')
    const move = { message_id: young, topic: 'y', propagate_mode: 'change_all' }
    const refusal = w.refused(bob, 'update-message', move)
    assert.equal(refusal.code, 'MOVE_MESSAGES_TIME_LIMIT_EXCEEDED')
    assert.deepEqual(refusal.fields, {
      first_message_id_allowed_to_move: young,
      total_messages_in_topic: 2,
      total_messages_allowed_to_move: 1,
    })
    assert.equal(w.refused(bob, 'update-message', { message_id: old, topic: 'y' }).code, 'BAD_REQUEST')
    w.run(bob, 'update-message', { message_id: old, topic: '✔ x', propagate_mode: 'change_all' })
    const { message } = w.run(bob, 'get-message', { message_id: old })
    assert.equal('last_moved_timestamp' in message, false)
    const notice = w.state.messages.get(w.state.messages.lastId)!
    assert.match(notice.content, /has marked this topic as resolved\.$/)
    w.run(bob, 'update-message', { message_id: old, topic: 'x', propagate_mode: 'change_all' })
    assert.equal(w.state.messages.has(notice.id), false)
    w.run(moderator, 'update-message', move)
    assert.equal(w.state.messages.inTopic(general.id, 'y').length, 3)
  })

  test('what cannot be asked together is refused', () => {
    const { world: w, amy } = threePeople()
    const general = w.channel('general', [amy])
    const id = w.send(amy, general, 'x', 'one')
    for (const params of [
      {},
      { topic: 'x' },
      { content: 'y', stream_id: general.id },
      { content: 'y', propagate_mode: 'change_all' },
    ])
      assert.equal(w.refused(amy, 'update-message', { message_id: id, ...params }).code, 'BAD_REQUEST')
    const missing = w.refused(amy, 'update-message', { message_id: id, stream_id: 99 })
    assert.equal(missing.code, 'BAD_REQUEST')
  })
})

describe('DELETE /messages/{message_id}', () => {
  test('with a protected history: who could not read a message does not hear of its deletion', () => {
    const { world: w, amy, bob, cat } = threePeople()
    const secret = w.channel('secret', [w.owner, amy], { inviteOnly: true, historyPublic: false })
    const send = () => w.send(w.owner, secret, 'x', 'words')
    const [alone, first] = [send(), send()]
    w.subscribe(bob, secret)
    const second = send()
    w.subscribe(cat, secret)
    w.run(w.owner, 'delete-message', { message_id: alone })
    w.run(w.owner, 'delete-topic', { stream_id: secret.id, topic_name: 'x' })
    const both = [first, second]
    assert.deepEqual(
      [w.owner, amy, bob, cat].map(user => deletedFor(w, user)),
      [[[alone], both], [[alone], both], [[second]], []],
    )
  })

  test('with a shared history: all subscribers hear of it', () => {
    const { world: w, amy, bob } = threePeople()
    const secret = w.channel('secret', [w.owner, amy], { inviteOnly: true, historyPublic: true })
    const id = w.send(w.owner, secret, 'x', 'words')
    w.subscribe(bob, secret)
    w.run(w.owner, 'delete-message', { message_id: id })
    assert.deepEqual(
      [amy, bob].map(user => deletedFor(w, user)),
      [[[id]], [[id]]],
    )
  })
})

/** The IDs in each event of a deletion that the user got. */
function deletedFor(w: ReturnType<typeof threePeople>['world'], user: User): number[][] {
  const events = w.heard(user).filter(({ type }) => type === 'delete_message')
  return events.map(event => event.message_ids)
}
