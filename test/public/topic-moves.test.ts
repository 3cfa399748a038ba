// Resolved topics, and policies of topics that move, as clients of the public server know them.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Caller } from '../support/daemon.ts'
import { listen } from '../support/world.ts'
import { type Fields, ok } from './support/cases.ts'
import { amy, bob, cat, channel, move, openKitchen, owner, type Place, said, say } from './support/kitchen.ts'

describe('PATCH /messages/{message_id} of a topic', () => {
  openKitchen()
  describe('resolving', resolving)
  describe('policies of topics', policiesOfTopics)
})

async function policy(who: Caller, place: Place, topic: string): Promise<number> {
  const { user_topics } = await ok(who, 'POST /register', { event_types: ['user_topic'] })
  const row = user_topics.find((row: Fields) => row.stream_id === place.id && row.topic_name === topic)
  return row?.visibility_policy ?? 0
}

function follow(who: Caller, place: Place, topic: string, visibility_policy: number): Promise<unknown> {
  return ok(who, 'POST /user_topics', { stream_id: place.id, topic, visibility_policy })
}

function resolving(): void {
  const cases: [title: string, before: string, after: string, becomes: string, isNotice: boolean][] = [
    ['a topic', 'lunch', '✔ lunch', '✔ lunch', true],
    ['a topic that is as long as it can be', 'x'.repeat(60), `✔ ${'x'.repeat(60)}`, `✔ ${'x'.repeat(55)}...`, true],
    ['no longer resolves', '✔ dinner', 'dinner', 'dinner', true],
    ['no longer resolves what was marked many times', '✔ ✔✔tea', 'tea', 'tea', true],
    ['another name with the mark is a move', 'cake', '✔ pie', '✔ pie', false],
    ['one mark of two is a move', '✔ ✔ jam', '✔ jam', '✔ jam', false],
  ]
  for (const [title, before, after, becomes, isNotice] of cases)
    test(title, async () => {
      const place = await channel([owner, amy])
      const id = await say(amy, before, 'hello', place.id)
      await ok(amy, `PATCH /messages/${id}`, { topic: after, propagate_mode: 'change_all' })
      const messages = await said(owner, place)
      assert.deepEqual(
        messages.map(([topic]) => topic),
        [becomes, becomes],
      )
      assert.equal(/has marked this topic as (un)?resolved\.$/.test(messages[1]![1]), isNotice, messages[1]![1])
    })

  test('a resolved topic was not moved', async () => {
    const place = await channel([owner, amy])
    const id = await say(amy, 'x'.repeat(60), 'hello', place.id)
    await ok(amy, `PATCH /messages/${id}`, { topic: `✔ ${'x'.repeat(60)}`, propagate_mode: 'change_all' })
    const { message } = await ok(amy, `GET /messages/${id}`)
    assert.equal(message.last_moved_timestamp, undefined)
    assert.equal(message.edit_history.length, 1)
  })

  test('the notice is read for the actor and, by default, for everyone who does not follow the topic', async () => {
    const place = await channel([owner, amy, bob, cat])
    const id = await say(amy, 'lunch', 'hello', place.id)
    await follow(bob, place, 'lunch', 3)
    await follow(amy, place, 'lunch', 3)
    await ok(amy, `PATCH /messages/${id}`, { topic: '✔ lunch', propagate_mode: 'change_all' })
    const flags = async (who: Caller) => (await said(who, place)).at(-1)![2]
    assert.deepEqual([await flags(amy), await flags(bob), await flags(cat)], [['read'], [], ['read']])
  })

  const settings: [string, string[]][] = [
    ['always', ['read']],
    ['never', []],
    ['except_followed', ['read']],
  ]
  for (const [setting, expected] of settings)
    test(`the notice with resolved_topic_notice_auto_read_policy ${setting}`, async () => {
      await ok(cat, 'PATCH /settings', { resolved_topic_notice_auto_read_policy: setting })
      const place = await channel([owner, amy, cat])
      const id = await say(amy, 'lunch', 'hello', place.id)
      await ok(amy, `PATCH /messages/${id}`, { topic: '✔ lunch', propagate_mode: 'change_all' })
      assert.deepEqual((await said(cat, place)).at(-1)![2], expected)
    })

  test('undone at once, it leaves no notice', async () => {
    const place = await channel([owner, amy])
    const id = await say(amy, 'lunch', 'hello', place.id)
    await ok(amy, `PATCH /messages/${id}`, { topic: '✔ lunch', propagate_mode: 'change_all' })
    await ok(amy, `PATCH /messages/${id}`, { topic: 'lunch', propagate_mode: 'change_all' })
    assert.deepEqual(
      (await said(owner, place)).map(([topic]) => topic),
      ['lunch'],
    )
  })

  test('with a notice in the old topic, if asked for', async () => {
    const place = await channel([owner, amy])
    const id = await say(amy, 'lunch', 'hello', place.id)
    await ok(amy, `PATCH /messages/${id}`, {
      topic: '✔ lunch',
      propagate_mode: 'change_all',
      send_notification_to_old_thread: true,
    })
    assert.deepEqual(
      (await said(owner, place)).map(([topic]) => topic),
      ['✔ lunch', '✔ lunch', 'lunch'],
    )
  })

  test('beside a move to another channel, it is a move', async () => {
    const from = await channel([owner, amy])
    const to = await channel([owner, amy])
    const id = await say(amy, 'lunch', 'hello', from.id)
    await ok(owner, `PATCH /messages/${id}`, { topic: '✔ lunch', stream_id: to.id, propagate_mode: 'change_all' })
    const texts = (await said(owner, to)).map(([, text]) => text)
    assert.match(texts[1]!, /^This topic was moved here from /)
  })
}

function policiesOfTopics(): void {
  const merges: [title: string, here: number, there: number, isEmpty: boolean, expected: number][] = [
    ['go with the whole topic', 3, 0, true, 3],
    ['replace what was set for a topic that is empty now', 1, 3, true, 1],
    ['clear what was set for a topic that is empty now', 0, 1, true, 0],
    ['the more visible one stays: followed over muted', 3, 1, false, 3],
    ['the more visible one stays: what is there', 1, 3, false, 3],
    ['the more visible one stays: unmuted over muted', 2, 1, false, 2],
    ['the more visible one stays: nothing over muted', 0, 1, false, 0],
    ['the more visible one stays: nothing of its own over muted', 1, 0, false, 0],
    ['both muted stays muted', 1, 1, false, 1],
  ]
  for (const [title, here, there, isEmpty, expected] of merges)
    test(title, async () => {
      const place = await channel([owner, amy])
      const id = await say(owner, 'old', 'hello', place.id)
      if (!isEmpty) await say(owner, 'new', 'hello', place.id)
      await follow(amy, place, 'old', here)
      await follow(amy, place, 'new', there)
      await move(owner, id, { topic: 'new', propagate_mode: 'change_all' })
      assert.deepEqual([await policy(amy, place, 'old'), await policy(amy, place, 'new')], [0, expected])
    })

  test('stay when a part of the topic goes', async () => {
    const place = await channel([owner, amy])
    await say(owner, 'old', 'hello', place.id)
    const id = await say(owner, 'old', 'hello', place.id)
    await follow(amy, place, 'old', 3)
    await move(owner, id, { topic: 'new' })
    assert.deepEqual([await policy(amy, place, 'old'), await policy(amy, place, 'new')], [3, 0])
  })

  test('are lost by users who lose access', async () => {
    const from = await channel([owner, amy])
    const to = await channel([owner], { invite_only: true })
    const id = await say(owner, 'old', 'hello', from.id)
    await follow(amy, from, 'old', 3)
    const heard = await listen(amy, ['user_topic', 'delete_message'])
    await move(owner, id, { stream_id: to.id, propagate_mode: 'change_all' })
    assert.deepEqual(
      (await heard()).map(event => event.type),
      ['delete_message', 'user_topic'],
    )
    assert.equal(await policy(amy, from, 'old'), 0)
  })

  const beginning: [title: string, settings: Fields, isMuted: boolean, there: boolean, expected: number][] = [
    [
      'the author of a message that begins a topic follows it',
      { automatically_follow_topics_policy: 3 },
      false,
      false,
      3,
    ],
    ['not if the topic has older messages', { automatically_follow_topics_policy: 3 }, false, true, 0],
    ['not if the author follows topics when sending', { automatically_follow_topics_policy: 2 }, false, false, 0],
    [
      'or unmutes it in a muted channel',
      { automatically_follow_topics_policy: 4, automatically_unmute_topics_in_muted_streams_policy: 3 },
      true,
      false,
      2,
    ],
    [
      'but not in one that is not muted',
      { automatically_follow_topics_policy: 4, automatically_unmute_topics_in_muted_streams_policy: 3 },
      false,
      false,
      0,
    ],
  ]
  for (const [title, settings, isMuted, there, expected] of beginning)
    test(title, async () => {
      await ok(bob, 'PATCH /settings', {
        automatically_follow_topics_policy: 4,
        automatically_unmute_topics_in_muted_streams_policy: 4,
      })
      const place = await channel([owner, bob])
      if (there) await say(owner, 'new', 'hello', place.id)
      await say(owner, 'old', 'hello', place.id)
      const id = await say(bob, 'old', 'hello', place.id)
      await ok(bob, 'PATCH /settings', settings)
      if (isMuted)
        await ok(bob, 'POST /users/me/subscriptions/properties', {
          subscription_data: [{ stream_id: place.id, property: 'is_muted', value: true }],
        })
      await move(owner, id, { topic: 'new' })
      assert.equal(await policy(bob, place, 'new'), expected)
    })
}
