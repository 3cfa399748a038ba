// Saved snippets: what the specification says of them.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { events } from '../daemon/api/events.ts'
import { savedSnippets as api } from '../daemon/api/saved-snippets.ts'
import { startDaemon } from './support/daemon.ts'

describe('POST /saved_snippets', () => {
  test('keeps a snippet, trimmed, and tells its owner', async t => {
    const { owner } = await startDaemon(t)
    const { queue_id } = await owner.call(events.register, { event_types: ['saved_snippets'] })
    const { saved_snippet_id } = await owner.call(api.create, { title: ' Hi ', content: 'Welcome!\n' })
    const { saved_snippets } = await owner.call(api.list, {})
    assert.deepEqual(
      saved_snippets.map(({ id, title, content }) => ({ id, title, content })),
      [{ id: saved_snippet_id, title: 'Hi', content: 'Welcome!' }],
    )
    const reply = await owner.call(events.get, { queue_id, last_event_id: -1 })
    assert.deepEqual(reply.events, [
      { id: 10_000, type: 'saved_snippets', op: 'add', saved_snippet: saved_snippets[0] },
    ])
  })

  test('a blank or too long title or content is refused and names the parameter', async t => {
    const { owner } = await startDaemon(t)
    for (const [title, content, named] of [
      ['  ', 'x', 'title'],
      ['x'.repeat(61), 'x', 'title'],
      ['x', ' \n ', 'content'],
      ['x', 'y'.repeat(10_001), 'content'],
    ] as const) {
      const { msg } = await owner.refused(api.create, { title, content }, 'BAD_REQUEST')
      assert.match(msg, new RegExp(`^${named} `))
    }
    assert.deepEqual((await owner.call(api.list, {})).saved_snippets, [])
  })

  test('lengths are counted in code points', async t => {
    const { owner } = await startDaemon(t)
    await owner.call(api.create, { title: '🎈'.repeat(60), content: 'x' })
    await owner.refused(api.create, { title: '🎈'.repeat(61), content: 'x' }, 'BAD_REQUEST')
  })
})
