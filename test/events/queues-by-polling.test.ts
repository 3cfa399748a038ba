// GET /events without a queue: one is registered, from the parameters of register.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { subscriptions } from '../../daemon/api/channels/subscriptions.ts'
import { events } from '../../daemon/api/events.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { sharedDaemon } from '../support/daemon.ts'

describe('GET /events without queue_id', () => {
  const daemon = sharedDaemon()

  test('every parameter of register that is not about state is taken, also by its other name', async () => {
    const { owner } = daemon()
    const heard = async (params: object) => {
      const { queue_id } = await owner.call(events.get, { event_types: ['message', 'delete_message'], ...params })
      const { id } = await owner.call(messages.send, { type: 'direct', to: [owner.id], content: '*hello*' })
      await owner.call(messages.delete, { message_id: id })
      return (await owner.call(events.get, { queue_id, dont_block: true })).events as Record<string, any>[]
    }
    const [plain, gone] = await heard({})
    assert.equal(plain!.message.content, '*hello*')
    assert.deepEqual(Object.keys(gone!), ['id', 'type', 'message_id', 'message_type'])
    const [html, bulk] = await heard({ apply_markdown: true, bulk_message_deletion: true, client_gravatar: false })
    assert.equal(html!.message.content, '<p><em>hello</em></p>')
    assert.match(html!.message.avatar_url, /^http/)
    assert.deepEqual(Object.keys(bulk!), ['id', 'type', 'message_ids', 'message_type'])
    const [, object] = await heard({ client_capabilities: { bulk_message_deletion: true } })
    assert.ok('message_ids' in object!)
    assert.deepEqual(
      (await heard({ narrow: [['is', 'starred']] })).map(({ type }) => type),
      ['delete_message'],
    )
    const inTopic = async (narrow: string[][], topic: string, content: string) => {
      const { queue_id } = await owner.call(events.get, { event_types: ['message'], narrow })
      await owner.call(messages.send, { type: 'channel', to: 'narrowed', topic, content })
      return (await owner.call(events.get, { queue_id, dont_block: true })).events.length
    }
    await owner.call(subscriptions.subscribe, { subscriptions: [{ name: 'narrowed' }] })
    for (const [operand, topic, content, count] of [
      ['resolved', '✔ done', 'x', 1],
      ['resolved', 'open', 'x', 0],
      ['mentioned', 'open', '@**all** x', 0],
      ['mentioned', 'open', 'x', 0],
      ['unread', 'open', 'x', 1],
      ['dm', 'open', 'x', 0],
    ] as const)
      assert.equal(await inTopic([['is', operand]], topic, content), count, `is:${operand} in ${topic}: ${content}`)
    const taken = await owner.raw('GET', '/api/v1/events', {
      query: 'dont_block=true&lifespan_secs=5&slim_presence=true&all_public_streams=true&archived_channels=true&x=1',
    })
    assert.deepEqual(Object.keys(taken.body).sort(), [
      'events',
      'ignored_parameters_unsupported',
      'msg',
      'queue_id',
      'result',
    ])
    assert.deepEqual(taken.body.ignored_parameters_unsupported, ['x'])
    const wrong = await owner.raw('GET', '/api/v1/events', { query: 'archived_channels=yes' })
    assert.equal(wrong.body.code, 'BAD_REQUEST')
    assert.match(wrong.body.msg, /archived_channels/)
  })
})
