// Events and notices about channels, as the public server sends them.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Caller, sharedDaemon } from '../support/daemon.ts'
import { listen, person } from '../support/world.ts'
import { ok } from './support/cases.ts'

let owner: Caller
let amy: Caller
let bob: Caller
let guest: Caller
let folder = 0
let members = 0

const create = 'POST /channels/create'
const subscribe = 'POST /users/me/subscriptions'
const sub = (...names: string[]) => ({ subscriptions: names.map(name => ({ name })) })

function events(): void {
  test('every change of a channel has its own event, under the old name up to the renaming', async () => {
    const { id } = await ok(amy, create, { name: 'before', subscribers: [amy.id] })
    const heard = await listen(bob, ['stream', 'default_streams'])
    await ok(owner, `PATCH /streams/${id}`, {
      new_name: 'after',
      description: 'd',
      is_private: false,
      is_default_stream: true,
      message_retention_days: 3,
      topics_policy: 'allow_empty_topic',
      folder_id: folder,
      can_send_message_group: { new: members },
    })
    assert.deepEqual(
      (await heard()).map(({ type, name, property }) => (type === 'stream' ? `${name} ${property}` : type)),
      [
        'before topics_policy',
        'before invite_only',
        'default_streams',
        'before message_retention_days',
        'before description',
        'before name',
        'after folder_id',
        'after can_send_message_group',
      ],
    )
    await ok(owner, 'DELETE /default_streams', { stream_id: id })
  })

  test('what is set to the value it has is announced, except topics policy and permissions', async () => {
    const { id } = await ok(amy, create, { name: 'same', description: 'd', subscribers: [amy.id] })
    const heard = await listen(bob, ['stream'])
    await ok(amy, `PATCH /streams/${id}`, {
      description: 'd',
      folder_id: null,
      is_private: false,
      topics_policy: 'inherit',
    })
    assert.deepEqual(
      (await heard()).map(({ property }) => property),
      ['invite_only', 'description', 'folder_id'],
    )
  })

  test('both older words for who may post are sent when one of them changes', async () => {
    const { id } = await ok(amy, create, { name: 'words', subscribers: [amy.id] })
    const { realm_user_groups } = await ok(amy, 'POST /register', { fetch_event_types: ['realm_user_groups'] })
    const moderators = realm_user_groups.find((group: { name: string }) => group.name === 'role:moderators').id
    const heard = await listen(bob, ['stream'])
    await ok(amy, `PATCH /streams/${id}`, { can_send_message_group: { new: moderators } })
    assert.deepEqual(
      (await heard()).map(({ property, value }) => [property, value]),
      [
        ['can_send_message_group', moderators],
        ['stream_post_policy', 4],
        ['is_announcement_only', false],
      ],
    )
  })

  test('a new channel is announced before it says so itself, after direct messages to people', async () => {
    const { id } = await ok(owner, create, { name: 'news', subscribers: [owner.id, bob.id] })
    await ok(owner, 'PATCH /realm', { new_stream_announcements_stream_id: id })
    const heard = await listen(bob, ['message'])
    await ok(amy, subscribe, { ...sub('open', 'brandnew'), principals: [bob.id], announce: true })
    assert.deepEqual(
      (await heard()).map(({ message }) => [message.type, message.subject]),
      [
        ['private', ''],
        ['stream', 'new channels'],
        ['stream', 'channel events'],
      ],
    )
  })

  test('channels that the same people know of share one event about subscribers', async () => {
    for (const name of ['p1', 'p2', 'with guest']) await ok(amy, create, { name, subscribers: [] })
    await ok(amy, subscribe, { ...sub('with guest'), principals: [guest.id] })
    const [heard, guests] = [await listen(owner, ['subscription']), await listen(guest, ['subscription'])]
    await ok(amy, subscribe, { ...sub('p1', 'p2', 'with guest'), principals: [bob.id] })
    assert.deepEqual(
      (await heard()).map(({ op, stream_ids, user_ids }) => [op, stream_ids.length, user_ids]),
      [
        ['peer_add', 1, [bob.id]],
        ['peer_add', 2, [bob.id]],
      ],
    )
    assert.deepEqual(
      (await guests()).map(({ stream_ids }) => stream_ids.length),
      [1],
    )
  })

  test('groups of default channels are listed by name, and so are their channels', async () => {
    await ok(owner, 'POST /default_stream_groups/create', {
      group_name: 'beginners',
      description: '',
      stream_names: [],
    })
    const heard = await listen(amy, ['default_stream_groups'])
    const group = { description: '', stream_names: ['p2', 'p1'] }
    await ok(owner, 'POST /default_stream_groups/create', { group_name: 'aaa', ...group })
    const [{ default_stream_groups } = {} as any] = await heard()
    assert.deepEqual(
      default_stream_groups.map((one: { name: string }) => one.name),
      ['aaa', 'beginners'],
    )
    const ids = await Promise.all(
      ['p1', 'p2'].map(async stream => (await ok(amy, 'GET /get_stream_id', { stream })).stream_id),
    )
    assert.deepEqual(default_stream_groups[0].streams, ids)
  })

  test('a channel without subscribers says nothing', async () => {
    const heard = await listen(owner, ['message'], { all_public_streams: true })
    await ok(amy, create, { name: 'silent', subscribers: [], announce: true })
    assert.deepEqual(await heard(), [])
  })
}

describe('events and notices about channels', () => {
  sharedDaemon({ flags: ['--memory'] }, async daemon => {
    owner = daemon.owner
    await person(daemon, 'admin', { role: 200 })
    amy = await person(daemon, 'amy')
    bob = await person(daemon, 'bob')
    guest = await person(daemon, 'guest', { role: 600 })
    await ok(amy, create, { name: 'open', subscribers: [amy.id] })
    await ok(amy, create, { name: 'closed', subscribers: [amy.id], invite_only: true })
    folder = (await ok(owner, 'POST /channel_folders/create', { name: 'Beds', description: '' })).channel_folder_id
    const { realm_user_groups } = await ok(owner, 'POST /register', {
      fetch_event_types: ['realm_user_groups'],
    })
    members = realm_user_groups.find((group: { name: string }) => group.name === 'role:members').id
  })
  events()
})
