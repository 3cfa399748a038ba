// Bots, as clients of the public server know them: creating, changing, handing over, deactivating.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Caller, sharedDaemon, type TestDaemon } from '../support/daemon.ts'
import { listen, person } from '../support/world.ts'
import { ask, type Case, cases, ok } from './support/cases.ts'

let daemon: TestDaemon
let owner: Caller
let admin: Caller
let amy: Caller
let bob: Caller
let guest: Caller
let bot: Caller
let hook: Caller

const refused = { status: 400, code: 'BAD_REQUEST' }
const roleRefused = { status: 400, code: 'UNAUTHORIZED_PRINCIPAL' }
const outgoing = { bot_type: 3, payload_url: '"https://bots.example.com/hook"', interface_type: 1 }

describe('bots', () => {
  sharedDaemon({ flags: ['--memory'] }, async started => {
    daemon = started
    owner = daemon.owner
    admin = await person(daemon, 'ada', { role: 200 })
    amy = await person(daemon, 'amy')
    bob = await person(daemon, 'bob')
    guest = await person(daemon, 'gus', { role: 600 })
    await ok(owner, 'POST /channels/create', { name: 'square', subscribers: [amy.id] })
    const closed = { name: 'vault', subscribers: [owner.id], invite_only: true }
    await ok(owner, 'POST /channels/create', closed)
    await ok(owner, 'POST /channels/create', { name: 'den', subscribers: [amy.id], invite_only: true })
    bot = await newBot(amy, 'robot')
    hook = await newBot(amy, 'hook', outgoing)
  })
  describe('POST /bots', creating)
  describe('who may create bots', permissions)
  describe('PATCH /bots/{bot_id}', changing)
  describe('another owner', handingOver)
  describe('DELETE /bots/{bot_id}', deactivating)
  describe('keys', keys)
})

async function newBot(of: Caller, short_name: string, more: object = {}): Promise<Caller> {
  const { user_id, api_key } = await ok(of, 'POST /bots', { full_name: `${short_name} bot`, short_name, ...more })
  return new Caller(daemon.url, `${short_name}-bot@example.com`, api_key, user_id)
}

function creating(): void {
  const line = 'POST /bots'
  let count = 0
  const fresh = (more: object = {}) => {
    count++
    return { full_name: `Fresh ${count}`, short_name: `fresh${count}`, ...more }
  }
  const made = {
    user_id: (id: number) => id > 0,
    api_key: (key: string) => key.length >= 32,
    avatar_url: (url: string) => url !== '',
  }
  const defaults = {
    default_sending_stream: null,
    default_events_register_stream: null,
    default_all_public_streams: false,
  }
  cases([
    ['a generic bot', () => bob, line, () => fresh(), { ...made, ...defaults }],
    ['by its number', () => bob, line, () => fresh({ bot_type: 1 }), made],
    ['an incoming webhook', () => bob, line, () => fresh({ bot_type: 2 }), made],
    ['an outgoing webhook', () => bob, line, () => fresh(outgoing), made],
    ['a name with a joiner', () => bob, line, () => fresh({ full_name: 'Pirate 🏴‍☠️' }), made],
    [
      'with a channel to send to',
      () => bob,
      line,
      () => fresh({ default_sending_stream: 'square' }),
      { default_sending_stream: 'square' },
    ],
    [
      'with a private one of the owner',
      () => amy,
      line,
      () => fresh({ default_sending_stream: 'den' }),
      { default_sending_stream: 'den' },
    ],
    ['with a private one of others', () => amy, line, () => fresh({ default_sending_stream: 'vault' }), refused],
    ['with an unknown one', () => amy, line, () => fresh({ default_sending_stream: 'missing' }), refused],
    [
      'with a channel to hear',
      () => bob,
      line,
      () => fresh({ default_events_register_stream: 'square' }),
      { default_events_register_stream: 'square' },
    ],
    [
      'with a private one of others to hear',
      () => amy,
      line,
      () => fresh({ default_events_register_stream: 'vault' }),
      refused,
    ],
    [
      'that hears all public channels',
      () => bob,
      line,
      () => fresh({ default_all_public_streams: true }),
      { default_all_public_streams: true },
    ],
    ['for a known integration', () => bob, line, () => fresh({ bot_type: 2, service_name: 'helloworld' }), made],
    ['for no unknown one', () => bob, line, () => fresh({ bot_type: 2, service_name: 'stripes' }), refused],
    ['no type 7', () => bob, line, () => fresh({ bot_type: 7 }), refused],
    ['no type that is a word', () => bob, line, () => fresh({ bot_type: 'x' }), refused],
    ['no interface -1', () => bob, line, () => fresh({ ...outgoing, interface_type: -1 }), refused],
    ['no webhook without an address', () => bob, line, () => fresh({ bot_type: 3 }), refused],
    [
      'no webhook with a broken address',
      () => bob,
      line,
      () => fresh({ ...outgoing, payload_url: '"not a url"' }),
      refused,
    ],
    ['no name', () => bob, line, () => fresh({ full_name: '' }), refused],
    ['no name of one letter', () => bob, line, () => fresh({ full_name: 'a' }), refused],
    ['no name of an active account', () => bob, line, () => fresh({ full_name: 'amy example' }), refused],
    ['no name of an active bot', () => bob, line, () => fresh({ full_name: 'robot bot' }), refused],
    ['no short name', () => bob, line, () => fresh({ short_name: '' }), refused],
    ['no blank short name', () => bob, line, () => fresh({ short_name: '  ' }), refused],
    ['no short name with a line break', () => bob, line, () => fresh({ short_name: 'my\nbot' }), refused],
    ['a name in another case than one that is taken', () => bob, line, () => fresh({ full_name: 'Amy Example' }), made],
    ['no short name that is taken', () => bob, line, () => fresh({ short_name: 'robot' }), refused],
    ['no bot of a guest', () => guest, line, () => fresh(), refused],
    ['no bot of a bot', () => bot, line, () => fresh(), refused],
    ['missing names', () => bob, line, {}, { status: 400, code: 'REQUEST_VARIABLE_MISSING' }],
  ])

  test('is told as a user to all, and as a bot to owner and administrators', async () => {
    const [mine, theirs, others] = [await listen(amy, types), await listen(admin, types), await listen(bob, types)]
    const created = await newBot(amy, 'told')
    for (const heard of [await mine(), await theirs()]) {
      assert.deepEqual(
        heard.map(({ type, op }) => [type, op]),
        [
          ['realm_user', 'add'],
          ['realm_bot', 'add'],
        ],
      )
      assert.deepEqual(
        [heard[1]!.bot.user_id, heard[1]!.bot.owner_id, heard[1]!.bot.services],
        [created.id, amy.id, []],
      )
    }
    assert.deepEqual(
      (await others()).map(({ type }) => type),
      ['realm_user'],
    )
  })

  test('a bot of a private channel is told to its owner only', async () => {
    const theirs = await listen(admin, ['realm_bot'])
    await newBot(amy, 'quiet', { default_sending_stream: 'den' })
    assert.deepEqual(await theirs(), [])
  })

  test('the address of a bot is known to everyone', async () => {
    assert.equal((await ok(guest, `GET /users/${bot.id}`)).user.delivery_email, 'robot-bot@example.com')
  })
}

const types = ['realm_user', 'realm_bot']

function permissions(): void {
  let count = 0
  const line = 'POST /bots'
  const fresh = (bot_type: number) => () => {
    count++
    return { full_name: `Allowed ${count}`, short_name: `allowed${count}`, bot_type }
  }
  const group = async (name: string): Promise<number> => {
    const { user_groups } = await ok(owner, 'GET /user_groups')
    return user_groups.find((one: { name: string }) => one.name === name).id
  }
  for (const [name, rows] of [
    [
      'role:administrators',
      [
        [400, 1, false],
        [400, 2, true],
        [200, 1, true],
      ],
    ],
    [
      'role:nobody',
      [
        [200, 1, false],
        [200, 2, true],
      ],
    ],
    [
      'role:members',
      [
        [400, 1, true],
        [400, 2, true],
      ],
    ],
  ] as const) {
    test(`can_create_bots_group = ${name} can be set`, async () => {
      await ok(owner, 'PATCH /realm', { can_create_bots_group: { new: await group(name) } })
    })
    cases(
      rows.map(
        ([role, type, allowed]): Case => [
          `${name}: role ${role}, type ${type}: ${allowed ? 'yes' : 'no'}`,
          () => (role === 200 ? admin : amy),
          line,
          fresh(type),
          allowed ? {} : refused,
        ],
      ),
    )
  }
}

function changing(): void {
  const line = () => `PATCH /bots/${bot.id}`
  cases([
    ['a name', () => amy, line, { full_name: 'Robot Two' }, { full_name: 'Robot Two', bot_owner: 'amy@example.com' }],
    ['the same name', () => amy, line, { full_name: 'Robot Two' }, { full_name: 'Robot Two' }],
    ['by an administrator', () => admin, line, { full_name: 'Robot Three' }, { full_name: 'Robot Three' }],
    ['not by others', () => bob, line, { full_name: 'Mine' }, refused],
    ['not by guests', () => guest, line, { full_name: 'Mine' }, refused],
    ['no empty name', () => amy, line, { full_name: '' }, refused],
    ['no blank name', () => amy, line, { full_name: '   ' }, refused],
    ['no name of another bot', () => amy, line, { full_name: 'hook bot' }, refused],
    ['no person', () => amy, () => `PATCH /bots/${amy.id}`, { full_name: 'No Bot' }, refused],
    ['no unknown bot', () => amy, 'PATCH /bots/99999', { full_name: 'No Bot' }, refused],
    [
      'a channel to send to',
      () => amy,
      line,
      { default_sending_stream: 'square' },
      { default_sending_stream: 'square' },
    ],
    ['none', () => amy, line, { default_sending_stream: '' }, { default_sending_stream: null }],
    ['a private one', () => amy, line, { default_sending_stream: 'den' }, { default_sending_stream: 'den' }],
    ['no private one of others', () => amy, line, { default_sending_stream: 'vault' }, refused],
    ['no unknown one', () => amy, line, { default_sending_stream: 'missing' }, refused],
    [
      'a channel to hear',
      () => amy,
      line,
      { default_events_register_stream: 'square' },
      { default_events_register_stream: 'square' },
    ],
    [
      'no channel to hear',
      () => amy,
      line,
      { default_events_register_stream: '' },
      { default_events_register_stream: null },
    ],
    ['no private one of others to hear', () => amy, line, { default_events_register_stream: 'vault' }, refused],
    [
      'all public channels',
      () => amy,
      line,
      { default_all_public_streams: true },
      { default_all_public_streams: true },
    ],
    ['not all', () => amy, line, { default_all_public_streams: false }, { default_all_public_streams: false }],
    ['no role of one’s own choice', () => amy, line, { role: 200 }, roleRefused],
    ['a role by an administrator', () => admin, line, { role: 300 }, {}],
    ['no owner’s role by an administrator', () => admin, line, { role: 100 }, roleRefused],
    ['a member’s role again', () => admin, line, { role: 400 }, {}],
    [
      'repeats nothing of the service',
      () => amy,
      line,
      {},
      { service_interface: 1, service_payload_url: null, config_data: null },
    ],
    [
      'the address of a webhook',
      () => amy,
      () => `PATCH /bots/${hook.id}`,
      { service_payload_url: '"https://bots.example.com/new"', service_interface: 2 },
      { service_interface: 2, service_payload_url: 'https://bots.example.com/new' },
    ],
    ['no broken address', () => amy, () => `PATCH /bots/${hook.id}`, { service_payload_url: '"x"' }, refused],
    ['no unknown interface', () => amy, () => `PATCH /bots/${hook.id}`, { service_interface: 9 }, refused],
  ])

  test('the new address is told with the token', async () => {
    const heard = await listen(amy, ['realm_bot'])
    await ok(amy, `PATCH /bots/${hook.id}`, { service_payload_url: '"https://bots.example.com/told"' })
    const [{ op, bot: changed }] = (await heard()) as [Record<string, any>]
    assert.deepEqual([op, changed.services[0].base_url], ['update', 'https://bots.example.com/told'])
    assert.ok(changed.services[0].token.length >= 32)
  })
}

function handingOver(): void {
  test('the owner gives it to a member, and all learn what concerns them', async () => {
    const given = await newBot(amy, 'given')
    const [former, next, all] = [await listen(amy, types), await listen(bob, types), await listen(admin, types)]
    const reply = await ok(amy, `PATCH /bots/${given.id}`, { bot_owner_id: bob.id })
    assert.equal(reply.bot_owner, 'bob@example.com')
    const said = async (heard: typeof former) => (await heard()).map(({ type, op }) => `${type} ${op}`)
    assert.deepEqual((await said(former)).slice(0, 2), ['realm_bot delete', 'realm_user update'])
    assert.deepEqual((await said(next)).slice(0, 2), ['realm_bot add', 'realm_user update'])
    assert.deepEqual((await said(all)).slice(0, 2), ['realm_bot update', 'realm_user update'])
    assert.equal(
      (await ok(bob, 'GET /bots')).bots.some(({ username }: { username: string }) => username === given.email),
      true,
    )
  })

  const line = () => `PATCH /bots/${bot.id}`
  cases([
    ['not by others', () => bob, line, () => ({ bot_owner_id: bob.id }), refused],
    ['no unknown person', () => amy, line, { bot_owner_id: 99999 }, refused],
    ['no bot', () => amy, line, () => ({ bot_owner_id: hook.id }), refused],
    ['the present owner', () => amy, line, () => ({ bot_owner_id: amy.id }), { bot_owner: 'amy@example.com' }],
  ])

  test('no deactivated person', async () => {
    const eve = await person(daemon, 'eve')
    await ok(admin, `DELETE /users/${eve.id}`)
    assert.equal((await ask(amy, `PATCH /bots/${bot.id}`, { bot_owner_id: eve.id })).body.code, 'BAD_REQUEST')
  })
}

function deactivating(): void {
  cases([
    ['not by others', () => bob, () => `DELETE /bots/${bot.id}`, {}, refused],
    ['not by guests', () => guest, () => `DELETE /bots/${bot.id}`, {}, refused],
    ['no person', () => admin, () => `DELETE /bots/${bob.id}`, {}, refused],
    ['no unknown bot', () => admin, 'DELETE /bots/99999', {}, refused],
  ])

  test('by its owner, who brings it back', async () => {
    const brief = await newBot(amy, 'brief')
    const heard = await listen(amy, types)
    await ok(amy, `DELETE /bots/${brief.id}`)
    assert.deepEqual(await heard(), [
      { type: 'realm_user', op: 'update', person: { user_id: brief.id, is_active: false } },
      { type: 'realm_bot', op: 'update', bot: { user_id: brief.id, is_active: false } },
    ])
    assert.equal((await ask(brief, 'GET /users/me')).body.code, 'USER_DEACTIVATED')
    await ok(amy, `POST /users/${brief.id}/reactivate`)
    assert.deepEqual(await heard(), [
      { type: 'realm_user', op: 'update', person: { user_id: brief.id, is_active: true } },
      { type: 'realm_bot', op: 'update', bot: { user_id: brief.id, is_active: true } },
    ])
    await ok(brief, 'GET /users/me')
  })
}

function keys(): void {
  cases([
    ['the owner reads the key', () => amy, () => `GET /bots/${bot.id}/api_key`, {}, () => ({ api_key: bot.key })],
    ['others do not', () => bob, () => `GET /bots/${bot.id}/api_key`, {}, refused],
    ['nor renew it', () => bob, () => `POST /bots/${bot.id}/api_key/regenerate`, {}, refused],
    ['of no unknown bot', () => amy, 'POST /bots/99999/api_key/regenerate', {}, refused],
    ['guests list no bots', () => guest, 'GET /bots', {}, refused],
  ])

  test('a new key replaces the old, and the owner hears it', async () => {
    const heard = await listen(amy, ['realm_bot'])
    const { api_key } = await ok(amy, `POST /bots/${bot.id}/api_key/regenerate`)
    assert.notEqual(api_key, bot.key)
    assert.deepEqual(await heard(), [{ type: 'realm_bot', op: 'update', bot: { user_id: bot.id, api_key } }])
    assert.equal((await ask(bot, 'GET /users/me')).status, 401)
  })

  test('a bot renews its own', async () => {
    const { api_key } = await ok(hook, 'POST /users/me/api_key/regenerate')
    await ok(new Caller(daemon.url, hook.email, api_key), 'GET /users/me')
  })

  test('an incoming webhook only sends', async () => {
    const incoming = await newBot(amy, 'incoming', { bot_type: 2 })
    assert.equal((await ask(incoming, 'GET /users/me')).status, 401)
    await ok(incoming, 'POST /messages', { type: 'channel', to: 'square', topic: 'x', content: 'x' })
  })
}
