// Invitation links, as clients of the public server know them, and the accounts that come of them.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Control } from '../support/control.ts'
import { Caller, sharedDaemon, type TestDaemon } from '../support/daemon.ts'
import { listen, person } from '../support/world.ts'
import { ask, cases, ok } from './support/cases.ts'

let daemon: TestDaemon
let owner: Caller
let admin: Caller
let amy: Caller
let bob: Caller
let guest: Caller
let bot: Caller
let square: number
let crew: number

const refused = { status: 400, code: 'BAD_REQUEST' }
const roleRefused = { status: 400, code: 'UNAUTHORIZED_PRINCIPAL' }
const password = 'correct horse battery'

describe('invitation links', () => {
  sharedDaemon({ flags: ['--memory', '--control'] }, async started => {
    daemon = started
    owner = daemon.owner
    admin = await person(daemon, 'ada', { role: 200 })
    amy = await person(daemon, 'amy')
    bob = await person(daemon, 'bob')
    guest = await person(daemon, 'gus', { role: 600 })
    const made = await ok(amy, 'POST /bots', { full_name: 'Robot', short_name: 'robot' })
    bot = new Caller(daemon.url, 'robot-bot@example.com', made.api_key, made.user_id)
    square = (await ok(owner, 'POST /channels/create', { name: 'square', subscribers: [amy.id] })).id
    crew = (await ok(amy, 'POST /user_groups/create', { name: 'crew', description: '', members: [] })).group_id
  })
  describe('POST /invites/multiuse', links)
  describe('accepting', accepting)
})

async function openTo(caller: Caller): Promise<string[]> {
  return (await ok(caller, 'GET /invites')).invites.map(({ email }: { email?: string }) => email)
}

function links(): void {
  const line = 'POST /invites/multiuse'
  const link = { invite_link: (text: string) => text.includes('/join/') }
  cases([
    ['is not for members by default', () => amy, line, {}, refused],
    ['nor for guests', () => guest, line, {}, refused],
    ['nor for bots', () => bot, line, {}, refused],
    ['an administrator makes one', () => admin, line, {}, link],
    ['with channels', () => admin, line, () => ({ stream_ids: [square] }), link],
    ['with no unknown channel', () => admin, line, { stream_ids: [54321] }, refused],
    ['with groups', () => owner, line, () => ({ group_ids: [crew] }), link],
    ['with no unknown group', () => admin, line, { group_ids: [54321] }, refused],
    ['for guests', () => admin, line, { invite_as: 600 }, link],
    ['for administrators', () => admin, line, { invite_as: 200 }, link],
    ['for no owners', () => admin, line, { invite_as: 100 }, roleRefused],
    ['for owners, by an owner', () => owner, line, { invite_as: 100 }, link],
    ['for no unknown role', () => admin, line, { invite_as: 10 }, refused],
    ['that never ends', () => admin, line, { invite_expires_in_minutes: null }, link],
    ['with a welcome text', () => admin, line, { welcome_message_custom_text: 'Hello' }, link],
  ])

  test('create_multiuse_invite_group decides who makes them, but not for which roles', async () => {
    const { user_groups } = await ok(owner, 'GET /user_groups')
    const members = user_groups.find((one: { name: string }) => one.name === 'role:members').id
    assert.equal(
      (await ask(admin, 'PATCH /realm', { create_multiuse_invite_group: { new: members } })).body.code,
      'UNAUTHORIZED_PRINCIPAL',
    )
    await ok(owner, 'PATCH /realm', { create_multiuse_invite_group: { new: members } })
    await ok(amy, line)
    assert.equal((await ask(amy, line, { invite_as: 300 })).body.code, 'BAD_REQUEST')
    assert.equal((await ask(amy, line, { welcome_message_custom_text: 'Hi' })).body.code, 'BAD_REQUEST')
    assert.equal((await ask(guest, line)).body.code, 'BAD_REQUEST')
  })
}

function accepting(): void {
  const link = async (fields: object = {}) => {
    const { invite_link } = await ok(owner, 'POST /invites/multiuse', fields as never)
    return invite_link.split('/').at(-2)
  }
  const nobody = () => daemon.anonymous
  const accept = (token: string, name: string) =>
    ok(nobody(), 'POST /invites/accept', { token, full_name: name, email: `${name}@example.com`, password })

  for (const [role, number] of [
    ['owner', 100],
    ['administrator', 200],
    ['moderator', 300],
    ['member', 400],
    ['guest', 600],
  ] as const)
    test(`as ${role}`, async () => {
      const { user_id } = await accept(await link({ invite_as: number }), `as-${role}`)
      assert.equal((await ok(amy, `GET /users/${user_id}`)).user.role, number)
      if (number === 100) await ok(owner, `PATCH /users/${user_id}`, { role: 400 })
    })

  test('with channels and groups', async () => {
    const { user_id } = await accept(await link({ stream_ids: [square], group_ids: [crew] }), 'joiner')
    assert.equal((await ok(amy, `GET /users/${user_id}/subscriptions/${square}`)).is_subscribed, true)
    assert.equal((await ok(amy, `GET /user_groups/${crew}/members/${user_id}`)).is_user_group_member, true)
  })

  test('a link tells neither its maker nor the lists of invitations', async () => {
    const token = await link()
    const heard = await listen(owner, ['invites_changed', 'message'])
    await accept(token, 'silent')
    assert.deepEqual(await heard(), [])
  })

  test('a link that has expired admits no one', async () => {
    const token = await link({ invite_expires_in_minutes: 10 })
    await new Control(daemon).advance('11m')
    const late = { token, full_name: 'Late', email: 'late@example.com', password }
    assert.equal((await ask(nobody(), 'POST /invites/accept', late)).body.code, 'BAD_REQUEST')
    assert.equal((await daemon.anonymous.raw('GET', `/join/${token}/`)).status, 404)
  })

  test('an account that is created otherwise ends the invitation of its address', async () => {
    await ok(bob, 'POST /invites', { invitee_emails: 'both@example.com', stream_ids: [] })
    await ok(owner, 'POST /users', { email: 'Both@example.com', password, full_name: 'Both' })
    assert.ok(!(await openTo(bob)).includes('both@example.com'))
  })
}
