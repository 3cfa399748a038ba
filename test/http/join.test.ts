// The page behind the link of an invitation, and the account that its form creates.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { channels } from '../../daemon/api/channels/channels.ts'
import { subscriptions } from '../../daemon/api/channels/subscriptions.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { organization } from '../../daemon/api/organization/organization.ts'
import { invitations } from '../../daemon/api/people/invitations.ts'
import { userGroups } from '../../daemon/api/people/user-groups.ts'
import { users } from '../../daemon/api/people/users.ts'
import { Caller, sharedDaemon, type TestDaemon } from '../support/daemon.ts'
import { type HttpReply, send } from '../support/http.ts'
import { mailWith } from '../support/outbox.ts'
import { listen, person } from '../support/world.ts'

const password = 'correct horse battery'
let daemon: TestDaemon
let amy: Caller

sharedDaemon({ flags: ['--control'] }, async started => {
  daemon = started
  amy = await person(daemon, 'amy')
})

function open(link: string): Promise<HttpReply> {
  return send(link)
}

function submit(
  link: string,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<HttpReply> {
  const form = { 'content-type': 'application/x-www-form-urlencoded', ...headers }
  return send(link, { method: 'POST', body: String(new URLSearchParams(fields)), headers: form })
}

/** The link that was mailed to the address. */
async function linkTo(address: string): Promise<string> {
  const { input } = await mailWith(daemon, new RegExp(`To: ${address}`))
  return /http\S+\/join\/\S+/.exec(input)![0]
}

async function logIn(email: string): Promise<Caller> {
  const { api_key, user_id } = await daemon.anonymous.call(users.fetchApiKey, { username: email, password })
  return new Caller(daemon.url, email, api_key, user_id)
}

async function inbox(caller: Caller) {
  const { messages: found } = await caller.call(messages.list, {
    anchor: 'newest',
    num_before: 100,
    num_after: 0,
    narrow: [{ operator: 'is', operand: 'dm' }],
    apply_markdown: false,
  })
  return found
}

describe('/join/{token} of an invitation by mail', () => {
  test('shows a form without script, whose address other sites do not learn', async () => {
    await amy.call(invitations.send, { invitee_emails: 'gil@example.com', stream_ids: [] })
    const { status, headers, text } = await open(await linkTo('gil@example.com'))
    assert.equal(status, 200)
    assert.match(String(headers['content-type']), /^text\/html/)
    assert.match(String(headers['content-security-policy']), /default-src 'none'.*frame-ancestors 'none'/)
    assert.deepEqual([headers['referrer-policy'], headers['cache-control']], ['no-referrer', 'no-store'])
    assert.match(text, /<form method="post">/)
    assert.match(text, /gil@example\.com/)
    assert.deepEqual(
      [...text.matchAll(/<input name="(\w+)"/g)].map(found => found[1]),
      ['full_name', 'password'],
    )
  })

  test('creates the account with its role, channels and groups, and tells those whom it concerns', async () => {
    const { owner } = daemon
    const { id: hall } = await owner.call(channels.create, { name: 'hall', subscribers: [amy.id] })
    const { id: porch } = await owner.call(channels.create, { name: 'porch', subscribers: [], is_default_stream: true })
    const { group_id } = await owner.call(userGroups.create, { name: 'crew', description: '', members: [amy.id] })
    await owner.call(organization.update, { signup_announcements_stream_id: hall })
    await owner.call(invitations.send, {
      invitee_emails: 'eve@example.com',
      stream_ids: [hall],
      group_ids: [group_id],
      invite_as: 300,
      include_realm_default_subscriptions: true,
      welcome_message_custom_text: 'Tea is at four.',
    })
    const heard = await listen(owner, ['invites_changed', 'realm_user', 'user_group', 'message'])
    const reply = await submit(await linkTo('eve@example.com'), { full_name: 'Eve Evans', password })
    assert.equal(reply.status, 200)
    assert.match(reply.text, /Your account is ready.*eve@example\.com/)
    const eve = await logIn('eve@example.com')
    const me = await eve.call(users.me, {})
    assert.deepEqual([me.full_name, me.role], ['Eve Evans', 300])
    const mine = await eve.call(subscriptions.list, {})
    assert.deepEqual(mine.subscriptions.map(({ stream_id }) => stream_id).sort(), [hall, porch].sort())
    assert.equal(
      (await eve.call(userGroups.isMember, { user_group_id: group_id, user_id: eve.id })).is_user_group_member,
      true,
    )
    const told = await heard()
    assert.ok(
      told.some(({ type, op, group_id: id }) => type === 'user_group' && op === 'add_members' && id === group_id),
    )
    assert.ok(told.some(({ type }) => type === 'invites_changed'))
    assert.ok(told.some(({ message }) => /accepted your invitation/.test(String(message?.content))))
    const welcome = await inbox(eve)
    assert.deepEqual(
      welcome.map(({ flags }) => flags),
      [['starred'], ['starred']],
    )
    assert.match(String(welcome[1]!.content), /quote\nTea is at four\.\n/)
  })

  test('works once, and says what became of the invitation', async () => {
    await amy.call(invitations.send, { invitee_emails: 'fay@example.com', stream_ids: [] })
    const link = await linkTo('fay@example.com')
    assert.equal((await submit(link, { full_name: 'Fay', password })).status, 200)
    for (const { status, text } of [await open(link), await submit(link, { full_name: 'Fay Two', password })]) {
      assert.equal(status, 404)
      assert.match(text, /already accepted/)
    }
    assert.equal(
      (await amy.call(invitations.list, {})).invites.some(({ email }) => email === 'fay@example.com'),
      false,
    )
  })

  test('says that an invitation was revoked, has expired, or never existed', async () => {
    await amy.call(invitations.send, { invitee_emails: 'hal@example.com', stream_ids: [] })
    const revoked = await linkTo('hal@example.com')
    const { invites } = await amy.call(invitations.list, {})
    await amy.call(invitations.revoke, { invite_id: invites.find(({ email }) => email === 'hal@example.com')!.id })
    assert.match((await open(revoked)).text, /was revoked/)
    const unknown = await open(`${daemon.url}/join/nothing/`)
    assert.deepEqual([unknown.status, /does not work/.test(unknown.text)], [404, true])
  })

  test('keeps what was filled in when a field is wrong, and creates nothing', async () => {
    await amy.call(invitations.send, { invitee_emails: 'ida@example.com', stream_ids: [] })
    const link = await linkTo('ida@example.com')
    for (const [fields, problem] of [
      [{ full_name: '<b>', password }, /not allowed/],
      [{ full_name: 'Ida "I"', password: 'x' }, /at least|not allowed/],
      [{ full_name: 'Ida' }, /[Rr]equired/],
      [{ password }, /[Mm]issing|[Rr]equired/],
    ] as const) {
      const { status, text } = await submit(link, fields as Record<string, string>)
      assert.equal(status, 400)
      assert.match(text, problem)
      assert.doesNotMatch(text, /value="<b>"/)
    }
    await daemon.anonymous.refused(
      users.fetchApiKey,
      { username: 'ida@example.com', password },
      'AUTHENTICATION_FAILED',
    )
  })

  test('pages of other sites cannot send the form', async () => {
    await amy.call(invitations.send, { invitee_emails: 'jon@example.com', stream_ids: [] })
    const link = await linkTo('jon@example.com')
    const { status } = await submit(link, { full_name: 'Jon', password }, { origin: 'https://elsewhere.example' })
    assert.equal(status, 403)
  })
})

describe('/join/{token} of a reusable link', () => {
  test('asks for the address, and works until it is revoked', async () => {
    const { invite_link } = await daemon.owner.call(invitations.createLink, { invite_as: 600 })
    assert.match((await open(invite_link)).text, /<input name="email"/)
    const nameless = await submit(invite_link, { full_name: 'Kit', password })
    assert.deepEqual([nameless.status, /required/i.test(nameless.text)], [400, true])
    for (const name of ['kit', 'lea']) {
      const { status } = await submit(invite_link, { full_name: name, password, email: `${name}@example.com` })
      assert.equal(status, 200)
      assert.equal((await (await logIn(`${name}@example.com`)).call(users.me, {})).role, 600)
    }
    const taken = await submit(invite_link, { full_name: 'Kit', password, email: 'KIT@example.com' })
    assert.deepEqual([taken.status, /in use/.test(taken.text)], [400, true])
    const { invites } = await daemon.owner.call(invitations.list, {})
    await daemon.owner.call(invitations.revokeLink, { invite_id: invites.find(({ is_multiuse }) => is_multiuse)!.id })
    assert.equal((await open(invite_link)).status, 404)
  })

  test('ends open invitations of the same address', async () => {
    await amy.call(invitations.send, { invitee_emails: 'mia@example.com', stream_ids: [] })
    const { invite_link } = await daemon.owner.call(invitations.createLink, {})
    await submit(invite_link, { full_name: 'Mia', password, email: 'mia@example.com' })
    assert.match((await open(await linkTo('mia@example.com'))).text, /was revoked/)
  })
})

describe('POST /invites/accept', () => {
  test('takes the address that was invited only, and needs no authentication', async () => {
    await amy.call(invitations.send, { invitee_emails: 'ned@example.com', stream_ids: [] })
    const token = (await linkTo('ned@example.com')).split('/').at(-2)!
    const account = { token, full_name: 'Ned', password }
    await daemon.anonymous.refused(invitations.accept, { ...account, email: 'other@example.com' }, 'BAD_REQUEST')
    const reply = await daemon.anonymous.call(invitations.accept, account)
    assert.equal(reply.email, 'ned@example.com')
    await daemon.anonymous.refused(invitations.accept, account, 'BAD_REQUEST')
    await daemon.anonymous.refused(invitations.accept, { ...account, token: 'x' }, 'BAD_REQUEST')
  })

  test('a channel that is gone is left out', async () => {
    const { owner } = daemon
    const { id } = await owner.call(channels.create, { name: 'short lived', subscribers: [] })
    await owner.call(invitations.send, { invitee_emails: 'oda@example.com', stream_ids: [id] })
    await owner.call(channels.archive, { stream_id: id })
    const token = (await linkTo('oda@example.com')).split('/').at(-2)!
    await daemon.anonymous.call(invitations.accept, { token, full_name: 'Oda', password })
    const { subscriptions: mine } = await (await logIn('oda@example.com')).call(subscriptions.list, {})
    assert.deepEqual(mine, [])
  })
})
