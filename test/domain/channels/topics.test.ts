// Topics: how each person wants to see them.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { channels } from '../../../daemon/api/channels/channels.ts'
import { subscriptions } from '../../../daemon/api/channels/subscriptions.ts'
import { topics as api } from '../../../daemon/api/channels/topics.ts'
import { events } from '../../../daemon/api/events.ts'
import { sharedDaemon } from '../../support/daemon.ts'
import { listen, people } from '../../support/world.ts'

const daemon = sharedDaemon()

describe('POST /user_topics', () => {
  test('keeps the first spelling, finds it in any case, and tells only what changed', async () => {
    const { owner } = daemon()
    const { id: stream_id } = await owner.call(channels.create, { name: 'topical', subscribers: [] })
    const heard = await listen(owner, ['user_topic'])
    const legacy = await listen(owner, ['muted_topics'])
    const both = await listen(owner, ['user_topic', 'muted_topics'])
    await owner.call(api.follow, { stream_id, topic: 'Lunch', visibility_policy: 1 })
    await owner.call(api.follow, { stream_id, topic: ' lunch ', visibility_policy: 1 })
    await owner.call(api.follow, { stream_id, topic: 'LUNCH', visibility_policy: 3 })
    await owner.call(api.follow, { stream_id, topic: 'general chat', visibility_policy: 2 })
    const told = await heard()
    assert.deepEqual(
      told.map(event => [event.topic_name, event.visibility_policy]),
      [
        ['Lunch', 1],
        ['Lunch', 3],
        ['general chat', 2],
      ],
    )
    assert.deepEqual(
      (await legacy()).map(event => event.muted_topics.length),
      [1, 0, 0],
    )
    assert.ok((await both()).every(event => event.type === 'user_topic'))
    const reply: Record<string, any> = await owner.call(events.register, {
      fetch_event_types: ['user_topic', 'muted_topics'],
      client_capabilities: { empty_topic_name: true },
    })
    assert.equal(reply.muted_topics, undefined)
    assert.deepEqual(
      reply.user_topics.map((row: any) => [row.stream_id, row.topic_name, row.visibility_policy]),
      [
        [stream_id, 'Lunch', 3],
        [stream_id, '', 2],
      ],
    )
    await owner.call(api.follow, { stream_id, topic: 'lunch', visibility_policy: 0 })
    assert.equal((await heard())[0]!.visibility_policy, 0)
  })

  test('needs access to the content, except to forget a policy', async () => {
    const { owner } = daemon()
    const [bob] = await people(daemon(), 'topic-bob')
    const { id: stream_id } = await owner.call(channels.create, { name: 'closed', subscribers: [], invite_only: true })
    const params = { stream_id, topic: 'x', visibility_policy: 1 }
    await bob.refused(api.follow, params, 'BAD_REQUEST')
    await owner.refused(api.follow, params, 'BAD_REQUEST')
    // A channel that bob may not know of must look like none.
    await bob.refused(api.follow, { ...params, visibility_policy: 0 }, 'BAD_REQUEST')
    const { id: left } = await owner.call(channels.create, {
      name: 'left',
      subscribers: [bob.id, owner.id],
      invite_only: true,
    })
    await bob.call(api.follow, { ...params, stream_id: left })
    await bob.call(subscriptions.unsubscribe, { subscriptions: ['left'] })
    await bob.refused(api.follow, { ...params, stream_id: left, visibility_policy: 2 }, 'BAD_REQUEST')
    await bob.call(api.follow, { ...params, stream_id: left, visibility_policy: 0 })
    await bob.refused(api.follow, { ...params, stream_id: 9999, visibility_policy: 0 }, 'BAD_REQUEST')
    await bob.refused(api.follow, { ...params, visibility_policy: 4 }, 'BAD_REQUEST')
    await bob.refused(api.follow, { ...params, visibility_policy: 0, topic: 'x'.repeat(61) }, 'BAD_REQUEST')
    await bob.refused(api.follow, { ...params, visibility_policy: 0, topic: 'a\u0007b' }, 'BAD_REQUEST')
  })
})

describe('PATCH /users/me/subscriptions/muted_topics', () => {
  test('mutes by the ID or the name of the channel, never both', async () => {
    const { owner } = daemon()
    const { id: stream_id } = await owner.call(channels.create, { name: 'mutable', subscribers: [] })
    await owner.call(api.mute, { op: 'add', topic: 'noise', stream: 'Mutable' })
    const reply: Record<string, any> = await owner.call(events.register, { fetch_event_types: ['muted_topics'] })
    assert.deepEqual(reply.muted_topics[0].slice(0, 2), ['mutable', 'noise'])
    await owner.call(api.mute, { op: 'remove', topic: 'noise', stream_id })
    await owner.call(api.mute, { op: 'remove', topic: 'noise', stream_id })
    await owner.refused(api.mute, { op: 'add', topic: 'noise' }, 'BAD_REQUEST')
    const { parameters } = await owner.refused(
      api.mute,
      { op: 'add', topic: 'x', stream_id, stream: 'mutable' },
      'BAD_REQUEST',
    )
    assert.equal(parameters, 'stream_id, stream')
    await owner.refused(api.mute, { op: 'add', topic: 'noise', stream: 'no such' }, 'BAD_REQUEST')
  })
})

describe('GET /users/me/{stream_id}/topics', () => {
  test('needs access to the content', async () => {
    const { owner } = daemon()
    const { id: stream_id } = await owner.call(channels.create, { name: 'quiet', subscribers: [] })
    assert.deepEqual((await owner.call(api.list, { stream_id })).topics, [])
    await owner.refused(api.list, { stream_id: 9999 }, 'BAD_REQUEST')
  })
})

describe('POST /streams/{stream_id}/delete_topic', () => {
  test('is for administrators with access to the content, and clears what people set for the topic', async () => {
    const { owner } = daemon()
    const [bob] = await people(daemon(), 'delete-bob')
    const { id: stream_id } = await owner.call(channels.create, { name: 'deletable', subscribers: [] })
    await bob.call(api.follow, { stream_id, topic: 'Gone', visibility_policy: 3 })
    const heard = await listen(bob, ['user_topic'])
    await bob.refused(api.delete, { stream_id, topic_name: 'gone' }, 'UNAUTHORIZED_PRINCIPAL')
    await owner.refused(api.delete, { stream_id: 9999, topic_name: 'gone' }, 'BAD_REQUEST')
    assert.equal((await owner.call(api.delete, { stream_id, topic_name: 'gone' })).complete, true)
    assert.equal((await heard())[0]!.visibility_policy, 0)
  })
})
