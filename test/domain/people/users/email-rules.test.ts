// Addresses that the organization does not take, ways to log in that it closed, and its end.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { bots } from '../../../../daemon/api/bots/bots.ts'
import { events } from '../../../../daemon/api/events.ts'
import { organization as api } from '../../../../daemon/api/organization/organization.ts'
import { server } from '../../../../daemon/api/organization/server.ts'
import { invitations } from '../../../../daemon/api/people/invitations.ts'
import { keys } from '../../../../daemon/api/people/keys.ts'
import { settings } from '../../../../daemon/api/people/settings.ts'
import { users } from '../../../../daemon/api/people/users.ts'
import { type Caller, newStoreFolder, sharedDaemon, startDaemon, type TestDaemon } from '../../../support/daemon.ts'
import { person } from '../../../support/world.ts'

let daemon: TestDaemon
let amy: Caller
sharedDaemon({ flags: ['--dev-auth'] }, async started => {
  daemon = started
  amy = await person(daemon, 'amy')
})

const password = 'correct horse battery'

/** Every way in which an address can become that of a person, but for an owner who corrects one. */
async function refusedEverywhere(email: string): Promise<void> {
  const { owner } = daemon
  const account = { email, password, full_name: 'New Person' }
  assert.match((await owner.refused(users.create, account, 'BAD_REQUEST')).msg, /^email: /)
  assert.match((await amy.refused(settings.update, { email }, 'BAD_REQUEST')).msg, /^email: /)
  const invite = { invitee_emails: email, stream_ids: [] }
  const { errors } = await owner.refused(invitations.send, invite, 'INVITATION_FAILED')
  assert.deepEqual((errors as unknown[][])[0]![0], email)
}

describe('disallow_disposable_email_addresses', () => {
  test('is on from the start; disposable addresses are no one’s until it is off', async () => {
    await refusedEverywhere('eve@mailinator.com')
    await refusedEverywhere('eve@YOPMAIL.com')
    await daemon.owner.call(users.update, { user_id: amy.id, new_email: 'amy@mailinator.com' })
    await daemon.owner.call(users.update, { user_id: amy.id, new_email: 'amy@example.com' })
    await daemon.owner.call(api.update, { disallow_disposable_email_addresses: false })
    await daemon.owner.call(users.create, { email: 'eve@mailinator.com', password, full_name: 'Eve' })
    await daemon.owner.call(api.update, { disallow_disposable_email_addresses: true })
  })
})

describe('emails_restricted_to_domains', () => {
  test('takes addresses of the domains only, and none with +', async () => {
    const { owner } = daemon
    await owner.call(api.addDomain, { domain: 'corp.example', allow_subdomains: false })
    await owner.call(api.addDomain, { domain: 'wide.example', allow_subdomains: true })
    await owner.call(api.update, { emails_restricted_to_domains: true })
    for (const email of ['x@example.com', 'x@a.corp.example', 'x+y@corp.example', 'x@notwide.example'])
      await refusedEverywhere(email)
    for (const email of ['hal@Corp.example', 'ian@a.wide.example'])
      await owner.call(users.create, { email, password, full_name: 'New Person' })
    // Existing accounts stay, and bots get their addresses from the server.
    await amy.call(settings.update, { email: 'amy@example.com' })
    await owner.call(bots.create, { full_name: 'Robin', short_name: 'robin' })
    await owner.call(api.removeDomain, { domain: 'corp.example' })
    await owner.call(api.removeDomain, { domain: 'wide.example' })
    await owner.call(users.create, { email: 'jon@example.com', password, full_name: 'Jon' })
  })
})

describe('authentication_methods', () => {
  test('without Email no key is given for a password, and the server says so', async () => {
    const { owner, anonymous } = daemon
    const login = { username: 'amy@example.com', password: 'amy has a long password' }
    await owner.refused(api.update, { authentication_methods: { Email: false } }, 'BAD_REQUEST')
    await owner.call(api.update, { authentication_methods: { Email: false, Dev: true } })
    await anonymous.refused(users.fetchApiKey, login, 'PASSWORD_AUTH_DISABLED')
    const reply = await anonymous.try(users.fetchApiKey, { ...login, password: 'wrong' })
    assert.deepEqual([reply.status, reply.body.code], [401, 'PASSWORD_AUTH_DISABLED'])
    const { authentication_methods: methods, email_auth_enabled } = await anonymous.call(server.settings, {})
    assert.deepEqual([methods.email, methods.password, methods.dev, email_auth_enabled], [false, false, true, false])
    await anonymous.call(keys.devFetch, { username: 'amy@example.com' })
    await owner.call(api.update, { authentication_methods: { Email: true, Dev: false } })
    await anonymous.refused(keys.devFetch, { username: 'amy@example.com' }, 'BAD_REQUEST')
    assert.equal((await anonymous.call(server.settings, {})).authentication_methods.dev, false)
    await anonymous.call(users.fetchApiKey, login)
  })
})

describe('POST /realm/deactivate', () => {
  test('is for owners, who must leave two weeks before deletion', async () => {
    await amy.refused(api.deactivate, {}, 'UNAUTHORIZED_PRINCIPAL')
    await daemon.owner.refused(api.deactivate, { deletion_delay_days: 1 }, 'BAD_REQUEST')
  })

  test('ends every login until the daemon is started with --reactivate', async t => {
    const data = newStoreFolder()
    const first = await startDaemon(t, { data })
    const bob = await person(first, 'bob')
    const { queue_id } = await bob.call(events.register, { event_types: ['realm'], fetch_event_types: [] })
    const waiting = bob.call(events.get, { queue_id, last_event_id: -1 })
    await bob.call(users.me, {})
    await first.owner.call(api.deactivate, { deletion_delay_days: 30 })
    const [{ id: _, ...event } = { id: 0 }] = (await waiting).events
    assert.deepEqual(event, { type: 'realm', op: 'deactivated', realm_id: 1 })
    const { status, body } = await bob.try(users.me, {})
    assert.deepEqual([status, body.code], [401, 'REALM_DEACTIVATED'])
    await first.owner.refused(api.show, {}, 'REALM_DEACTIVATED')
    const login = { username: 'bob@example.com', password: 'bob has a long password' }
    await first.anonymous.refused(users.fetchApiKey, login, 'REALM_DEACTIVATED')
    await first.anonymous.call(server.settings, {})
    await first.stop()
    const second = await startDaemon(t, { data, flags: ['--reactivate'] })
    assert.equal((await second.anonymous.call(users.fetchApiKey, login)).user_id, bob.id)
  })
})
