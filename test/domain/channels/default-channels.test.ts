// Default channels: what new accounts join, and groups of channels they are offered.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { channels } from '../../../daemon/api/channels/channels.ts'
import { defaultChannels as api } from '../../../daemon/api/channels/default-channels.ts'
import { subscriptions } from '../../../daemon/api/channels/subscriptions.ts'
import { events } from '../../../daemon/api/events.ts'
import { sharedDaemon } from '../../support/daemon.ts'
import { listen, people } from '../../support/world.ts'

const daemon = sharedDaemon()

describe('POST /default_streams', () => {
  test('new accounts join default channels from then on', async () => {
    const { owner } = daemon()
    const [amy] = await people(daemon(), 'default-amy')
    const { id } = await owner.call(channels.create, { name: 'welcome', subscribers: [] })
    const { id: secret } = await owner.call(channels.create, {
      name: 'own',
      invite_only: true,
      subscribers: [owner.id],
    })
    const heard = await listen(amy, ['default_streams', 'subscription'])
    await amy.refused(api.add, { stream_id: id }, 'UNAUTHORIZED_PRINCIPAL')
    await owner.refused(api.add, { stream_id: secret }, 'BAD_REQUEST')
    await owner.refused(api.add, { stream_id: 9999 }, 'BAD_REQUEST')
    await owner.call(api.add, { stream_id: id })
    await owner.call(api.add, { stream_id: id })
    const [bob] = await people(daemon(), 'default-bob')
    assert.deepEqual(
      (await bob.call(subscriptions.list, {})).subscriptions.map(one => one.name),
      ['welcome'],
    )
    assert.deepEqual(await heard(), [
      { type: 'default_streams', default_streams: [id] },
      { type: 'subscription', op: 'peer_add', stream_ids: [id], user_ids: [bob.id] },
    ])
    const { streams } = await amy.call(channels.list, { include_default: true })
    assert.equal(streams.find(one => one.stream_id === id)!.is_default, true)
    await owner.refused(channels.update, { stream_id: id, is_private: true }, 'BAD_REQUEST')
  })
})

describe('DELETE /default_streams', () => {
  test('removing a channel that is not a default channel succeeds', async () => {
    const { owner } = daemon()
    const [amy] = await people(daemon(), 'remove-amy')
    const { id } = await owner.call(channels.create, { name: 'former', subscribers: [], is_default_stream: true })
    await amy.refused(api.remove, { stream_id: id }, 'UNAUTHORIZED_PRINCIPAL')
    await owner.refused(api.remove, { stream_id: 9999 }, 'BAD_REQUEST')
    await owner.call(api.remove, { stream_id: id })
    await owner.call(api.remove, { stream_id: id })
    const reply: Record<string, any> = await amy.call(events.register, { fetch_event_types: ['default_streams'] })
    assert.ok(!reply.realm_default_streams.includes(id))
  })
})

describe('default channel groups', () => {
  test('are created, renamed, filled and deleted by administrators', async () => {
    const { owner } = daemon()
    const [amy] = await people(daemon(), 'group-amy')
    const { id: chess } = await owner.call(channels.create, { name: 'chess', subscribers: [] })
    const { id: go } = await owner.call(channels.create, { name: 'go', subscribers: [] })
    await owner.call(channels.create, { name: 'hidden', subscribers: [], invite_only: true })
    const heard = await listen(amy, ['default_stream_groups'])
    const create = { group_name: 'Games', description: 'Board', stream_names: ['chess'] }
    await amy.refused(api.createGroup, create, 'UNAUTHORIZED_PRINCIPAL')
    await owner.refused(api.createGroup, { ...create, stream_names: ['hidden'] }, 'BAD_REQUEST')
    await owner.refused(api.createGroup, { ...create, stream_names: ['no such'] }, 'BAD_REQUEST')
    await owner.call(api.createGroup, create)
    await owner.refused(api.createGroup, create, 'BAD_REQUEST')
    const [told] = await heard()
    const group = told!.default_stream_groups.find((one: any) => one.name === 'Games')
    assert.deepEqual(group, { id: group.id, name: 'Games', description: 'Board', streams: [chess] })
    const group_id = group.id
    await amy.refused(api.editGroup, { group_id, new_group_name: 'x' }, 'UNAUTHORIZED_PRINCIPAL')
    await owner.refused(api.editGroup, { group_id }, 'BAD_REQUEST')
    await owner.call(api.editGroup, { group_id, new_group_name: 'Play' })
    const fill = { group_id, op: 'add' as const, stream_names: ['go'] }
    await amy.refused(api.changeGroup, fill, 'UNAUTHORIZED_PRINCIPAL')
    await owner.refused(api.changeGroup, { ...fill, op: 'remove' }, 'BAD_REQUEST')
    await owner.call(api.changeGroup, fill)
    await owner.call(channels.archive, { stream_id: chess })
    const reply: Record<string, any> = await amy.call(events.register, { fetch_event_types: ['default_stream_groups'] })
    assert.deepEqual(reply.realm_default_stream_groups, [
      { id: group_id, name: 'Play', description: 'Board', streams: [go] },
    ])
    await amy.refused(api.deleteGroup, { group_id }, 'UNAUTHORIZED_PRINCIPAL')
    await owner.refused(api.deleteGroup, { group_id: 9999 }, 'BAD_REQUEST')
    await owner.call(api.deleteGroup, { group_id })
  })
})
