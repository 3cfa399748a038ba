// The recipients of events: the named sets of users, asked without a daemon.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { roles } from '../../../daemon/domain/model/roles.ts'
import type { User } from '../../../daemon/domain/model/state.ts'
import {
  accessAudience,
  activeUsers,
  administrators,
  channelAudience,
  everyone,
  nonGuests,
  splitByAccess,
  strangers,
  usersWhere,
} from '../../../daemon/domain/rules/audiences.ts'
import { channelRow } from '../../support/channel-row.ts'
import { Organization } from '../../support/organization.ts'

describe('audiences', () => {
  const organization = new Organization()
  const { state } = organization
  const people = organization.everyKind()
  const gone = organization.person('gone', roles.administrator)
  organization.tell({ type: 'user.deactivated', userId: gone.id })
  const { owner, administrator, member, guest } = people
  const friend = organization.person('friend')
  const ids = (users: Iterable<User>) => [...users].map(user => user.id)
  const active = ids(state.users.values()).filter(id => id !== gone.id)

  test('everyone, non-guests and administrators are active accounts', () => {
    assert.deepEqual(everyone(state), active)
    assert.deepEqual(
      nonGuests(state),
      active.filter(id => id !== guest.id),
    )
    assert.deepEqual(administrators(state), [owner.id, administrator.id])
    assert.deepEqual(ids(activeUsers(state)), active)
  })

  test('users where something is true are asked for one by one, without inactive ones and the exceptions', () => {
    const audience = usersWhere(state, user => user.role >= roles.member, new Set([member.id]))
    assert.ok(audience.has(guest.id))
    assert.ok(!audience.has(member.id), 'an exception')
    assert.ok(!audience.has(owner.id), 'no match')
    assert.ok(!audience.has(9_999), 'no such account')
    assert.ok(!usersWhere(state, () => true).has(gone.id), 'not active')
    assert.deepEqual(
      [...audience],
      active.filter(id => state.users.get(id)!.role >= roles.member && id !== member.id),
    )
  })

  test('the audience of a channel may know of it', () => {
    const secret = channelRow(state, 70, { inviteOnly: true })
    const audience = channelAudience(state, secret)
    assert.deepEqual([...audience], [owner.id, administrator.id])
    assert.deepEqual([...channelAudience(state, secret, new Set([owner.id]))], [administrator.id])
  })

  describe('of an account', () => {
    const all = everyone(state)
    const without = (id: number) => all.filter(other => other !== id)

    test('while guests know everyone: all, and no strangers', () => {
      assert.deepEqual(accessAudience(state, member), all)
      assert.deepEqual(strangers(state, member), [])
      assert.deepEqual(splitByAccess(state, member, all), { known: all, strangers: [] })
    })

    test('once guests are limited: guests who share no channel with it are strangers', () => {
      organization.limitGuests()
      organization.subscribe(7, guest, friend)
      assert.deepEqual(accessAudience(state, member), without(guest.id))
      assert.deepEqual(strangers(state, member), [guest.id])
      assert.deepEqual(splitByAccess(state, member, all), { known: without(guest.id), strangers: [guest.id] })
      assert.deepEqual(accessAudience(state, friend), all)
      assert.deepEqual(strangers(state, friend), [])
      const split = splitByAccess(state, friend, all)
      assert.deepEqual(split, { known: all, strangers: [] })
      assert.equal(split.known, all, 'not copied')
      const bot = people['generic bot']
      assert.deepEqual(splitByAccess(state, bot, all), { known: all, strangers: [] })
    })
  })
})
