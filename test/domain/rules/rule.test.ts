// Refusals of rules, roles, and who may know of a user: asked without a daemon.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { roles } from '../../../daemon/domain/model/roles.ts'
import type { Conversation, User } from '../../../daemon/domain/model/state.ts'
import * as may from '../../../daemon/domain/rules/index.ts'
import { areAcquainted, mayHaveStrangers, sightOf } from '../../../daemon/domain/rules/people.ts'
import { check, forbidden, insist, isMember, rule, sameStanding } from '../../../daemon/domain/rules/rule.ts'
import { knownUser, knownUserInPath, visibleUser } from '../../../daemon/domain/rules/user-access.ts'
import { World } from '../../support/in-process.ts'
import { Organization } from '../../support/organization.ts'

describe('a rule that says no', () => {
  const organization = new Organization()
  const asker = { state: organization.state, actor: organization.owner }
  const about = rule<string>({ law: 'l', refusal: thing => `not ${thing}`, allows: (_, thing) => thing === 'yes' })
  const plain = rule({ law: 'l', refusal: 'never', allows: () => false })
  const coded = rule({ law: 'l', refusal: 'never', allows: () => false, code: 'UNAUTHORIZED' })

  test('is a refusal of kind forbidden, which knows the rule', () => {
    check(about, asker, 'yes')
    assert.throws(() => check(about, asker, 'no'), {
      message: 'not no',
      kind: 'forbidden',
      code: 'BAD_REQUEST',
      rule: about,
    })
    assert.throws(() => check(plain, asker), { message: 'never', kind: 'forbidden', rule: plain })
    const { code, kind } = forbidden(coded)
    assert.deepEqual([code, kind], ['UNAUTHORIZED', 'forbidden'])
  })

  test('about a role has a code of its own', () => {
    insist(about, asker, 'yes')
    const refused = { message: 'not no', code: 'UNAUTHORIZED_PRINCIPAL', rule: about }
    assert.throws(() => insist(about, asker, 'no'), refused)
  })

  test('about an endpoint that a bot may not call looks like a wrong key', () => {
    assert.equal(forbidden(may.callEndpoint, 'get-users').code, 'UNAUTHORIZED')
  })

  test('about bots says which bots, and who can', () => {
    const text = <Thing>({ refusal }: may.Rule<Thing>, thing: Thing) =>
      typeof refusal === 'string' ? refusal : refusal(thing)
    assert.equal(text(may.createBot, 2), 'You cannot create incoming webhook bots.')
    assert.equal(text(may.createBot, 1), 'You cannot create bots.')
    const bot = organization.person('robot', roles.member, { bot: { type: 1, ownerId: 1, system: false } })
    assert.doesNotMatch(text(may.deactivateBot, bot), /^Only an organization owner/)
    assert.match(text(may.deactivateBot, { ...bot, role: roles.owner }), /^Only an organization owner/)
    assert.match(text(may.deactivateBot, { ...bot, canCreateUsers: true }), /^Only an organization owner/)
  })
})

describe('roles', () => {
  const organization = new Organization()
  const kinds = organization.everyKind()

  test('a member is neither above nor below', () => {
    const members = Object.values(kinds).filter(user => !user.bot && isMember(user))
    assert.deepEqual(members, [kinds.member, kinds['new member']])
  })

  test('two rows have the same standing if role and waiting period are the same', () => {
    const { member } = kinds
    assert.equal(sameStanding(member, { ...member, fullName: 'other' }), true)
    assert.equal(sameStanding(member, { ...member, role: roles.guest }), false)
    assert.equal(sameStanding(member, { ...member, fullMember: false }), false)
  })

  test('people of one sight see the same addresses', () => {
    const { owner, administrator, moderator, member, guest } = kinds
    assert.deepEqual([owner, administrator, moderator, member, guest].map(sightOf), [
      'administrator',
      'administrator',
      'moderator',
      'member',
      'guest',
    ])
  })

  test('an address with a visibility that no one has heard of is hidden', () => {
    const hidden = organization.person('hidden', roles.member, { settings: { email_address_visibility: 9 } })
    assert.equal(may.seeEmail.allows({ state: organization.state, actor: kinds.owner }, hidden), false)
  })

  test('messages without a channel follow the organization alone', () => {
    const { organization: before, groups } = organization.state
    const nobody = groups.find('name', 'role:nobody')!.id
    const permissions = { ...before.permissions, can_delete_any_message_group: nobody }
    organization.state.organization = { ...before, permissions }
    assert.equal(may.deleteAnyMessage.allows({ state: organization.state, actor: kinds.owner }, undefined), false)
  })

  test('bots without an owner are administered by administrators', () => {
    const { owner, member } = kinds
    const ownerless: User = { ...member, id: 500 }
    for (const rule of [may.administerBot, may.deactivateBot])
      assert.deepEqual(
        [owner, kinds['new member']].map(actor => rule.allows({ state: organization.state, actor }, ownerless)),
        [true, false],
      )
  })
})

describe('an account by ID or address', () => {
  const organization = new Organization()
  const { state } = organization
  const amy = organization.person('amy')
  const guest = organization.person('guest', roles.guest)
  const asker = { state, actor: organization.owner }

  test('is found by either, and in a path digits are an ID', () => {
    assert.equal(visibleUser(asker, ' AMY@example.com ')?.id, amy.id)
    assert.equal(knownUser(asker, 'amy@example.com')?.id, amy.id)
    assert.equal(knownUser(asker, amy.id)?.id, amy.id)
    assert.equal(knownUser(asker, 9_999), undefined)
    assert.equal(knownUser(asker, 'nobody@example.com'), undefined)
    assert.equal(knownUserInPath(asker, 'amy@example.com')?.id, amy.id)
    assert.equal(knownUserInPath(asker, String(amy.id))?.id, amy.id)
    const [long, mixed] = [organization.person('long', roles.member, { id: 12 }), organization.person('10mail')]
    assert.equal(knownUserInPath(asker, String(long.id))?.id, long.id)
    assert.equal(knownUserInPath(asker, '10mail@example.com')?.id, mixed.id)
    const digits = organization.person('d', roles.member, { email: 'x10' })
    assert.equal(knownUserInPath(asker, 'x10')?.id, digits.id)
  })

  test('is no one for a guest who may not know of it', () => {
    assert.equal(mayHaveStrangers({ state, actor: guest }), false)
    organization.limitGuests()
    assert.equal(mayHaveStrangers({ state, actor: guest }), true)
    assert.equal(mayHaveStrangers({ state, actor: amy }), false)
    assert.equal(knownUser({ state, actor: guest }, amy.id), undefined)
    assert.equal(knownUser({ state, actor: guest }, guest.id)?.id, guest.id)
  })
})

describe('a guest knows', () => {
  const world = new World()
  const { state } = world
  const [guest, amy, bob, cat] = [roles.guest, roles.member, roles.member, roles.member].map(role => world.join(role))
  const knows = (user: User, but = {}) => areAcquainted(state, guest!, user, but)
  const say = (from: User, ...to: User[]) =>
    world.run(from, 'send-message', { type: 'direct', to: to.map(user => user.id), content: 'x' })
  const conversationOf = (...users: User[]): Conversation =>
    [...state.conversations.values()].find(
      ({ userIds }) => userIds.length === users.length && users.every(user => userIds.includes(user.id)),
    )!

  test('themselves, also when nothing ties them to anyone', () => {
    assert.equal(knows(guest!), true)
    assert.equal(knows(amy!), false)
  })

  test('those they exchanged messages with, also when these have left, until the messages are gone', () => {
    const { owner } = world
    assert.equal(knows(owner), false)
    const { id } = say(owner, guest!)
    assert.equal(knows(owner), true)
    assert.equal(knows({ ...owner, active: false }), true)
    assert.equal(knows(owner, { conversationId: conversationOf(guest!, owner).id }), false, 'a new one does not count')
    assert.equal(knows(cat!), false)
    world.run(owner, 'delete-message', { message_id: id })
    assert.equal(knows(owner), false)
  })

  test('active people of a conversation of several', () => {
    say(amy!, guest!, bob!)
    assert.equal(knows(bob!), true)
    assert.equal(knows({ ...bob!, active: false }), false)
    assert.equal(knows(cat!), false)
  })

  test('active subscribers of their channels, unless one of the two has just come', () => {
    const organization = new Organization()
    const [visitor, friend] = [organization.person('visitor', roles.guest), organization.person('friend')]
    organization.subscribe(7, visitor, friend)
    const meets = (...fresh: number[]) =>
      areAcquainted(organization.state, visitor, friend, { subscribers: new Map([[7, new Set(fresh)]]) })
    assert.equal(meets(), true)
    assert.equal(meets(visitor.id), false)
    assert.equal(meets(friend.id), false)
    assert.equal(meets(friend.id, visitor.id), false)
  })
})
