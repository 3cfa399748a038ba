// Lists of a hostile server or recording with one very long text: every line would be as long if columns were as wide.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { accountAt, fakeServer, json, newShell } from '../support/cli.ts'

describe('one very long text among many', () => {
  const long = 'w'.repeat(500_000)
  const fields = Object.fromEntries([long, ...Array.from({ length: 20_000 }, (_, i) => `k${i}`)].map(key => [key, 1]))

  test('does not make every line as long', async t => {
    const rows = [long, ...Array.from({ length: 20_000 }, (_, i) => `c${i}`)]
    const message = { type: 'private', sender_full_name: 'Amy', display_recipient: [], content: 'hi', timestamp: 1 }
    const answers: Readonly<Record<string, object>> = {
      '/api/v1/users/me': fields,
      '/api/v1/streams': { streams: rows.map((name, stream_id) => ({ stream_id, name })) },
      '/api/v1/messages': { messages: rows.map(id => ({ ...message, id })), found_newest: true, found_oldest: true },
    }
    const url = await fakeServer(t, (request, response) =>
      json(response, { result: 'success', msg: '', ...answers[request.url!.split('?', 1)[0]!] }),
    )
    const shell = newShell(t, accountAt(url))
    for (const args of [
      ['users', 'me'],
      ['channels', 'list'],
      ['channels', 'list', '--fields', 'stream_id,name'],
      ['messages', 'list'],
    ]) {
      const { code, stdout, stderr } = await shell.run(args)
      assert.equal(code, 0, stderr)
      assert.ok(stdout.includes(long), args.join(' '))
      assert.ok(stdout.length < 5_000_000, `${args.join(' ')}: ${stdout.length} characters`)
    }
  })

  test('does not fill the memory of `replay`', async t => {
    const shell = newShell(t)
    const call = {
      call: 1,
      time: 1,
      user: 'amy@example.com',
      method: 'GET',
      path: '/api/v1/users',
      sent: {},
      status: 200,
    }
    const lines = [
      { natter_recording: 1, clock: { frozen: false } },
      { ...call, endpoint: 'get-users', answer: { result: 'success', msg: '', members: [], ...fields } },
      { end: true },
    ]
    writeFileSync(join(shell.home, 'r.ndjson'), lines.map(line => `${JSON.stringify(line)}\n`).join(''))
    const { code, stdout, stderr } = await shell.run([
      'replay',
      join(shell.home, 'r.ndjson'),
      '--against',
      'natter',
      '--fresh',
    ])
    assert.equal(code, 8, stderr)
    assert.match(stdout, /k19999/)
    assert.ok(stdout.length < 5_000_000, `${stdout.length} characters`)
  })
})
