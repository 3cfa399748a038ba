// A hostile server, or hostile text from a good one: it cannot steer the terminal, and gets no key that is not meant for it.

import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { accountAt, fakeServer, json, newShell } from '../support/cli.ts'
import { fakeChat } from '../support/fake-chat.ts'
import { terminals } from '../support/terminal.ts'

/** CSI in eight bits, an escape sequence, and marks that turn the direction of text. */
const hostile = 'a\u009b31m\u001b]0;title\u0007\u202e\u2066\u200f b'
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
const steering = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/

const found = await terminals()
const open = typeof found === 'string' ? undefined! : found

describe('text that would steer a terminal', () => {
  test('is escaped in JSON, which stays the same JSON', async t => {
    const reply = { result: 'success', msg: '', full_name: hostile, user_id: 7 }
    const url = await fakeServer(t, (_request, response) => json(response, reply))
    const shell = newShell(t, accountAt(url))
    for (const args of [
      ['users', 'me', '--json'],
      ['users', 'me', '--ndjson'],
      ['api', 'GET', '/users/me', '--json'],
    ]) {
      const { stdout, code } = await shell.run(args)
      assert.equal(code, 0)
      assert.doesNotMatch(stdout.replaceAll('\n', ''), steering, args.join(' '))
      assert.equal(JSON.parse(stdout).full_name, hostile)
    }
    const { stdout } = await shell.run(['api', '--batch', '-'], { input: '{"path":"/users/me"}\n' })
    assert.doesNotMatch(stdout.trimEnd(), steering)
    assert.equal(JSON.parse(stdout).full_name, hostile)
  })

  test('is escaped in `tail --json`', async t => {
    const chat = await fakeChat(t)
    chat.say(hostile)
    const { stdout } = await newShell(t, chat.env).natter(['tail', '--json', '-n', '1', '--count', '1'])
    assert.doesNotMatch(stdout.trimEnd(), steering)
    assert.equal(JSON.parse(stdout.trim().split('\n').at(-1)!).message.content, hostile)
  })

  test('leaves a pipe as it is with --jq', async t => {
    const url = await fakeServer(t, (_request, response) => json(response, { result: 'success', full_name: hostile }))
    const { stdout } = await newShell(t, accountAt(url)).run(['users', 'me', '--jq', '.full_name'])
    assert.equal(stdout, `${hostile}\n`)
  })

  test('is neutralised on a terminal with --jq', { skip: typeof found === 'string' ? found : false }, async t => {
    const url = await fakeServer(t, (_request, response) => json(response, { result: 'success', full_name: hostile }))
    const screen = open(t, newShell(t, accountAt(url)), ['users', 'me', '--jq', '.full_name'])
    assert.equal(await screen.ended, 0)
    assert.ok(!/[\u009b\u202e\u2066\u200f]/.test(screen.text), JSON.stringify(screen.text))
    assert.ok(!screen.text.includes('\u001b]0;title'))
  })
})

describe('a long event that almost has the form of a message', () => {
  test('does not keep `tail` busy', { timeout: 120_000 }, async t => {
    const chat = await fakeChat(t)
    // Every piece could be the text of the message, and each is followed by all the others.
    const piece = [{ a: 1, content: '', content_type: 'text/x-markdown', display_recipient: 1 }]
    const message = { id: 1, pieces: Array.from({ length: 100_000 }, () => piece) }
    chat.onRegister = () => {
      chat.tell({ type: 'message', message })
      chat.tell({ type: 'message', message: { id: 2, content: 'the next one' } })
    }
    const { stdout } = await newShell(t, chat.env).natter(['tail', '--json', '--count', '2'])
    const events = stdout
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
    assert.deepEqual(
      events.map(event => event.message.id),
      [1, 2],
    )
    assert.equal(events[0].message.pieces.length, 100_000)
  })
})

describe('a key', () => {
  test('from the environment is not sent to the site of a zuliprc that lies around', async t => {
    let calls = 0
    const url = await fakeServer(t, (_request, response) => {
      calls++
      json(response, { result: 'success' })
    })
    const shell = newShell(t, { NATTER_EMAIL: 'amy@example.com', NATTER_API_KEY: 'the key of amy' })
    const folder = join(shell.home, 'downloads')
    mkdirSync(folder)
    writeFileSync(join(folder, 'zuliprc'), `[api]\nsite=${url}\nemail=eve@example.com\nkey=x\n`)
    const { code, stderr } = await shell.run(['users', 'me'], { cwd: folder })
    assert.equal(code, 2, stderr)
    assert.match(stderr, /the API key comes from the environment \(NATTER_\*\), but the site from zuliprc/)
    assert.match(stderr, /NATTER_SITE/)
    assert.equal(calls, 0)
  })
})

describe('a control token', () => {
  test('is not sent to the site of a zuliprc that lies around, wherever it comes from', async t => {
    const seen: string[] = []
    const url = await fakeServer(t, (request, response) => {
      seen.push(String(request.headers.authorization))
      json(response, { result: 'success', now: 0, time: '', frozen: false })
    })
    const shell = newShell(t)
    const folder = join(shell.home, 'downloads')
    mkdirSync(folder)
    writeFileSync(join(folder, 'zuliprc'), `[api]\nsite=${url}\nemail=eve@example.com\nkey=x\n`)
    const token = { NATTER_CONTROL_TOKEN: 'the token' }
    for (const [args, env] of [
      [['clock', 'show'], token],
      [['whoami', '--as', 'amy'], token],
      [['clock', 'show', '--control-token', 'the token'], {}],
    ] as const) {
      const { code, stderr } = await shell.run(args, { cwd: folder, env })
      assert.equal(code, 2, stderr)
      assert.match(stderr, /the control token comes from .+, but the site from zuliprc/)
    }
    assert.match((await shell.run(['env'], { cwd: folder, env: token })).stdout, /^unset NATTER_CONTROL_TOKEN$/m)
    assert.equal((await shell.run(['open', '--print'], { cwd: folder, env: token })).stdout, `${url}/\n`)
    assert.deepEqual(seen, [])

    for (const [args, env] of [
      [['--site', url], token],
      [[], { ...token, NATTER_SITE: url }],
      [['--control-token', 'the token'], { NATTER_SITE: url }],
    ] as const) {
      const { code, stderr } = await shell.run(['clock', 'show', ...args], { cwd: folder, env })
      assert.equal(code, 0, stderr)
    }
    assert.deepEqual(seen, ['Bearer the token', 'Bearer the token', 'Bearer the token'])
  })
})
