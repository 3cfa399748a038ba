// Drafts, saved snippets and reminders, as clients of the public server know them.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { listen } from '../support/world.ts'
import { ask, assertHas, cases, type Fields, ok } from './support/cases.ts'
import { amy, bob, cat, kitchen, lunch, openKitchen, refused } from './support/kitchen.ts'

describe('personal records around messages', () => {
  openKitchen()
  describe('drafts', drafts)
  describe('saved snippets', snippets)
  describe('reminders', reminders)
})

function drafts(): void {
  const draft = { type: 'stream', to: [] as number[], topic: 'lunch', content: 'later', timestamp: 100 }
  const shapes: [title: string, given: () => Fields, expected: () => Fields][] = [
    [
      'of a channel',
      () => ({ ...draft, to: [kitchen] }),
      () => ({ type: 'stream', to: [kitchen], topic: 'lunch', content: 'later', timestamp: 100 }),
    ],
    [
      'to one user',
      () => ({ ...draft, type: 'private', to: [bob.id] }),
      () => ({ type: 'private', to: [bob.id], topic: '' }),
    ],
    [
      'to oneself and one user',
      () => ({ ...draft, type: 'private', to: [bob.id, amy.id] }),
      () => ({ type: 'private', to: [bob.id] }),
    ],
    ['in the empty topic', () => ({ ...draft, to: [kitchen], topic: '' }), () => ({ type: 'stream', topic: '' })],
    ['to oneself', () => ({ ...draft, type: 'private', to: [amy.id] }), () => ({ type: 'private', to: [amy.id] })],
    [
      'to a group, in any order',
      () => ({ ...draft, type: 'private', to: [cat.id, bob.id] }),
      () => ({ type: 'private', to: [bob.id, cat.id] }),
    ],
    ['to no one yet', () => ({ ...draft, type: 'private', to: [] }), () => ({ type: '', to: [], topic: '' })],
    ['of no type', () => ({ ...draft, type: '', to: [bob.id] }), () => ({ type: '', to: [], topic: '' })],
    ['with a time between two seconds', () => ({ ...draft, type: '', timestamp: 1.75 }), () => ({ timestamp: 1 })],
    [
      'without a time',
      () => ({ ...draft, type: '', timestamp: undefined }),
      () => ({ timestamp: (time: number) => time > 1_000_000_000 }),
    ],
    ['with spaces at the end', () => ({ ...draft, type: '', content: 'later \n ' }), () => ({ content: 'later' })],
  ]
  for (const [title, given, expected] of shapes)
    test(title, async () => {
      const heard = await listen(amy, ['drafts'])
      const { ids } = await ok(amy, 'POST /drafts', { drafts: [given()] })
      const all = (await ok(amy, 'GET /drafts')).drafts
      assertHas(
        all.find(({ id }: Fields) => id === ids[0]),
        expected(),
      )
      assertHas(await heard(), [{ op: 'add', drafts: [{ id: ids[0], ...expected() }] }])
      await ok(amy, `DELETE /drafts/${ids[0]}`)
      assertHas(await heard(), [{ op: 'remove', draft_id: ids[0] }])
    })

  test('are listed by their last edit, oldest first; register has the newest first', async () => {
    const given = [300, 100, 200].map(timestamp => ({ ...draft, type: '', timestamp }))
    const { ids } = await ok(cat, 'POST /drafts', { drafts: given })
    await ok(cat, `PATCH /drafts/${ids[1]}`, { draft: { ...given[1], timestamp: 400 } })
    const { count, drafts: all } = await ok(cat, 'GET /drafts')
    assert.deepEqual([count, all.map((one: Fields) => one.timestamp)], [3, [200, 300, 400]])
    const state = await ok(cat, 'POST /register', { event_types: ['drafts'] })
    assert.deepEqual(
      state.drafts.map((one: Fields) => one.timestamp),
      [400, 300, 200],
    )
  })

  test('are gone and refused when they are not synchronized', async () => {
    await ok(cat, 'PATCH /settings', { enable_drafts_synchronization: false })
    assertHas(await ask(cat, 'GET /drafts'), { status: 400 })
    assertHas(await ask(cat, 'POST /drafts', { drafts: [] }), { status: 400 })
    await ok(cat, 'PATCH /settings', { enable_drafts_synchronization: true })
    assert.equal((await ok(cat, 'GET /drafts')).count, 0)
  })

  const one = (more: Fields) => () => ({ drafts: [{ ...draft, type: '', ...more }] })
  cases([
    refused('refuses two channels', 'POST /drafts', () => one({ type: 'stream', to: [kitchen, 1] })()),
    refused('refuses no channel', 'POST /drafts', one({ type: 'stream', to: [] })),
    refused('refuses an unknown channel', 'POST /drafts', one({ type: 'stream', to: [99_999] })),
    refused('refuses an unknown user', 'POST /drafts', one({ type: 'private', to: [99_999] })),
    refused('refuses an unknown type', 'POST /drafts', one({ type: 'other' })),
    refused('refuses a negative time', 'POST /drafts', one({ timestamp: -10.1 })),
    refused('refuses a blank content', 'POST /drafts', one({ content: ' ' })),
    refused('refuses a field that it does not know', 'POST /drafts', one({ mood: 'good' })),
    refused('refuses a null byte in the topic', 'POST /drafts', () =>
      one({ type: 'stream', to: [kitchen], topic: 'a\0b' })(),
    ),
    refused('refuses a draft that is not a list', 'POST /drafts', { drafts: 'x' }),
    refused('an unknown draft to edit', 'PATCH /drafts/99999', () => ({ draft: { ...draft, type: '' } }), {
      status: 404,
    }),
    refused('an unknown draft to delete', 'DELETE /drafts/99999', {}, { status: 404 }),
  ])
}

function snippets(): void {
  test('are created, edited, listed and deleted with their events', async () => {
    const heard = await listen(amy, ['saved_snippets'])
    const { saved_snippet_id: id } = await ok(amy, 'POST /saved_snippets', { title: ' Hi ', content: ' there ' })
    await ok(amy, `PATCH /saved_snippets/${id}`, { title: 'Hello' })
    await ok(amy, `PATCH /saved_snippets/${id}`, { title: 'Hello' })
    await ok(amy, `PATCH /saved_snippets/${id}`)
    assertHas((await ok(amy, 'GET /saved_snippets')).saved_snippets, [{ id, title: 'Hello', content: 'there' }])
    await ok(amy, `DELETE /saved_snippets/${id}`)
    assertHas(await heard(), [
      { op: 'add', saved_snippet: { id, title: 'Hi', content: 'there' } },
      { op: 'update', saved_snippet: { id, title: 'Hello' } },
      { op: 'update', saved_snippet: { id, title: 'Hello' } },
      { op: 'remove', saved_snippet_id: id },
    ])
  })

  cases([
    refused('refuses a blank title', 'POST /saved_snippets', { title: ' ', content: 'x' }),
    refused('refuses a blank content', 'POST /saved_snippets', { title: 'x', content: ' ' }),
    refused('refuses a title of 61 characters', 'POST /saved_snippets', { title: 'x'.repeat(61), content: 'x' }),
    refused('refuses a content of 10001 characters', 'POST /saved_snippets', {
      title: 'x',
      content: 'x'.repeat(10_001),
    }),
    refused('needs a title', 'POST /saved_snippets', { content: 'x' }, { code: 'REQUEST_VARIABLE_MISSING' }),
    refused('an unknown snippet to edit', 'PATCH /saved_snippets/99999', { title: 'x' }, { status: 404 }),
    refused('an unknown snippet to delete', 'DELETE /saved_snippets/99999', {}, { status: 404 }),
    ['takes an edit of nothing', () => amy, 'PATCH /saved_snippets/99999', {}, { result: 'success' }],
  ])

  test('belong to one user', async () => {
    const { saved_snippet_id: id } = await ok(amy, 'POST /saved_snippets', { title: 'Mine', content: 'x' })
    assert.equal((await ask(bob, `PATCH /saved_snippets/${id}`, { title: 'x' })).status, 404)
    assert.equal((await ask(bob, `DELETE /saved_snippets/${id}`)).status, 404)
    assert.deepEqual((await ok(bob, 'GET /saved_snippets')).saved_snippets, [])
  })
}

function reminders(): void {
  const later = () => Math.floor(Date.now() / 1000) + 9999
  const texts: [title: string, content: string, note: string, head: string, said: string][] = [
    ['of words', 'psst', '', '.', '[said](URL):\n```quote\npsst\n```'],
    ['with a note', 'psst', 'call back', '. Note:\n > call back', '[said](URL):\n```quote\npsst\n```'],
    ['of a poll', '/poll Tea?', '', '.', '[sent](URL) a poll.'],
    ['of a to-do list', '/todo Tasks', '', '.', '[sent](URL) a todo list.'],
  ]
  for (const [title, content, note, head, said] of texts)
    test(`${title} say what they are about`, async () => {
      const { id: message_id } = await ok(bob, 'POST /messages', { type: 'direct', to: [amy.id], content })
      const { reminder_id } = await ok(amy, 'POST /reminders', {
        message_id,
        scheduled_delivery_timestamp: later(),
        ...(note && { note }),
      })
      const all = (await ok(amy, 'GET /reminders')).reminders
      const url = `${amy.url}/#narrow/dm/${amy.id},${bob.id}/near/${message_id}`
      assert.equal(
        all.find((one: Fields) => one.reminder_id === reminder_id).content,
        `You requested a reminder for the following direct message${head}\n\n@_**bob example|${bob.id}** ${said.replace('URL', url)}`,
      )
      await ok(amy, `DELETE /reminders/${reminder_id}`)
    })

  test('are created, listed and deleted with their events', async () => {
    const heard = await listen(amy, ['reminders'])
    const given = { message_id: lunch, scheduled_delivery_timestamp: 4_000_000_000, note: 'remember' }
    const { reminder_id: id } = await ok(amy, 'POST /reminders', given)
    const { reminders: all } = await ok(amy, 'GET /reminders')
    assertHas(all, [
      {
        reminder_id: id,
        type: 'private',
        to: [amy.id],
        reminder_target_message_id: lunch,
        failed: false,
        scheduled_delivery_timestamp: 4_000_000_000,
      },
    ])
    assert.match(all[0].content, /remember/)
    await ok(amy, `DELETE /reminders/${id}`)
    assertHas(await heard(), [
      { op: 'add', reminders: [{ reminder_id: id }] },
      { op: 'remove', reminder_id: id },
    ])
  })

  cases([
    refused('refuses a time in the past', 'POST /reminders', () => ({
      message_id: lunch,
      scheduled_delivery_timestamp: 1000,
    })),
    refused('refuses an unknown message', 'POST /reminders', {
      message_id: 99_999,
      scheduled_delivery_timestamp: 4_000_000_000,
    }),
    refused('an unknown reminder to delete', 'DELETE /reminders/99999', {}, { status: 404 }),
  ])

  test('of others cannot be deleted', async () => {
    const { reminder_id: id } = await ok(amy, 'POST /reminders', {
      message_id: lunch,
      scheduled_delivery_timestamp: 4_000_000_000,
    })
    assert.equal((await ask(bob, `DELETE /reminders/${id}`)).status, 404)
  })
}
