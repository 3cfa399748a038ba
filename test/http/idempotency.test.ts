// The header Idempotency-Key, with real daemons: a request that is sent again happens once.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { idempotencyLimits, keyHeader, replayedHeader } from '../../daemon/api/idempotency.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { savedSnippets } from '../../daemon/api/messages/saved-snippets.ts'
import { AnswerTable } from '../../daemon/domain/model/answers.ts'
import { type Caller, launch, sharedDaemon } from '../support/daemon.ts'
import { person } from '../support/world.ts'

const form = 'application/x-www-form-urlencoded'

function post(caller: Caller, path: string, fields: Record<string, string>, key: string) {
  const headers = { [keyHeader]: key, 'Content-Type': form }
  return caller.raw('POST', `/api/v1${path}`, { headers, body: new URLSearchParams(fields).toString() })
}

describe('Idempotency-Key', () => {
  const daemon = sharedDaemon()
  const snippet = { title: 'once', content: 'x' }

  test('gives a request that is sent again the first answer, and does nothing', async () => {
    const { owner } = daemon()
    const first = await post(owner, '/saved_snippets', snippet, 'again')
    const second = await post(owner, '/saved_snippets', snippet, 'again')
    assert.equal(first.headers[replayedHeader.toLowerCase()], undefined)
    assert.equal(second.headers[replayedHeader.toLowerCase()], 'true')
    assert.deepEqual(second.body, first.body)
    const { saved_snippets } = await owner.call(savedSnippets.list, {})
    assert.equal(saved_snippets.filter(({ title }) => title === 'once').length, 1)
  })

  test('happens once when both are sent at the same time', async () => {
    const { owner } = daemon()
    const both = await Promise.all([1, 2, 3].map(() => post(owner, '/saved_snippets', snippet, 'together')))
    assert.equal(new Set(both.map(({ body }) => body.saved_snippet_id)).size, 1)
  })

  test('is refused for another request, and belongs to one account', async () => {
    const { owner } = daemon()
    const amy = await person(daemon(), 'amy')
    await post(owner, '/saved_snippets', snippet, 'mine')
    const other = await post(owner, '/saved_snippets', { ...snippet, title: 'other' }, 'mine')
    assert.deepEqual([other.status, other.body.msg], [400, 'Idempotency-Key: you used this key for another request'])
    assert.equal(other.headers['natter-refusal'], 'conflict')
    const hers = await post(amy, '/saved_snippets', snippet, 'mine')
    assert.equal(hers.headers[replayedHeader.toLowerCase()], undefined)
  })

  test('does not keep a refusal: the request can be tried again', async () => {
    const { owner } = daemon()
    const wrong = { type: 'channel', to: 'not-yet', topic: 'x', content: 'y' }
    assert.equal((await post(owner, '/messages', wrong, 'retry')).body.result, 'error')
    await owner.raw('POST', '/api/v1/users/me/subscriptions', {
      headers: { 'Content-Type': form },
      body: new URLSearchParams({ subscriptions: '[{"name":"not-yet"}]' }).toString(),
    })
    assert.equal((await post(owner, '/messages', wrong, 'retry')).body.result, 'success')
  })

  test('must be a short visible text, and is not for replies with an API key', async () => {
    const { owner } = daemon()
    for (const key of ['', 'a b', 'x'.repeat(idempotencyLimits.keyLength + 1)]) {
      const { status, body } = await post(owner, '/saved_snippets', snippet, key)
      assert.deepEqual([status, body.msg], [400, 'Idempotency-Key: must be 1 to 255 visible ASCII characters'])
    }
    const bot = await post(owner, '/bots', { full_name: 'Key Bot', short_name: 'key' }, 'bot')
    assert.match(String(bot.body.msg), /^Idempotency-Key: this endpoint returns an API key/)
  })
})

describe('Idempotency-Key after a crash', () => {
  const data = mkdtempSync(join(tmpdir(), 'natter-test-'))
  after(() => rmSync(data, { recursive: true, force: true }))

  test('is still known, from the journal and from a snapshot', async () => {
    const fields = { type: 'direct', to: '[2]', content: 'once' }
    let id: unknown
    for (const end of ['SIGKILL', 'SIGTERM', 'SIGTERM'] as const) {
      const daemon = await launch(data)
      try {
        const { body } = await post(daemon.owner, '/messages', { ...fields, to: `[${daemon.owner.id}]` }, 'kept')
        id ??= body.id
        assert.equal(body.id, id)
        const found = await daemon.owner.call(messages.list, { anchor: 'newest', num_before: 100, num_after: 0 })
        assert.equal(found.messages.filter(({ content }) => String(content).includes('once')).length, 1)
      } finally {
        daemon.process.kill(end)
        await daemon.closed
      }
    }
  })
})

describe('kept answers', () => {
  const answer = (key: string, reply = '{}', userId = 1) => ({ userId, key, request: 'r', reply })

  test('are bounded by number and by size, the oldest first', () => {
    const table = new AnswerTable()
    for (let i = 0; i <= idempotencyLimits.answers; i++) table.add(answer(`k${i}`))
    assert.equal(table.find(1, 'k0'), undefined)
    assert.ok(table.find(1, 'k1'))
    assert.equal([...table.save()].length, idempotencyLimits.answers)
    table.add(answer('large', 'x'.repeat(idempotencyLimits.bytes - 100)))
    assert.ok(table.find(1, 'large'))
    assert.ok([...table.save()].length < 100)
    table.add(answer('other', '{}', 2))
    assert.ok(table.find(1, 'large'))
  })

  test('survive being saved and loaded, in their order', () => {
    const table = new AnswerTable()
    for (const key of ['a', 'b']) table.add(answer(key))
    const loaded = new AnswerTable()
    loaded.load(table.save())
    assert.deepEqual([...loaded.save()], [...table.save()])
  })
})
