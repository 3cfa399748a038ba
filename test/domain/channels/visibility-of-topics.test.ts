// Topics that people come to see, and what goes along when messages are moved, edited and deleted: events in their
// order.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { roles } from '../../../daemon/domain/model/roles.ts'
import type { User } from '../../../daemon/domain/model/state.ts'
import { topicPolicy } from '../../../daemon/domain/model/topic-policy.ts'
import { DomainWorld } from '../../support/domain-world.ts'

function world(settings: Record<string, unknown> = {}) {
  const made = new DomainWorld()
  const person = (name: string) => made.join(roles.member, { email: `${name}@example.com`, fullName: name, settings })
  const [amy, bob, cat] = [person('amy'), person('bob'), person('cat')]
  return { world: made, amy, bob, cat }
}

const types = (events: Record<string, any>[]) => events.map(event => event.type)

function sending(w: DomainWorld, actor: User, to: number, topic: string, content = 'x') {
  return w.run(actor, 'send-message', { type: 'channel', to, topic, content }).automatic_new_visibility_policy
}

/** Every way to take one of each. */
function combinations(...lists: readonly number[][]): number[][] {
  return lists.reduce<number[][]>((found, list) => found.flatMap(some => list.map(one => [...some, one])), [[]])
}

describe('POST /messages: automatic_new_visibility_policy', () => {
  test('the person who begins a topic follows it, and learns that before the message', () => {
    const { world: w, amy, bob } = world()
    const { id } = w.channel('general', [amy, bob])
    assert.equal(sending(w, amy, id, 'lunch'), 3)
    assert.deepEqual(types(w.heard(amy)), ['muted_topics', 'user_topic', 'message'])
    assert.deepEqual(types(w.heard(bob)), ['message'])
    assert.equal(sending(w, amy, id, 'Lunch'), undefined)
    assert.equal(sending(w, bob, id, 'LUNCH'), undefined)
    assert.deepEqual(
      [amy, bob].map(user => topicPolicy(w.state, user.id, id, 'lunch')),
      [3, 0],
    )
  })

  test('a topic of which nothing may be seen is as good as a new one', () => {
    const { world: w, amy, bob } = world()
    const { id } = w.channel('secret', [amy, bob], { inviteOnly: true, historyPublic: false })
    sending(w, bob, id, 'lunch')
    assert.equal(sending(w, amy, id, 'lunch'), undefined)
    const late = w.account('late')
    w.subscribe(late, w.state.channels.get(id)!)
    assert.equal(sending(w, late, id, 'lunch'), 3)
  })

  test('every policy, in channels muted and not: following comes first, and nothing is made less visible', () => {
    const { world: w, amy, bob } = world()
    const { id } = w.channel('general', [amy, bob])
    const cases = combinations([1, 2, 3, 4], [1, 2, 3, 4], [0, 1], [0, 1], [0, 1, 2, 3])
    for (const [n, [follow, unmute, muted, begun, current]] of cases.entries()) {
      const topic = `topic ${n}`
      const settings = {
        automatically_follow_topics_policy: follow,
        automatically_unmute_topics_in_muted_streams_policy: unmute,
      }
      w.state.users.put({ ...amy, settings })
      w.state.subscriptions.put({ ...w.state.subscriptions.get(id, amy.id)!, muted: muted === 1 })
      if (begun) sending(w, bob, id, topic)
      if (current) w.state.userTopics.put({ userId: amy.id, channelId: id, topic, policy: current, updated: 1 })
      const qualifies = (policy: number) => policy < 3 || (policy === 3 && !begun)
      const unmuting = muted && current !== 2 && qualifies(unmute!) ? 2 : undefined
      const expected = current === 3 ? undefined : qualifies(follow!) ? 3 : unmuting
      assert.equal(sending(w, amy, id, topic), expected, JSON.stringify({ follow, unmute, muted, begun, current }))
      assert.equal(topicPolicy(w.state, amy.id, id, topic), expected ?? current)
    }
  })

  test('those mentioned follow the topic, unless they muted it or do not want to; bots never do', () => {
    const { world: w, amy, bob, cat } = world({ automatically_follow_topics_policy: 4 })
    const unwilling = w.join(roles.member, {
      fullName: 'dan',
      settings: { automatically_follow_topics_where_mentioned: false },
    })
    const bot = w.join(roles.member, { fullName: 'bot', bot: { type: 1, ownerId: amy.id, system: false } })
    const { id } = w.channel('general', [amy, bob, cat, unwilling, bot])
    w.run(cat, 'update-user-topic', { stream_id: id, topic: 'x', visibility_policy: 1 })
    assert.equal(sending(w, amy, id, 'x', '@**bob** @**cat** @**dan** @**bot** @**amy** @_**amy**'), undefined)
    const policies = [amy, bob, cat, unwilling, bot].map(user => topicPolicy(w.state, user.id, id, 'x'))
    assert.deepEqual(policies, [0, 3, 1, 0, 0])
    assert.deepEqual(types(w.heard(bob)), ['muted_topics', 'user_topic', 'message'])
    assert.equal(sending(w, bot, id, 'new'), undefined)
  })
})

describe('POST /messages/{message_id}/reactions: taking part in a topic', () => {
  test('follows or unmutes it for users who want that of any participation, and for no one else', () => {
    const { world: w, amy, bob } = world()
    const { id } = w.channel('general', [amy, bob])
    for (const [n, [follow, unmute, muted, current]] of combinations(
      [1, 2, 3, 4],
      [1, 2, 3, 4],
      [0, 1],
      [0, 1, 2, 3],
    ).entries()) {
      const topic = `topic ${n}`
      const settings = {
        automatically_follow_topics_policy: follow,
        automatically_unmute_topics_in_muted_streams_policy: unmute,
      }
      const message_id = w.send(amy, w.state.channels.get(id)!, topic, 'x')
      w.state.users.put({ ...w.state.users.get(bob.id)!, settings })
      w.state.subscriptions.put({ ...w.state.subscriptions.get(id, bob.id)!, muted: muted === 1 })
      w.run(bob, 'update-user-topic', { stream_id: id, topic, visibility_policy: current })
      w.run(bob, 'add-reaction', { message_id, emoji_name: 'smile' })
      const wanted = current === 3 || follow === 1 ? 3 : current !== 2 && muted === 1 && unmute === 1 ? 2 : current
      assert.equal(topicPolicy(w.state, bob.id, id, topic), wanted, JSON.stringify({ ...settings, muted, current }))
    }
  })

  test('is told before the reaction; a vote in a poll counts too, a direct message never', () => {
    const { world: w, amy, bob } = world({ automatically_follow_topics_policy: 1 })
    const channel = w.channel('general', [amy, bob])
    const poll = w.send(amy, channel, 'poll', '/poll Lunch?\nyes')
    w.heard(bob)
    w.run(bob, 'add-submessage', {
      message_id: poll,
      msg_type: 'widget',
      content: '{"type":"vote","key":"x","vote":1}',
    })
    assert.deepEqual(types(w.heard(bob)), ['muted_topics', 'user_topic', 'submessage'])
    w.run(bob, 'add-reaction', { message_id: poll, emoji_name: 'smile' })
    assert.deepEqual(types(w.heard(bob)), ['reaction'])
    const { id } = w.run(amy, 'send-message', { type: 'direct', to: [bob.id], content: 'x' })
    w.heard(bob)
    w.run(bob, 'add-reaction', { message_id: id, emoji_name: 'smile' })
    assert.deepEqual(types(w.heard(bob)), ['reaction'])
  })
})

describe('PATCH /messages/{message_id}: what goes along with a topic', () => {
  test('visibility moves with all of a topic, and merging keeps the more visible', () => {
    const { world: w, amy, bob } = world({ automatically_follow_topics_policy: 4 })
    const general = w.channel('general', [amy, bob])
    for (const [n, [merging, here, there]] of combinations([0, 1], [0, 1, 2, 3], [0, 1, 2, 3]).entries()) {
      const [from, to] = [`old ${n}`, `new ${n}`]
      const id = w.send(amy, general, from, 'x')
      if (merging) w.send(amy, general, to, 'x')
      w.run(bob, 'update-user-topic', { stream_id: general.id, topic: from, visibility_policy: here })
      w.run(bob, 'update-user-topic', { stream_id: general.id, topic: to, visibility_policy: there })
      w.heard(bob)
      w.run(amy, 'update-message', {
        message_id: id,
        topic: to.toUpperCase(),
        send_notification_to_new_thread: false,
      })
      const order = [1, 0, 2, 3]
      const more = order.indexOf(here!) > order.indexOf(there!) ? here : there
      const expected = merging ? more : here
      const policies = [from, to].map(topic => topicPolicy(w.state, bob.id, general.id, topic))
      assert.deepEqual(policies, [0, expected], JSON.stringify({ merging, here, there }))
      assert.equal(types(w.heard(bob)).at(-1), 'update_message')
    }
  })

  test('it stays when part of the topic stays, and when only the spelling changes; authors follow what they begin', () => {
    const { world: w, amy, bob } = world()
    const general = w.channel('general', [amy, bob])
    const [id] = [w.send(amy, general, 'old', 'x'), w.send(bob, general, 'old', 'x')]
    w.run(amy, 'update-message', { message_id: id, topic: 'new' })
    assert.deepEqual(
      [topicPolicy(w.state, amy.id, general.id, 'old'), topicPolicy(w.state, amy.id, general.id, 'new')],
      [3, 3],
    )
    w.run(amy, 'update-message', { message_id: id, topic: 'OLD' })
    w.run(amy, 'update-message', { message_id: id, topic: 'Old', propagate_mode: 'change_all' })
    assert.equal(topicPolicy(w.state, amy.id, general.id, 'old'), 3)
  })

  test('users who lose access hear of the deletion first, then of what they lose with it', () => {
    const { world: w, amy, bob, cat } = world()
    const general = w.channel('general', [amy, bob, cat])
    const secret = w.channel('secret', [amy, w.owner], { inviteOnly: true })
    const id = w.send(amy, general, 'x', 'x')
    w.run(bob, 'update-user-topic', { stream_id: general.id, topic: 'x', visibility_policy: 3 })
    for (const user of [amy, bob]) w.heard(user)
    w.run(w.owner, 'update-message', { message_id: id, stream_id: secret.id })
    assert.deepEqual(
      w
        .heard(bob)
        .filter(({ type }) => type !== 'stream')
        .map(({ type }) => type),
      ['delete_message', 'update_message_flags', 'muted_topics', 'user_topic'],
    )
    assert.deepEqual(
      w
        .heard(amy)
        .filter(({ type }) => type !== 'stream')
        .map(({ type }) => type),
      ['muted_topics', 'user_topic', 'muted_topics', 'user_topic', 'update_message', 'message'],
    )
    assert.deepEqual(
      [bob, amy].map(user => topicPolicy(w.state, user.id, secret.id, 'x')),
      [0, 3],
    )
  })

  test('content and topic changed together are one entry of the history and one event', () => {
    const { world: w, amy, bob } = world()
    const general = w.channel('general', [amy, bob])
    const [other, id] = [w.send(amy, general, 'old', 'other'), w.send(amy, general, 'old', 'before')]
    w.heard(bob)
    w.run(amy, 'update-message', {
      message_id: id,
      topic: 'new',
      content: '@**bob** after',
      propagate_mode: 'change_all',
    })
    const events = w.heard(bob).filter(event => event.type === 'update_message')
    assert.equal(events.length, 1)
    const { edit_timestamp, orig_rendered_content, rendered_content, ...event } = events[0]!
    assert.deepEqual(event, {
      type: 'update_message',
      user_id: amy.id,
      message_id: id,
      message_ids: [other, id],
      rendering_only: false,
      stream_id: general.id,
      stream_name: 'general',
      orig_content: 'before',
      content: '@**bob** after',
      is_me_message: false,
      propagate_mode: 'change_all',
      orig_subject: 'old',
      subject: 'new',
      topic_links: [],
      flags: ['mentioned'],
    })
    const { message } = w.run(bob, 'get-message', { message_id: id, apply_markdown: false })
    assert.deepEqual(
      message.edit_history.map((entry: any) => [entry.prev_content, entry.prev_topic, entry.topic]),
      [['before', 'old', 'new']],
    )
    assert.deepEqual([message.content, message.subject], ['@**bob** after', 'new'])
    assert.ok(message.last_edit_timestamp && message.last_moved_timestamp)
    const [moved] = w.run(bob, 'get-message', { message_id: other }).message.edit_history
    assert.equal('prev_content' in moved, false)
    const { message_history } = w.run(bob, 'get-message-history', { message_id: id })
    assert.deepEqual(
      message_history.map((entry: any) => [entry.content, entry.topic, entry.prev_topic]),
      [
        ['before', 'old', undefined],
        ['@**bob** after', 'new', 'old'],
      ],
    )
  })
})

describe('DELETE /messages/{message_id}', () => {
  test('the oldest of a channel: its first message is another from then on', () => {
    const { world: w, amy, bob, cat } = world()
    const general = w.channel('general', [amy, bob])
    const ids = [1, 2, 3].map(() => w.send(amy, general, 'x', 'x'))
    for (const [gone, first] of [
      [ids[1], undefined],
      [ids[0], ids[2]],
      [ids[2], null],
    ]) {
      for (const user of [bob, cat]) w.heard(user)
      w.run(w.owner, 'delete-message', { message_id: gone })
      const [update, deletion] = first === undefined ? [undefined, ...w.heard(bob)] : w.heard(bob)
      assert.equal(deletion!.type, 'delete_message')
      if (first === undefined) continue
      assert.deepEqual(update, {
        type: 'stream',
        op: 'update',
        stream_id: general.id,
        name: 'general',
        property: 'first_message_id',
        value: first,
      })
      assert.deepEqual(types(w.heard(cat)), ['stream'])
    }
  })

  test('subscribers get the event, users who have it in their history and can read it, and the person who did it', () => {
    const { world: w, amy, bob, cat } = world()
    const [dan, eve] = [w.account('dan'), w.account('eve')]
    for (const inviteOnly of [false, true]) {
      const channel = w.channel(`channel ${inviteOnly}`, [amy, bob, cat], { inviteOnly })
      w.send(amy, channel, 'x', 'first')
      const id = w.send(amy, channel, 'x', 'x')
      w.unsubscribe(bob, channel)
      if (!inviteOnly) w.run(dan, 'update-message-flags', { messages: [id], op: 'add', flag: 'starred' })
      w.subscribe(eve, channel)
      w.unsubscribe(eve, channel)
      for (const user of [amy, bob, cat, dan, eve, w.owner]) w.heard(user)
      w.run(inviteOnly ? amy : w.owner, 'delete-message', { message_id: id })
      const told = [amy, bob, cat, dan, eve, w.owner].map(user => types(w.heard(user)).includes('delete_message'))
      assert.deepEqual(
        told,
        inviteOnly ? [true, false, true, false, false, false] : [true, true, true, true, false, true],
      )
    }
  })
})
