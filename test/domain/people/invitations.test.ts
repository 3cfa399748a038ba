// Invitations: by mail and by link.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { channels } from '../../../daemon/api/channels/channels.ts'
import { subscriptions } from '../../../daemon/api/channels/subscriptions.ts'
import { organization } from '../../../daemon/api/organization/organization.ts'
import { invitations as api } from '../../../daemon/api/people/invitations.ts'
import { userGroups as groups } from '../../../daemon/api/people/user-groups.ts'
import { users } from '../../../daemon/api/people/users.ts'
import { type Caller, sharedDaemon, type TestDaemon } from '../../support/daemon.ts'
import { mailWith } from '../../support/outbox.ts'
import { listen, person } from '../../support/world.ts'

let daemon: TestDaemon
let amy: Caller
let bob: Caller
let owner: Caller

sharedDaemon({}, async started => {
  daemon = started
  owner = daemon.owner
  amy = await person(daemon, 'amy')
  bob = await person(daemon, 'bob')
})

async function mailTo(address: string): Promise<string> {
  return (await mailWith(daemon, new RegExp(`To: ${address}`))).input
}

describe('POST /invites', () => {
  test('mails each address once, lists the invitations, and tells administrators and the inviter', async () => {
    const heard = await listen(amy, ['invites_changed'])
    const others = await listen(bob, ['invites_changed'])
    await amy.call(api.send, {
      invitee_emails: 'eve@example.com, "Fay" <fay@example.com>\nEVE@example.com',
      stream_ids: [],
      invite_expires_in_minutes: null,
    })
    const { invites } = await amy.call(api.list, {})
    assert.deepEqual(invites.map(({ email }) => email).sort(), ['EVE@example.com', 'fay@example.com'])
    assert.deepEqual(invites[0]?.expiry_date, null)
    assert.match(await mailTo('fay@example.com'), /\/join\/[0-9a-f-]{36}/)
    assert.deepEqual(await heard(), [{ type: 'invites_changed' }])
    assert.deepEqual(await others(), [])
    assert.deepEqual((await bob.call(api.list, {})).invites, [])
    assert.equal((await owner.call(api.list, {})).invites.length, 2)
  })

  test('addresses that cannot be invited give INVITATION_FAILED, and no one is invited', async () => {
    const { errors, sent_invitations } = await bob.refused(
      api.send,
      { invitee_emails: 'new@example.com, amy@example.com, nonsense', stream_ids: [] },
      'INVITATION_FAILED',
    )
    assert.deepEqual(
      (errors as unknown[][]).map(([email]) => email),
      ['nonsense', 'amy@example.com'],
    )
    assert.equal(sent_invitations, false)
    assert.deepEqual((await bob.call(api.list, {})).invites, [])
  })

  test('roles, channels, groups and times are checked', async () => {
    const invitation = { invitee_emails: 'gus@example.com', stream_ids: [] }
    await amy.refused(api.send, { ...invitation, invite_as: 200 }, 'BAD_REQUEST')
    await amy.refused(api.send, { ...invitation, invite_as: 100 }, 'UNAUTHORIZED_PRINCIPAL')
    await amy.refused(api.send, { ...invitation, welcome_message_custom_text: 'Hi' }, 'BAD_REQUEST')
    await amy.refused(api.send, { ...invitation, stream_ids: [9999] }, 'BAD_REQUEST')
    await amy.refused(api.send, { ...invitation, group_ids: [9999] }, 'BAD_REQUEST')
    await amy.refused(api.send, { ...invitation, group_ids: [2] }, 'BAD_REQUEST')
    await amy.refused(api.send, { ...invitation, invite_expires_in_minutes: 0 }, 'BAD_REQUEST')
    // The row would be refused by every restore.
    await amy.refused(api.send, { ...invitation, invite_expires_in_minutes: Number.MAX_SAFE_INTEGER }, 'BAD_REQUEST')
    await amy.refused(api.send, { ...invitation, invitee_emails: ' , ' }, 'BAD_REQUEST')
  })

  test('a restricted organization invites into its domains only', async () => {
    await owner.call(organization.addDomain, { domain: 'corp.example', allow_subdomains: true })
    await owner.call(organization.update, { emails_restricted_to_domains: true })
    const send = (invitee_emails: string) => ({ invitee_emails, stream_ids: [] })
    await owner.refused(api.send, send('hal@elsewhere.example'), 'INVITATION_FAILED')
    await owner.refused(api.send, send('hal+x@corp.example'), 'INVITATION_FAILED')
    await owner.call(api.send, send('hal@mail.corp.example'))
    await owner.call(organization.update, { emails_restricted_to_domains: false })
  })
})

describe('DELETE /users/{user_id}', () => {
  test('revokes what the account had invited', async () => {
    const kit = await person(daemon, 'kit')
    await kit.call(api.send, { invitee_emails: 'lea@example.com', stream_ids: [] })
    await owner.call(users.deactivate, { user_id: kit.id })
    const { invites } = await owner.call(api.list, {})
    assert.ok(!invites.some(({ email }) => email === 'lea@example.com'))
  })
})

describe('GET /invites', () => {
  test('is not for guests', async () => {
    const guest = await person(daemon, 'gus', { role: 600 })
    await guest.refused(api.list, {}, 'BAD_REQUEST')
    await guest.refused(api.send, { invitee_emails: 'x@example.com', stream_ids: [] }, 'BAD_REQUEST')
  })
})

describe('POST /invites/multiuse', () => {
  test('is for members of create_multiuse_invite_group', async () => {
    await amy.refused(api.createLink, {}, 'BAD_REQUEST')
    const { invite_link } = await owner.call(api.createLink, { invite_expires_in_minutes: 60 })
    const { invites } = await owner.call(api.list, {})
    const link = invites.find(invite => invite.is_multiuse)!
    assert.equal(link.link_url, invite_link)
    assert.equal(link.expiry_date! - link.invited, 3600)
    await owner.refused(api.revoke, { invite_id: link.id }, 'BAD_REQUEST')
    await owner.call(api.revokeLink, { invite_id: link.id })
    await owner.refused(api.revokeLink, { invite_id: link.id }, 'BAD_REQUEST')
  })
})

describe('DELETE /invites/{invite_id} and POST /invites/{invite_id}/resend', () => {
  test('are for the person who made it, and for administrators', async () => {
    await owner.call(api.send, { invitee_emails: 'ida@example.com', stream_ids: [], invite_as: 100 })
    await amy.call(api.send, { invitee_emails: 'jon@example.com', stream_ids: [] })
    const { invites } = await owner.call(api.list, {})
    const [ida, jon] = ['ida@example.com', 'jon@example.com'].map(
      address => invites.find(({ email }) => email === address)!.id,
    )
    await bob.refused(api.revoke, { invite_id: jon }, 'BAD_REQUEST')
    await bob.refused(api.resend, { invite_id: jon }, 'BAD_REQUEST')
    await amy.call(api.resend, { invite_id: jon! })
    const ada = await person(daemon, 'ada', { role: 200 })
    await ada.refused(api.revoke, { invite_id: ida }, 'UNAUTHORIZED_PRINCIPAL')
    await ada.refused(api.resend, { invite_id: ida }, 'UNAUTHORIZED_PRINCIPAL')
    await owner.call(api.createLink, { invite_as: 100 })
    const link = (await ada.call(api.list, {})).invites.find(({ is_multiuse }) => is_multiuse)!
    await ada.refused(api.revokeLink, { invite_id: link.id }, 'UNAUTHORIZED_PRINCIPAL')
    await ada.refused(api.createLink, { invite_as: 100 }, 'UNAUTHORIZED_PRINCIPAL')
    await owner.call(api.revoke, { invite_id: jon! })
    await owner.call(api.revoke, { invite_id: ida! })
    await owner.refused(api.resend, { invite_id: ida }, 'BAD_REQUEST')
  })
})

describe('POST /invites/accept, when the inviter has lost rights', () => {
  const people = { full_name: 'New', password: 'a long pass phrase of mine' }
  const tokenOf = (link: string) => link.split('/').at(-2)!

  test('is refused for a role that the inviter cannot give', async () => {
    const zoe = await person(daemon, 'zoe', { role: 200 })
    const { invite_link } = await zoe.call(api.createLink, { invite_as: 200, invite_expires_in_minutes: null })
    const wanted = { ...people, token: tokenOf(invite_link), email: 'zoe-again@example.com' }
    await owner.call(users.update, { user_id: zoe.id, role: 400 })
    const { msg } = await zoe.refused(api.accept, wanted, 'BAD_REQUEST')
    assert.match(msg, /its maker may no longer invite people with this role/)
    await owner.call(users.update, { user_id: zoe.id, role: 200 })
    await zoe.call(api.accept, wanted)
  })

  test('is refused when the inviter has become a guest', async () => {
    const una = await person(daemon, 'una')
    await una.call(api.send, { invitee_emails: 'una-again@example.com', stream_ids: [] })
    const [, token] = /\/join\/([^/\s]+)\//.exec(await mailTo('una-again@example.com'))!
    await owner.call(users.update, { user_id: una.id, role: 600 })
    const { msg } = await una.refused(api.accept, { ...people, token: token! }, 'BAD_REQUEST')
    assert.match(msg, /its maker may no longer invite people/)
  })

  test('does not look at the address before everything else is right', async () => {
    const { invite_link } = await owner.call(api.createLink, {})
    const guess = { token: tokenOf(invite_link), email: amy.email, full_name: ' ', password: people.password }
    assert.match((await bob.refused(api.accept, guess, 'BAD_REQUEST')).msg, /^full_name: /)
  })

  test('leaves out channels and groups that the inviter cannot add people to', async () => {
    const kim = await person(daemon, 'kim', { role: 200 })
    const wanted = { name: 'vault', subscribers: [kim.id], invite_only: true }
    const { id: stream_id } = await owner.call(channels.create, wanted)
    const only = (id: number) => ({ direct_members: [id], direct_subgroups: [] })
    const keepers = { name: 'keepers', description: '', members: [owner.id], can_add_members_group: only(kim.id) }
    const { group_id } = await owner.call(groups.create, keepers)
    const { invite_link } = await kim.call(api.createLink, { stream_ids: [stream_id], group_ids: [group_id] })
    await owner.call(subscriptions.unsubscribe, { subscriptions: ['vault'], principals: [kim.id] })
    const change = { user_group_id: group_id, can_add_members_group: { new: only(owner.id) } }
    await owner.call(groups.update, change)
    const joined = await kim.call(api.accept, { ...people, token: tokenOf(invite_link), email: 'lou@example.com' })
    const { subscribers } = await owner.call(channels.members, { stream_id })
    assert.ok(!subscribers.includes(joined.user_id))
    const { members } = await owner.call(groups.members, { user_group_id: group_id })
    assert.deepEqual(members, [owner.id])
  })
})
