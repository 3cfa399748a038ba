// The public dialect: who gets it, the names at the edge, and the few habits of public servers that go with them.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { chooseDialect, speak, understand } from '../../daemon/http/dialect.ts'
import { catalogueEndpoints } from '../support/catalogue.ts'
import { Caller, sharedDaemon, startDaemon } from '../support/daemon.ts'
import { direct, people } from '../support/world.ts'

const python = 'ZulipPython/0.9.0 (Debian GNU/Linux; 12)'

/** A request as a program with this User-Agent sends it. */
function asAgent(agent: string, caller: Caller, method: string, path: string, form?: Record<string, unknown>) {
  const fields = Object.entries(form ?? {}).map(([name, value]): [string, string] => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ])
  const headers = { 'User-Agent': agent, 'Content-Type': 'application/x-www-form-urlencoded' }
  const body = new URLSearchParams(fields).toString()
  return method === 'GET'
    ? caller.raw(method, `/api/v1${path}`, { headers: { 'User-Agent': agent }, query: body })
    : caller.raw(method, `/api/v1${path}`, { headers, body })
}

describe('--dialect auto', () => {
  const daemon = sharedDaemon()
  const publicClients = [
    python,
    'ZulipTerminal/0.7.0 Linux-6.1.0 (Debian GNU/Linux; 12)',
    'ZulipHelloworldBot (Debian GNU/Linux; 12)',
    'ZulipMobile/27.234 (Android 14)',
    'ZulipFlutter/0.0.15+15 (iOS 17.4)',
    'ZulipElectron/5.12.0 Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36',
    'Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Zulip/5.12.0 Chrome/120.0 Electron/28.0 Safari/537.36',
    'go-zulip/0.3',
    // zulip-js has no name of its own.
    'node-fetch/1.0 (+https://github.com/bitinn/node-fetch)',
  ]
  const others = [
    undefined,
    '',
    'curl/8.5.0',
    'python-requests/2.31.0',
    'node',
    'undici',
    'node-fetch',
    'Go-http-client/1.1',
    'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0',
  ]

  test('Zulip clients are known by their User-Agent', () => {
    for (const agent of publicClients) assert.equal(chooseDialect('auto', agent), 'zulip', agent)
    for (const agent of others) assert.equal(chooseDialect('auto', agent), 'both', agent)
    assert.equal(chooseDialect('auto', 'natter/0.2.0'), 'spec')
    for (const agent of [python, 'curl/8.5.0']) {
      assert.equal(chooseDialect('spec', agent), 'spec')
      assert.equal(chooseDialect('zulip', agent), 'zulip')
    }
  })

  test('both kinds of client use one daemon at once', async () => {
    const { owner, anonymous } = daemon()
    const settings = (agent: string) => asAgent(agent, anonymous, 'GET', '/server_settings')
    const [theirs, ours] = await Promise.all([settings(python), settings('curl/8.5.0')])
    assert.deepEqual([theirs.body.zulip_feature_level, theirs.body.svc_feature_level], [417, undefined])
    assert.deepEqual([ours.body.zulip_feature_level, ours.body.svc_feature_level], [417, 417])
    assert.equal(ours.body.zulip_version, ours.body.svc_version)
    const own = await settings('natter/0.2.0')
    assert.deepEqual([own.body.zulip_feature_level, own.body.svc_feature_level], [undefined, 417])
    const registered = await asAgent(python, owner, 'POST', '/register', { fetch_event_types: ['realm'] })
    assert.equal(registered.body.zulip_feature_level, 417)
    assert.ok('realm_zulip_update_announcements_stream_id' in registered.body)
  })

  test('a queue speaks the dialect of its registration, over a restart and for every program that polls', async t => {
    const running = await startDaemon(t)
    const { owner, data } = running
    const types = { event_types: ['reaction'], fetch_event_types: [] }
    const queues = new Map<string, string>()
    for (const agent of [python, 'curl/8.5.0'])
      queues.set(agent, (await asAgent(agent, owner, 'POST', '/register', types)).body.queue_id)
    const id = await direct(owner, owner, 'react')
    const reaction = { emoji_name: 'svc', emoji_code: 'svc', reaction_type: 'svc_extra_emoji' }
    assert.equal((await asAgent('curl/8.5.0', owner, 'POST', `/messages/${id}/reactions`, reaction)).status, 200)
    const spoken = async (caller: Caller, asked: string, agent: string) => {
      const query = { queue_id: queues.get(asked), last_event_id: '-1', dont_block: 'true' }
      return (await asAgent(agent, caller, 'GET', '/events', query)).body.events[0].reaction_type
    }
    const check = async (caller: Caller) => {
      for (const agent of queues.keys()) {
        assert.equal(await spoken(caller, python, agent), 'zulip_extra_emoji')
        assert.equal(await spoken(caller, 'curl/8.5.0', agent), 'svc_extra_emoji')
      }
    }
    await check(owner)
    await running.end()
    const again = await startDaemon(t, { data })
    await check(again.owner)
    await again.compact()
    await again.end()
    await check((await startDaemon(t, { data })).owner)
  })

  test('bot_type is sent for bots only; the spec has it for everyone', async () => {
    const { owner } = daemon()
    for (const path of ['/users/me', `/users/${owner.id}`, '/users']) {
      const theirs = (await asAgent(python, owner, 'GET', path)).text
      const ours = (await asAgent('curl/8.5.0', owner, 'GET', path)).text
      assert.ok(ours.includes('"bot_type":null'), path)
      assert.ok(!theirs.includes('"bot_type":null'), path)
    }
    const { members } = (await asAgent(python, owner, 'GET', '/users')).body
    for (const user of members) assert.equal('bot_type' in user, user.is_bot, user.full_name)
  })

  test('callers who are not let in get UNAUTHORIZED, whatever the reason', async () => {
    const { owner } = daemon()
    const [gone] = await people(daemon(), 'gone')
    assert.equal((await owner.raw('DELETE', `/api/v1/users/${gone.id}`)).status, 200)
    const wrong = new Caller(owner.url, owner.email, 'x'.repeat(32), owner.id)
    for (const [caller, code] of [
      [wrong, 'INVALID_API_KEY'],
      [gone, 'USER_DEACTIVATED'],
      [daemon().anonymous, 'UNAUTHORIZED'],
    ] as const) {
      const theirs = await asAgent(python, caller, 'GET', '/users/me')
      const ours = await asAgent('curl/8.5.0', caller, 'GET', '/users/me')
      assert.deepEqual([theirs.status, theirs.body.code], [401, 'UNAUTHORIZED'])
      assert.deepEqual([ours.status, ours.body.code], [401, code])
      assert.equal(theirs.body.msg, ours.body.msg)
      assert.equal(theirs.headers['natter-refusal'], ours.headers['natter-refusal'])
    }
  })

  test('a deactivated organization has its own code, but for Zulip clients only where they log in', async t => {
    const ended = await startDaemon(t)
    const [amy] = await people(ended, 'amy')
    assert.equal((await ended.owner.raw('POST', '/api/v1/realm/deactivate')).status, 200)
    const form = { username: amy.email, password: 'amy has a long password' }
    for (const [agent, code] of [
      [python, 'UNAUTHORIZED'],
      ['curl/8.5.0', 'REALM_DEACTIVATED'],
    ] as const) {
      const called = await asAgent(agent, amy, 'GET', '/users/me')
      assert.deepEqual([called.status, called.body.code], [401, code])
      assert.equal(called.body.msg, 'This organization has been deactivated.')
      const login = await asAgent(agent, ended.anonymous, 'POST', '/fetch_api_key', form)
      assert.deepEqual([login.status, login.body.code], [401, 'REALM_DEACTIVATED'])
      assert.equal((await asAgent(agent, ended.anonymous, 'GET', '/server_settings')).status, 200)
    }
  })

  test('what public servers require is required of their clients, and of no one else', async () => {
    const { owner } = daemon()
    const message_id = await direct(owner, owner, 'remember')
    const range = { anchor: 'newest', num_before: 1, num_after: 0, op: 'add', flag: 'starred' }
    const calls: [path: string, rest: object, required: Record<string, unknown>][] = [
      ['/reminders', { note: 'n' }, { message_id, scheduled_delivery_timestamp: 4_000_000_000 }],
      ['/messages/flags/narrow', range, { narrow: [] }],
      ['/realm/domains', { domain: 'example.org' }, { allow_subdomains: false }],
    ]
    const tried: string[] = []
    for (const [path, rest, required] of calls) {
      for (const name of Object.keys(required)) {
        tried.push(`POST ${path} ${name}`)
        const { [name]: _absent, ...others } = required
        const theirs = await asAgent(python, owner, 'POST', path, { ...rest, ...others })
        assert.deepEqual([theirs.body.code, theirs.body.var_name], ['REQUEST_VARIABLE_MISSING', name])
        const ours = await asAgent('curl/8.5.0', owner, 'POST', path, { ...rest, ...others })
        assert.equal(ours.status, 200, ours.text)
      }
      if (path === '/realm/domains') await owner.raw('DELETE', '/api/v1/realm/domains/example.org')
      const whole = await asAgent(python, owner, 'POST', path, { ...rest, ...required })
      assert.equal(whole.status, 200, whole.text)
    }
    const marked = (await catalogueEndpoints()).flatMap(({ endpoint: { method, path, params } }) =>
      Object.entries(params)
        .filter(([, param]) => param.requiredByPublicServers)
        .map(([name]) => `${method} ${path} ${name}`),
    )
    assert.deepEqual(marked.sort(), tried.sort(), 'every parameter of this kind is tried')
  })

  test('changes of flags echo the IDs and always list the channels that were skipped', async () => {
    const { owner } = daemon()
    const ids = [await direct(owner, owner, 'a'), await direct(owner, owner, 'b')].reverse()
    const form = { messages: ids, op: 'add', flag: 'starred' }
    for (let round = 0; round < 2; round++) {
      const { body } = await asAgent(python, owner, 'POST', '/messages/flags', form)
      assert.deepEqual(body, { result: 'success', msg: '', messages: ids, ignored_because_not_subscribed_channels: [] })
    }
    const ours = await asAgent('curl/8.5.0', owner, 'POST', '/messages/flags', form)
    assert.deepEqual(ours.body, { result: 'success', msg: '', messages: [] })
    const range = { anchor: 'newest', num_before: 1, num_after: 0, narrow: [], op: 'add', flag: 'starred' }
    const theirs = await asAgent(python, owner, 'POST', '/messages/flags/narrow', range)
    assert.deepEqual(theirs.body.ignored_because_not_subscribed_channels, [])
    const plain = await asAgent('curl/8.5.0', owner, 'POST', '/messages/flags/narrow', range)
    assert.ok(!('ignored_because_not_subscribed_channels' in plain.body))
  })
})

describe('--dialect zulip', () => {
  test('replies carry the public names', async t => {
    const { anonymous, owner } = await startDaemon(t, { flags: ['--dialect', 'zulip'] })
    const { body } = await anonymous.raw('GET', '/api/v1/server_settings')
    assert.equal(body.zulip_feature_level, 417)
    assert.equal(typeof body.zulip_version, 'string')
    assert.ok(!('svc_version' in body))
    const registered = await owner.raw('POST', '/api/v1/register')
    assert.equal(registered.body.zulip_feature_level, 417)
  })

  test('settings are changed by their old paths too', async t => {
    const { owner } = await startDaemon(t, { flags: ['--dialect', 'zulip'] })
    for (const path of ['notifications', 'display']) {
      const body = 'enable_sounds=false&twenty_four_hour_time=true'
      const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
      const reply = await owner.raw('PATCH', `/api/v1/settings/${path}`, { headers, body })
      assert.deepEqual([reply.status, reply.body.ignored_parameters_unsupported], [200, undefined], reply.text)
    }
  })

  test('the sound with the name of the service has the public name', async t => {
    const { owner } = await startDaemon(t, { flags: ['--dialect', 'zulip'] })
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
    const queue = (await owner.raw('POST', '/api/v1/register')).body
    assert.equal(queue.user_settings.notification_sound, 'zulip')
    assert.equal(queue.user_settings.available_notification_sounds.at(-1), 'zulip')
    for (const sound of ['ding', 'zulip']) {
      const reply = await owner.raw('PATCH', '/api/v1/settings', { headers, body: `notification_sound=${sound}` })
      assert.equal(reply.status, 200, reply.text)
    }
    const { body } = await owner.raw('GET', `/api/v1/events?queue_id=${queue.queue_id}&last_event_id=-1`)
    const told = body.events.filter((event: { type: string }) => event.type === 'user_settings')
    assert.deepEqual(
      told.map(({ value }: { value: string }) => value),
      ['ding', 'zulip'],
    )
  })

  test('--dialect spec answers everyone in the names of the spec', async t => {
    const { anonymous } = await startDaemon(t, { flags: ['--dialect', 'spec'] })
    assert.equal((await asAgent(python, anonymous, 'GET', '/server_settings')).body.svc_feature_level, 417)
  })

  test('words of people are left alone', () => {
    const said = { content: '"svc_version": and "reaction_type":"svc_extra_emoji"', topic: 'svc_version' }
    for (const dialect of ['zulip', 'both'] as const)
      assert.deepEqual(JSON.parse(speak(dialect, JSON.stringify(said))), said)
    const reaction = { reaction_type: 'svc_extra_emoji', emoji_name: 'svc', emoji_code: 'svc' }
    assert.deepEqual(JSON.parse(speak('zulip', JSON.stringify(reaction))), {
      reaction_type: 'zulip_extra_emoji',
      emoji_name: 'zulip',
      emoji_code: 'zulip',
    })
  })

  test('parameters are understood in the public names', () => {
    const sent = new Map([
      ['reaction_type', 'zulip_extra_emoji'],
      ['content', 'zulip_extra_emoji'],
    ])
    assert.deepEqual(
      [...understand(sent)],
      [
        ['reaction_type', 'svc_extra_emoji'],
        ['content', 'zulip_extra_emoji'],
      ],
    )
  })

  test('names that every JavaScript object has are text like any other', async t => {
    const { owner } = await startDaemon(t, { flags: ['--dialect', 'zulip'] })
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
    for (const word of ['valueOf', 'constructor', 'toString', '__proto__']) {
      const body = `title=${word}&content=${word}&emoji_name=${word}&${word}=${word}`
      const reply = await owner.raw('POST', '/api/v1/saved_snippets', { headers, body })
      assert.equal(reply.status, 200, reply.text)
      const { saved_snippets: saved } = (await owner.raw('GET', '/api/v1/saved_snippets')).body
      assert.equal(saved.at(-1).title, word)
      assert.equal((await owner.raw('GET', `/api/v1/${word}`)).status, 404)
    }
    const understood = understand(
      new Map([
        ['emoji_name', 'constructor'],
        ['valueOf', 'x'],
      ]),
    )
    assert.deepEqual(
      [...understood],
      [
        ['emoji_name', 'constructor'],
        ['valueOf', 'x'],
      ],
    )
  })
})
