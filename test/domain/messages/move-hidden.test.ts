// A message that moves between channels of which some readers know one only.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { channels } from '../../../daemon/api/channels/channels.ts'
import { messages } from '../../../daemon/api/messages/messages.ts'
import { sharedDaemon } from '../../support/daemon.ts'
import { listen, people } from '../../support/world.ts'

describe('PATCH /messages/{message_id} to another channel', () => {
  const daemon = sharedDaemon({ flags: ['--durability', 'os'] })

  test('no one is told of a channel they may not know of: neither the source nor the target', async () => {
    const { owner } = daemon()
    const [ann, ben] = await people(daemon(), 'ann', 'ben')
    const subscribers = [owner.id, ann.id]
    const { id: secret } = await owner.call(channels.create, { name: 'hideaway', subscribers, invite_only: true })
    const { id: open } = await owner.call(channels.create, { name: 'market', subscribers: [owner.id, ann.id, ben.id] })
    const heard = await listen(ben, ['message', 'update_message', 'delete_message', 'stream', 'subscription'])
    const knowing = await listen(ann, ['update_message'])
    const send = { type: 'channel', to: 'hideaway', topic: 'plans', content: '@**ben example** look' } as const
    const { id } = await owner.call(messages.send, send)
    await owner.call(messages.update, { message_id: id, stream_id: open, send_notification_to_new_thread: false })
    const told = JSON.stringify(await heard())
    assert.ok(!told.includes('hideaway') && !told.includes(`"stream_id":${secret},`), told)
    assert.equal((await knowing())[0]!.stream_id, secret)
    await owner.call(messages.update, { message_id: id, stream_id: secret, send_notification_to_old_thread: false })
    const back = JSON.stringify(await heard())
    assert.ok(!back.includes('hideaway') && !back.includes(`:${secret},`), back)
  })
})
