// Incoming webhooks from the command line: the address of a bot, samples, waiting for a payload, and notifiers that others wrote.

import assert from 'node:assert/strict'
import { execFile, spawn, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'
import { channels } from '../../daemon/api/channels/channels.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { newShell, type Shell } from '../support/cli.ts'
import { type Caller, sharedDaemon, type TestDaemon } from '../support/daemon.ts'
import { endProcess } from '../support/end-process.ts'
import { freePort } from '../support/free-port.ts'
import { send } from '../support/http.ts'
import { until } from '../support/until.ts'

let daemon: TestDaemon
let shell: Shell
sharedDaemon({ flags: ['--memory', '--preset', 'dev'] }, async started => {
  daemon = started
  const { url, ready, owner } = daemon
  const account = { NATTER_SITE: url, NATTER_EMAIL: owner.email!, NATTER_API_KEY: owner.key! }
  shell = newShell({ after: () => {} } as never, { ...account, NATTER_CONTROL_TOKEN: ready.control_token! })
  await natter('bots', 'create', 'notifier', 'Notifier', '--type', 'incoming')
})

async function natter(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await shell.run(args)
  assert.equal(code, 0, stderr)
  return stdout
}

async function addressOf(...flags: readonly string[]): Promise<string> {
  return (await natter('webhooks', 'url', 'notifier-bot@example.com', ...flags)).trim()
}

async function latest(caller: Caller = daemon.owner): Promise<Record<string, any>> {
  const range = { anchor: 'newest', num_before: 1, num_after: 0, apply_markdown: false }
  return (await caller.call(messages.list, range)).messages.at(-1)!
}

describe('natter webhooks url', () => {
  test('prints an address that a service can post to', async () => {
    const url = await addressOf('--integration', 'slack_incoming', '--channel', 'general', '--topic', 'deploys & more')
    assert.match(url, /\/api\/v1\/external\/slack_incoming\?api_key=\w{32}&stream=\d+&topic=deploys\+%26\+more$/)
    const headers = { 'Content-Type': 'application/json' }
    assert.equal((await send(url, { method: 'POST', headers, body: '{"text":"*done*"}' })).body.ok, true)
    const { content, subject } = await latest()
    assert.deepEqual([content, subject], ['**done**', 'deploys & more'])
  })

  test('names the channel by its ID, however it was given', async () => {
    const { stream_id } = await daemon.owner.call(channels.id, { stream: 'general' })
    for (const channel of ['general', '#general', `id:${stream_id}`]) {
      const url = new URL(await addressOf('--integration', 'json', '--channel', channel))
      assert.equal(url.searchParams.get('stream'), String(stream_id))
    }
  })

  test('puts --only-events into the address as a list', async () => {
    const url = new URL(await addressOf('--integration', 'github', '--only-events', 'push,pull_*'))
    assert.equal(url.searchParams.get('only_events'), '["push","pull_*"]')
  })

  const refused: readonly (readonly [readonly string[], RegExp])[] = [
    [['notifier-bot@example.com'], /no integration given/],
    [['notifier-bot@example.com', '--integration', 'json', '--channel', 'generel'], /general/],
    [['nobody-bot', '--integration', 'json'], /nobody-bot/],
  ]
  for (const [args, expected] of refused)
    test(`refuses ${args.join(' ')}`, async () => {
      const { code, stderr } = await shell.run(['webhooks', 'url', ...args])
      assert.notEqual(code, 0)
      assert.match(stderr, expected)
    })
})

describe('natter webhooks post', () => {
  test('posts the payload as the body, so that every integration reads it', async () => {
    const key = new URL(await addressOf('--integration', 'json')).searchParams.get('api_key')!
    await natter('webhooks', 'post', 'json', '{"a":1}', '--bot-key', key, '--channel', 'general')
    assert.equal((await latest()).content, '```json\n{\n  "a": 1\n}\n```')
    const { code, stderr } = await shell.run(['webhooks', 'post', 'json', '{"a":', '--bot-key', key])
    assert.equal(code, 1)
    assert.match(stderr, /line 1, column 6/)
  })
})

describe('natter trigger webhook', () => {
  test('posts a sample of a service', async () => {
    const out = await natter('trigger', 'webhook', 'github', 'push', '--override', 'stream=general')
    assert.match(out, /^webhook github push: POST \/external\/github by notifier-bot@/)
    const { content, subject } = await latest()
    assert.match(content, /^\*\*GitHub\*\* `push`\n\n```json\n\{\n {2}"ref": "refs\/heads\/main"/)
    assert.equal(subject, 'github')
  })

  const refused: readonly (readonly [readonly string[], RegExp])[] = [
    [[], /no service given/],
    [['githup'], /there is no sample of "githup"/],
    [['github', 'pull'], /there are push, issues, pull_request, ping/],
    [['github', 'push', 'more'], /unexpected argument "more"/],
  ]
  for (const [args, expected] of refused)
    test(`refuses ${args.join(' ') || 'nothing'}`, async () => {
      const { code, stderr } = await shell.run(['trigger', 'webhook', ...args])
      assert.equal(code, 2)
      assert.match(stderr, expected)
    })
})

describe('natter wait --integration', () => {
  test('finds a payload, now or since a time, and says when none came', async () => {
    await natter('trigger', 'webhook', 'grafana')
    const call = JSON.parse(await natter('wait', '--integration', 'grafana', '--since', '10m', '--json'))
    assert.match(call.call.params.payload, /DiskFull/)
    const text = await natter('wait', '--integration', 'grafana', '--since', '10m')
    assert.match(text, /^sent .*DiskFull/m)
    assert.doesNotMatch(text, /^params/m)
    const url = await addressOf('--integration', 'sentry', '--channel', 'general')
    let over = false
    const waiting = shell.run(['wait', '--integration', 'sentry', '--within', '60s']).finally(() => {
      over = true
    })
    // It may not listen yet when the first one comes.
    await until(async () => (await send(url, { method: 'POST', body: '{}' })) && over)
    assert.equal((await waiting).code, 0)
    const { code, stderr } = await shell.run(['wait', '--integration', 'jira', '--within', '10ms'])
    assert.equal(code, 8)
    assert.match(stderr, /no such call was made/)
  })
})

const isHere = (program: string) =>
  spawnSync(program, ['--version']).status === 0 ? false : `${program} is not installed`

describe('notifiers that others wrote', () => {
  test('apprise posts to json', { skip: isHere('apprise') }, async () => {
    const url = new URL(await addressOf('--integration', 'json', '--channel', 'general'))
    const query = `-api_key=${url.searchParams.get('api_key')}&-stream=general`
    await promisify(execFile)('apprise', [
      '-t',
      'Disk',
      '-b',
      'almost full',
      `json://${url.host}${url.pathname}?${query}`,
    ])
    assert.match((await latest()).content, /"message": "almost full"/)
  })

  test('Alertmanager posts to slack_incoming', { skip: isHere('prometheus-alertmanager') }, async t => {
    const { home } = newShell(t)
    const api_url = await addressOf('--integration', 'slack_incoming', '--channel', 'general')
    const receivers = [{ name: 'chat', slack_configs: [{ api_url, channel: '#alerts', send_resolved: true }] }]
    const route = { receiver: 'chat', group_wait: '0s' }
    // YAML includes JSON.
    writeFileSync(join(home, 'config.yml'), JSON.stringify({ route, receivers }))
    const port = await freePort()
    const flags = [
      '--config.file=config.yml',
      `--storage.path=${home}`,
      '--cluster.listen-address=',
      `--web.listen-address=127.0.0.1:${port}`,
    ]
    const child = spawn('prometheus-alertmanager', flags, { cwd: home, stdio: 'ignore' })
    t.after(() => endProcess(child))
    const site = `http://127.0.0.1:${port}`
    await until(async () => (await send(`${site}/-/ready`).catch(() => undefined))?.status === 200)
    const alert = [{ labels: { alertname: 'DiskFull', instance: 'shed' }, annotations: { summary: 'almost full' } }]
    const headers = { 'Content-Type': 'application/json' }
    await send(`${site}/api/v2/alerts`, { method: 'POST', headers, body: JSON.stringify(alert) })
    const { content, subject } = await until(async () => {
      const message = await latest()
      return message.subject === 'alerts' && message
    })
    assert.equal(subject, 'alerts')
    assert.match(content, /^## \[\[FIRING:1\].*DiskFull shed.*\]\(http/)
  })
})
