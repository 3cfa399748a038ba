// `natter record` and `natter replay`: what was said is said again, and what differs is reported.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, type TestContext, test } from 'node:test'
import { environmentOf, natterCommand, newShell, type Shell, Watched } from '../support/cli.ts'
import { sharedDaemon, startDaemon } from '../support/daemon.ts'
import { endProcess } from '../support/end-process.ts'
import type { Outcome } from '../support/natter-bundle.ts'

const root = join(import.meta.dirname, '../..')

/** A bot that answers with what it was sent, and with the word of its build. */
const botScript = (word: string) => `
import { createClient } from ${JSON.stringify(join(root, 'dist/client.mjs'))}
const client = createClient()
for await (const event of client.events({ types: ['message'] })) {
  const { sender_email, content, subject } = event.message
  if (sender_email === process.env.NATTER_EMAIL || !content.includes('ping')) continue
  await client.messages.send({ type: 'channel', to: 'general', topic: subject, content: ${JSON.stringify(word)} })
}
`

/** A client that is none of ours: it gets the names of public servers. */
const foreignScript = `
const { NATTER_SITE, NATTER_EMAIL, NATTER_API_KEY } = process.env
const headers = {
  'User-Agent': 'ZulipPython/0.9.0 (linux)',
  Authorization: 'Basic ' + Buffer.from(NATTER_EMAIL + ':' + NATTER_API_KEY).toString('base64'),
}
const call = (method, path, fields) =>
  fetch(NATTER_SITE + '/api/v1' + path, { method, headers, ...(fields && { body: new URLSearchParams(fields) }) })
await call('GET', '/server_settings')
await call('POST', '/register', { event_types: '["message"]' })
await call('POST', '/messages', { type: 'stream', to: 'general', topic: 't', content: 'hello' })
`

/** Addresses that are credentials: having one is enough to read the file. */
const admitting = /(?:\/join\/|\/temporary\/|confirm-email )([\w-]{10,})/g

const fixture = ['--preset', 'dev', '--secret', 'replay', '--clock', 'frozen@2030-01-01T00:00:00Z']

describe('natter record, natter replay', () => {
  const daemon = sharedDaemon({ flags: ['--memory', ...fixture] })
  let recording = ''

  before(async () => {
    const t = { after: () => {} } as never
    const shell = newShell(t, environmentOf(daemon()))
    const stop = await record(t, shell)
    const natter = (...words: string[]) => printed(shell, ...words)
    await natter('send', '#general>t', 'first')
    await natter('clock', 'advance', '1m')
    await natter('snippets', 'create', 'a', 'b')
    const queue = await natter('queues', 'register', '--event-types', 'message', '--jq', '.queue_id')
    await natter('send', '#general>t', 'second')
    await natter('queues', 'events', queue.trim(), '--last-event-id', '-1')
    assert.equal((await shell.run(['api', 'GET', '/messages/99999'])).code, 3)
    await natter('accounts', 'amy', '--jq', '.account.api_key')
    recording = await stop()
  })

  test('a recording has calls, answers and times, and no keys', () => {
    const lines = recording
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line))
    assert.equal(lines[0].natter_recording, 1)
    assert.equal(lines.at(-1).end, lines.length - 2)
    const sent = lines.find(({ endpoint }) => endpoint === 'send-message')
    assert.deepEqual([sent.status, sent.answer.result, sent.sent.content], [200, 'success', 'first'])
    assert.equal(sent.time, Date.UTC(2030, 0, 1))
    const answered = lines.slice(1, -1).map(({ endpoint, status }) => `${endpoint} ${status}`)
    assert.deepEqual(answered, [
      'send-message 200',
      'create-saved-snippet 200',
      'register-queue 200',
      'send-message 200',
      'get-events 200',
      'get-message 400',
    ])
    assert.doesNotMatch(recording, /"api_key":"(?!\*\*\*)/)
  })

  test('is silent against a daemon with the same seed, exactly so in the deterministic mode', async t => {
    const same = await replay(t, recording, fixture, '--exact')
    assert.deepEqual([same.code, same.stdout], [0, ''], same.stderr)
    const other = await replay(t, recording, ['--preset', 'dev'])
    assert.deepEqual([other.code, other.stdout], [0, ''], other.stderr)
    assert.match(other.stderr, /calls, no difference/)
  })

  test('reports each answer that differs, with exit code 8', async t => {
    const changed = recording
      .replace('"content":"b"', '"content":"c"')
      .replaceAll('"content":"second"', '"content":"changed"')
    const { code, stdout } = await replay(t, changed, [])
    assert.equal(code, 8)
    assert.match(stdout, /^call \d+, POST \/messages as owner@example.com\n {2}status: 200 → 400/)
  })

  test('names the account that the daemon lacks, and what to do', async t => {
    const { code, stderr } = await replay(t, recording, ['--owner', 'boss@example.com'])
    assert.equal(code, 3, stderr)
    assert.match(stderr, /there is no account "owner@example\.com".*\n {2}Start the daemon with the preset or seed/)
  })

  test('plays a recording of another client in its dialect, and one that does not say which client it was', async t => {
    const shell = newShell(t)
    writeFileSync(join(shell.home, 'foreign.mjs'), foreignScript)
    const record = [...natterCommand, 'record', 'talk.ndjson', '--', process.execPath, 'foreign.mjs']
    const recorded = await shell.natter(['exec', ...fixture, '--', ...record])
    assert.equal(recorded.code, 0, recorded.stderr)
    assert.match(recorded.stderr, /wrote talk\.ndjson, 3 calls/)
    const text = readFileSync(join(shell.home, 'talk.ndjson'), 'utf8')
    assert.match(text, /"zulip_version"/)
    const same = await replay(t, text, fixture)
    assert.deepEqual([same.code, same.stdout], [0, ''], same.stderr)
    const older = await replay(t, text.replaceAll(/"user_agent":"[^"]*",/g, ''), fixture)
    assert.equal(older.code, 8, older.stderr)
    assert.match(older.stdout, /zulip_version: .* → absent/)
  })

  test('tokens of invitations, files and confirmations are neither recorded nor kept', async t => {
    const daemon = await startDaemon(t, { flags: ['--memory', ...fixture] })
    const shell = newShell(t, environmentOf(daemon))
    const stop = await record(t, shell)
    const natter = (...words: string[]) => printed(shell, ...words)
    const url = await natter('uploads', 'create', 'talk.ndjson', '--jq', '.url')
    const said = [
      await natter('invites', 'link'),
      await natter('invites', 'list', '--json'),
      await natter('api', 'GET', url.trim()),
      await natter('settings', 'edit', '--email', 'new@example.com'),
      await natter('outbox', '--json'),
    ]
    const recorded = await stop()
    await natter('keep', 'kept')
    const tokens = [...said.join('').matchAll(admitting)].map(([, token]) => token!)
    assert.ok(new Set(tokens).size >= 3, tokens.join())
    // The snapshot is the organization itself, and needs them.
    const kept = readdirSync(join(shell.home, 'kept')).filter(name => name !== 'snapshot.json')
    const texts = kept.map(name => readFileSync(join(shell.home, 'kept', name), 'utf8'))
    for (const text of [recorded, ...texts]) for (const token of tokens) assert.ok(!text.includes(token), text)
  })

  test('refuses a file that is not a recording, names a broken line, and plays a recording that was cut off', async t => {
    const daemon = await startDaemon(t, { flags: ['--memory', ...fixture] })
    const shell = newShell(t, environmentOf(daemon))
    const replay = async (text: string) => {
      writeFileSync(join(shell.home, 'broken.ndjson'), text)
      return shell.run(['replay', 'broken.ndjson'])
    }
    assert.match((await replay('{"hello":1}\n')).stderr, /is not a recording of natter record/)
    assert.match((await replay('nonsense')).stderr, /is not a recording of natter record/)
    const newer = await replay(recording.replace('"natter_recording":1', '"natter_recording":9'))
    assert.deepEqual([newer.code, /format 9; this version reads format 1/.test(newer.stderr)], [2, true])
    const lines = recording.split('\n')
    assert.match((await replay([lines[0], '{"call":', ...lines.slice(1)].join('\n'))).stderr, /line 2: not valid JSON/)
    const cut = await replay(recording.slice(0, recording.indexOf('\n') + 300))
    assert.deepEqual([cut.code, /was cut off after \d+ calls/.test(cut.stderr)], [0, true], cut.stderr)
  })
})

describe('natter replay --bot', () => {
  test('plays what others said to a new build of the bot, and compares what it does', async t => {
    const daemon = await startDaemon(t, { flags: ['--memory', '--preset', 'dev'] })
    const shell = newShell(t, environmentOf(daemon))
    for (const [name, word] of [
      ['old', 'pong'],
      ['new', 'PONG'],
    ] as const)
      writeFileSync(join(shell.home, `${name}.mjs`), botScript(word))
    const stop = await record(t, shell)
    const natter = (...words: string[]) => printed(shell, ...words)
    const env = JSON.parse(await natter('env', '--as', 'echo-bot', '--json'))
    const old = spawn(process.execPath, [join(shell.home, 'old.mjs')], { env: { ...process.env, ...env } })
    t.after(() => endProcess(old))
    await natter('queues', 'wait', 'echo-bot', '--within', '60s')
    for (const text of ['ping one', 'ignored', 'ping two']) {
      await natter('send', '#general>b', text, '--as', 'amy')
      if (text === 'ignored') continue
      const reply = '{"type":"message","message":{"sender_email":"echo-bot@example.com"}}'
      await natter('events', 'wait', reply, '--within', '60s')
    }
    await natter('requests', 'wait', '--of', 'echo-bot', '--endpoint', 'send-message', '--within', '60s')
    const recording = await stop()
    const bot = (build: string) => [
      '--bot',
      'echo-bot',
      '--within',
      '20s',
      '--',
      process.execPath,
      join(shell.home, `${build}.mjs`),
    ]
    const same = await replay(t, recording, ['--preset', 'dev'], ...bot('old'))
    assert.deepEqual([same.code, same.stdout], [0, ''], same.stderr)
    const changed = await replay(t, recording, ['--preset', 'dev'], ...bot('new'))
    assert.equal(changed.code, 8, changed.stderr)
    assert.match(changed.stdout, /POST \/messages of the bot\n {2}params\.content: "pong" → "PONG"/)
  })
})

/** Starts a recording. The function returned ends it, and returns what was recorded. */
async function record(t: TestContext, shell: Shell): Promise<() => Promise<string>> {
  const file = join(shell.home, 'talk.ndjson')
  const recorder = new Watched(t, shell.spawn(['record', file]))
  await recorder.said(/recording until Ctrl-C/)
  return async () => {
    recorder.child.kill('SIGINT')
    assert.equal(await recorder.ended, 0, recorder.stderr)
    assert.match(recorder.stderr, /wrote .*talk\.ndjson, \d+ calls/)
    return readFileSync(file, 'utf8')
  }
}

/** Replays it to a new daemon with these flags. */
async function replay(
  t: TestContext,
  recording: string,
  flags: readonly string[],
  ...args: readonly string[]
): Promise<Outcome> {
  const shell = newShell(t, environmentOf(await startDaemon(t, { flags: ['--memory', ...flags] })))
  writeFileSync(join(shell.home, 'talk.ndjson'), recording)
  return shell.run(['replay', 'talk.ndjson', ...args])
}

/** What a subcommand prints that succeeds. */
async function printed(shell: Shell, ...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await shell.run(words)
  assert.equal(code, 0, stderr)
  return stdout
}
