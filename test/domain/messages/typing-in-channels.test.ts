// Typing notifications in channels: which users hear that another one types.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { channels } from '../../../daemon/api/channels/channels.ts'
import { subscriptions } from '../../../daemon/api/channels/subscriptions.ts'
import { typing as api } from '../../../daemon/api/messages/typing.ts'
import { limits } from '../../../daemon/domain/limits.ts'
import { roles } from '../../../daemon/domain/model/roles.ts'
import { sharedDaemon } from '../../support/daemon.ts'
import { World } from '../../support/in-process.ts'
import { listen, people } from '../../support/world.ts'

const daemon = sharedDaemon()

describe('POST /typing', () => {
  test('in a channel: subscribers whose client asked for it are told, and no one else', async () => {
    const { owner } = daemon()
    const [amy, bob] = await people(daemon(), 'typing-amy', 'typing-bob')
    const { id: stream_id } = await owner.call(channels.create, { name: 'typed', subscribers: [amy.id] })
    const told = await listen(amy, ['typing'], {
      client_capabilities: { stream_typing_notifications: true },
      include_subscribers: 'true',
    })
    const knowing = await listen(amy, ['typing'], {
      client_capabilities: { stream_typing_notifications: true, empty_topic_name: true },
    })
    const plain = await listen(amy, ['typing'])
    const outside = await listen(bob, ['typing'], {
      client_capabilities: { stream_typing_notifications: true },
      include_subscribers: 'true',
    })
    await owner.call(api.set, { op: 'start', type: 'channel', stream_id, topic: ' (no topic) ' })
    const event = {
      type: 'typing',
      op: 'start',
      message_type: 'stream',
      sender: { user_id: owner.id, email: owner.email },
      stream_id,
    }
    assert.deepEqual(await told(), [{ ...event, topic: 'general chat' }])
    assert.deepEqual(await knowing(), [{ ...event, topic: '' }])
    assert.deepEqual([await plain(), await outside()], [[], []])
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
    const older = `op=stop&type=stream&stream_id=${stream_id}&subject=lunch`
    assert.equal((await owner.raw('POST', '/api/v1/typing', { headers, body: older })).status, 200)
    assert.deepEqual(await told(), [{ ...event, op: 'stop', topic: 'lunch' }])
  })

  test('in a channel: an ID, a topic, access and the right to post are needed', async () => {
    const { owner } = daemon()
    const [bob] = await people(daemon(), 'typing-cat')
    const { id: closed } = await owner.call(channels.create, { name: 'typed 2', subscribers: [], invite_only: true })
    const { id: quiet } = await owner.call(channels.create, {
      name: 'typed 3',
      subscribers: [],
      can_send_message_group: 3,
    })
    await bob.call(subscriptions.subscribe, { subscriptions: ['typed 3'] })
    const refused = (params: object) => bob.refused(api.set, { op: 'stop', type: 'stream', ...params }, 'BAD_REQUEST')
    assert.match((await refused({ topic: 'x' })).msg, /^stream_id/)
    assert.match((await refused({ stream_id: quiet })).msg, /^topic/)
    await refused({ stream_id: 9999, topic: 'x' })
    await refused({ stream_id: closed, topic: 'x' })
    await refused({ stream_id: quiet, topic: 'x' })
  })

  test('in a large channel no one is told; settings of either side are respected', () => {
    const world = new World()
    const { owner } = world
    const quiet = world.join(roles.member, { settings: { receives_typing_notifications: false } })
    const mute = world.join(roles.member, { settings: { send_stream_typing_notifications: false } })
    const many = Array.from({ length: limits.typingAudience - 2 }, () => world.join(roles.member).id)
    const subscribers = [owner.id, quiet.id, ...many]
    const { id: stream_id } = world.run(owner, 'create-channel', { name: 'big', subscribers })
    const params = { op: 'start', type: 'channel', stream_id, topic: 'x' }
    let told: number[] = []
    world.onNews = userId => told.push(userId)
    world.run(owner, 'set-typing-status', params)
    assert.deepEqual(told, [owner.id, ...many])
    assert.equal(world.refusal(mute, 'set-typing-status', params), 'BAD_REQUEST')
    world.run(owner, 'subscribe', { subscriptions: ['big'], principals: [mute.id] })
    told = []
    world.run(owner, 'set-typing-status', params)
    assert.deepEqual(told, [])
  })
})
