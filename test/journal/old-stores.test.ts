// Stores written by earlier versions must still open: each folder of test/fixtures/ is one, with what was in it.

import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { channels } from '../../daemon/api/channels/channels.ts'
import { subscriptions } from '../../daemon/api/channels/subscriptions.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { savedSnippets } from '../../daemon/api/messages/saved-snippets.ts'
import { users } from '../../daemon/api/people/users.ts'
import { startDaemon } from '../support/daemon.ts'

describe('a store of format 1', () => {
  test('opens with its snapshot and the entries after it', async t => {
    const data = mkdtempSync(join(tmpdir(), 'natter-old-'))
    t.after(() => rmSync(data, { recursive: true, force: true }))
    cpSync(join(import.meta.dirname, '../fixtures/store-format-1'), data, { recursive: true })
    const { owner } = await startDaemon(t, { data, flags: ['--secret', 'fixture'] })
    const { members } = await owner.call(users.list, {})
    assert.deepEqual(
      members.map(user => user.email),
      ['owner@example.com', 'amy@example.com'],
    )
    const { streams } = await owner.call(channels.list, {})
    assert.deepEqual(
      streams.map(channel => channel.name),
      ['general', 'secret'],
    )
    const { subscriptions: followed } = await owner.call(subscriptions.list, { include_subscribers: 'true' })
    assert.deepEqual(
      followed.map(({ name, subscribers }) => [name, subscribers]),
      [
        ['general', [2, 3]],
        ['secret', [2]],
      ],
    )
    const history = await owner.call(messages.list, { anchor: 'newest', num_before: 10, apply_markdown: false })
    const contents = history.messages.map(message => message.content)
    assert.ok(contents.includes('Hello **all**'), 'of the snapshot')
    assert.ok(contents.includes('After the snapshot'), 'of the journal')
    const { saved_snippets } = await owner.call(savedSnippets.list, {})
    assert.deepEqual(
      saved_snippets.map(({ title }) => title),
      ['Hi'],
    )
  })
})
