// `natter replay FILE --against`: where two servers differ is reported by endpoint, event and field.

import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { channels } from '../../daemon/api/channels/channels.ts'
import { subscriptions } from '../../daemon/api/channels/subscriptions.ts'
import { events } from '../../daemon/api/events.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { users } from '../../daemon/api/people/users.ts'
import { newShell, type Shell, Watched } from '../support/cli.ts'
import { Control } from '../support/control.ts'
import { Caller, sharedDaemon, startDaemon, type TestDaemon } from '../support/daemon.ts'

let daemon: TestDaemon
let shell: Shell

/** What another server is said to have answered. */
let calls: Record<string, any>[]

sharedDaemon({ flags: ['--memory', '--preset', 'dev'] }, async started => {
  daemon = started
  const { url, ready, owner } = daemon
  shell = newShell({ after: () => {} } as never, { NATTER_SITE: url, NATTER_CONTROL_TOKEN: ready.control_token! })
  const get = async (path: string) => {
    const auth = Buffer.from(`${owner.email}:${owner.key}`).toString('base64')
    return (await fetch(`${url}/api/v1${path}`, { headers: { Authorization: `Basic ${auth}` } })).json()
  }
  const line = { time: 1, user: owner.email, user_agent: null, sent: {}, status: 200 }
  const users = await get('/users')
  const me = await get('/users/me')
  calls = [
    { ...line, call: 1, method: 'GET', path: '/api/v1/users', endpoint: 'get-users', answer: users },
    { ...line, call: 2, method: 'GET', path: '/api/v1/users/me', endpoint: 'get-own-user', answer: me },
    {
      ...line,
      call: 3,
      method: 'POST',
      path: '/api/v1/register',
      endpoint: 'register-queue',
      sent: { event_types: '["message"]', fetch_event_types: '[]' },
      answer: null,
    },
  ]
})

function write(name: string, lines: readonly object[]): string {
  const file = join(shell.home, name)
  const all = [{ natter_recording: 1, version: '0' }, ...lines, { end: lines.length }]
  writeFileSync(file, all.map(line => `${JSON.stringify(line)}\n`).join(''))
  return file
}

/** The same recording, as if the other server had answered otherwise. */
function drifted(): object[] {
  const [users, me, queue] = structuredClone(calls)
  users!.answer.members.reverse()
  for (const member of users!.answer.members) member.is_robot = false
  delete users!.answer.members[0].timezone
  me!.answer.role = 'owner'
  me!.answer.full_name = 'Someone Else'
  me!.answer.user_id += 1000
  return [users!, me!, queue!]
}

describe('natter replay --against natter', () => {
  test('says that there is no report before the first one', async () => {
    const { code, stdout, stderr } = await shell.run(['drift', 'show'])
    assert.deepEqual([code, stdout, stderr], [0, '', 'no report yet; natter replay FILE --against natter makes one\n'])
  })

  test('finds no difference between equal answers, in any order of lists', async () => {
    const [users, ...others] = structuredClone(calls)
    users!.answer.members.reverse()
    const { code, stderr } = await shell.run([
      'replay',
      write('same.ndjson', [users!, ...others]),
      '--against',
      'natter',
    ])
    assert.equal(code, 0, stderr)
    assert.match(stderr, /3 calls, 0 differences/)
  })

  test('reports each field once, by presence, type and value', async () => {
    const { code, stdout } = await shell.run([
      'replay',
      write('other.ndjson', drifted()),
      '--against',
      'natter',
      '--json',
    ])
    assert.equal(code, 8)
    const { differences } = JSON.parse(stdout)
    assert.deepEqual(
      differences.map(({ where, field, kind }: Record<string, string>) => [where, field, kind]),
      [
        ['get-own-user', 'full_name', 'value'],
        ['get-own-user', 'role', 'type'],
        ['get-users', 'members[].is_robot', 'presence'],
        ['get-users', 'members[].timezone', 'presence'],
      ],
    )
    assert.equal(differences[2].count, calls[0]!.answer.members.length)
    assert.deepEqual([differences[1].recorded, differences[1].found], ['"owner"', '100'])
  })

  test('prints them by endpoint, and --accept keeps them', async () => {
    const file = write('accepted.ndjson', drifted())
    const first = await shell.run(['replay', file, '--against', 'natter'])
    assert.equal(first.code, 8)
    assert.match(first.stdout, /^get-own-user\n {2}full_name +value +"Someone Else" → /)
    assert.equal((await shell.run(['replay', file, '--against', 'natter', '--accept'])).code, 0)
    assert.equal(JSON.parse(readFileSync(`${file}.accepted.json`, 'utf8')).length, 4)
    const second = await shell.run(['replay', file, '--against', 'natter'])
    assert.equal(second.code, 0, second.stderr)
    assert.match(second.stderr, /0 differences, and 4 accepted/)
  })

  test('the daemon keeps the newest report, with at most a thousand differences', async () => {
    const me = structuredClone(calls[1]!)
    for (let i = 0; i < 1500; i++) me.answer[`field ${i} ${'x'.repeat(500)}`] = 'x'.repeat(500)
    const file = write('large.ndjson', [calls[0]!, { ...me, call: -1 }])
    const { code, stderr } = await shell.run(['replay', file, '--against', 'natter'])
    assert.equal(code, 8, stderr)
    const control = new Control(daemon)
    const { drift } = await control.call('GET', '/drift')
    assert.deepEqual([drift.recording, drift.calls, drift.left_out], ['large.ndjson', 2, 500])
    assert.equal(drift.differences.length, 1000)
    const [first] = drift.differences
    assert.deepEqual([first.where, first.kind, first.call, first.accepted], ['get-own-user', 'presence', -1, false])
    const differences = [...drift.differences, first]
    const { status, body } = await control.try('POST', '/drift', { recording: 'x', calls: 1, differences })
    assert.equal(status, 400)
    assert.match(body.msg, /^differences: .*1000/)
    const printed = await shell.run(['drift', 'show', '--jq', '.drift.left_out'])
    assert.equal(printed.stdout, '500\n')
  })

  test('reports events that did not come, and another status', async () => {
    const poll = { ...calls[1], call: 4, path: '/api/v1/events', endpoint: 'get-events' }
    const queue = { ...calls[2], answer: { result: 'success', msg: '', queue_id: 'theirs' } }
    const events = [{ id: 0, type: 'message', message: { content: 'x' } }]
    const lines = [queue, { ...poll, sent: { queue_id: 'theirs', last_event_id: '-1' }, answer: { events } }]
    const refused = { ...calls[1], call: 5, status: 403 }
    const file = write('events.ndjson', [...lines, refused])
    const { differences } = JSON.parse((await shell.run(['replay', file, '--against', 'natter', '--json'])).stdout)
    const found = differences.map(({ where, field, kind }: Record<string, string>) => `${where} ${field} ${kind}`)
    assert.ok(found.includes('event message  presence'), found.join('\n'))
    assert.ok(found.includes('get-own-user status value'), found.join('\n'))
  })

  test('posts a recorded payload again, with the key of its account', async () => {
    const sent = { api_key: '***', stream: 'general', topic: 'again', payload: '{"again":true}' }
    const answer = { result: 'success', msg: '' }
    const line = { ...calls[1], method: 'POST', path: '/api/v1/external/json', endpoint: 'post-webhook', sent, answer }
    const { code, stderr } = await shell.run(['replay', write('posted.ndjson', [line]), '--against', 'natter'])
    assert.equal(code, 0, stderr)
    const range = { anchor: 'newest', num_before: 1, num_after: 0, apply_markdown: false }
    const { messages: found } = await daemon.owner.call(messages.list, range)
    assert.deepEqual([found[0]!.subject, found[0]!.content], ['again', '```json\n{\n  "again": true\n}\n```'])
  })

  test('--fresh plays a recording in an organization made from it', async t => {
    const { url, owner, ready } = await startDaemon(t, { flags: ['--memory', '--preset', 'dev'] })
    const home = newShell(t)
    const file = join(home.home, 'talk.ndjson')
    const proxy = new Watched(t, home.spawn(['proxy', file, '--to', url]))
    const [site] = await proxy.until(1)
    const control = new Control({ url, ready })
    const { account: amy } = await control.call('GET', '/accounts/amy')
    const { account: bot } = await control.call('GET', '/accounts/echo-bot')
    const [own, hers, its] = [owner, amy, bot].map(
      account => new Caller(site!, account.email, account.key ?? account.api_key, account.id ?? account.user_id),
    ) as [Caller, Caller, Caller]
    await own.call(events.register, { event_types: ['message', 'subscription'] })
    await own.call(users.list, {})
    const { streams } = await own.call(channels.list, {})
    for (const { stream_id } of streams) await own.call(channels.members, { stream_id })
    const registered = await hers.call(events.register, { event_types: ['message'] })
    await hers.call(users.show, { user_id: owner.id! })
    await hers.call(subscriptions.subscribe, { subscriptions: [{ name: 'made in the recording' }] })
    await its.call(messages.send, { type: 'direct', to: [amy.user_id], content: 'to amy' })
    const { id } = await own.call(messages.send, {
      type: 'channel',
      to: streams[0]!.stream_id,
      topic: 't',
      content: 'x',
    })
    await own.call(messages.update, { message_id: id, content: 'y' })
    const narrow = [
      { operator: 'channel', operand: streams[0]!.stream_id },
      { operator: 'sender', operand: owner.id! },
    ]
    const found = await own.call(messages.list, { narrow, anchor: 'newest', num_before: 1, num_after: 0 })
    assert.equal(found.messages[0]?.id, id)
    const queue = { queue_id: String(registered.queue_id), last_event_id: -1, dont_block: true }
    const { events: heard } = await hers.call(events.get, queue)
    assert.ok(heard.length > 0)
    proxy.child.kill('SIGINT')
    assert.equal(await proxy.ended, 0)
    const { stdout, stderr } = await home.run(['replay', file, '--against', 'natter', '--json', '--fresh'])
    assert.notEqual(stdout, '', stderr)
    const { differences } = JSON.parse(stdout) as { differences: { where: string; field: string }[] }
    // Every call was answered as before, and every event came. What the recording does not show may differ.
    const lost = differences.filter(({ field }) => /^(status|events|messages\[\]|)$/.test(field))
    assert.deepEqual(lost, [], stderr)
  })

  test('without a daemon too, and it makes accounts and channels of which a recording has little more than the names', async t => {
    const home = newShell(t)
    const sent = { type: 'stream', to: 'ops', topic: 't', content: 'hello' }
    const line = { time: 1, method: 'POST', path: '/api/v1/messages', endpoint: 'send-message', sent, status: 200 }
    const answer = { result: 'success', msg: '', id: 5, automatic_new_visibility_policy: 2 }
    const lines = ['zoe@there.example', 'ci-bot@there.example'].map((user, call) => ({ ...line, call, user, answer }))
    const { code, stderr, stdout } = await home.run([
      'replay',
      write('few.ndjson', lines),
      '--against',
      'natter',
      '--json',
    ])
    assert.notEqual(stdout, '', stderr)
    const found = JSON.parse(stdout).differences.map(({ field }: { field: string }) => field)
    assert.deepEqual([code, new Set(found)], [8, new Set(['automatic_new_visibility_policy'])])
  })

  test('plays the calls of one account on another server, and leaves out the others', async () => {
    const { owner, url } = daemon
    const file = write('site.ndjson', [...calls, { ...calls[1], call: 4, user: 'amy@example.com' }])
    const account = ['--user', owner.email!, '--api-key', owner.key!]
    const { code, stderr } = await shell.run(['replay', file, '--against', url, ...account])
    assert.equal(code, 0, stderr)
    assert.match(stderr, /call 4, .* is left out: there is no key of amy@example.com/)
  })

  const refused: readonly (readonly [readonly string[], RegExp])[] = [
    [['--against', 'zulip'], /--against: give natter, or a server/],
    [['--accept'], /--accept needs --against/],
    [['--against', 'natter', '--exact'], /cannot be combined/],
    [['--fresh'], /--fresh needs --against/],
    [['--against', 'https://chat.example.com', '--fresh'], /--fresh needs --against natter/],
  ]
  for (const [flags, expected] of refused)
    test(`refuses ${flags.join(' ')}`, async () => {
      const { code, stderr } = await shell.run(['replay', write('refused.ndjson', calls), ...flags])
      assert.equal(code, 2)
      assert.match(stderr, expected)
    })

  test('refuses a file of accepted differences with other content', async () => {
    const file = write('broken.ndjson', calls)
    for (const text of ['[', '{}', '[{"where":"x"}]']) {
      writeFileSync(`${file}.accepted.json`, text)
      const { code, stderr } = await shell.run(['replay', file, '--against', 'natter'])
      assert.equal(code, 2)
      assert.match(stderr, /cannot read .*accepted\.json: /)
    }
    assert.ok(existsSync(file))
  })
})
