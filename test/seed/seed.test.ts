import assert from 'node:assert/strict'
import crypto from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, type TestContext, test } from 'node:test'
import { events } from '../../daemon/api/events.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { savedSnippets } from '../../daemon/api/messages/saved-snippets.ts'
import { users } from '../../daemon/api/people/users.ts'
import { startDaemon as startHere } from '../../daemon/daemon.ts'
import { readSeedFile } from '../../daemon/seed/file.ts'
import { readConfig } from '../../daemon/start/config.ts'
import { Control, type Controlled } from '../support/control.ts'
import { Caller, host, launch, startDaemon } from '../support/daemon.ts'
import { freePort } from '../support/free-port.ts'
import { givesUp, refusal } from '../support/gives-up.ts'
import { cutOff, send } from '../support/http.ts'
import { until } from '../support/until.ts'

const folder = mkdtempSync(join(tmpdir(), 'natter-seed-'))
after(() => rmSync(folder, { recursive: true, force: true }))

function seedFile(name: string, text: string): string {
  const file = join(folder, name)
  writeFileSync(file, text)
  return file
}

async function as(daemon: Controlled, name: string): Promise<Caller> {
  const { account } = await new Control(daemon).call('GET', `/accounts/${name}`)
  return new Caller(daemon.url, account.email, account.api_key, account.user_id)
}

const yaml = `# a world in YAML
organization: { name: Tests }
owner: { email: boss@example.com }
users:
  - { name: amy, password: correct horse battery }
  - { name: gus, full_name: Gus Guest, role: guest }
bots:
  - { name: echo, owner: amy }
groups:
  - { name: testers, members: [amy, boss@example.com] }
channels:
  - { name: lab, privacy: private, subscribers: [amy, gus] }
messages:
  - { from: gus, channel: lab, topic: t, content: hi, ago: 2h, reactions: [{ from: amy, emoji: tada }] }
  - { from: amy, to: [gus], content: psst }
steps:
  - { as: amy, call: create-saved-snippet, params: { title: hi, content: there } }
`

describe('--seed', () => {
  test('a seed in YAML is applied when the daemon is ready, and reset restores it', async t => {
    const daemon = await startDaemon(t, { flags: ['--control', '--seed', seedFile('world.yaml', yaml)] })
    assert.equal(daemon.ready.owner.email, 'boss@example.com')
    const amy = await as(daemon, 'amy')
    const login = { username: 'amy@example.com', password: 'correct horse battery' }
    assert.equal((await daemon.anonymous.call(users.fetchApiKey, login)).api_key, amy.key)
    assert.equal((await (await as(daemon, 'gus')).call(users.me, {})).is_guest, true)
    assert.equal((await (await as(daemon, 'echo-bot')).call(users.me, {})).is_bot, true)
    const { messages: found } = await amy.call(messages.list, { anchor: 'newest', num_before: 9, num_after: 0 })
    assert.deepEqual(
      found.slice(-2).map(({ reactions, timestamp }) => [reactions.length, timestamp]),
      [
        [1, found.at(-1)!.timestamp - 7200],
        [0, found.at(-1)!.timestamp],
      ],
    )
    await amy.call(savedSnippets.create, { title: 'more', content: 'x' })
    await new Control(daemon).call('POST', '/reset')
    const { saved_snippets } = await amy.call(savedSnippets.list, {})
    assert.deepEqual(
      saved_snippets.map(({ title }) => title),
      ['hi'],
    )
  })

  test('until it is applied, /readyz answers false, the API refuses calls as not ready, and the daemon is alive', async t => {
    // The hash of a password takes until all of this was seen.
    const { scrypt } = crypto
    let release = () => {}
    const held = new Promise<void>(resolve => {
      release = resolve
    })
    const replace = (other: object) => {
      Object.assign(crypto, { scrypt: other })
      syncBuiltinESMExports()
    }
    replace((...args: unknown[]) => void held.then(() => Reflect.apply(scrypt, crypto, args)))
    t.after(() => replace(scrypt))
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const slow = seedFile('slow.json', JSON.stringify({ users: [{ name: 'amy', password: 'correct horse battery' }] }))
    const starting = startHere(readConfig(['--memory', '--port', String(port), '--seed', slow], {}), assert.fail)
    t.after(async () => (await starting).stop())
    const { status, body } = await until(() => send(`${url}/readyz`).catch(cutOff))
    assert.deepEqual([status, body], [503, { ready: false }])
    assert.equal((await send(`${url}/livez`)).status, 200)
    const early = ['/api/v1/server_settings', '/control/v1/clock'].map(path => send(url + path))
    const answers = await Promise.all(early)
    for (const { status, headers, body } of answers)
      assert.deepEqual([status, body.code, headers['retry-after']], [503, 'SERVER_NOT_READY', '1'])
    const [one, other] = answers.map(({ headers }) => headers['x-request-id'])
    assert.notEqual(one, other)
    release()
    const { ready } = await starting
    assert.deepEqual((await send(`${url}/readyz`)).body, { ready: true })
    assert.equal((await as({ url, ready }, 'amy')).email, 'amy@example.com')
  })

  test('an account without a password cannot be logged in to by any', async t => {
    const daemon = await startDaemon(t, { flags: ['--memory', '--preset', 'dev'] })
    for (const password of ['', 'amy', 'seeded account without a password 7Qx'])
      await daemon.anonymous.refused(
        users.fetchApiKey,
        { username: 'amy@example.com', password },
        'AUTHENTICATION_FAILED',
      )
  })

  test('people have read the messages that they wrote', async t => {
    const daemon = await startDaemon(t, { flags: ['--memory', '--preset', 'dev'] })
    const [amy, bob] = [await as(daemon, 'amy'), await as(daemon, 'bob')]
    for (const reader of [amy, bob]) {
      const page = { anchor: 'oldest', num_before: 0, num_after: 1000 } as const
      const { messages: unread } = await reader.call(messages.list, { ...page, narrow: [['is', 'unread']] })
      const { messages: own } = await reader.call(messages.list, { ...page, narrow: [['sender', reader.email!]] })
      assert.ok(own.length > 0)
      assert.deepEqual(
        own.filter(({ flags }) => !flags?.includes('read')),
        [],
      )
      assert.ok(unread.every(({ sender_id }) => sender_id !== reader.id))
    }
  })

  const tenOf = (name: string) => `[${Array.from({ length: 10 }, () => name).join()}]`
  const aliasBomb = [...'abcdef']
    .map((name, n, all) => `${name}: &${name} ${tenOf(n ? `*${all[n - 1]}` : 'x')}\n`)
    .join('')
  const mistakes: [name: string, text: string, told: RegExp][] = [
    ['a.json', '{\n  "users": [\n    { "nam": "amy" }\n  ]\n}', /line 3: users\[0\]\.nam is unknown here/],
    ['b.json', '{\n  "users": [\n    {},\n  ]\n}', /line 4: /],
    ['c.yaml', 'users:\n  - name: amy\n  - name: 7\n', /line 3: users\[1\]\.name must be a text/],
    ['d.yaml', 'users:\n  - name: amy\n  bad\n', /line \d: /],
    ['e.yaml', 'users:\n  - name: amy\n    role: king\n', /line 3: users\[0\]\.role must be one of owner/],
    [
      'f.yaml',
      'groups:\n  - name: x\n    members:\n      - zed\n',
      /line 4: groups\[0\]\.members\[0\] names an account that does not exist: zed/,
    ],
    ['g.yaml', 'users:\n  - name: amy\n  - name: amy\n', /line 3: users\[1\] is refused: /],
    ['h.yaml', 'steps:\n  - call: fly-away\n', /line 2: steps\[0\] needs the endpoint fly-away/],
    ['i.yaml', 'people: []\n', /line 1: people is unknown here; there is organization/],
    ['j.yaml', 'steps:\n  - call: create-saved-snippet\n    params: { title: a, content: b, x: 1 }\n', /parameters: x/],
    ['l.yaml', 'users: []\nowner: {}\nusers: []\n', /line 3: the key users is there twice/],
    [
      'w.yaml',
      'owner:\n  full_name: Bo\n  email: Notification-Bot@example.com\n',
      /line 3: owner\.email is refused: email: "Notification-Bot@example\.com" is already in use/,
    ],
    ['x.json', '{"owner": {"email": "welcome-bot@example.com"}}', /line 1: owner\.email is refused: .* in use/],
    ['y.yaml', 'owner: { email: user2@example.com }\n', /line 1: owner\.email is refused: .* is reserved for the API/],
    ['m.yaml', aliasBomb, /line 1: Excessive alias count/],
    ['n.json', `{"a":${'['.repeat(5000)}${']'.repeat(5000)}}`, /line 1: nested more than 100 levels deep/],
    // Each of these takes the library seconds, or more stack than there is, which ends the process.
    ['p.yaml', `users:\n  - ${'['.repeat(20_000)}${']'.repeat(20_000)}`, /line 2: nested more than 100 levels deep/],
    ['q.yaml', `${'- '.repeat(20_000)}x`, /line 1: nested more than 100 levels deep/],
    ['r.yaml', `${'? '.repeat(20_000)}x`, /line 1: nested more than 100 levels deep/],
    ['s.yaml', '{a: '.repeat(20_000), /line 1: nested more than 100 levels deep/],
    ['t.yaml', `a:\n  ${'- &a '.repeat(20_000)}x`, /line 2: more than 1000 anchors, aliases and tags/],
    ['u.yaml', `a: &a x\n${'b: *a\n'.repeat(20_000)}`, /line 1001: more than 1000 anchors, aliases and tags/],
    ['v.yaml', `a: ${'!a '.repeat(20_000)}x`, /line 1: more than 1000 anchors, aliases and tags/],
    ['o.yaml', Array.from({ length: 2000 }, (_, n) => `k${n}: x\n`).join(''), /line 1: k0 is unknown here/],
    ['k.json', '[]', /line 1: the seed must be a record/],
  ]

  test('a mistake ends the start with its line, and no store is left behind', () => {
    for (const [name, text, told] of mistakes.slice(0, 2)) {
      const store = join(folder, `store-${name}`)
      const said = givesUp(['--data', store, '--seed', seedFile(name, text)], 1, told)
      assert.ok(said.includes(`${name}, line `), said)
      assert.doesNotMatch(readJournal(store), /founded/)
    }
  })

  for (const [name, text, told] of mistakes.slice(2))
    test(`a mistake is told with its line: ${name}`, async () => {
      const store = join(folder, `store-${name}`)
      const said = await refusal(store, ['--seed', seedFile(name, text)])
      assert.match(said, told)
      assert.ok(said.includes(`${name}, line `), said)
      assert.doesNotMatch(readJournal(store), /founded/)
    })

  test('a seed file that does not exist is an error, and a seed for a store with an organization is ignored with a warning', async t => {
    const none = join(folder, 'none.json')
    assert.match(await refusal(folder, ['--memory', '--seed', none]), /none\.json cannot be read: ENOENT/)
    const huge = join(folder, 'huge.json')
    writeFileSync(huge, '')
    truncateSync(huge, 513 * 1024 * 1024)
    await assert.rejects(
      readSeedFile(huge),
      /the seed .*huge\.json is too large; start from a file of natter snapshot export/,
    )
    const data = mkdtempSync(join(tmpdir(), 'natter-seed-'))
    t.after(() => rmSync(data, { recursive: true, force: true }))
    await (await host(data)).stop()
    const again = await launch(data, { flags: ['--seed', seedFile('late.yaml', yaml)] })
    await again.stop()
    assert.match(again.stderr, /the store already has an organization; --seed is ignored/)
  })
})

describe('reproducible runs', () => {
  const flags = ['--memory', '--preset', 'dev', '--secret', 's', '--clock', 'frozen@2030-01-01T00:00:00Z']

  test('the same script gives the same transcript, byte for byte', async t => {
    const [first, second] = [await transcript(t, flags), await transcript(t, flags)]
    assert.equal(first, second)
    assert.match(first, /queue_id/)
    assert.match(first, /"date":"Tue, 01 Jan 2030 00:10:00 GMT"/)
    assert.notEqual(await transcript(t, [...flags, '--random', 'other']), first)
  })
})

/** Everything that was answered, in order; the port is the system's to choose. */
async function transcript(t: TestContext, flags: readonly string[]): Promise<string> {
  const daemon = await startDaemon(t, { flags })
  const control = new Control(daemon)
  const lines: string[] = [JSON.stringify({ ...daemon.ready, pid: 0 })]
  const amy = await as(daemon, 'amy')
  const say = async (caller: Caller, method: string, path: string, query = '') => {
    const { status, headers, text, body } = await caller.raw(method, `/api/v1${path}`, { query })
    lines.push(`${method} ${path} ${status} ${JSON.stringify(headers)} ${text}`)
    return body
  }
  await control.call('POST', '/faults', { kind: 'status', endpoint: 'get-own-user', probability: 0.5 })
  const { queue_id } = await say(amy, 'POST', '/register')
  for (let i = 0; i < 10; i++) await say(amy, 'GET', '/users/me')
  await say(amy, 'POST', '/saved_snippets', 'title=a&content=b')
  await control.call('POST', '/clock/advance', { by: '10m' })
  await say(daemon.owner, 'POST', '/users', 'email=zoe%40example.com&password=correct+horse+battery&full_name=Zoe')
  await say(amy, 'GET', '/users')
  await say(amy, 'GET', '/events', `queue_id=${queue_id}&last_event_id=-1&dont_block=true`)
  await control.call('POST', '/reset')
  await amy.call(events.register, {})
  await say(amy, 'GET', '/users')
  for (const path of ['/requests', '/events', '/queues', '/faults', '/accounts'])
    lines.push(JSON.stringify(await control.call('GET', path)))
  return lines.join('\n').replaceAll(daemon.url, 'URL')
}

function readJournal(data: string): string {
  try {
    return readFileSync(join(data, 'journal.ndjson'), 'utf8')
  } catch {
    return ''
  }
}
