// Accounts, as clients of the public server know them: roles, hidden addresses, deactivating and reactivating.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Caller, sharedDaemon, type TestDaemon } from '../support/daemon.ts'
import { listen, person } from '../support/world.ts'
import { ask, type Case, cases, ok } from './support/cases.ts'

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

const roleNumbers = { owner: 100, administrator: 200, moderator: 300, member: 400, guest: 600 } as const

describe('accounts', () => {
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
  describe('roles', roles)
  describe('email addresses', addresses)
  describe('DELETE /users/{user_id}', deactivating)
  describe('DELETE /users/me', leaving)
  describe('POST /users/{user_id}/reactivate', reactivating)
})

async function newBot(of: Caller, short_name: string, more: object = {}): Promise<Caller> {
  const { user_id, api_key } = await ok(of, 'POST /bots', { full_name: `${short_name} bot`, short_name, ...more })
  return new Caller(daemon.url, `${short_name}-bot@example.com`, api_key, user_id)
}

function roles(): void {
  for (const [from, before] of Object.entries(roleNumbers))
    for (const [to, after] of Object.entries(roleNumbers)) {
      if (before === after) continue
      const promotes = before === 600 && after <= 200
      test(`${from} to ${to}: ${promotes ? 'refused' : 'done and told'}`, async () => {
        const someone = await person(daemon, `${from}-to-${to}`, { role: before })
        const heard = await listen(amy, ['realm_user', 'user_group'])
        const { body } = await ask(owner, `PATCH /users/${someone.id}`, { role: after })
        assert.equal(body.result, promotes ? 'error' : 'success')
        const [first, ...groups] = await heard()
        if (promotes) return assert.equal(first, undefined)
        assert.deepEqual(first, { type: 'realm_user', op: 'update', person: { user_id: someone.id, role: after } })
        assert.ok(groups.some(({ op }) => op === 'remove_members') && groups.some(({ op }) => op === 'add_members'))
        await ok(owner, `PATCH /users/${someone.id}`, { role: 400 })
      })
    }
  cases([
    ['an administrator makes no owner', () => admin, () => `PATCH /users/${bob.id}`, { role: 100 }, roleRefused],
    ['an administrator unmakes no owner', () => admin, () => `PATCH /users/${owner.id}`, { role: 400 }, roleRefused],
    ['an administrator makes moderators', () => admin, () => `PATCH /users/${bob.id}`, { role: 300 }, {}],
    ['the same role is no change', () => admin, () => `PATCH /users/${bob.id}`, { role: 300 }, {}],
    ['a member changes none', () => amy, () => `PATCH /users/${amy.id}`, { role: 200 }, refused],
  ])
}

function addresses(): void {
  /** Who sees the address, by email_address_visibility. */
  const readers: Readonly<Record<number, readonly string[]>> = {
    1: ['owner', 'admin', 'moderator', 'member', 'guest'],
    2: ['owner', 'admin', 'moderator', 'member'],
    3: ['owner', 'admin'],
    4: [],
    5: ['owner', 'admin', 'moderator'],
  }
  const callers: Readonly<Record<string, () => Caller>> = {
    owner: () => owner,
    admin: () => admin,
    moderator: () => moderator,
    member: () => amy,
    guest: () => guest,
  }
  for (const [visibility, seen] of Object.entries(readers))
    describe(`with email_address_visibility ${visibility}`, () => {
      let eve: Caller
      const shown = (name: string) => seen.includes(name)
      test('can be chosen', async () => {
        eve = await person(daemon, `eve${visibility}`)
        await ok(eve, 'PATCH /settings', { email_address_visibility: Number(visibility) })
      })
      cases(
        Object.entries(callers).flatMap(([name, caller]): Case[] => [
          [
            `${name} ${shown(name) ? 'sees' : 'does not see'} it`,
            caller,
            () => `GET /users/${eve.id}`,
            {},
            () => ({
              user: {
                delivery_email: shown(name) ? eve.email : null,
                email: visibility === '1' ? eve.email : `user${eve.id}@example.com`,
              },
            }),
          ],
          [
            `${name} ${shown(name) ? 'finds' : 'does not find'} the account by it`,
            caller,
            () => `GET /users/${eve.email}`,
            {},
            shown(name) ? () => ({ user: { user_id: eve.id } }) : refused,
          ],
        ]),
      )
    })

  test('a change is told: the address, the picture, then the address of the API', async () => {
    const eve = await person(daemon, 'eve')
    const heard = await listen(amy, ['realm_user'])
    await ok(owner, `PATCH /users/${eve.id}`, { new_email: 'eve.new@example.com' })
    assert.deepEqual(
      (await heard()).map(({ person }) => Object.keys(person)[1]),
      ['delivery_email', 'avatar_url', 'new_email'],
    )
  })

  test('an owner is not bound by the domains of the organization when correcting an address', async () => {
    await ok(owner, 'POST /realm/domains', { domain: 'corp.example', allow_subdomains: false })
    await ok(owner, 'PATCH /realm', { emails_restricted_to_domains: true })
    await ok(owner, `PATCH /users/${bob.id}`, { new_email: 'bob@elsewhere.example' })
    await ok(owner, `PATCH /users/${bob.id}`, { new_email: 'bob@example.com' })
    await ok(owner, 'PATCH /realm', { emails_restricted_to_domains: false })
  })
}

function deactivating(): void {
  cases([
    ['is not for members', () => amy, () => `DELETE /users/${bob.id}`, {}, refused],
    ['nor for guests', () => guest, () => `DELETE /users/${bob.id}`, {}, refused],
    ['no owner by an administrator', () => admin, () => `DELETE /users/${owner.id}`, {}, roleRefused],
    ['not the only owner', () => owner, () => `DELETE /users/${owner.id}`, {}, refused],
    ['no unknown user', () => admin, 'DELETE /users/99999', {}, refused],
    ['no bot', () => admin, () => `DELETE /users/${bot.id}`, {}, refused],
    [
      'no comment that is too long',
      () => admin,
      () => `DELETE /users/${bob.id}`,
      { deactivation_notification_comment: 'x'.repeat(2001) },
      refused,
    ],
  ])

  test('ends the account, its bots and its groups, once', async () => {
    const eve = await person(daemon, 'evelyn')
    const hers = await newBot(eve, 'evebot')
    const heard = await listen(amy, ['realm_user'])
    await ok(admin, `DELETE /users/${eve.id}`)
    assert.deepEqual(
      (await heard()).map(({ op, person }) => [op, person]),
      [
        ['update', { user_id: hers.id, is_active: false }],
        ['update', { user_id: eve.id, is_active: false }],
      ],
    )
    const { status, body } = await ask(eve, 'GET /users/me')
    assert.deepEqual([status, body.code], [401, 'USER_DEACTIVATED'])
    assert.equal((await ask(admin, `DELETE /users/${eve.id}`)).body.code, 'BAD_REQUEST')
    assert.equal((await ok(amy, `GET /users/${eve.id}`)).user.is_active, false)
  })
}

function leaving(): void {
  test('the only owner stays', async () => {
    const { status, body } = await ask(owner, 'DELETE /users/me')
    assert.deepEqual(
      [status, body.code, body.is_last_owner, body.entity],
      [400, 'CANNOT_DEACTIVATE_LAST_USER', true, 'organization owner'],
    )
  })

  test('anyone else leaves', async () => {
    const eve = await person(daemon, 'leaver')
    await ok(eve, 'DELETE /users/me')
    assert.equal((await ask(eve, 'GET /users/me')).body.code, 'USER_DEACTIVATED')
  })
}

function reactivating(): void {
  cases([
    ['is not for members', () => amy, () => `POST /users/${bob.id}/reactivate`, {}, refused],
    ['no unknown user', () => admin, 'POST /users/99999/reactivate', {}, refused],
    ['an active account', () => admin, () => `POST /users/${bob.id}/reactivate`, {}, {}],
  ])

  test('is told, with consent and groups, and the account works again', async () => {
    const eve = await person(daemon, 'returner')
    await ok(admin, `DELETE /users/${eve.id}`)
    const heard = await listen(admin, ['realm_user', 'realm_export_consent', 'user_group'])
    await ok(admin, `POST /users/${eve.id}/reactivate`)
    const [first, second, ...groups] = await heard()
    assert.deepEqual(first, { type: 'realm_user', op: 'update', person: { user_id: eve.id, is_active: true } })
    assert.deepEqual(second, { type: 'realm_export_consent', user_id: eve.id, consented: false })
    assert.ok(groups.length > 0 && groups.every(({ op }) => op === 'add_members'))
    await ok(eve, 'GET /users/me')
  })

  test('a bot whose owner left moves to the person who brings it back, and everyone learns it', async () => {
    const eve = await person(daemon, 'former')
    const orphan = await newBot(eve, 'orphan')
    await ok(admin, `DELETE /users/${eve.id}`)
    const heard = await listen(amy, ['realm_user'])
    await ok(admin, `POST /users/${orphan.id}/reactivate`)
    assert.deepEqual(
      (await heard()).map(({ person }) => person),
      [
        { user_id: orphan.id, is_active: true },
        { user_id: orphan.id, bot_owner_id: admin.id },
      ],
    )
  })

  test('a bot is not brought back under a name that an active account has', async () => {
    const first = await newBot(amy, 'double')
    await ok(amy, `DELETE /bots/${first.id}`)
    await ok(amy, 'POST /bots', { full_name: 'double bot', short_name: 'double2' })
    assert.equal((await ask(amy, `POST /users/${first.id}/reactivate`)).body.code, 'BAD_REQUEST')
  })
}
