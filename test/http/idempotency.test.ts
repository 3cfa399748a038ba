// The header Idempotency-Key, with real daemons: a request that is sent again happens once.

import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { uploads } from '../../daemon/api/files/uploads.ts'
import { idempotencyLimits, keyHeader, replayedHeader } from '../../daemon/api/idempotency.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { savedSnippets } from '../../daemon/api/messages/saved-snippets.ts'
import { AnswerTable } from '../../daemon/domain/model/answers.ts'
import type { Context } from '../../daemon/domain/resource.ts'
import { RowChecks } from '../../daemon/domain/row-checks/index.ts'
import { once } from '../../daemon/http/idempotency.ts'
import { keysFrom } from '../../daemon/io/keys.ts'
import { type Caller, host, launch, sharedDaemon } from '../support/daemon.ts'
import { until } from '../support/until.ts'
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

describe('Idempotency-Key of an upload', () => {
  const daemon = sharedDaemon()
  const files = () => readdirSync(join(daemon().data, 'files'), { withFileTypes: true }).map(({ name }) => name)
  const file = (text: string, length = 100) => ({
    filename: 'x.txt',
    contentType: 'text/plain',
    bytes: Buffer.alloc(length, text),
  })
  const upload = (bytes: object, key: string) =>
    daemon().owner.try(uploads.upload, { file: bytes }, { [keyHeader]: key })

  // The second is so large that it goes to the disk as it arrives.
  for (const length of [100, 2 * 1024 * 1024])
    test(`is refused for other bytes under the same name, ${length} of them`, async () => {
      const first = await upload(file('a', length), `bytes-${length}`)
      assert.equal(first.body.result, 'success')
      const before = files()
      const other = await upload(file('b', length), `bytes-${length}`)
      assert.match(String(other.body.msg), /^Idempotency-Key: you used this key for another request/)
      const again = await upload(file('a', length), `bytes-${length}`)
      assert.deepEqual([again.text, again.headers[replayedHeader.toLowerCase()]], [first.text, 'true'])
      // What arrived is removed after the answer.
      await until(() => files().join() === before.join())
    })

  test('keeps nothing on disk when it is sent again after the file was deleted', async () => {
    const { owner } = daemon()
    const none = files().length
    for (const length of [200, 3 * 1024 * 1024]) {
      const key = `deleted-${length}`
      const first = await upload(file('c', length), key)
      const { attachments } = await owner.call(uploads.list, {})
      const { id } = attachments.find(({ path_id }) => first.body.url.endsWith(path_id))!
      await owner.call(uploads.remove, { attachment_id: id })
      await until(() => files().length === none)
      const again = await upload(file('c', length), key)
      assert.deepEqual([again.text, again.headers[replayedHeader.toLowerCase()]], [first.text, 'true'])
      await until(() => files().length === none)
    }
  })

  test('happens once when it is sent several times at once, also with a password to hash', async () => {
    const all = await Promise.all([1, 2, 3, 4].map(() => upload(file('d'), 'at-once')))
    assert.equal(new Set(all.map(({ text }) => text)).size, 1)
    const account = { email: 'once@example.com', full_name: 'Once', password: 'a long one' }
    const made = await Promise.all([1, 2, 3].map(() => post(daemon().owner, '/users', account, 'hashed')))
    assert.equal(new Set(made.map(({ text }) => text)).size, 1)
    assert.equal(made[0]!.body.result, 'success')
  })
})

describe('what is stored of a request with an Idempotency-Key', () => {
  const daemon = sharedDaemon()

  test('says nothing about secrets, and can be checked by no one without the secret of the store', async () => {
    const { owner, data } = daemon()
    const account = { email: 'quiet@example.com', full_name: 'Quiet', password: 'a long one' }
    const first = await post(owner, '/users', account, 'secret')
    // The password is no part of it: an attempt with another one is the same request.
    const again = await post(owner, '/users', { ...account, password: 'another long one' }, 'secret')
    assert.deepEqual([again.text, again.headers[replayedHeader.toLowerCase()]], [first.text, 'true'])
    const lines = readFileSync(join(data, 'journal.ndjson'), 'utf8').trim().split('\n').slice(1)
    const facts = lines.flatMap(line => JSON.parse(line).facts)
    const { answer } = facts.find(({ type }: { type: string }) => type === 'store.answered')
    const { email, full_name } = account
    const request = JSON.stringify(['create-user', {}, Object.entries({ email, full_name })])
    assert.equal(answer.request, keysFrom(readFileSync(join(data, 'secret'), 'utf8').trim()).digestText(request))
    assert.equal(Buffer.from(answer.request, 'base64url').length, 24)
  })
})

describe('Idempotency-Key after a crash', () => {
  const data = mkdtempSync(join(tmpdir(), 'natter-test-'))
  after(() => rmSync(data, { recursive: true, force: true }))

  test('is still known, from the journal and from a snapshot', async () => {
    const fields = { type: 'direct', to: '[2]', content: 'once' }
    let id: unknown
    for (const isKilled of [true, false, false]) {
      const daemon = isKilled ? await launch(data) : await host(data)
      try {
        const { body } = await post(daemon.owner, '/messages', { ...fields, to: `[${daemon.owner.id}]` }, 'kept')
        id ??= body.id
        assert.equal(body.id, id)
        const found = await daemon.owner.call(messages.list, { anchor: 'newest', num_before: 100, num_after: 0 })
        assert.equal(found.messages.filter(({ content }) => String(content).includes('once')).length, 1)
      } finally {
        await (isKilled ? daemon.kill() : daemon.end())
      }
    }
  })
})

describe('kept answers', () => {
  const digest = 'r'.repeat(32)
  const answer = (key: string, reply = '{}', userId = 1) => ({ userId, key, request: digest, reply })

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

  test('of earlier versions lose their digest, which had no key, and are given to any request', () => {
    const table = new AnswerTable()
    table.add({ ...answer('old'), request: 'x'.repeat(22) })
    assert.deepEqual(table.find(1, 'old'), { ...answer('old'), request: '' })
    const context = { state: { answers: table }, actor: { id: 1 } } as unknown as Context
    const headers: string[] = []
    const fail = () => assert.fail('it is done again')
    assert.deepEqual(once({ key: 'old', request: digest }, context, headers, fail), { reply: {} })
    assert.deepEqual(headers, [replayedHeader, 'true'])
  })

  test('that were too long leave their key, which is refused', () => {
    const table = new AnswerTable()
    const context = { state: { answers: table }, actor: { id: 1 } } as unknown as Context
    const reply = { text: 'x'.repeat(idempotencyLimits.bytes) }
    const outcome = once({ key: 'k', request: digest }, context, [], () => ({ reply }))
    assert.equal(outcome.reply, reply)
    const [fact] = outcome.facts!
    assert.ok(fact?.type === 'store.answered')
    table.add(fact.answer)
    const repeat = () => once({ key: 'k', request: digest }, context, [], () => assert.fail('it is done again'))
    assert.throws(repeat, /was carried out, but its answer was too long to keep/)
    // A backup with this row can be restored.
    new RowChecks().check('answers', table.save()[0])
  })

  test('survive being saved and loaded, in their order', () => {
    const table = new AnswerTable()
    for (const key of ['a', 'b']) table.add(answer(key))
    const loaded = new AnswerTable()
    loaded.load(table.save())
    assert.deepEqual([...loaded.save()], [...table.save()])
  })
})
