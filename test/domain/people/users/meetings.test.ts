// Guests who know of some people only, in organizations with many of them: one change tells a bounded number of them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { roles } from '../../../../daemon/domain/model/roles.ts'
import { DomainWorld } from '../../../support/domain-world.ts'

const limited = (world: DomainWorld) => ({
  can_access_all_users_group: { new: world.state.groups.find('name', 'role:members')!.id },
})

function organization(guests: number, members: number) {
  const world = new DomainWorld()
  const join = (count: number, role: 400 | 600) =>
    Array.from({ length: count }, (_, n) =>
      world.join(role, { email: `${role}-${n}@example.com`, fullName: `${role} ${n}` }),
    )
  return { world, guests: join(guests, roles.guest), members: join(members, roles.member) }
}

test('a change of the setting tells guests whom they no longer see, unless there are too many of them', () => {
  for (const [count, isTold] of [
    [3, true],
    [600, false],
  ] as const) {
    const { world, guests } = organization(count, count)
    world.run(world.owner, 'update-realm', limited(world))
    const heard = world.heard(guests[0]!)
    assert.ok(heard.some(({ type, op }) => type === 'realm' && op === 'update_dict'))
    assert.equal(
      heard.some(({ type, op }) => type === 'realm_user' && op === 'remove'),
      isTold,
    )
  }
})

test('subscribing, creating and unsubscribing are refused where too many guests would meet people or lose sight of them', () => {
  const { world, guests, members } = organization(600, 600)
  world.run(world.owner, 'update-realm', limited(world))
  const principals = [...guests, ...members].map(({ id }) => id)
  const too = /too many guests would begin or cease to see people at once/
  assert.match(world.refused(world.owner, 'create-channel', { name: 'a', subscribers: principals }).message, too)
  const subscriptions = [{ name: 'b' }]
  assert.match(world.refused(world.owner, 'subscribe', { subscriptions, principals }).message, too)
  const channel = world.channel('c', [...guests, ...members])
  assert.match(world.refused(world.owner, 'unsubscribe', { subscriptions: [channel.name], principals }).message, too)
  world.run(world.owner, 'unsubscribe', { subscriptions: [channel.name], principals: principals.slice(0, 10) })
})

test('a guest in many conversations costs no more for everyone whom the guest does not know', t => {
  const { world, guests, members } = organization(1, 100)
  const [guest] = guests
  world.run(world.owner, 'update-realm', limited(world))
  for (let bot = 0; bot < 50; bot++) {
    const { id } = world.join(roles.member, { bot: { type: 1, ownerId: members[0]!.id, system: false } as never })
    world.state.conversations.put({ id: world.state.conversations.nextId, userIds: [guest!.id, id] })
  }
  const looked = t.mock.method(world.state.conversations, 'where')
  const { realm_users } = world.section(guest!, 'realm_user')
  assert.equal(realm_users.filter((user: { full_name: string }) => user.full_name === 'Unknown user').length, 101)
  const ofGuest = looked.mock.calls.filter(({ arguments: given }) => given[1] === guest!.id)
  assert.equal(ofGuest.length, 0)
})
