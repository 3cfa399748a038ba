// Users, as clients of the public server know them: reading, creating and changing them.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Caller, sharedDaemon, type TestDaemon } from '../support/daemon.ts'
import { listen, person } from '../support/world.ts'
import { cases, ok } from './support/cases.ts'

let daemon: TestDaemon
let owner: Caller
let admin: Caller
let moderator: Caller
let amy: Caller
let bob: Caller
let guest: Caller
let bot: Caller

const refused = { status: 400, code: 'BAD_REQUEST' }
const roleRefused = { status: 400, code: 'UNAUTHORIZED_PRINCIPAL' }
const password = 'correct horse battery'

describe('users', () => {
  sharedDaemon({ flags: ['--memory'] }, async started => {
    daemon = started
    owner = daemon.owner
    admin = await person(daemon, 'ada', { role: 200 })
    moderator = await person(daemon, 'mo', { role: 300 })
    amy = await person(daemon, 'amy')
    bob = await person(daemon, 'bob')
    guest = await person(daemon, 'gus', { role: 600 })
    bot = await newBot(amy, 'robot')
  })
  describe('GET /users/me', own)
  describe('GET /users/{user_id} and GET /users/{email}', reading)
  describe('GET /users', listing)
  describe('POST /users', creating)
  describe('PATCH /users/{user_id}', changing)
})

async function newBot(of: Caller, short_name: string, more: object = {}): Promise<Caller> {
  const { user_id, api_key } = await ok(of, 'POST /bots', { full_name: `${short_name} bot`, short_name, ...more })
  return new Caller(daemon.url, `${short_name}-bot@example.com`, api_key, user_id)
}

function own(): void {
  const flags = (is_owner: boolean, is_admin: boolean, is_guest: boolean, role: number) => ({
    is_owner,
    is_admin,
    is_guest,
    role,
  })
  cases([
    ['an owner', () => owner, 'GET /users/me', {}, flags(true, true, false, 100)],
    ['an administrator', () => admin, 'GET /users/me', {}, flags(false, true, false, 200)],
    ['a moderator', () => moderator, 'GET /users/me', {}, flags(false, false, false, 300)],
    ['a member', () => amy, 'GET /users/me', {}, flags(false, false, false, 400)],
    ['a guest', () => guest, 'GET /users/me', {}, flags(false, false, true, 600)],
    [
      'a bot',
      () => bot,
      'GET /users/me',
      {},
      () => ({ is_bot: true, bot_type: 1, bot_owner_id: amy.id, is_active: true }),
    ],
    [
      'has the address, the name and the newest message',
      () => amy,
      'GET /users/me',
      {},
      {
        email: 'amy@example.com',
        delivery_email: 'amy@example.com',
        full_name: 'amy example',
        timezone: '',
        is_active: true,
        is_bot: false,
        profile_data: {},
        avatar_version: 1,
        max_message_id: (id: number) => id > 0,
        date_joined: (text: string) => /^\d{4}-\d\d-\d\dT\d\d:\d\d\+00:00$/.test(text),
      },
    ],
  ])
}

function reading(): void {
  const user = (more: object) => ({ user: more })
  cases([
    [
      'a person',
      () => amy,
      () => `GET /users/${bob.id}`,
      {},
      () => user({ user_id: bob.id, full_name: 'bob example' }),
    ],
    ['a bot', () => bob, () => `GET /users/${bot.id}`, {}, () => user({ is_bot: true, bot_owner_id: amy.id })],
    ['oneself', () => guest, () => `GET /users/${guest.id}`, {}, () => user({ is_guest: true })],
    ['by a bot', () => bot, () => `GET /users/${amy.id}`, {}, () => user({ user_id: amy.id })],
    [
      'no profile unless asked for',
      () => amy,
      () => `GET /users/${bob.id}`,
      {},
      () => user({ profile_data: undefined }),
    ],
    [
      'with the profile',
      () => amy,
      () => `GET /users/${bob.id}`,
      { include_custom_profile_fields: true },
      () => user({ profile_data: {} }),
    ],
    [
      'without avatar address by default',
      () => amy,
      () => `GET /users/${bob.id}`,
      {},
      () => user({ avatar_url: null }),
    ],
    [
      'with it on request',
      () => amy,
      () => `GET /users/${bob.id}`,
      { client_gravatar: false },
      () => user({ avatar_url: (url: string) => url.startsWith('https://') }),
    ],
    ['by address', () => amy, 'GET /users/bob@example.com', {}, () => user({ user_id: bob.id })],
    ['by address in capitals', () => amy, 'GET /users/BOB@example.com', {}, () => user({ user_id: bob.id })],
    ['by placeholder', () => amy, () => `GET /users/user${bob.id}@example.com`, {}, () => user({ user_id: bob.id })],
    ['a bot by address', () => bob, 'GET /users/robot-bot@example.com', {}, () => user({ user_id: bot.id })],
    ['no unknown ID', () => amy, 'GET /users/99999', {}, refused],
    ['no unknown address', () => amy, 'GET /users/nobody@example.com', {}, refused],
    ['no unknown placeholder', () => amy, 'GET /users/user99999@example.com', {}, refused],
    ['no flag that is not boolean', () => amy, () => `GET /users/${bob.id}`, { client_gravatar: 'x' }, refused],
  ])
}

function listing(): void {
  const ids = (body: { user_id: number }[]) => body.map(({ user_id }) => user_id)
  cases([
    ['everyone, bots too', () => guest, 'GET /users', {}, { members: (all: any[]) => ids(all).includes(bot.id) }],
    [
      'only those asked for, each once',
      () => amy,
      'GET /users',
      () => ({ user_ids: [bob.id, amy.id, bob.id] }),
      { members: (all: any[]) => assertSame(ids(all), [amy.id, bob.id]) },
    ],
    ['unknown IDs are skipped', () => amy, 'GET /users', { user_ids: [99999] }, { members: [] }],
    ['an empty list of IDs is nobody', () => amy, 'GET /users', { user_ids: [] }, { members: [] }],
    ['not a list', () => amy, 'GET /users', { user_ids: 'x' }, refused],
    [
      'without profiles',
      () => amy,
      'GET /users',
      {},
      { members: (all: any[]) => all.every(({ profile_data }) => profile_data === undefined) },
    ],
    [
      'with profiles of people',
      () => amy,
      'GET /users',
      { include_custom_profile_fields: true },
      { members: (all: any[]) => all.every(({ is_bot, profile_data }) => is_bot === (profile_data === undefined)) },
    ],
    [
      'with addresses of avatars',
      () => amy,
      'GET /users',
      { client_gravatar: false },
      { members: (all: any[]) => all.every(({ avatar_url }) => typeof avatar_url === 'string') },
    ],
  ])
}

function assertSame(actual: readonly number[], expected: readonly number[]): boolean {
  assert.deepEqual([...actual].sort(), [...expected].sort())
  return true
}

function creating(): void {
  const account = { email: 'new@example.com', password, full_name: 'New Person' }
  cases([
    ['is not for members', () => amy, 'POST /users', account, roleRefused],
    ['nor for administrators without the flag', () => admin, 'POST /users', account, refused],
    [
      'needs an address',
      () => owner,
      'POST /users',
      { password, full_name: 'X Y' },
      { status: 400, code: 'REQUEST_VARIABLE_MISSING', var_name: 'email' },
    ],
    [
      'needs a password',
      () => owner,
      'POST /users',
      { email: 'x@example.com', full_name: 'X Y' },
      { status: 400, var_name: 'password' },
    ],
    [
      'needs a name',
      () => owner,
      'POST /users',
      { email: 'x@example.com', password },
      { status: 400, var_name: 'full_name' },
    ],
    ['refuses what is no address', () => owner, 'POST /users', { ...account, email: 'broken' }, refused],
    ['refuses a weak password', () => owner, 'POST /users', { ...account, password: 'abc' }, refused],
    ['refuses a name of one letter', () => owner, 'POST /users', { ...account, full_name: 'x' }, refused],
    ['refuses a name with a star', () => owner, 'POST /users', { ...account, full_name: 'a*b' }, refused],
    ['refuses an address in use', () => owner, 'POST /users', { ...account, email: 'AMY@example.com' }, refused],
    ['refuses a disposable address', () => owner, 'POST /users', { ...account, email: 'x@mailinator.com' }, refused],
    [
      'creates, and ignores what it does not know',
      () => owner,
      'POST /users',
      { ...account, short_name: 'new' },
      { user_id: (id: number) => id > 0, ignored_parameters_unsupported: ['short_name'] },
    ],
    ['not twice', () => owner, 'POST /users', account, refused],
  ])

  test('a new account is told, with its groups, and gets a starred greeting', async () => {
    const heard = await listen(amy, ['realm_user', 'user_group'])
    const { user_id } = await ok(owner, 'POST /users', { ...account, email: 'fresh@example.com', full_name: 'Fresh' })
    const [added, ...groups] = await heard()
    assert.deepEqual([added!.op, added!.person.user_id, added!.person.role], ['add', user_id, 400])
    assert.deepEqual(
      groups.map(({ op, user_ids }) => [op, user_ids]),
      [
        ['add_members', [user_id]],
        ['add_members', [user_id]],
      ],
    )
    const fresh = await logIn('fresh@example.com')
    const [greeting, ...more] = await inbox(fresh)
    assert.deepEqual([greeting!.flags, greeting!.is_me_message, more.length], [['starred'], false, 0])
  })

  test('with the text of the organization in a second message', async () => {
    await ok(owner, 'PATCH /realm', { welcome_message_custom_text: 'Mind the **gap**.' })
    await ok(owner, 'POST /users', { ...account, email: 'greeted@example.com', full_name: 'Greeted' })
    const [, own] = await inbox(await logIn('greeted@example.com'))
    assert.match(own!.content, /```quote\nMind the \*\*gap\*\*\.\n```/)
    assert.deepEqual(own!.flags, ['starred'])
    await ok(owner, 'PATCH /realm', { welcome_message_custom_text: '' })
  })

  test('finds the newest twenty messages of its channels unread', async () => {
    const { id } = await ok(owner, 'POST /channels/create', {
      name: 'porch',
      subscribers: [amy.id],
      is_default_stream: true,
    })
    for (let i = 0; i < 23; i++)
      await ok(amy, 'POST /messages', { type: 'channel', to: id, topic: 'rain', content: `drop ${i}` })
    await ok(owner, 'POST /users', { ...account, email: 'wet@example.com', full_name: 'Wet' })
    const wet = await logIn('wet@example.com')
    const narrow = [{ operator: 'channel', operand: id }]
    const { messages } = await ok(wet, 'GET /messages', { anchor: 'newest', num_before: 100, num_after: 0, narrow })
    const rain = messages.filter(({ subject }: { subject: string }) => subject === 'rain')
    assert.equal(rain.length, 23)
    assert.ok(rain.every(({ flags }: { flags: string[] }) => flags.includes('historical')))
    assert.equal(rain.filter(({ flags }: { flags: string[] }) => !flags.includes('read')).length, 20)
    await ok(owner, `DELETE /default_streams`, { stream_id: id })
  })
}

async function logIn(username: string): Promise<Caller> {
  const { api_key, user_id } = await ok(owner, 'POST /fetch_api_key', { username, password })
  return new Caller(daemon.url, username, api_key, user_id)
}

async function inbox(caller: Caller): Promise<Record<string, any>[]> {
  const narrow = [{ operator: 'is', operand: 'dm' }]
  const query = { anchor: 'newest', num_before: 100, num_after: 0, narrow, apply_markdown: false }
  return (await ok(caller, 'GET /messages', query)).messages
}

function changing(): void {
  const line = () => `PATCH /users/${bob.id}`
  cases([
    ['is not for members', () => amy, line, { full_name: 'Not Bob' }, refused],
    ['nor for moderators', () => moderator, line, { full_name: 'Not Bob' }, refused],
    ['nor for guests', () => guest, line, { full_name: 'Not Bob' }, refused],
    ['no unknown user', () => admin, 'PATCH /users/99999', { full_name: 'Nobody' }, refused],
    ['no unknown address', () => admin, 'PATCH /users/nobody@example.com', { full_name: 'Nobody' }, refused],
    ['a name', () => admin, line, { full_name: 'Bob B.' }, {}],
    ['a blank name is no change', () => admin, line, { full_name: '   ' }, {}],
    ['an empty name is no change', () => admin, line, { full_name: '' }, {}],
    ['the same name', () => admin, line, { full_name: 'Bob B.' }, {}],
    ['no name that is too long', () => admin, line, { full_name: 'a'.repeat(101) }, refused],
    ['no name that is too short', () => admin, line, { full_name: 'a' }, refused],
    ['no name that ends like a mention', () => admin, line, { full_name: 'bob|72' }, refused],
    ['a name that only contains one', () => admin, line, { full_name: 'Hello- 12bob|72k' }, {}],
    ['a name with a joiner', () => admin, line, { full_name: 'Bob 👩‍💻' }, {}],
    ['by address', () => admin, 'PATCH /users/bob@example.com', { full_name: 'Bob by address' }, {}],
    ['by placeholder', () => admin, () => `PATCH /users/user${bob.id}@example.com`, { full_name: 'Bob again' }, {}],
    ['no unknown role', () => admin, line, { role: 1000 }, refused],
    ['no role that is a word', () => admin, line, { role: 'admin' }, refused],
    ['no unknown profile field', () => admin, line, { profile_data: [{ id: 9001, value: 'x' }] }, refused],
    ['nor its removal', () => admin, line, { profile_data: [{ id: 9001, value: '' }] }, refused],
    ['no profile that is not a list', () => admin, line, { profile_data: 'x' }, refused],
    ['an address, without the flag', () => admin, line, { new_email: 'b2@example.com' }, refused],
    ['an address that is none', () => owner, line, { new_email: 'invalid' }, refused],
    ['an address that somebody has', () => owner, line, { new_email: 'AMY@example.com' }, refused],
    ['its present address', () => owner, line, { new_email: 'bob@example.com' }, {}],
    ['nothing', () => admin, line, {}, {}],
    ['an unknown parameter', () => admin, line, { nick: 'x' }, { ignored_parameters_unsupported: ['nick'] }],
  ])

  test('works for deactivated accounts', async () => {
    const gone = await person(daemon, 'gone')
    await ok(admin, `DELETE /users/${gone.id}`)
    await ok(admin, `PATCH /users/${gone.id}`, { full_name: 'Long Gone' })
    assert.equal((await ok(amy, `GET /users/${gone.id}`)).user.full_name, 'Long Gone')
  })

  test('the name of a bot is told to its owner as well', async () => {
    const heard = await listen(amy, ['realm_user', 'realm_bot'])
    await ok(admin, `PATCH /users/${bot.id}`, { full_name: 'Robot Two' })
    assert.deepEqual(await heard(), [
      { type: 'realm_user', op: 'update', person: { user_id: bot.id, full_name: 'Robot Two' } },
      { type: 'realm_bot', op: 'update', bot: { user_id: bot.id, full_name: 'Robot Two' } },
    ])
  })
}
