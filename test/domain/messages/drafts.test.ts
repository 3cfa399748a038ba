// Drafts: what the specification leaves open and we settled.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { channels } from '../../../daemon/api/channels/channels.ts'
import { events } from '../../../daemon/api/events.ts'
import { drafts as api } from '../../../daemon/api/messages/drafts.ts'
import { startDaemon } from '../../support/daemon.ts'

const blank = { type: '' as const, to: [] as number[], topic: '', content: 'Later' }

describe('POST /drafts', () => {
  test('keeps drafts in order, oldest edit first in the list, and tells their owner', async t => {
    const { owner } = await startDaemon(t)
    const { queue_id } = await owner.call(events.register, { event_types: ['drafts'] })
    const { ids } = await owner.call(api.create, {
      drafts: [
        { type: '', to: [], topic: 'kept out', content: 'first ', timestamp: 100 },
        { type: 'private', to: [owner.id], topic: '', content: 'second', timestamp: 200 },
      ],
    })
    assert.deepEqual(ids, [1, 2])
    const second = { id: 2, type: 'private', to: [owner.id], topic: '', content: 'second', timestamp: 200 }
    const first = { id: 1, type: '', to: [], topic: '', content: 'first', timestamp: 100 }
    assert.deepEqual(await owner.call(api.list, {}), { result: 'success', msg: '', count: 2, drafts: [first, second] })
    await owner.call(api.edit, { draft_id: 1, draft: { ...blank, content: 'first again', timestamp: 300 } })
    await owner.call(api.delete, { draft_id: 2 })
    assert.deepEqual((await owner.call(api.list, {})).drafts, [{ ...first, content: 'first again', timestamp: 300 }])
    const { events: told } = await owner.call(events.get, { queue_id, last_event_id: -1 })
    assert.deepEqual(
      told.map(({ id, ...event }) => event),
      [
        { type: 'drafts', op: 'add', drafts: [first, second] },
        { type: 'drafts', op: 'update', draft: { ...first, content: 'first again', timestamp: 300 } },
        { type: 'drafts', op: 'remove', draft_id: 2 },
      ],
    )
  })

  test('one bad draft refuses them all and names the place', async t => {
    const { owner } = await startDaemon(t)
    for (const [bad, place] of [
      [{ ...blank, content: ' ' }, 'drafts[1]["content"]'],
      [{ ...blank, timestamp: -1 }, 'drafts[1]["timestamp"]'],
      // The row would be refused by every restore.
      [{ ...blank, timestamp: 253_402_300_800 }, 'drafts[1]["timestamp"]'],
      [{ ...blank, id: 3 }, 'drafts[1]["id"]'],
      [{ ...blank, type: 'stream', to: [99] }, 'drafts[1]["to"]'],
      [{ ...blank, type: 'private', to: [99] }, 'drafts[1]["to"][0]'],
    ] as const) {
      const { msg } = await owner.refused(api.create, { drafts: [blank, bad] }, 'BAD_REQUEST')
      assert.ok(msg.startsWith(place), msg)
    }
    assert.equal((await owner.call(api.list, {})).count, 0)
  })

  test('the empty topic is empty for every client, and can be given by its display name', async t => {
    const { owner } = await startDaemon(t)
    const { id: stream_id } = await owner.call(channels.create, { name: 'plans', subscribers: [owner.id] })
    const [plain, able] = await Promise.all(
      [{}, { client_capabilities: { empty_topic_name: true } }].map(more =>
        owner.call(events.register, { event_types: ['drafts'], ...more }),
      ),
    )
    const draft = { type: 'stream' as const, to: [stream_id], content: 'Later' }
    await owner.call(api.create, {
      drafts: [
        { ...draft, topic: ' general chat ' },
        { ...draft, topic: '' },
      ],
    })
    await owner.call(api.edit, { draft_id: 1, draft: { ...draft, topic: 'general chat' } })
    const topics = (drafts: readonly { topic: string }[]) => drafts.map(({ topic }) => topic)
    assert.deepEqual(topics((await owner.call(api.list, {})).drafts), ['', ''])
    for (const { queue_id } of [plain!, able!]) {
      const told = await owner.call(events.get, { queue_id: queue_id!, last_event_id: -1 })
      const [added, updated] = told.events as any[]
      assert.deepEqual(topics([...added.drafts, updated.draft]), ['', '', ''])
    }
    const unprintable = { drafts: [{ ...draft, topic: 'a\u0007b' }] }
    const { msg } = await owner.refused(api.create, unprintable, 'BAD_REQUEST')
    assert.ok(msg.startsWith('drafts[0]["topic"]'), msg)
  })

  test('too long content is cut, and says so', async t => {
    const { owner } = await startDaemon(t)
    await owner.call(api.create, { drafts: [{ ...blank, content: 'x'.repeat(10_001) }] })
    const { drafts } = await owner.call(api.list, {})
    assert.equal(drafts[0]!.content.length, 10_000)
    assert.ok(drafts[0]!.content.endsWith('\n[message truncated]'))
  })
})

describe('PATCH and DELETE /drafts/{draft_id}', () => {
  test('a draft that is not there is refused with status 404', async t => {
    const { owner } = await startDaemon(t)
    assert.equal((await owner.try(api.edit, { draft_id: 7, draft: blank })).status, 404)
    await owner.refused(api.edit, { draft_id: 7, draft: blank }, 'BAD_REQUEST')
    await owner.refused(api.delete, { draft_id: 7 }, 'BAD_REQUEST')
  })
})
