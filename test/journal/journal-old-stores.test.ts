// Stores written by earlier versions must still open: each folder of test/fixtures/ is one, with what was in it.

import assert from 'node:assert/strict'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { channels } from '../../daemon/api/channels/channels.ts'
import { subscriptions } from '../../daemon/api/channels/subscriptions.ts'
import { events } from '../../daemon/api/events.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { savedSnippets } from '../../daemon/api/messages/saved-snippets.ts'
import { users } from '../../daemon/api/people/users.ts'
import { checkStore } from '../../daemon/maintenance/check.ts'
import { newStoreFolder, startDaemon } from '../support/daemon.ts'
import { fetched } from '../support/world.ts'

describe('stores of every format', () => {
  test('pass the checks of a restore', async () => {
    for (const format of [1, 2, 3]) {
      const folder = join(import.meta.dirname, `../fixtures/store-format-${format}`)
      assert.deepEqual((await checkStore(folder, { secret: 'fixture' })).problems, [], `format ${format}`)
    }
  })
})

describe('a store of format 1', () => {
  test('opens with its snapshot and the entries after it', async t => {
    const data = newStoreFolder()
    cpSync(join(import.meta.dirname, '../fixtures/store-format-1'), data, { recursive: true })
    const { owner } = await startDaemon(t, { data, flags: ['--secret', 'fixture'] })
    const { members } = await owner.call(users.list, {})
    assert.deepEqual(
      members.map(user => user.email),
      ['owner@example.com', 'amy@example.com'],
    )
    const { cross_realm_bots } = await fetched(owner, ['realm_user'])
    assert.equal(cross_realm_bots.length, 3, 'also the system bots that came later')
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

describe('a store of format 2', () => {
  test('opens with its queues: what they waited for is there, and their event IDs go on as they began', async t => {
    const data = newStoreFolder()
    cpSync(join(import.meta.dirname, '../fixtures/store-format-2'), data, { recursive: true })
    const daemon = await startDaemon(t, { data, flags: ['--secret', 'fixture'] })
    const { owner } = daemon
    const told = async (queue_id: string) =>
      (await owner.call(events.get, { queue_id, dont_block: true })).events.map(event => [
        event.id,
        (event as unknown as { saved_snippet: { title: string } }).saved_snippet.title,
      ])
    const expected: [queueId: string, firstId: number, titles: string[]][] = [
      ['73f4dd39-af2f-490c-bba9-b6f710e247b8', 20_000, ['One', 'Two', 'Three']],
      ['575cdebb-db12-4c7a-97fe-e6928f3a0065', 10_000, ['One', 'Two', 'Three']],
      // Registered after the snapshot.
      ['6987333f-b200-468d-bbb2-ec0edb636b0b', 10_000, ['Three']],
    ]
    const ids = (first: number, titles: string[]) =>
      titles.map((title, at) => [first + 10_000 * (title === 'Three' && titles.length > 1 ? at + 1 : at), title])
    for (const [queueId, first, titles] of expected) assert.deepEqual(await told(queueId), ids(first, titles))
    await owner.call(savedSnippets.create, { title: 'Four', content: 'x' })
    const before = new Map<string, number>()
    for (const [queueId, first, titles] of expected) {
      const heard = await told(queueId)
      assert.deepEqual(heard.slice(0, -1), ids(first, titles))
      const [id, title] = heard.at(-1)!
      assert.equal(title, 'Four')
      assert.ok((id as number) > (heard.at(-2)![0] as number) && (id as number) % 10_000 === 0)
      before.set(queueId, id as number)
    }
    // Saved in the new format, the same once more.
    await daemon.compact()
    await daemon.end()
    const again = await startDaemon(t, { data, flags: ['--secret', 'fixture'] })
    for (const [queueId] of expected) {
      const { events: heard } = await again.owner.call(events.get, { queue_id: queueId, dont_block: true })
      assert.equal(heard.at(-1)!.id, before.get(queueId))
    }
  })
})

describe('a store of format 3', () => {
  test('opens with its checksums, its messages and what its queues waited for', async t => {
    const data = newStoreFolder()
    cpSync(join(import.meta.dirname, '../fixtures/store-format-3'), data, { recursive: true })
    const { owner } = await startDaemon(t, { data, flags: ['--secret', 'fixture'] })
    const { messages: history } = await owner.call(messages.list, {
      anchor: 'newest',
      num_before: 10,
      apply_markdown: false,
    })
    const contents = history.map(({ content }) => content)
    assert.ok(contents.includes('Hello **all**'), 'of the snapshot')
    assert.ok(contents.includes('After the snapshot'), 'of the journal')
    const waiting = async (queue_id: string) =>
      (await owner.call(events.get, { queue_id, dont_block: true })).events.map(({ id, type }) => [id, type])
    assert.deepEqual(await waiting('7f133823-69bb-4f85-b48e-5ea518bf33dc'), [
      [200, 'saved_snippets'],
      [300, 'saved_snippets'],
    ])
    assert.deepEqual(await waiting('22d0730a-5694-46da-bc25-8af07dc4b203'), [
      [100, 'saved_snippets'],
      [200, 'saved_snippets'],
      [300, 'message'],
    ])
  })
})
