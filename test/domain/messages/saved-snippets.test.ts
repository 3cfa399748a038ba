// Saved snippets: what the specification says of them.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { events } from '../../../daemon/api/events.ts'
import { savedSnippets as api } from '../../../daemon/api/messages/saved-snippets.ts'
import { sharedDaemon, startDaemon } from '../../support/daemon.ts'
import { person } from '../../support/world.ts'

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
    assert.deepEqual(reply.events, [{ id: 100, type: 'saved_snippets', op: 'add', saved_snippet: saved_snippets[0] }])
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
      assert.match(msg, new RegExp(`^${named}: `))
    }
    assert.deepEqual((await owner.call(api.list, {})).saved_snippets, [])
  })

  test('lengths are counted in code points', async t => {
    const { owner } = await startDaemon(t)
    await owner.call(api.create, { title: '🎈'.repeat(60), content: 'x' })
    await owner.refused(api.create, { title: '🎈'.repeat(61), content: 'x' }, 'BAD_REQUEST')
  })
})

describe('PATCH /saved_snippets/{saved_snippet_id}', () => {
  const daemon = sharedDaemon()

  test('changes the title, the content or both, and tells the owner when something was given', async () => {
    const { owner } = daemon()
    const { saved_snippet_id } = await owner.call(api.create, { title: 'a', content: 'b' })
    const { queue_id } = await owner.call(events.register, { event_types: ['saved_snippets'] })
    for (const change of [{ title: 'A' }, { content: 'B' }, {}, { title: ' A ' }, { title: 'AA', content: 'BB' }])
      await owner.call(api.edit, { saved_snippet_id, ...change })
    const { events: heard } = await owner.call(events.get, { queue_id, dont_block: true })
    const seen = heard.map(
      event => (event as unknown as { saved_snippet: { title: string; content: string } }).saved_snippet,
    )
    assert.deepEqual(
      seen.map(({ title, content }) => [title, content]),
      [
        ['A', 'b'],
        ['A', 'B'],
        ['A', 'B'],
        ['AA', 'BB'],
      ],
    )
  })

  test('a wrong part leaves all of it as it was', async () => {
    const { owner } = daemon()
    const { saved_snippet_id } = await owner.call(api.create, { title: 'whole', content: 'whole' })
    for (const bad of [{ content: ' ' }, { content: 'x'.repeat(10_001) }])
      await owner.refused(api.edit, { saved_snippet_id, title: 'changed', ...bad }, 'BAD_REQUEST')
    const { saved_snippets: list } = await owner.call(api.list, {})
    assert.equal(list.find(({ id }) => id === saved_snippet_id)?.title, 'whole')
  })

  test('an unknown snippet gives BAD_REQUEST, and so does another account’s', async () => {
    const { owner } = daemon()
    const amy = await person(daemon(), 'amy')
    const { saved_snippet_id } = await owner.call(api.create, { title: 'mine', content: 'mine' })
    const replies = []
    for (const id of [saved_snippet_id, 999_999]) {
      const reply = await amy.try(api.edit, { saved_snippet_id: id, title: 'yours' })
      assert.deepEqual([reply.status, reply.body.code], [404, 'BAD_REQUEST'])
      await amy.refused(api.delete, { saved_snippet_id: id }, 'BAD_REQUEST')
      replies.push(reply.text.replace(String(id), 'ID'))
    }
    assert.equal(replies[0], replies[1])
    assert.deepEqual((await amy.call(api.list, {})).saved_snippets, [])
  })
})

describe('DELETE /saved_snippets/{saved_snippet_id}', () => {
  test('takes it away once, tells its owner, and never uses its ID again', async t => {
    const { owner } = await startDaemon(t)
    const { saved_snippet_id } = await owner.call(api.create, { title: 'a', content: 'b' })
    const { queue_id } = await owner.call(events.register, { event_types: ['saved_snippets'] })
    await owner.call(api.delete, { saved_snippet_id })
    const { events: heard } = await owner.call(events.get, { queue_id })
    assert.deepEqual(heard, [{ id: heard[0]!.id, type: 'saved_snippets', op: 'remove', saved_snippet_id }])
    await owner.refused(api.delete, { saved_snippet_id }, 'BAD_REQUEST')
    const next = await owner.call(api.create, { title: 'a', content: 'b' })
    assert.ok(next.saved_snippet_id > saved_snippet_id)
  })
})
