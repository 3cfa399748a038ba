// A hostile server, or hostile text from a good one: it cannot steer the terminal, and gets no key that is not meant for it.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { createClient } from '../../daemon/client/index.ts'
import { accountAt, endless, fakeServer, json, newShell } from '../support/cli.ts'
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
    const { stdout } = await newShell(t, chat.env).run(['tail', '--json', '-n', '1', '--count', '1'])
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
    const { stdout } = await newShell(t, chat.env).run(['tail', '--json', '--count', '2'])
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

describe('an answer that changes to another protocol', () => {
  test('is reported by every kind of call', async t => {
    const switching = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'
    const url = await fakeServer(t, (_request, response) => void response.socket!.write(switching))
    const shell = newShell(t, { ...accountAt(url), NATTER_CONTROL_TOKEN: 'the token' })
    for (const line of [
      'users me',
      'send #general>x hello',
      'tail --count 1',
      'messages export copy',
      'seed dump world.json',
    ]) {
      const { code, stderr } = await shell.run([...line.split(' '), '--timeout', '3s'])
      assert.notEqual(code, 0, line)
      assert.match(stderr, /it changes to another protocol/, line)
    }
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
    // The same is true of a password.
    const login = ['login', '--user', 'amy@example.com']
    const refused = await newShell(t).run(login, { cwd: folder, env: { NATTER_PASSWORD: 'x' } })
    assert.match(refused.stderr, /<site> is missing/)
    assert.equal(calls, 0)
  })
})

test('natter/client takes the key from the variables that name the site', async t => {
  const sent: unknown[] = []
  const site = await fakeServer(t, (request, response) => {
    sent.push(request.headers.authorization && Buffer.from(request.headers.authorization.slice(6), 'base64').toString())
    json(response, { result: 'success', msg: '' })
  })
  const script = `
    import { createClient } from ${JSON.stringify(pathToFileURL(join(import.meta.dirname, '../../dist/client.mjs')).href)}
    await createClient().request('GET', '/users/me')`
  const { home } = newShell(t)
  writeFileSync(join(home, 'call.mjs'), script)
  const zulip = { ZULIP_EMAIL: 'amy@example.com', ZULIP_API_KEY: 'zulip' }
  const run = (env: Record<string, string>) => promisify(execFile)(process.execPath, [join(home, 'call.mjs')], { env })
  const elsewhere = 'https://chat.example.com'
  await run({ NATTER_SITE: site, ZULIP_SITE: elsewhere, ...zulip })
  await run({ ZULIP_SITE: site, ...accountAt('', 'bob@example.com', 'natter'), ...zulip })
  await run({ ...accountAt(site, 'bob@example.com', 'natter'), ZULIP_SITE: elsewhere, ...zulip })
  // As `natter proxy` sets them.
  await run({ NATTER_SITE: site, ZULIP_SITE: site, ...zulip })
  const own = 'amy@example.com:zulip'
  assert.deepEqual(sent, [undefined, own, 'bob@example.com:natter', own])
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

describe('an answer that does not end', () => {
  test('is cut off by calls, batches and tail', { timeout: 120_000 }, async t => {
    const url = await fakeServer(t, (_request, response) => endless(response))
    const shell = newShell(t, accountAt(url))
    writeFileSync(join(shell.home, 'bot.mjs'), 'export default () => {}')
    for (const [args, input, env] of [
      [['users', 'me'], ''],
      [['api', '--batch', '-'], '{"path":"/users/me"}'],
      [['tail'], ''],
      [['bot', 'run', 'bot.mjs'], '', { NATTER_READ_ONLY: '1' }],
    ] as const) {
      const { code, stdout, stderr } = await shell.run(args, { cwd: shell.home, input, ...(env && { env }) })
      assert.equal(code, 1, `${args.join(' ')}: ${stdout}${stderr}`)
      assert.match(stdout + stderr, /sent more than 64 MiB in one answer/)
    }
  })

  test('is not saved beyond --max-size', async t => {
    const url = await fakeServer(t, (request, response) => {
      if (request.url!.startsWith('/api/')) json(response, { result: 'success', url: '/user_uploads/temporary/x/a' })
      else endless(response)
    })
    const shell = newShell(t, accountAt(url))
    const { code, stderr } = await shell.run(['uploads', 'download', '/user_uploads/1/4f/a', '--max-size', '2'])
    assert.equal(code, 1)
    assert.match(stderr, /^natter: the file is larger than 2 MiB\n {2}To save a larger one, add --max-size MIB\.\n$/)
    assert.deepEqual(readdirSync(shell.home), [])
  })
})

describe('a server that points to another', () => {
  test('redirects no call of the command line or of natter/client', async t => {
    const seen: string[] = []
    const other = await fakeServer(t, (request, response) => {
      seen.push(`${request.method} ${request.url}`)
      json(response, { result: 'success', id: 1 })
    })
    const url = await fakeServer(t, (request, response) =>
      response.writeHead(307, { Location: `${other}${request.url}` }).end(),
    )
    const shell = newShell(t, accountAt(url))
    assert.equal((await shell.run(['send', '#general>x', 'a secret'])).code, 1)
    assert.equal((await shell.run(['users', 'me'])).code, 1)
    const client = createClient({ site: url, email: 'amy@example.com', apiKey: 'key' })
    for (const method of ['GET', 'POST'])
      await assert.rejects(client.request(method, '/messages', { content: 'a secret' }), { status: 307 })
    assert.deepEqual(seen, [])
  })

  test('cannot choose the path of a file', async t => {
    const seen: string[] = []
    const other = await fakeServer(t, (request, response) => {
      seen.push(String(request.url))
      response.end('x')
    })
    for (const address of [
      `@${new URL(other).host}/x`,
      '/../x',
      'file:///etc/passwd',
      `http://amy:x@${new URL(other).host}/`,
    ]) {
      const url = await fakeServer(t, (_request, response) => json(response, { result: 'success', url: address }))
      const { code, stderr } = await newShell(t, accountAt(url)).run(['uploads', 'download', '/user_uploads/1/4f/a'])
      assert.notEqual(code, 0, address)
      assert.match(stderr, /is not one of (the API|a file)/)
    }
    assert.deepEqual(seen, [])
  })
})

describe('an answer of the wrong form', () => {
  test('is reported with the call, and with the error of the program only if NATTER_DEBUG is set', async t => {
    const url = await fakeServer(t, (_request, response) =>
      json(response, { result: 'success', scheduled_messages: 5 }),
    )
    const list = (env: Record<string, string>) => newShell(t, { ...accountAt(url), ...env }).run(['scheduled', 'list'])
    const { code, stderr } = await list({})
    assert.equal(code, 1)
    assert.match(
      stderr,
      /^natter: the server's answer to GET \/api\/v1\/scheduled_messages is not what natter expects\n/,
    )
    assert.doesNotMatch(stderr, /is not a function/)
    assert.match((await list({ NATTER_DEBUG: '1' })).stderr, /is not a function/)
  })
})

describe('an answer that is nested too deeply', () => {
  test('is reported with the call', async t => {
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`
    const url = await fakeServer(t, (_request, response) => {
      response.setHeader('Content-Type', 'application/json')
      response.end(`{"result":"success","full_name":${deep}}`)
    })
    const { code, stderr } = await newShell(t, accountAt(url)).run(['users', 'me', '--json'])
    assert.equal(code, 1)
    assert.match(stderr, /the server's answer to GET \/api\/v1\/users\/me is not what natter expects/)
  })
})

describe('names of a hostile server', () => {
  test('do not steer a terminal by `doctor`, by refusals or by notes', async t => {
    const url = await fakeServer(t, (request, response) => {
      if (request.method === 'POST') return json(response, { result: 'error', msg: hostile, code: hostile }, 400)
      // Only texts are printed: a level or an ID of another type is a problem.
      json(response, {
        result: 'success',
        svc_feature_level: 417,
        svc_version: hostile,
        full_name: hostile,
        user_id: 7,
      })
    })
    const shell = newShell(t, accountAt(url))
    for (const args of [
      ['doctor'],
      ['doctor', '--color', 'always'],
      ['send', '#general>x', 'y'],
      ['send', '#general>x', 'y', '--json'],
    ]) {
      const { stdout, stderr } = await shell.run(args)
      // Colors of ours are whole, and nothing that the server wrote became one.
      // biome-ignore lint/suspicious/noControlCharactersInRegex: colors begin with one
      const colors = /\u001b\[(?:3[123]|39)m/g
      assert.doesNotMatch((stdout + stderr).replace(colors, ''), steering)
    }
  })
})

describe('natter replay', () => {
  /** Of a poll that was answered with these events, at a server that answers with others. Returns how often that was asked. */
  async function replay(t: TestContext, recorded: readonly unknown[], eventsOf: (poll: number) => readonly unknown[]) {
    let polls = 0
    const url = await fakeServer(t, (_request, response) =>
      json(response, { result: 'success', events: eventsOf(++polls) }),
    )
    const shell = newShell(t, accountAt(url))
    const call = {
      call: 1,
      time: 0,
      user: 'amy@example.com',
      method: 'GET',
      path: '/api/v1/events',
      endpoint: 'get-events',
    }
    const answer = { events: recorded }
    const poll = { ...call, sent: { queue_id: 'q', last_event_id: '-1' }, status: 200, answer }
    const lines = [{ natter_recording: 1 }, poll, { end: 1 }]
    writeFileSync(join(shell.home, 'talk.ndjson'), lines.map(line => `${JSON.stringify(line)}\n`).join(''))
    const { code, stdout, stderr } = await shell.run(['replay', 'talk.ndjson', '--against', url])
    assert.equal(code, 8, stderr)
    assert.match(stdout, /event presence/)
    return polls
  }

  test('reports a server whose events never end or have any form as different', async t => {
    const recorded = [null, 7, { id: 0, type: 'heartbeat' }, { id: 1, type: 'presence' }, { id: 2, type: 'presence' }]
    assert.equal(await replay(t, recorded, poll => [null, 'x', { id: 'x' }, { id: poll, type: 'message' }]), 2)
  })

  test('asks a server that sends heartbeats alone once', async t => {
    // A server that is patient enough for a test.
    const heartbeats = (poll: number) => (poll < 100 ? [{ id: poll, type: 'heartbeat' }] : [])
    assert.equal(await replay(t, [{ id: 1, type: 'presence' }], heartbeats), 1)
  })
})
