// The largest size of one answer about messages: pages, matches and what waits.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { threePeople } from '../../support/domain-world.ts'

const page = { anchor: 'newest', num_before: 10 }
/** 200,000 characters of HTML, with the linkifier of `withLongLinks`. */
const large = '1 '.repeat(100).trim()

function withLongLinks() {
  const { world, amy, bob } = threePeople()
  const urlTemplate = `https://e.com/{id}?${'x'.repeat(1950)}`
  world.state.linkifiers.put({ id: 1, pattern: '(?P<id>[0-9])', urlTemplate, order: 1 })
  return { world, amy, bob }
}

describe('the room of an answer', () => {
  test('a page ends where parts of widgets, reactions or links of topics fill it', () => {
    const { world, amy } = threePeople()
    const lunch = world.channel('lunch', [amy])
    const text = 'x'.repeat(9_000_000)
    const details = {
      submessages: [{ id: 1, senderId: amy.id, msgType: 'widget', content: text }],
      topicLinks: [{ text: 'tea', url: text }],
      reactions: Array.from({ length: 90_000 }, () => ({
        name: 'tea',
        code: '1f375',
        type: 'unicode_emoji',
        userId: 8,
      })),
    }
    for (const [name, value] of Object.entries(details)) {
      const ids = [1, 2, 3].map(() => world.send(amy, lunch, name, name))
      for (const id of ids) world.state.messages.setDetails(id, { [name]: value })
      const narrow = [{ operator: 'topic', operand: name, negated: false }]
      const { messages, found_oldest } = world.run(amy, 'get-messages', { ...page, narrow })
      assert.deepEqual([messages.length, found_oldest], [1, false], name)
      assert.equal(world.refusal(amy, 'get-messages', { message_ids: ids }), 'BAD_REQUEST', name)
    }
  })

  test('marking many words fills it sooner', () => {
    const { world, amy } = withLongLinks()
    const words = Array.from({ length: 40 }, (_, i) => `w${i}`).join(' ')
    const ids = [1, 2, 3].map(
      () => world.run(amy, 'send-message', { type: 'direct', to: [amy.id], content: `${words} ${large}` }).id,
    )
    const search = (operand: string) => ({ narrow: [{ operator: 'search', operand, negated: false }] })
    assert.equal(world.run(amy, 'get-messages', { ...page, ...search('w1') }).messages.length, 3)
    assert.equal(world.run(amy, 'get-messages', { ...page, ...search(words) }).messages.length, 2)
    const matches = 'check-messages-match-narrow'
    assert.equal(world.refusal(amy, matches, { msg_ids: ids, ...search(words) }), 'BAD_REQUEST')
    // A message that is named again and again is looked at once.
    const repeated = Array.from({ length: 5000 }, () => ids[0])
    const { messages } = world.run(amy, matches, { msg_ids: repeated, ...search(words) })
    assert.deepEqual(Object.keys(messages), [String(ids[0])])
    assert.match(
      world.refused(amy, matches, { msg_ids: [...repeated, 1], ...search('w1') }).message,
      /at most 5000 IDs/,
    )
  })

  test('all drafts of an account have a largest size together, and so do its saved snippets', () => {
    const { world, amy, bob } = threePeople()
    const draft = (content: string) => ({ type: '', to: [], topic: '', content })
    const text = 'x'.repeat(10_000)
    const texts = Array.from({ length: 100 }, () => draft(text))
    let id = 0
    const keep = () => world.attempt(amy, 'create-drafts', { drafts: texts }, ({ ids }) => ([id] = ids))
    for (let i = 0; i < 4; i++) assert.equal(keep(), undefined)
    assert.match(keep()!.message, /^You can have 4000000 characters in all your drafts together/)
    assert.equal(world.attempt(amy, 'edit-draft', { draft_id: id, draft: draft('short') }), undefined)
    const more = { drafts: [draft('x'.repeat(9000))] }
    assert.equal(world.attempt(amy, 'create-drafts', more), undefined)
    assert.ok(world.attempt(amy, 'edit-draft', { draft_id: id, draft: draft(text) }))
    assert.equal(world.attempt(bob, 'create-drafts', more), undefined)

    const snippet = (content: string) => ({ title: 'x', content })
    for (let i = 0; i < 400; i++) id = world.run(amy, 'create-saved-snippet', snippet(text)).saved_snippet_id
    assert.match(
      world.refused(amy, 'create-saved-snippet', snippet('x')).message,
      /^You can have 4000000 characters in all your saved snippets together/,
    )
    assert.equal(world.attempt(amy, 'edit-saved-snippet', { saved_snippet_id: id, content: 'short' }), undefined)
    assert.equal(world.attempt(amy, 'create-saved-snippet', snippet('x')), undefined)
    assert.ok(world.attempt(amy, 'edit-saved-snippet', { saved_snippet_id: id, content: text }))
  })

  test('an account that is above its limit already can make a text shorter, and not longer', () => {
    const { world, amy } = threePeople()
    const { drafts, savedSnippets } = world.state
    const [content, shorter] = ['x'.repeat(10_000), 'x'.repeat(9000)]
    for (let id = 1; id <= 500; id++) {
      drafts.put({ id, userId: amy.id, kind: '', to: [], topic: '', content, timestamp: 1 })
      savedSnippets.put({ id, userId: amy.id, title: 'x', content, dateCreated: 1 })
    }
    const editDraft = (text: string) =>
      world.attempt(amy, 'edit-draft', { draft_id: 1, draft: { type: '', to: [], topic: '', content: text } })
    const editSnippet = (text: string) =>
      world.attempt(amy, 'edit-saved-snippet', { saved_snippet_id: 1, content: text })
    for (const edit of [editDraft, editSnippet]) {
      assert.equal(edit(shorter), undefined)
      assert.match(edit(content)!.message, /^You can have 4000000 characters in all your/)
    }
  })

  test('all scheduled messages of an account have a largest size together, and so do its reminders', () => {
    const { world, amy, bob } = withLongLinks()
    const due = world.now / 1000 + 3600
    const scheduled = { type: 'direct', to: [bob.id], scheduled_delivery_timestamp: due }
    let id = 0
    const schedule = () =>
      world.attempt(amy, 'create-scheduled-message', { ...scheduled, content: large }, reply => {
        id = reply.scheduled_message_id
      })
    while (schedule() === undefined) assert.ok(world.state.scheduledMessages.size < 25)
    assert.ok(world.state.scheduledMessages.size > 10)
    assert.match(
      schedule()!.message,
      /^You can have 4000000 characters of HTML in all your scheduled messages together/,
    )
    const changed = { scheduled_message_id: id, content: `${large} !` }
    assert.equal(world.attempt(amy, 'update-scheduled-message', changed), undefined)
    assert.equal(world.attempt(bob, 'create-scheduled-message', { ...scheduled, content: large }), undefined)
    const message_id = world.run(bob, 'send-message', { type: 'direct', to: [amy.id], content: large }).id
    const remind = { message_id, scheduled_delivery_timestamp: due }
    while (world.attempt(amy, 'create-message-reminder', remind) === undefined)
      assert.ok(world.state.reminders.size < 30)
    assert.match(world.refused(amy, 'create-message-reminder', remind).message, /in all your reminders together/)
  })
})
