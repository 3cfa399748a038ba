// Status and presence, as clients of the public server know them.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Caller, sharedDaemon } from '../support/daemon.ts'
import { listen, person } from '../support/world.ts'
import { ask, type Case, cases, ok } from './support/cases.ts'

let owner: Caller
let admin: Caller
let amy: Caller
let bob: Caller
let cat: Caller
let guest: Caller
let bot: Caller

const refused = { status: 400, code: 'BAD_REQUEST' }
const car = { emoji_name: 'car', emoji_code: '1f697', reaction_type: 'unicode_emoji' }

describe('status and presence', () => {
  sharedDaemon({ flags: ['--memory'] }, async daemon => {
    owner = daemon.owner
    admin = await person(daemon, 'ada', { role: 200 })
    amy = await person(daemon, 'amy')
    bob = await person(daemon, 'bob')
    cat = await person(daemon, 'cat')
    guest = await person(daemon, 'gus', { role: 600 })
    const made = await ok(amy, 'POST /bots', { full_name: 'Robot', short_name: 'robot' })
    bot = new Caller(daemon.url, 'robot-bot@example.com', made.api_key, made.user_id)
  })
  describe('POST /users/me/status', own)
  describe('POST /users/{user_id}/status', others)
  describe('GET /users/{user_id}/status', reading)
  describe('presence', presence)
})

function own(): void {
  const line = 'POST /users/me/status'
  cases([
    ['nothing', () => amy, line, {}, refused],
    ['a text of 61 characters', () => amy, line, { status_text: 'x'.repeat(61) }, refused],
    ['a text of 60', () => amy, line, { status_text: 'x'.repeat(60) }, {}],
    ['white space around it does not count', () => amy, line, { status_text: `  ${'x'.repeat(60)} ` }, {}],
    ['a code without a name', () => amy, line, { emoji_code: '1f4bb' }, refused],
    [
      'a text and a code without a name',
      () => amy,
      line,
      { status_text: 'In a meeting', emoji_code: '1f4bb' },
      refused,
    ],
    ['a kind without a name', () => amy, line, { status_text: 'x', reaction_type: 'unicode_emoji' }, refused],
    ['an unknown name', () => amy, line, { emoji_name: 'invalid' }, refused],
    ['an unknown name with a code', () => amy, line, { emoji_name: 'invalid', emoji_code: '1f4bb' }, refused],
    ['a code of another emoji', () => amy, line, { emoji_name: 'car', emoji_code: '1f4bb' }, refused],
    [
      'a custom emoji that is none',
      () => amy,
      line,
      { emoji_name: 'car', emoji_code: '1', reaction_type: 'realm_emoji' },
      refused,
    ],
    ['an unknown kind', () => amy, line, { emoji_name: 'car', reaction_type: 'x' }, refused],
    ['away that is not boolean', () => amy, line, { away: 'x' }, refused],
    ['bots', () => bot, line, { status_text: 'busy' }, refused],
    ['guests may', () => guest, line, { status_text: 'busy' }, {}],
  ])

  const event = () => ({ type: 'user_status', user_id: bob.id })
  const steps: readonly (readonly [string, object, object, object])[] = [
    ['a text', { status_text: 'on vacation' }, { status_text: 'on vacation' }, { status_text: 'on vacation' }],
    ['away', { away: true }, { away: true }, { status_text: 'on vacation', away: true }],
    ['an emoji by name', { emoji_name: 'car' }, car, { status_text: 'on vacation', away: true, ...car }],
    [
      'no emoji',
      { emoji_name: '' },
      { emoji_name: '', emoji_code: '', reaction_type: 'unicode_emoji' },
      { status_text: 'on vacation', away: true },
    ],
    [
      'no emoji, with an empty code and a kind',
      { emoji_name: '', emoji_code: '', reaction_type: 'unicode_emoji' },
      { emoji_name: '', emoji_code: '', reaction_type: 'unicode_emoji' },
      { status_text: 'on vacation', away: true },
    ],
    ['not away', { away: false }, { away: false }, { status_text: 'on vacation' }],
    [
      'an emoji with code',
      { ...car, status_text: ' at the beach ' },
      { ...car, status_text: 'at the beach' },
      { ...car, status_text: 'at the beach' },
    ],
    [
      'the same again',
      { status_text: 'at the beach' },
      { status_text: 'at the beach' },
      { ...car, status_text: 'at the beach' },
    ],
    [
      'away and a text in one event',
      { away: true, status_text: 'gone' },
      { away: true, status_text: 'gone' },
      { ...car, away: true, status_text: 'gone' },
    ],
    ['back', { away: false, status_text: '' }, { away: false, status_text: '' }, car],
    ['nothing left', { emoji_name: '' }, { emoji_name: '', emoji_code: '', reaction_type: 'unicode_emoji' }, {}],
  ]
  for (const [title, fields, told, status] of steps)
    test(`${title}: told, and shown`, async () => {
      const heard = await listen(amy, ['user_status'])
      await ok(bob, line, fields as never)
      assert.deepEqual(await heard(), [{ ...event(), ...told }])
      assert.deepEqual((await ok(amy, `GET /users/${bob.id}/status`)).status, status)
      const { user_status } = await ok(amy, 'POST /register', { fetch_event_types: ['user_status'] })
      assert.deepEqual(user_status[String(bob.id)] ?? {}, status)
    })

  test('away is the opposite of presence_enabled, which is told to oneself', async () => {
    const heard = await listen(bob, ['user_settings'])
    await ok(bob, line, { away: true })
    await ok(bob, line, { away: true })
    assert.deepEqual(
      (await heard()).map(({ property, value }) => [property, value]),
      [
        ['presence_enabled', false],
        ['presence_enabled', false],
      ],
    )
    await ok(bob, line, { away: false })
  })

  test('presence_enabled itself causes no event of the status', async () => {
    const heard = await listen(amy, ['user_status'])
    await ok(cat, 'PATCH /settings', { presence_enabled: false })
    await ok(cat, 'PATCH /settings', { presence_enabled: true })
    assert.deepEqual(await heard(), [])
  })
}

function others(): void {
  const line = () => `POST /users/${bob.id}/status`
  cases([
    ['is for administrators', () => amy, line, { status_text: 'x' }, refused],
    ['a text', () => admin, line, { status_text: 'on leave' }, {}],
    ['an emoji', () => admin, line, { emoji_name: 'car' }, {}],
    ['nothing', () => admin, line, {}, refused],
    ['a text that is too long', () => admin, line, { status_text: 'x'.repeat(61) }, refused],
    ['an unknown emoji', () => admin, line, { emoji_name: 'invalid' }, refused],
    ['of no bot', () => admin, () => `POST /users/${bot.id}/status`, { status_text: 'x' }, refused],
    ['of nobody', () => admin, 'POST /users/99999/status', { status_text: 'x' }, refused],
    [
      'away is unknown here',
      () => admin,
      line,
      { status_text: 'y', away: true },
      { ignored_parameters_unsupported: ['away'] },
    ],
  ])
}

function reading(): void {
  cases([
    ['of somebody', () => guest, () => `GET /users/${bob.id}/status`, {}, { status: { status_text: 'y', ...car } }],
    ['of somebody without one', () => guest, () => `GET /users/${owner.id}/status`, {}, { status: {} }],
    ['by a bot', () => bot, () => `GET /users/${bob.id}/status`, {}, { status: { status_text: 'y' } }],
    ['of no bot', () => amy, () => `GET /users/${bot.id}/status`, {}, refused],
    ['of nobody', () => amy, 'GET /users/99999/status', {}, refused],
  ])

  test('of no deactivated person', async () => {
    await ok(owner, `DELETE /users/${cat.id}`)
    assert.equal((await ask(amy, `GET /users/${cat.id}/status`)).body.code, 'BAD_REQUEST')
    await ok(owner, `POST /users/${cat.id}/reactivate`)
  })
}

function presence(): void {
  const line = 'POST /users/me/presence'
  const has =
    (...callers: (() => Caller)[]) =>
    (found: object) =>
      callers.every(one => one().email! in found || String(one().id) in found)
  const rows: Case[] = [
    ['an unknown status', () => amy, line, { status: 'foo' }, refused],
    ['no status', () => amy, line, {}, { status: 400, code: 'REQUEST_VARIABLE_MISSING', var_name: 'status' }],
    ['bots have none', () => bot, line, { status: 'active' }, refused],
    [
      'idle',
      () => amy,
      line,
      { status: 'idle' },
      { presences: has(() => amy), server_timestamp: (time: number) => time > 0 },
    ],
    [
      'active',
      () => bob,
      line,
      { status: 'active' },
      {
        presences: has(
          () => amy,
          () => bob,
        ),
      },
    ],
    [
      'the older form, by address',
      () => bob,
      line,
      { status: 'active' },
      {
        presences: {
          'bob@example.com': {
            aggregated: { client: 'website', status: 'active' },
            website: { client: 'website', status: 'active', pushable: false },
          },
        },
      },
    ],
    [
      'the newer form, by ID',
      () => bob,
      line,
      { status: 'active', slim_presence: true },
      () => ({ presences: { [bob.id]: { active_timestamp: Number.isInteger, idle_timestamp: Number.isInteger } } }),
    ],
    [
      'the newer form with last_update_id',
      () => bob,
      line,
      { status: 'active', last_update_id: -1 },
      () => ({
        presences: has(
          () => amy,
          () => bob,
        ),
        presence_last_update_id: (id: number) => id >= 0,
      }),
    ],
    [
      'a ping only',
      () => amy,
      line,
      { status: 'active', ping_only: true },
      { presences: undefined, server_timestamp: undefined },
    ],
    [
      'no history',
      () => amy,
      line,
      { status: 'active', history_limit_days: 0, last_update_id: -1 },
      { presences: (found: object) => Object.keys(found).length === 0 },
    ],
    [
      'of one by address',
      () => amy,
      'GET /users/bob@example.com/presence',
      {},
      { presence: { aggregated: { status: 'active' }, website: { status: 'active' } } },
    ],
    [
      'of one by ID',
      () => amy,
      () => `GET /users/${bob.id}/presence`,
      {},
      { presence: { website: { client: undefined, pushable: undefined } } },
    ],
    [
      'of one by a bot',
      () => bot,
      () => `GET /users/${bob.id}/presence`,
      {},
      { presence: { aggregated: { status: 'active' } } },
    ],
    ['of one who never reported', () => amy, () => `GET /users/${guest.id}/presence`, {}, refused],
    ['of a bot', () => amy, () => `GET /users/${bot.id}/presence`, {}, refused],
    ['of nobody', () => amy, 'GET /users/99999/presence', {}, refused],
    ['of no unknown address', () => amy, 'GET /users/x@example.com/presence', {}, refused],
    [
      'of all',
      () => guest,
      'GET /realm/presence',
      {},
      {
        presences: has(
          () => amy,
          () => bob,
        ),
        presence_last_update_id: undefined,
      },
    ],
    [
      'of all, by a bot',
      () => bot,
      'GET /realm/presence',
      {},
      {
        presences: has(
          () => amy,
          () => bob,
        ),
      },
    ],
  ]
  cases(rows)

  test('who is invisible reports nothing', async () => {
    const shown = async () => (await ok(amy, `GET /users/${cat.id}/presence`)).presence.aggregated.status
    await ok(cat, 'PATCH /settings', { presence_enabled: false })
    await ok(cat, line, { status: 'active' })
    assert.equal(await shown(), 'offline')
    await ok(cat, 'PATCH /settings', { presence_enabled: true })
    assert.equal(await shown(), 'active')
    await ok(cat, 'PATCH /settings', { presence_enabled: false })
    assert.equal(await shown(), 'offline')
  })

  test('a first report is told', async () => {
    const heard = await listen(amy, ['presence'], { slim_presence: true })
    await ok(admin, line, { status: 'active' })
    const [event] = await heard()
    assert.deepEqual([event!.user_id, event!.presence.website.status, event!.email], [admin.id, 'active', undefined])
  })
}
