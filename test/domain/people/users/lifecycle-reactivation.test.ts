// Accounts that come back: what they have again, and who hears of it.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { channels } from '../../../../daemon/api/channels/channels.ts'
import { subscriptions } from '../../../../daemon/api/channels/subscriptions.ts'
import { events } from '../../../../daemon/api/events.ts'
import { organization } from '../../../../daemon/api/organization/organization.ts'
import { userGroups } from '../../../../daemon/api/people/user-groups.ts'
import { users as api } from '../../../../daemon/api/people/users.ts'
import { limits } from '../../../../daemon/domain/limits.ts'
import { sharedDaemon, type TestDaemon } from '../../../support/daemon.ts'
import { listen, person } from '../../../support/world.ts'

let daemon: TestDaemon
sharedDaemon({}, async started => {
  daemon = started
})

describe('POST /users/{user_id}/reactivate', () => {
  test('brings the account back with its key and its groups', async () => {
    const rob = await person(daemon, 'rob')
    await daemon.owner.call(api.deactivate, { user_id: rob.id })
    const heard = await listen(daemon.owner, ['realm_user', 'user_group'])
    await daemon.owner.call(api.reactivate, { user_id: rob.id })
    await daemon.owner.call(api.reactivate, { user_id: rob.id })
    assert.equal((await rob.call(api.me, {})).is_active, true)
    const [back, ...groups] = await heard()
    assert.deepEqual(back!.person, { user_id: rob.id, is_active: true })
    assert.deepEqual(
      groups.map(({ op, user_ids }) => [op, user_ids]),
      [
        ['add_members', [rob.id]],
        ['add_members', [rob.id]],
      ],
    )
    await rob.refused(api.reactivate, { user_id: rob.id }, 'BAD_REQUEST')
    await daemon.owner.refused(api.reactivate, { user_id: 9999 }, 'BAD_REQUEST')
  })

  test('settings that list the account show it again, and everyone who knows of them is told', async () => {
    const rita = await person(daemon, 'rita')
    const only = { direct_members: [rita.id], direct_subgroups: [] }
    const { id } = await rita.call(channels.create, { name: "rita's", subscribers: [rita.id], invite_only: true })
    const { group_id } = await rita.call(userGroups.create, { name: 'ritas', description: '', members: [] })
    await daemon.owner.call(organization.update, { can_create_groups: { new: only } })
    await daemon.owner.call(api.deactivate, { user_id: rita.id })
    const heard = await listen(daemon.owner, ['stream', 'user_group', 'realm'])
    const stranger = await listen(await person(daemon, 'ron'), ['stream'])
    await daemon.owner.call(api.reactivate, { user_id: rita.id })
    const [setting, adding, managing, realm] = (await heard()).filter(event => event.op.startsWith('update'))
    assert.deepEqual(
      [setting!.stream_id, setting!.property, setting!.value],
      [id, 'can_administer_channel_group', only],
    )
    assert.deepEqual([adding!.group_id, adding!.data], [group_id, { can_add_members_group: only }])
    assert.deepEqual([managing!.group_id, managing!.data], [group_id, { can_manage_group: only }])
    assert.deepEqual(realm!.data, { can_create_groups: only })
    assert.deepEqual(await stranger(), [])
  })

  test('groups and settings beyond 500 are not told, so that queues do not fill', async () => {
    const sam = await person(daemon, 'sam')
    for (let from = 0; from < 600; from += 100)
      await sam.call(subscriptions.subscribe, {
        subscriptions: Array.from({ length: 100 }, (_, i) => ({ name: `sam ${from + i}` })),
      })
    await daemon.owner.call(api.deactivate, { user_id: sam.id })
    const heard = await listen(daemon.owner, ['stream', 'user_group'])
    await daemon.owner.call(api.reactivate, { user_id: sam.id })
    assert.equal((await heard()).length, limits.membershipsAnnounced)
  })

  test('queues from before are gone: they missed what happened meanwhile', async () => {
    const ruth = await person(daemon, 'ruth')
    const { queue_id } = await ruth.call(events.register, { event_types: ['realm_user'] })
    await daemon.owner.call(api.deactivate, { user_id: ruth.id })
    await ruth.refused(events.get, { queue_id: queue_id!, last_event_id: -1 }, 'USER_DEACTIVATED')
    await daemon.owner.call(api.reactivate, { user_id: ruth.id })
    await ruth.refused(events.get, { queue_id: queue_id!, last_event_id: -1 }, 'BAD_EVENT_QUEUE_ID')
  })
})
