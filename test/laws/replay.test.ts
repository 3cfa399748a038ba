// The law of the journal: replaying it from the beginning, or a snapshot and the rest, gives the state the daemon had.
// Every other test is held to it too when its daemon stops; here the snapshot falls into the middle of a story.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { events } from '../../daemon/api/events.ts'
import { savedSnippets } from '../../daemon/api/messages/saved-snippets.ts'
import { typing } from '../../daemon/api/messages/typing.ts'
import { users } from '../../daemon/api/people/users.ts'
import { type Caller, host, type TestDaemon } from '../support/daemon.ts'

describe('snapshot and journal', () => {
  test('a snapshot in the middle of a story, then the rest of it, give the state of the end', async () => {
    const data = mkdtempSync(join(tmpdir(), 'natter-replay-'))
    let daemon = await host(data)
    try {
      const { queue_id } = await daemon.owner.call(events.register, {})
      const kept = await chapter(daemon, 'one')
      await daemon.compact()
      await chapter(daemon, 'two')
      const seen = await view(daemon.owner, queue_id)
      // Stopping holds snapshot + rest against the living state.
      await daemon.stop()
      daemon = await host(data)
      assert.deepEqual(await view(daemon.owner, queue_id), seen)
      await daemon.owner.call(savedSnippets.edit, { saved_snippet_id: kept, content: 'three' })
      await daemon.compact()
      await chapter(daemon, 'four')
      const later = await view(daemon.owner, queue_id)
      await daemon.end()
      daemon = await host(data)
      assert.deepEqual(await view(daemon.owner, queue_id), later)
      await daemon.stop()
    } finally {
      await daemon.discard()
      rmSync(data, { recursive: true, force: true })
    }
  })
})

async function chapter({ owner }: TestDaemon, name: string): Promise<number> {
  const { saved_snippet_id: kept } = await owner.call(savedSnippets.create, { title: name, content: 'kept' })
  const { saved_snippet_id: gone } = await owner.call(savedSnippets.create, { title: name, content: 'gone' })
  await owner.call(typing.set, { op: 'start', to: [owner.id] })
  await owner.call(savedSnippets.edit, { saved_snippet_id: kept, title: `${name}, edited` })
  await owner.call(savedSnippets.delete, { saved_snippet_id: gone })
  await owner.call(users.create, { email: `${name}@example.com`, full_name: name, password: 'secret words' })
  return kept
}

/** What the owner can see; typing is a signal and forgotten by a restart. */
async function view(owner: Caller, queue_id: string) {
  const { saved_snippets } = await owner.call(savedSnippets.list, {})
  const { events: pending } = await owner.call(events.get, { queue_id, dont_block: true })
  return {
    saved_snippets,
    pending: pending.filter(({ type }) => type !== 'typing'),
    me: await owner.call(users.me, {}),
  }
}
