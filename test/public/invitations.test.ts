// Invitations, as clients of the public server know them: who invites whom to what, lists, revoking, sending again.

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
let square: number
let vault: number
let crew: number
let closedCrew: number

const refused = { status: 400, code: 'BAD_REQUEST' }
const failed = { status: 400, code: 'INVITATION_FAILED', license_limit_reached: false, daily_limit_reached: false }

/** Roles that each caller can and cannot give; the code of the refusal. */
const given: readonly (readonly [string, () => Caller, number, string | undefined])[] = [
  ['an owner invites owners', () => owner, 100, undefined],
  ['an owner invites administrators', () => owner, 200, undefined],
  ['an administrator invites no owners', () => admin, 100, 'UNAUTHORIZED_PRINCIPAL'],
  ['an administrator invites administrators', () => admin, 200, undefined],
  ['an administrator invites moderators', () => admin, 300, undefined],
  ['a moderator invites no owners', () => moderator, 100, 'UNAUTHORIZED_PRINCIPAL'],
  ['a moderator invites no administrators', () => moderator, 200, 'BAD_REQUEST'],
  ['a moderator invites no moderators', () => moderator, 300, 'BAD_REQUEST'],
  ['a moderator invites members', () => moderator, 400, undefined],
  ['a member invites no administrators', () => amy, 200, 'BAD_REQUEST'],
  ['a member invites no moderators', () => amy, 300, 'BAD_REQUEST'],
  ['a member invites members', () => amy, 400, undefined],
  ['a member invites guests', () => amy, 600, undefined],
]

describe('invitations', () => {
  sharedDaemon({ flags: ['--memory'] }, async started => {
    daemon = started
    owner = daemon.owner
    admin = await person(daemon, 'ada', { role: 200 })
    moderator = await person(daemon, 'mo', { role: 300 })
    amy = await person(daemon, 'amy')
    bob = await person(daemon, 'bob')
    guest = await person(daemon, 'gus', { role: 600 })
    const made = await ok(amy, 'POST /bots', { full_name: 'Robot', short_name: 'robot' })
    bot = new Caller(daemon.url, 'robot-bot@example.com', made.api_key, made.user_id)
    square = (await ok(owner, 'POST /channels/create', { name: 'square', subscribers: [amy.id] })).id
    vault = (await ok(owner, 'POST /channels/create', { name: 'vault', subscribers: [], invite_only: true })).id
    crew = (await ok(amy, 'POST /user_groups/create', { name: 'crew', description: '', members: [] })).group_id
    closedCrew = (await ok(owner, 'POST /user_groups/create', { name: 'closed', description: '', members: [] }))
      .group_id
    const gone = await person(daemon, 'gone')
    await ok(owner, `DELETE /users/${gone.id}`)
  })
  describe('POST /invites', sending)
  describe('addresses', addresses)
  describe('GET /invites', listing)
  describe('revoking and sending again', ending)
})

let count = 0
function invitee(): string {
  count++
  return `new${count}@example.com`
}

function sending(): void {
  const line = 'POST /invites'
  const fields =
    (more: object = {}) =>
    () => ({ invitee_emails: invitee(), stream_ids: [], ...more })
  cases([
    ...given.map(
      ([title, caller, invite_as, code]): Case => [
        title,
        caller,
        line,
        fields({ invite_as }),
        code ? { status: 400, code } : {},
      ],
    ),
    ['no unknown role', () => owner, line, fields({ invite_as: 10 }), refused],
    ['no role 0', () => owner, line, fields({ invite_as: 0 }), refused],
    ['guests invite nobody', () => guest, line, fields(), refused],
    ['bots invite nobody', () => bot, line, fields(), refused],
    ['a channel', () => amy, line, () => ({ invitee_emails: invitee(), stream_ids: [square] }), {}],
    ['no unknown channel', () => amy, line, fields({ stream_ids: [54321] }), refused],
    ['no hidden channel', () => amy, line, () => ({ invitee_emails: invitee(), stream_ids: [vault] }), refused],
    [
      'a group that one can add to',
      () => amy,
      line,
      () => ({ invitee_emails: invitee(), stream_ids: [], group_ids: [crew] }),
      {},
    ],
    [
      'no group that one cannot add to',
      () => amy,
      line,
      () => ({ invitee_emails: invitee(), stream_ids: [], group_ids: [closedCrew] }),
      refused,
    ],
    [
      'any group, by an owner',
      () => owner,
      line,
      () => ({ invitee_emails: invitee(), stream_ids: [], group_ids: [closedCrew] }),
      {},
    ],
    ['no unknown group', () => amy, line, fields({ group_ids: [54321] }), refused],
    ['default channels', () => amy, line, fields({ include_realm_default_subscriptions: true }), {}],
    ['no flag that is not boolean', () => amy, line, fields({ include_realm_default_subscriptions: 'x' }), refused],
    ['no end', () => amy, line, fields({ invite_expires_in_minutes: null }), {}],
    ['two days', () => amy, line, fields({ invite_expires_in_minutes: 2880 }), {}],
    ['no notice', () => amy, line, fields({ notify_referrer_on_join: false }), {}],
    ['a welcome text by an administrator', () => admin, line, fields({ welcome_message_custom_text: 'Hi!' }), {}],
    ['no welcome text by a member', () => amy, line, fields({ welcome_message_custom_text: 'Hi!' }), refused],
    ['no long welcome text', () => admin, line, fields({ welcome_message_custom_text: 'x'.repeat(8001) }), refused],
    ['no addresses', () => amy, line, { invitee_emails: '', stream_ids: [] }, refused],
    [
      'missing addresses',
      () => amy,
      line,
      { stream_ids: [] },
      { status: 400, code: 'REQUEST_VARIABLE_MISSING', var_name: 'invitee_emails' },
    ],
    [
      'missing channels',
      () => amy,
      line,
      () => ({ invitee_emails: invitee() }),
      { status: 400, var_name: 'stream_ids' },
    ],
    ['channels that are no list', () => amy, line, fields({ stream_ids: 'square' }), refused],
  ])

  test('is told to administrators and the inviter', async () => {
    const [mine, theirs, others] = [await hear(amy), await hear(admin), await hear(bob)]
    await ok(amy, 'POST /invites', { invitee_emails: `${invitee()}, ${invitee()}`, stream_ids: [] })
    assert.deepEqual([await mine(), await theirs(), await others()], [[changed], [changed], []])
  })

  test('can_invite_users_group decides who invites', async () => {
    const { user_groups } = await ok(owner, 'GET /user_groups')
    const id = (name: string) => user_groups.find((one: { name: string }) => one.name === name).id
    const invite = (caller: Caller) => ask(caller, 'POST /invites', { invitee_emails: invitee(), stream_ids: [] })
    for (const [name, allowed] of [
      ['role:administrators', [true, false, false]],
      ['role:moderators', [true, true, false]],
      ['role:nobody', [false, false, false]],
      ['role:members', [true, true, true]],
    ] as const) {
      await ok(owner, 'PATCH /realm', { can_invite_users_group: { new: id(name) } })
      const results = []
      for (const caller of [admin, moderator, amy]) results.push((await invite(caller)).body.result === 'success')
      assert.deepEqual(results, [...allowed], name)
    }
  })
}

const changed = { type: 'invites_changed' }

function hear(caller: Caller) {
  return listen(caller, ['invites_changed'])
}

async function openTo(caller: Caller): Promise<string[]> {
  return (await ok(caller, 'GET /invites')).invites.map(({ email }: { email?: string }) => email)
}

function addresses(): void {
  const line = 'POST /invites'
  cases([
    [
      'somebody who has an account',
      () => bob,
      line,
      { invitee_emails: 'amy@example.com', stream_ids: [] },
      { ...failed, sent_invitations: false, errors: [['amy@example.com', () => true, false]] },
    ],
    [
      'somebody who was deactivated',
      () => bob,
      line,
      { invitee_emails: 'gone@example.com', stream_ids: [] },
      { ...failed, sent_invitations: false, errors: [['gone@example.com', () => true, true]] },
    ],
    [
      'no address at all',
      () => bob,
      line,
      { invitee_emails: 'nonsense', stream_ids: [] },
      { ...failed, sent_invitations: false, errors: [['nonsense', () => true, false]] },
    ],
    [
      'mistakes come before known people',
      () => bob,
      line,
      { invitee_emails: 'amy@example.com, nonsense, fine@example.com', stream_ids: [] },
      {
        ...failed,
        sent_invitations: false,
        errors: [['nonsense'], ['amy@example.com']].map(([email]) => [email, () => true, false]),
      },
    ],
    [
      'a disposable one',
      () => bob,
      line,
      { invitee_emails: 'x@mailinator.com', stream_ids: [] },
      { ...failed, sent_invitations: false },
    ],
  ])

  test('new ones are invited beside known ones, which are named', async () => {
    const heard = await hear(bob)
    const invitee_emails = 'amy@example.com, fresh1@example.com\ngone@example.com,fresh2@example.com'
    const { status, body } = await ask(bob, line, { invitee_emails, stream_ids: [] })
    assert.deepEqual([status, body.code, body.sent_invitations], [400, 'INVITATION_FAILED', true])
    assert.deepEqual(
      body.errors.map(([email, , deactivated]: [string, string, boolean]) => [email, deactivated]),
      [
        ['amy@example.com', false],
        ['gone@example.com', true],
      ],
    )
    assert.deepEqual((await openTo(bob)).sort(), ['fresh1@example.com', 'fresh2@example.com'])
    assert.deepEqual(await heard(), [changed])
  })

  for (const [form, emails] of [
    ['a@example.com, b@example.com', ['a@example.com', 'b@example.com']],
    ['c@example.com\nd@example.com', ['c@example.com', 'd@example.com']],
    ['Eve <e@example.com>', ['e@example.com']],
    ['"Fay, F." <f@example.com>'.replace(', F.', ''), ['f@example.com']],
    [' g@example.com ,\n, h@example.com,', ['g@example.com', 'h@example.com']],
  ] as const)
    test(`the list ${JSON.stringify(form)}`, async () => {
      await ok(moderator, line, { invitee_emails: form, stream_ids: [] })
      const open = await openTo(moderator)
      for (const email of emails) assert.ok(open.includes(email), `${email} in ${open}`)
    })

  test('more than a hundred at once', async () => {
    const many = Array.from({ length: 150 }, (_, index) => `many${index}@example.com`)
    await ok(admin, line, { invitee_emails: many.join(','), stream_ids: [] })
    assert.ok((await openTo(admin)).length >= 150)
  })

  test('only of the domains of a restricted organization', async () => {
    await ok(owner, 'POST /realm/domains', { domain: 'corp.example', allow_subdomains: false })
    await ok(owner, 'PATCH /realm', { emails_restricted_to_domains: true })
    const invite = async (invitee_emails: string) =>
      (await ask(bob, line, { invitee_emails, stream_ids: [] })).body.result
    assert.deepEqual(
      [await invite('x@example.com'), await invite('x+y@corp.example'), await invite('x@corp.example')],
      ['error', 'error', 'success'],
    )
    await ok(owner, 'PATCH /realm', { emails_restricted_to_domains: false })
  })
}

function listing(): void {
  cases([
    ['is not for guests', () => guest, 'GET /invites', {}, refused],
    ['nor for bots', () => bot, 'GET /invites', {}, refused],
  ])

  test('addresses first, then links, with their fields', async () => {
    const { user_groups } = await ok(owner, 'GET /user_groups')
    const members = user_groups.find((one: { name: string }) => one.name === 'role:members').id
    await ok(owner, 'PATCH /realm', { create_multiuse_invite_group: { new: members } })
    const eve = await person(daemon, 'eve')
    await ok(eve, 'POST /invites/multiuse', { invite_expires_in_minutes: 60 })
    await ok(eve, 'POST /invites', {
      invitee_emails: 'late@example.com',
      stream_ids: [],
      invite_as: 600,
      notify_referrer_on_join: false,
    })
    const [mailed, link, ...more] = (await ok(eve, 'GET /invites')).invites
    assert.deepEqual(more, [])
    const { id: _, invited, expiry_date, ...rest } = mailed
    assert.equal(expiry_date - invited, 10 * 24 * 60 * 60)
    assert.deepEqual(rest, {
      invited_by_user_id: eve.id,
      invited_as: 600,
      is_multiuse: false,
      email: 'late@example.com',
      notify_referrer_on_join: false,
    })
    assert.deepEqual([link.is_multiuse, link.email, link.expiry_date - link.invited], [true, undefined, 3600])
    assert.match(link.link_url, /\/join\//)
  })

  test('members see their own, administrators all', async () => {
    assert.ok(!(await openTo(bob)).includes('late@example.com'))
    assert.ok((await openTo(admin)).includes('late@example.com'))
  })
}

function ending(): void {
  let eve: Caller
  const newest = async (caller: Caller, match: (row: Record<string, any>) => boolean): Promise<number> =>
    (await ok(caller, 'GET /invites')).invites.findLast(match).id

  test('an inviter revokes once', async () => {
    eve = await person(daemon, 'evan')
    await ok(eve, 'POST /invites', { invitee_emails: 'one@example.com', stream_ids: [] })
    const id = await newest(eve, ({ email }) => email === 'one@example.com')
    assert.equal((await ask(bob, `DELETE /invites/${id}`)).body.code, 'BAD_REQUEST')
    assert.equal((await ask(guest, `DELETE /invites/${id}`)).body.code, 'BAD_REQUEST')
    const heard = await hear(eve)
    await ok(eve, `DELETE /invites/${id}`)
    assert.deepEqual(await heard(), [changed])
    assert.equal((await ask(eve, `DELETE /invites/${id}`)).body.code, 'BAD_REQUEST')
    assert.equal((await ask(eve, `POST /invites/${id}/resend`)).body.code, 'BAD_REQUEST')
  })

  test('sending again changes neither the list nor its time, and is not told', async () => {
    await ok(eve, 'POST /invites', { invitee_emails: 'two@example.com', stream_ids: [] })
    const before = (await ok(eve, 'GET /invites')).invites
    const heard = await hear(eve)
    const id = await newest(eve, ({ email }) => email === 'two@example.com')
    await ok(eve, `POST /invites/${id}/resend`)
    await ok(admin, `POST /invites/${id}/resend`)
    assert.equal((await ask(bob, `POST /invites/${id}/resend`)).body.code, 'BAD_REQUEST')
    assert.deepEqual(await heard(), [])
    assert.deepEqual((await ok(eve, 'GET /invites')).invites, before)
  })

  test('those of owners are for owners', async () => {
    await ok(owner, 'POST /invites', { invitee_emails: 'three@example.com', stream_ids: [], invite_as: 100 })
    const id = await newest(owner, ({ email }) => email === 'three@example.com')
    assert.equal((await ask(admin, `DELETE /invites/${id}`)).body.code, 'UNAUTHORIZED_PRINCIPAL')
    assert.equal((await ask(admin, `POST /invites/${id}/resend`)).body.code, 'UNAUTHORIZED_PRINCIPAL')
    await ok(owner, `DELETE /invites/${id}`)
  })

  test('links are revoked by their own path', async () => {
    await ok(admin, 'POST /invites/multiuse')
    const id = await newest(admin, ({ is_multiuse }) => is_multiuse)
    assert.equal((await ask(bob, `DELETE /invites/multiuse/${id}`)).body.code, 'BAD_REQUEST')
    await ok(admin, `DELETE /invites/multiuse/${id}`)
    assert.equal((await ask(admin, `DELETE /invites/multiuse/${id}`)).body.code, 'BAD_REQUEST')
  })
  cases([
    ['no unknown invitation', () => owner, 'DELETE /invites/99999', {}, refused],
    ['no unknown link', () => owner, 'DELETE /invites/multiuse/99999', {}, refused],
    ['nothing unknown again', () => owner, 'POST /invites/99999/resend', {}, refused],
  ])

  test('an inviter who leaves takes theirs along', async () => {
    await ok(admin, `DELETE /users/${eve.id}`)
    assert.ok(!(await openTo(admin)).includes('two@example.com'))
  })
}
