// `natter record` and `natter replay`: what was said is said again, and what differs is reported.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { newShell, Watched } from '../support/cli.ts'
import { startDaemon } from '../support/daemon.ts'

const root = join(import.meta.dirname, '../..')
const natter = `${JSON.stringify(process.execPath)} ${JSON.stringify(join(root, 'bin/natter'))}`

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
  let recording = ''

  before(async () => {
    const t = { after: () => {} } as never
    const shell = newShell(t)
    const file = join(shell.home, 'talk.ndjson')
    const script = [
      `${natter} send '#general>t' 'first'`,
      `${natter} clock advance 1m`,
      `${natter} snippets create --title a --content b`,
      `${natter} queues register --event-types message --json > q.json`,
      `${natter} send '#general>t' 'second'`,
      `${natter} events get "$(${natter} --version > /dev/null; node -p 'JSON.parse(fs.readFileSync("q.json")).queue_id')" --last-event-id -1 --json > /dev/null || true`,
      `${natter} api GET /messages/99999 || true`,
      `${natter} accounts amy --jq .account.api_key > /dev/null`,
    ].join('\n')
    writeFileSync(join(shell.home, 'talk.sh'), script)
    const { code, stderr } = await shell.natter([
      'exec',
      ...fixture,
      '--',
      'sh',
      '-c',
      `${natter} record ${file} -- sh talk.sh`,
    ])
    assert.equal(code, 0, stderr)
    assert.match(stderr, /wrote .*talk\.ndjson, \d+ calls/)
    recording = readFileSync(file, 'utf8')
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
    assert.ok(
      lines.some(({ status }) => status >= 400),
      'refusals are recorded too',
    )
    assert.doesNotMatch(recording, /"api_key":"(?!\*\*\*)/)
  })

  test('is silent against a daemon with the same seed, exactly so in the deterministic mode', async t => {
    const shell = newShell(t)
    const file = join(shell.home, 'talk.ndjson')
    writeFileSync(file, recording)
    const same = await shell.natter(['exec', ...fixture, '--', 'sh', '-c', `${natter} replay ${file} --exact`])
    assert.deepEqual([same.code, same.stdout], [0, ''], same.stderr)
    const other = await shell.natter(['exec', '--preset', 'dev', '--', 'sh', '-c', `${natter} replay ${file}`])
    assert.deepEqual([other.code, other.stdout], [0, ''], other.stderr)
    assert.match(other.stderr, /calls, no difference/)
  })

  test('reports each answer that differs, with exit code 8', async t => {
    const shell = newShell(t)
    const file = join(shell.home, 'talk.ndjson')
    writeFileSync(
      file,
      recording.replace('"content":"b"', '"content":"c"').replaceAll('"content":"second"', '"content":"changed"'),
    )
    const { code, stdout } = await shell.natter(['exec', '--', 'sh', '-c', `${natter} replay ${file}`])
    assert.equal(code, 8)
    assert.match(stdout, /^call \d+, POST \/messages as owner@example.com\n {2}status: 200 → 400/)
  })

  test('names the account that the daemon lacks, and what to do', async t => {
    const shell = newShell(t)
    const file = join(shell.home, 'talk.ndjson')
    writeFileSync(file, recording)
    const { code, stderr } = await shell.natter([
      'exec',
      '--owner',
      'boss@example.com',
      '--',
      'sh',
      '-c',
      `${natter} replay ${file}`,
    ])
    assert.equal(code, 3, stderr)
    assert.match(stderr, /there is no account "owner@example\.com".*\n {2}Start the daemon with the preset or seed/)
  })

  test('plays a recording of another client in its dialect, and one that does not say which client it was', async t => {
    const shell = newShell(t)
    const file = join(shell.home, 'talk.ndjson')
    writeFileSync(join(shell.home, 'foreign.mjs'), foreignScript)
    const recorded = await shell.natter([
      'exec',
      ...fixture,
      '--',
      'sh',
      '-c',
      `${natter} record ${file} -- node foreign.mjs`,
    ])
    assert.equal(recorded.code, 0, recorded.stderr)
    const text = readFileSync(file, 'utf8')
    assert.match(text, /"zulip_version"/)
    const replay = () => shell.natter(['exec', ...fixture, '--', 'sh', '-c', `${natter} replay ${file}`])
    const same = await replay()
    assert.deepEqual([same.code, same.stdout], [0, ''], same.stderr)
    writeFileSync(file, text.replaceAll(/"user_agent":"[^"]*",/g, ''))
    const older = await replay()
    assert.equal(older.code, 8, older.stderr)
    assert.match(older.stdout, /zulip_version: .* → absent/)
  })

  test('tokens of invitations, files and confirmations are neither recorded nor kept', async t => {
    const shell = newShell(t)
    const [file, folder] = [join(shell.home, 'talk.ndjson'), join(shell.home, 'kept')]
    const script = [
      `${natter} invites link > tokens`,
      `${natter} invites list --json >> tokens`,
      `${natter} uploads create talk.sh --jq .url > url`,
      `${natter} api GET "/$(cat url | cut -c2-)" >> tokens`,
      `${natter} settings edit --email new@example.com`,
      `${natter} outbox --json >> tokens`,
    ]
    writeFileSync(join(shell.home, 'talk.sh'), script.join('\n'))
    const both = `${natter} record ${file} -- sh -e talk.sh && ${natter} keep ${folder}`
    const { code, stderr } = await shell.natter(['exec', ...fixture, '--', 'sh', '-c', both])
    assert.equal(code, 0, stderr)
    const tokens = [...readFileSync(join(shell.home, 'tokens'), 'utf8').matchAll(admitting)].map(([, token]) => token!)
    assert.ok(new Set(tokens).size >= 3, tokens.join())
    // The snapshot is the organization itself, and needs them.
    const names = readdirSync(folder).filter(name => name !== 'snapshot.json')
    for (const path of [file, ...names.map(name => join(folder, name))])
      for (const token of tokens) assert.ok(!readFileSync(path, 'utf8').includes(token), `${path} has ${token}`)
  })

  test('refuses a file that is not a recording, names a broken line, and plays a recording that was cut off', async t => {
    const daemon = await startDaemon(t, { flags: ['--memory', ...fixture] })
    const shell = newShell(t, { NATTER_SITE: daemon.url, NATTER_CONTROL_TOKEN: daemon.ready.control_token! })
    const file = join(shell.home, 'broken.ndjson')
    const replay = async (text: string) => {
      writeFileSync(file, text)
      return shell.natter(['replay', file])
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
    const shell = newShell(t)
    for (const [name, word] of [
      ['old', 'pong'],
      ['new', 'PONG'],
    ] as const)
      writeFileSync(join(shell.home, `${name}.mjs`), botScript(word))
    const daemon = await startDaemon(t, { flags: ['--memory', '--preset', 'dev'] })
    const at = shell.with({ NATTER_SITE: daemon.url, NATTER_CONTROL_TOKEN: daemon.ready.control_token! })
    const recorder = new Watched(t, at.spawn(['record', 'bot.ndjson']))
    await recorder.said(/recording until Ctrl-C/)
    const env = JSON.parse((await at.natter(['env', '--as', 'echo-bot', '--json'])).stdout)
    const bot = new Watched(t, at.with(env).spawn(['exec', '--in', daemon.url, '--', 'true']))
    await bot.ended
    const { spawn } = await import('node:child_process')
    const old = spawn(process.execPath, [join(shell.home, 'old.mjs')], { env: { ...process.env, ...env } })
    t.after(() => old.kill())
    assert.equal((await at.natter(['queues', 'wait', 'echo-bot', '--within', '60s'])).code, 0)
    for (const text of ['ping one', 'ignored', 'ping two']) {
      assert.equal((await at.natter(['send', '#general>b', text, '--as', 'amy'])).code, 0)
      if (text === 'ignored') continue
      const pattern = ['{"type":"message","message":{"sender_email":"echo-bot@example.com"}}', '--within', '60s']
      assert.equal((await at.natter(['events', 'wait', ...pattern])).code, 0)
    }
    await at.natter(['requests', 'wait', '--of', 'echo-bot', '--endpoint', 'send-message', '--within', '60s'])
    recorder.child.kill('SIGINT')
    assert.equal(await recorder.ended, 0)
    const replay = (build: string) =>
      shell.natter([
        'exec',
        '--preset',
        'dev',
        '--',
        'sh',
        '-c',
        `${natter} replay bot.ndjson --bot echo-bot --within 20s -- node ${build}.mjs`,
      ])
    const same = await replay('old')
    assert.deepEqual([same.code, same.stdout], [0, ''], same.stderr)
    const changed = await replay('new')
    assert.equal(changed.code, 8, changed.stderr)
    assert.match(changed.stdout, /POST \/messages of the bot\n {2}params\.content: "pong" → "PONG"/)
  })
})
