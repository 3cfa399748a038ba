// The people and groups that settings name one by one, which every client gets with every channel.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { channels } from '../../../daemon/api/channels/channels.ts'
import { subscriptions } from '../../../daemon/api/channels/subscriptions.ts'
import { userGroups } from '../../../daemon/api/people/user-groups.ts'
import { limits } from '../../../daemon/domain/limits.ts'
import { startDaemon } from '../../support/daemon.ts'
import { people } from '../../support/world.ts'

test('the settings of all channels and groups together name a bounded number of people', async t => {
  const daemon = await startDaemon(t)
  const { owner } = daemon
  const names = Array.from({ length: limits.namedInSetting }, (_, i) => `person${i}`)
  const everybody = (await people(daemon, ...names)).map(({ id }) => id)
  const many = { direct_members: everybody, direct_subgroups: [] }
  const settings = { can_send_message_group: many, can_add_subscribers_group: many, can_administer_channel_group: many }
  const perChannel = 3 * limits.namedInSetting
  const atOnce = Math.floor(limits.subscriptionsAtOnce / perChannel)
  const create = (round: number) =>
    owner.try(subscriptions.subscribe, {
      subscriptions: Array.from({ length: atOnce }, (_, i) => ({ name: `channel ${round} ${i}` })),
      ...settings,
    })
  let refused: Awaited<ReturnType<typeof create>> | undefined
  let made = 0
  for (; !refused && made <= limits.namedInAllSettings + limits.subscriptionsAtOnce; made += atOnce * perChannel) {
    const reply = await create(made)
    if (reply.body.result === 'error') refused = reply
  }
  assert.match((refused?.body as { msg: string } | undefined)?.msg ?? '', /^can_\w+_group: settings name 200000 people/)
  // One name is always possible, and so is a group.
  const { streams } = await owner.call(channels.list, {})
  const { stream_id } = streams.find(({ name }) => name.startsWith('channel'))!
  const one = { direct_members: [owner.id!], direct_subgroups: [] }
  await owner.call(channels.update, { stream_id, can_send_message_group: { new: one } })
  const { group_id } = await owner.call(userGroups.create, { name: 'all', description: '', members: everybody })
  await owner.call(channels.update, { stream_id, can_send_message_group: { new: group_id } })
})
