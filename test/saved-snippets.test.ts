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

describe('PATCH and DELETE /saved_snippets/{saved_snippet_id}', () => {
  test('changes what is given, and nothing else', async t => {
    const { owner } = await startDaemon(t)
    const { saved_snippet_id } = await owner.call(api.create, { title: 'Old', content: 'text' })
    await owner.call(api.edit, { saved_snippet_id, title: 'New' })
    const { saved_snippets } = await owner.call(api.list, {})
    assert.deepEqual([saved_snippets[0]!.title, saved_snippets[0]!.content], ['New', 'text'])
    await owner.call(api.delete, { saved_snippet_id })
    assert.deepEqual((await owner.call(api.list, {})).saved_snippets, [])
  })

  test('an unknown snippet is refused with BAD_REQUEST and status 404', async t => {
    const { owner } = await startDaemon(t)
    assert.equal((await owner.try(api.edit, { saved_snippet_id: 9, title: 'x' })).status, 404)
    await owner.refused(api.edit, { saved_snippet_id: 9, title: 'x' }, 'BAD_REQUEST')
    await owner.refused(api.delete, { saved_snippet_id: 9 }, 'BAD_REQUEST')
  })
})
