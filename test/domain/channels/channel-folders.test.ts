// Channel folders: what the specification says of them.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { channelFolders as api } from '../../../daemon/api/channels/channel-folders.ts'
import { channels } from '../../../daemon/api/channels/channels.ts'
import { events } from '../../../daemon/api/events.ts'
import { sharedDaemon } from '../../support/daemon.ts'
import { listen, people } from '../../support/world.ts'

const daemon = sharedDaemon()

describe('POST /channel_folders/create', () => {
  test('is for administrators; everyone is told', async () => {
    const { owner } = daemon()
    const [bob] = await people(daemon(), 'folder-bob')
    const heard = await listen(bob, ['channel_folder'])
    await bob.refused(api.create, { name: 'Mine', description: '' }, 'UNAUTHORIZED_PRINCIPAL')
    const { channel_folder_id } = await owner.call(api.create, { name: ' Teams ', description: 'Each one' })
    const { channel_folders } = await bob.call(api.list, {})
    const folder = channel_folders.find(one => one.id === channel_folder_id)!
    assert.deepEqual([folder.name, folder.order, folder.creator_id], ['Teams', channel_folder_id, owner.id])
    assert.deepEqual(await heard(), [{ type: 'channel_folder', op: 'add', channel_folder: folder }])
    for (const params of [
      { name: 'tEAMS', description: '' },
      { name: ' ', description: '' },
      { name: 'x'.repeat(61), description: '' },
      { name: 'Long', description: 'x'.repeat(1025) },
    ])
      await owner.refused(api.create, params, 'BAD_REQUEST')
  })
})

describe('PATCH /channel_folders/{channel_folder_id}', () => {
  test('one event for each changed property; equal values change nothing', async () => {
    const { owner } = daemon()
    const [bob] = await people(daemon(), 'edit-bob')
    const { channel_folder_id } = await owner.call(api.create, { name: 'Draft', description: '' })
    const heard = await listen(owner, ['channel_folder'])
    const edit = (params: object) => owner.call(api.edit, { channel_folder_id, ...params })
    await bob.refused(api.edit, { channel_folder_id, name: 'x' }, 'UNAUTHORIZED_PRINCIPAL')
    await owner.refused(api.edit, { channel_folder_id: 9999, name: 'x' }, 'BAD_REQUEST')
    await owner.refused(api.edit, { channel_folder_id, name: '' }, 'BAD_REQUEST')
    await edit({ name: 'Draft' })
    await edit({ name: 'Final', description: 'Done' })
    assert.deepEqual(
      (await heard()).map(event => event.data),
      [{ name: 'Final' }, { description: 'Done', rendered_description: '<p>Done</p>' }],
    )
    const { id } = await owner.call(channels.create, { name: 'inside', subscribers: [], folder_id: channel_folder_id })
    await owner.refused(api.edit, { channel_folder_id, is_archived: true }, 'BAD_REQUEST')
    await owner.call(channels.update, { stream_id: id, folder_id: null })
    await edit({ is_archived: true })
    const { channel_folders } = await owner.call(api.list, {})
    assert.ok(channel_folders.every(folder => folder.id !== channel_folder_id))
    await owner.call(api.create, { name: 'final', description: '' })
    await owner.refused(api.edit, { channel_folder_id, is_archived: false }, 'BAD_REQUEST')
    await edit({ is_archived: false, name: 'Final again' })
  })
})

describe('PATCH /channel_folders', () => {
  test('puts all folders into a new order', async () => {
    const { owner } = daemon()
    const [bob] = await people(daemon(), 'order-bob')
    await owner.call(api.create, { name: 'Last', description: '' })
    const { channel_folders } = await owner.call(api.list, { include_archived: true })
    const order = channel_folders.map(folder => folder.id).reverse()
    await bob.refused(api.reorder, { order }, 'UNAUTHORIZED_PRINCIPAL')
    await owner.refused(api.reorder, { order: order.slice(1) }, 'BAD_REQUEST')
    await owner.call(api.reorder, { order: [order[0]!, 9999, ...order] })
    const heard = await listen(bob, ['channel_folder'])
    await owner.call(api.reorder, { order })
    assert.deepEqual(await heard(), [], 'the event for it came with level 418')
    const reply: Record<string, any> = await bob.call(events.register, { fetch_event_types: ['channel_folders'] })
    assert.deepEqual(
      reply.channel_folders.map((folder: any) => [folder.id, folder.order]),
      order.map((id, index) => [id, index]),
    )
  })
})
