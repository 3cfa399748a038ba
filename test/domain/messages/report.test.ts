// Reporting messages to the moderators.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { channels } from '../../../daemon/api/channels/channels.ts'
import { messages as api } from '../../../daemon/api/messages/messages.ts'
import { organization } from '../../../daemon/api/organization/organization.ts'
import { startDaemon } from '../../support/daemon.ts'
import { listen, people } from '../../support/world.ts'

describe('POST /messages/{message_id}/report', () => {
  test('posts to the moderation channel what is said, by whom, and why', async t => {
    const daemon = await startDaemon(t)
    const { owner } = daemon
    const [amy, bob] = await people(daemon, 'amy', 'bob')
    const { id: moderation } = await owner.call(channels.create, {
      name: 'moderation',
      subscribers: [owner.id],
      invite_only: true,
    })
    const { id } = await bob.call(api.send, { type: 'direct', to: [amy.id], content: 'Buy now @**all**' })
    await amy.refused(api.report, { message_id: id, report_type: 'spam' }, 'BAD_REQUEST')
    await owner.call(organization.update, { moderation_request_channel_id: moderation })
    for (const wrong of [
      { message_id: id, report_type: 'boring' },
      { message_id: id, report_type: 'other' },
      { message_id: id, report_type: 'spam', description: 'x'.repeat(1001) },
      { message_id: 9999, report_type: 'spam' },
    ])
      await amy.refused(api.report, wrong, 'BAD_REQUEST')
    // Users who cannot read it cannot report it.
    await owner.refused(api.report, { message_id: id, report_type: 'spam' }, 'BAD_REQUEST')
    const heard = await listen(owner, ['message'])
    await amy.call(api.report, { message_id: id, report_type: 'other', description: 'third time' })
    const [event, ...more] = await heard()
    assert.deepEqual(more, [])
    const { message } = event!
    assert.equal(message.stream_id, moderation)
    assert.equal(message.subject, "bob example's moderation requests")
    assert.equal(message.sender_full_name, 'Notification Bot')
    // The words are Markdown in a spoiler, as on public servers, so the mention in them counts.
    assert.deepEqual(event!.flags, ['stream_wildcard_mentioned', 'wildcard_mentioned'])
    for (const part of ['amy example', 'bob example', 'other', 'third time', 'Buy now'])
      assert.ok(message.content.includes(part), part)
  })
})
