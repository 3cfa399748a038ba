// A server whose pages of messages do not come to an end: it cannot keep a command busy, or fill its memory.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { accountAt, fakeServer, json, newShell, type Shell } from '../support/cli.ts'

type Page = readonly number[]

/** A server that is patient enough for a test: what asks more often than this does not end by itself. */
const patience = 50

/**
 * Answers the questions for messages with the pages in turn, again and again, and says each time that there are more. With a text,
 * each page has one message, and its content is that: as bytes, because to make JSON of many megabytes takes longer than to send them.
 */
async function serve(t: TestContext, pages: readonly Page[], text?: Buffer) {
  const asked = { pages: 0, polls: 0 }
  const message = (id: number) => ({
    id,
    type: 'stream',
    stream_id: 5,
    display_recipient: 'general',
    subject: 'lunch',
    sender_id: 9,
    sender_email: 'bob@example.com',
    sender_full_name: 'Bob Brown',
    timestamp: Math.floor(Date.now() / 1000),
    content: 'hello',
    reactions: [],
    flags: [],
  })
  const url = await fakeServer(t, (request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://server')
    const success = (fields: object) => json(response, { result: 'success', msg: '', ...fields })
    if (pathname === '/api/v1/messages') {
      // An export asks for the newest one first, for its progress.
      if (searchParams.get('num_before') === '1') return success({ messages: [message(100)], found_oldest: false })
      const end = asked.pages >= patience
      const messages = pages[asked.pages++ % pages.length]!.map(message)
      const page = { messages, found_oldest: end, found_newest: end }
      if (!text) return success(page)
      const [before, after] = JSON.stringify({ result: 'success', msg: '', ...page }).split('hello')
      response.writeHead(200, { 'Content-Type': 'application/json' })
      response.write(before)
      response.write(text)
      return response.end(after)
    }
    if (pathname === '/api/v1/register') return success({ queue_id: `q${asked.polls}`, max_message_id: 100 })
    if (pathname === '/api/v1/events' && request.method === 'GET') {
      if (asked.polls++ === 0)
        return json(response, { result: 'error', code: 'BAD_EVENT_QUEUE_ID', msg: 'it is lost' }, 400)
      return success({ events: [{ id: 1, type: 'presence' }] })
    }
    if (pathname.endsWith('/members')) return success({ subscribers: [9] })
    success({
      members: [{ user_id: 9, email: 'bob@example.com', full_name: 'Bob Brown', is_active: true, is_bot: false }],
      user_groups: [],
      streams: [{ stream_id: 5, name: 'general' }],
    })
  })
  return { asked, shell: newShell(t, accountAt(url)) }
}

/** Pages that do not go on: the same one, two in turn, IDs that turn round. */
const forward: readonly (readonly Page[])[] = [
  [[1, 2]],
  [
    [1, 2],
    [3, 4],
  ],
  [
    [3, 4],
    [1, 2],
  ],
]
const backward = forward.map(pages => [...pages].reverse())

async function isRefused(shell: Shell, args: readonly string[], asked: { readonly pages: number }): Promise<void> {
  const { code, stderr } = await shell.run(args)
  assert.equal(code, 1, `${args.join(' ')}: ${stderr}`)
  assert.match(stderr, /the server sent the same messages again/)
  assert.ok(asked.pages <= 3, `${args.join(' ')}: ${asked.pages} pages`)
}

describe('pages that do not go on', () => {
  test('end `api --paginate`, in both directions', async t => {
    for (const [pages, direction] of [
      ...forward.map(pages => [pages, 'num_after=2'] as const),
      ...backward.map(pages => [pages, 'num_before=2'] as const),
    ]) {
      const { asked, shell } = await serve(t, pages)
      await isRefused(shell, ['api', 'GET', '/messages', '--paginate', '-F', direction], asked)
    }
  })

  test('end `messages list` and `search`', async t => {
    for (const args of [
      ['messages', 'list', '--all'],
      ['messages', 'list', '--since', '1h'],
      ['messages', 'list', '--until', '2001-01-01'],
      ['search', 'hello', '--all'],
    ])
      for (const pages of backward) {
        const { asked, shell } = await serve(t, pages)
        await isRefused(shell, args, asked)
      }
  })

  test('end `messages export`, and none of them is saved twice', async t => {
    for (const pages of forward) {
      const { asked, shell } = await serve(t, pages)
      await isRefused(shell, ['messages', 'export', 'backup'], asked)
      const lines = readFileSync(join(shell.home, 'backup/messages.ndjson'), 'utf8').trim().split('\n')
      const ids = lines.map(line => JSON.parse(line).id)
      assert.deepEqual(ids, [...new Set(ids)])
    }
  })

  test('end `seed pull`', async t => {
    for (const pages of backward) {
      const { asked, shell } = await serve(t, pages)
      await isRefused(shell, ['seed', 'pull', 'team.json', '--channel', 'general'], asked)
    }
  })

  test('are reported by `tail --since`, which goes on with what comes', async t => {
    const { asked, shell } = await serve(t, [[1, 2]])
    const { code, stdout, stderr } = await shell.run(['tail', '--since', '1h', '--json', '--count', '2'])
    assert.equal(code, 0, stderr)
    assert.deepEqual(idsIn(stdout), [1, 2])
    assert.match(stderr, /not all messages could be fetched; only the last 2 are shown/)
    assert.equal(asked.pages, 2)
  })

  test('leave a gap in `tail` where a queue was lost', async t => {
    const { shell } = await serve(t, [[101, 102]])
    const { code, stdout, stderr } = await shell.run(['tail', '--type', 'all', '--json', '--count', '3'])
    assert.equal(code, 0, stderr)
    assert.deepEqual(idsIn(stdout), [101, 102, undefined, undefined])
    const gap = JSON.parse(stdout.split('\n')[2]!)
    assert.equal(gap.type, '_gap')
    assert.deepEqual(gap.lost_types, ['message', '*'])
  })
})

test('messages that do not end fill no memory', { timeout: 120_000 }, async t => {
  const pages = Array.from({ length: patience }, (_, page) => [1000 - page])
  const { asked, shell } = await serve(t, pages, Buffer.alloc(40 * 1024 * 1024, 'x'))
  const { code, stdout, stderr } = await shell.natter(['messages', 'list', '--all'])
  assert.equal(code, 1)
  assert.equal(stdout, '')
  assert.match(stderr, /the server sent more than 256 MiB of messages/)
  assert.match(stderr, /natter messages export/)
  assert.equal(asked.pages, 7)
})

function idsIn(lines: string): unknown[] {
  return lines
    .trim()
    .split('\n')
    .map(line => JSON.parse(line).message?.id)
}
