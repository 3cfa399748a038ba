// Rules about accounts: every kind of caller against every rule.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { getLevel } from '../../../daemon/api/levels/level.ts'
import { defaultLevel } from '../../../daemon/api/levels/releases.ts'
import { apiEmail, userByEmail } from '../../../daemon/domain/model/lookups.ts'
import { type Role, roles } from '../../../daemon/domain/model/roles.ts'
import type { User } from '../../../daemon/domain/model/state.ts'
import { endOfWaiting, settleWaiting } from '../../../daemon/domain/people/users/activity.ts'
import { announceEmail } from '../../../daemon/domain/people/users/announce.ts'
import { presentUser } from '../../../daemon/domain/people/users/present.ts'
import { list, section, show } from '../../../daemon/domain/people/users/read.ts'
import * as may from '../../../daemon/domain/rules/index.ts'
import { visibleUser } from '../../../daemon/domain/rules/user-access.ts'
import { type Kind, Organization, someClient } from '../../support/organization.ts'

/** Which kinds of people a rule allows. */
function allowed<Thing>(organization: Organization, people: Record<Kind, User>, rule: may.Rule<Thing>, thing: Thing) {
  const { state } = organization
  return (Object.keys(people) as Kind[]).filter(kind => rule.allows({ state, actor: people[kind] }, thing))
}

const administrators: Kind[] = ['owner', 'administrator']
const bots: Kind[] = ['generic bot', 'incoming bot', 'outgoing bot', 'embedded bot']
const people: Kind[] = ['owner', 'administrator', 'moderator', 'member', 'new member', 'guest']

describe('role × rule', () => {
  const organization = new Organization()
  const all = organization.everyKind()
  const mine = organization.person('mine', roles.member, { bot: { type: 1, ownerId: all.member.id, system: false } })
  const powerful = { ...mine, canCreateUsers: true }
  const locked = { id: 1, type: 1, order: 1, name: 'x', hint: '', data: '', required: false, inSummary: false } as const
  const change = (from: Role, to: Role) => ({ from, to })
  const table: [string, may.Rule<any>, unknown, Kind[]][] = [
    ['administer', may.administer, undefined, administrators],
    ['own', may.own, undefined, ['owner']],
    ['createUsers', may.createUsers, undefined, ['owner']],
    ['changeEmails', may.changeEmails, undefined, ['owner']],
    ['changeRole member to moderator', may.changeRole, change(400, 300), administrators],
    ['changeRole member to owner', may.changeRole, change(400, 100), ['owner']],
    ['changeRole owner to member', may.changeRole, change(100, 400), ['owner']],
    ['promoteGuest to administrator', may.promoteGuest, change(600, 200), []],
    ['promoteGuest to member', may.promoteGuest, change(600, 400), [...people, ...bots]],
    ['deactivateUser, a member', may.deactivateUser, all.member, administrators],
    ['deactivateUser, an owner', may.deactivateUser, all.owner, ['owner']],
    ['reactivateUser, a person', may.reactivateUser, all.guest, administrators],
    ['reactivateUser, the member’s bot', may.reactivateUser, mine, [...administrators, 'member']],
    ['administerBot, the member’s', may.administerBot, mine, [...administrators, 'member']],
    ['administerBot, one that creates users', may.administerBot, powerful, ['owner']],
    ['administerBot, one that is an owner', may.administerBot, { ...mine, role: roles.owner }, ['owner']],
    ['deactivateBot, the member’s', may.deactivateBot, mine, [...administrators, 'member']],
    ['deactivateBot, one that is an owner', may.deactivateBot, { ...mine, role: roles.owner }, ['owner']],
    ['handOverBot, to an equal', may.handOverBot, { bot: mine, to: all.member }, [...administrators, 'member']],
    ['handOverBot, to an owner', may.handOverBot, { bot: mine, to: all.owner }, administrators],
    ['useBots', may.useBots, undefined, people.slice(0, 5)],
    ['createBot', may.createBot, 1, [...people.slice(0, 5), ...bots]],
    ['callEndpoint', may.callEndpoint, 'get-users', [...people, ...bots].filter(kind => kind !== 'incoming bot')],
    ['callEndpoint, sending', may.callEndpoint, 'send-message', [...people, ...bots]],
    ['changeAvatar', may.changeAvatar, undefined, [...people, ...bots]],
    ['editProfileField', may.editProfileField, { ...locked, editable: false }, administrators],
    ['editProfileField, editable', may.editProfileField, { ...locked, editable: true }, [...people, ...bots]],
    ['accessUser', may.accessUser, all.owner, [...people, ...bots]],
  ]
  for (const [name, rule, thing, expected] of table)
    test(`${name}: ${expected.join(', ') || 'no one'}`, () => {
      assert.deepEqual(allowed(organization, all, rule, thing), expected)
    })

  test('createBot, once can_create_bots_group is narrowed to owners: incoming webhooks stay open to members', () => {
    const { state } = organization
    const before = state.organization
    const can_create_bots_group = state.groups.find('name', 'role:owners')!.id
    state.organization = { ...before, permissions: { ...before.permissions, can_create_bots_group } }
    assert.deepEqual(allowed(organization, all, may.createBot, 1), ['owner'])
    assert.deepEqual(allowed(organization, all, may.createBot, 2), [...people.slice(0, 5), ...bots])
    state.organization = before
  })

  test('changeAvatar, once avatar changes are disabled: administrators only', () => {
    organization.set({ avatar_changes_disabled: true })
    assert.deepEqual(allowed(organization, all, may.changeAvatar, undefined), administrators)
  })
})

describe('email_address_visibility', () => {
  const expected: Record<number, Kind[]> = {
    1: [...people, ...bots],
    2: [...people.slice(0, 5), ...bots],
    3: administrators,
    4: [],
    5: ['owner', 'administrator', 'moderator'],
  }
  for (const [value, kinds] of Object.entries(expected))
    test(`${value}: the address is seen by ${kinds.join(', ') || 'no one'}`, () => {
      const organization = new Organization()
      const { state } = organization
      const all = organization.everyKind()
      const amy = organization.person('amy', roles.member, { settings: { email_address_visibility: Number(value) } })
      assert.deepEqual(allowed(organization, all, may.seeEmail, amy), kinds)
      assert.ok(may.seeEmail.allows({ state, actor: amy }, amy))
      const address = Number(value) === 1 ? 'amy@example.com' : `user${amy.id}@example.com`
      assert.equal(apiEmail(state, amy), address)
      assert.equal(userByEmail(state, address.toUpperCase())?.id, amy.id)
      for (const kind of Object.keys(all) as Kind[]) {
        const ctx = { state, actor: all[kind] } as never
        assert.equal(visibleUser(ctx, 'amy@example.com')?.id, kinds.includes(kind) ? amy.id : undefined)
        assert.equal(visibleUser(ctx, `user${amy.id}@example.com`)?.id, amy.id)
      }
      // client_gravatar saves the address only of those whom everyone may write to.
      const view = { seesEmail: true, clientGravatar: true, withProfile: false }
      assert.equal(presentUser(state, amy, view).avatar_url === null, Number(value) === 1)
    })

  test('a change tells the new API address to all, the real one to users who gain it, null to users who lose it', () => {
    const organization = new Organization()
    const { state } = organization
    const all = organization.everyKind()
    const amy = organization.person('amy')
    const after = { ...amy, settings: { email_address_visibility: 3 } }
    state.users.put(after)
    const forms = announceEmail(state, amy, after).map(({ to, event }) => [(event as any).person, [...to]] as const)
    assert.deepEqual(forms[0]![0], { user_id: amy.id, delivery_email: null })
    assert.ok(forms[0]![1].includes(all.guest.id) && !forms[0]![1].includes(all.owner.id))
    assert.deepEqual(Object.keys(forms[1]![0]), ['user_id', 'new_email'])
    assert.ok('avatar_url' in forms[2]![0])
    assert.equal(forms.length, 3)
  })
})

describe('can_access_all_users_group = role:members', () => {
  function limited() {
    const organization = new Organization()
    const all = organization.everyKind()
    const friend = organization.person('friend')
    organization.limitGuests()
    organization.subscribe(7, all.guest, friend)
    return { organization, state: organization.state, all, friend, guest: all.guest }
  }

  test('a guest knows themselves, bots and active people they share a channel with', () => {
    const { organization, state, all, friend, guest } = limited()
    const ctx = { state, actor: guest, server: { level: getLevel(defaultLevel) } } as never
    const known = [...state.users.values()].filter(user => may.accessUser.allows(ctx, user))
    assert.deepEqual(
      known.filter(user => !user.bot).map(user => user.fullName),
      ['guest', 'friend'],
    )
    assert.equal(known.filter(user => user.bot).length, 5)
    assert.throws(() =>
      show(ctx, 'user_id', all.member, { client_gravatar: true, include_custom_profile_fields: false }),
    )
    const reading = { client_gravatar: true, include_custom_profile_fields: false }
    const { members } = (list(ctx, reading).reply as any).toJSON()
    assert.deepEqual(
      members.map((user: any) => user.full_name).filter((name: string) => name === 'guest' || name === 'friend'),
      ['guest', 'friend'],
    )
    assert.ok(members.some((user: any) => user.user_id === all.member.id && user.full_name === 'Unknown user'))
    organization.tell({ type: 'user.deactivated', userId: friend.id })
    assert.ok(!may.accessUser.allows(ctx, state.users.get(friend.id)!))
  })

  test('register sends stand-ins, unless the client declared user_list_incomplete', () => {
    const { state, guest, all } = limited()
    const ctx = { state, actor: guest } as never
    const { realm_users } = section(ctx, someClient) as any
    const stranger = realm_users.find((user: any) => user.user_id === all.owner.id)
    assert.deepEqual(stranger, {
      user_id: all.owner.id,
      delivery_email: null,
      email: `user${all.owner.id}@example.com`,
      full_name: 'Unknown user',
      date_joined: '1970-01-01T00:00+00:00',
      is_owner: false,
      is_admin: false,
      is_guest: false,
      is_bot: false,
      bot_type: null,
      role: 400,
      timezone: '',
      avatar_url: '/static/unknown-user.svg',
      avatar_version: 1,
      profile_data: {},
    })
    const able = { ...someClient, incompleteUserList: true }
    assert.ok((section(ctx, able) as any).realm_users.every((user: any) => user.full_name !== 'Unknown user'))
  })

  test('realm_user events go to exactly users who can access the user', () => {
    const { organization, all, guest, friend } = limited()
    const renamed = organization.tell({ type: 'user.renamed', userId: all.member.id, fullName: 'Mel' })
    assert.ok(!renamed.has(guest.id) && renamed.has(friend.id) && renamed.has(all.member.id))
    assert.ok(organization.tell({ type: 'user.renamed', userId: friend.id, fullName: 'Fred' }).has(guest.id))
    const joined = { ...all.member, id: organization.state.users.nextId, email: 'late@example.com' }
    const heard = organization.tell({ type: 'user.created', user: joined })
    assert.equal((heard.get(guest.id)![0] as any).person.full_name, 'Unknown user')
  })

  test('deactivation takes away people of shared channels; users who do not see it hear of the groups', () => {
    const { organization, all, guest, friend } = limited()
    const gone = organization.tell({ type: 'user.deactivated', userId: friend.id })
    assert.deepEqual(gone.get(guest.id), [
      { type: 'subscription', op: 'peer_remove', stream_ids: [7], user_ids: [friend.id] },
      { type: 'user_group', op: 'remove_members', group_id: 6, user_ids: [friend.id] },
      { type: 'user_group', op: 'remove_members', group_id: 5, user_ids: [friend.id] },
      { type: 'realm_user', op: 'remove', person: { user_id: friend.id, full_name: 'Unknown user' } },
    ])
    const other = organization.tell({ type: 'user.deactivated', userId: all.member.id })
    assert.deepEqual(
      other.get(guest.id)!.map(({ type, op }) => `${type} ${op}`),
      ['user_group remove_members', 'user_group remove_members'],
    )
    assert.deepEqual(
      other.get(all.owner.id)!.map(({ type, op }) => `${type} ${op}`),
      ['realm_user update'],
    )
  })

  test('who becomes a guest forgets people, and who is one no longer learns of them', () => {
    const { organization, all, guest } = limited()
    const up = organization.tell({ type: 'user.reassigned', userId: guest.id, from: 600, to: 400 })
    const learnt = up.get(guest.id)!.filter(({ op }) => op === 'add')
    assert.ok(learnt.some((event: any) => event.person.user_id === all.owner.id))
    const down = organization.tell({ type: 'user.reassigned', userId: guest.id, from: 400, to: 600 })
    const forgotten = down.get(guest.id)!.filter(({ op }) => op === 'remove')
    assert.equal(forgotten.length, learnt.length)
    assert.deepEqual((forgotten[0] as any).person.full_name, 'Unknown user')
  })
})

describe('the waiting period', () => {
  const day = 24 * 60 * 60 * 1000

  test('a new member becomes a full one after waiting_period_threshold days, and everyone hears of the group', () => {
    const organization = new Organization()
    const { state } = organization
    organization.set({ waiting_period_threshold: 3 })
    const amy = organization.person('amy', roles.member, { fullMember: false, joined: day })
    assert.equal(endOfWaiting.due(state, 0), 4 * day)
    assert.deepEqual(endOfWaiting.run({ state, now: 4 * day - 1 } as never).facts, [])
    const facts = endOfWaiting.run({ state, now: 4 * day } as never).facts!
    assert.deepEqual(facts, [{ type: 'user.waiting-settled', userIds: [amy.id], fullMember: true }])
    const heard = organization.tell({ type: 'user.waiting-settled', userIds: [amy.id], fullMember: true })
    assert.deepEqual(heard.get(organization.owner.id), [
      { type: 'user_group', op: 'add_members', group_id: 5, user_ids: [amy.id] },
    ])
    assert.equal(endOfWaiting.due(state, 0), undefined)
  })

  test('a longer period makes new members of full ones', () => {
    const organization = new Organization()
    const { state } = organization
    const amy = organization.person('amy', roles.member, { joined: 10 * day })
    const facts = settleWaiting(state, 12 * day, 5)
    assert.deepEqual(facts, [{ type: 'user.waiting-settled', userIds: [amy.id], fullMember: false }])
    assert.deepEqual(settleWaiting(state, 15 * day, 5), [])
  })
})

describe('owners', () => {
  test('an owner is the only one when no other active person is an owner', () => {
    const organization = new Organization()
    const { state, owner } = organization
    organization.person('robot', roles.owner, { bot: { type: 1, ownerId: owner.id, system: false } })
    organization.person('gone', roles.owner, { active: false })
    organization.person('admin', roles.administrator)
    assert.equal(may.isOnlyOwner(state, owner), true)
    assert.equal(may.isOnlyOwner(state, { ...owner, active: false }), false)
    assert.equal(may.isOnlyOwner(state, { ...owner, role: roles.administrator }), false)
    assert.equal(may.isOnlyOwner(state, { ...owner, bot: { type: 1, ownerId: 1, system: false } }), false)
    const second = organization.person('second', roles.owner)
    assert.equal(may.isOnlyOwner(state, owner), false)
    assert.equal(may.isOnlyOwner(state, second), false)
  })

  test('a role changes only if another one is asked for', () => {
    const { owner } = new Organization()
    assert.equal(may.roleChange(owner, undefined), undefined)
    assert.equal(may.roleChange(owner, roles.owner), undefined)
    assert.deepEqual(may.roleChange(owner, roles.guest), { from: roles.owner, to: roles.guest })
  })
})

describe('refusals of rules', () => {
  const text = <Thing>({ refusal }: may.Rule<Thing>, thing: Thing) =>
    typeof refusal === 'string' ? refusal : refusal(thing)

  test('about roles say who can: an owner, where the role of an owner is concerned', () => {
    const owners = /organization owner/
    const { owner, moderator, member, guest } = roles
    for (const change of [
      { from: owner, to: member },
      { from: member, to: owner },
    ])
      assert.match(text(may.changeRole, change), owners)
    assert.doesNotMatch(text(may.changeRole, { from: member, to: guest }), owners)
    assert.match(text(may.inviteAs, owner), owners)
    assert.doesNotMatch(text(may.inviteAs, moderator), owners)
  })

  test('about one’s own name and address say which', () => {
    assert.match(text(may.changeOwn, 'name_changes_disabled'), /your name;/)
    assert.match(text(may.changeOwn, 'email_changes_disabled'), /your email address;/)
  })
})

describe('changeOwn', () => {
  test('is for everyone, until the organization disables it; then for administrators', () => {
    const organization = new Organization()
    const all = organization.everyKind()
    assert.deepEqual(allowed(organization, all, may.changeOwn, 'name_changes_disabled'), [...people, ...bots])
    organization.set({ name_changes_disabled: true })
    assert.deepEqual(allowed(organization, all, may.changeOwn, 'name_changes_disabled'), administrators)
    assert.deepEqual(allowed(organization, all, may.changeOwn, 'email_changes_disabled'), [...people, ...bots])
  })
})

describe('promoteGuest', () => {
  test('is about guests only: a member becomes anything', () => {
    const { state, owner } = new Organization()
    const allows = (from: Role, to: Role) => may.promoteGuest.allows({ state, actor: owner }, { from, to })
    assert.equal(allows(roles.member, roles.owner), true)
    assert.equal(allows(roles.guest, roles.owner), false)
    assert.equal(allows(roles.guest, roles.moderator), true)
  })
})
