// User groups: what the specification says of them.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { messages } from '../../../daemon/api/messages/messages.ts'
import { userGroups as api } from '../../../daemon/api/people/user-groups.ts'
import { roles } from '../../../daemon/domain/model/roles.ts'
import { channelRow } from '../../support/channel-row.ts'
import { type Caller, sharedDaemon, startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { World } from '../../support/in-process.ts'
import { fetched, listen, person } from '../../support/world.ts'

let daemon: TestDaemon
let amy: Caller
let bob: Caller
let system: Record<string, number>

sharedDaemon({}, async started => {
  daemon = started
  amy = await person(daemon, 'amy')
  bob = await person(daemon, 'bob')
  const { user_groups } = await amy.call(api.list, {})
  system = Object.fromEntries(user_groups.map(group => [group.name, group.id]))
})

let made = 0
async function make(caller: Caller, more: object = {}): Promise<number> {
  const { group_id } = await caller.call(api.create, {
    name: `group ${++made}`,
    description: '',
    members: [],
    ...more,
  })
  return group_id
}

async function show(id: number) {
  const { user_groups } = await amy.call(api.list, { include_deactivated_groups: true })
  return user_groups.find(group => group.id === id)!
}

describe('GET /user_groups', () => {
  test('is not for guests', async () => {
    const guest = await person(daemon, 'gus', { role: 600 })
    await guest.refused(api.list, {}, 'BAD_REQUEST')
    await guest.refused(api.create, { name: 'x', description: '', members: [] }, 'BAD_REQUEST')
    await guest.refused(api.members, { user_group_id: system['role:members'] }, 'BAD_REQUEST')
  })
})

describe('POST /user_groups/create', () => {
  test('takes names that JavaScript uses itself', async () => {
    for (const name of ['constructor', '__proto__', 'toString']) {
      await make(amy, { name })
      const { rendered } = await amy.call(messages.render, { content: `@*${name}*` })
      assert.match(rendered, new RegExp(`>@${name}</span>`))
    }
  })

  test('creates a group with members, subgroups and the defaults of its settings, and tells everyone', async () => {
    const heard = await listen(bob, ['user_group'])
    const id = await make(amy, { members: [bob.id, amy.id, bob.id], subgroups: [system['role:owners']!] })
    const group = await show(id)
    assert.deepEqual(group.members, [amy.id, bob.id].sort())
    assert.deepEqual(group.direct_subgroup_ids, [system['role:owners']])
    assert.deepEqual(group.can_manage_group, { direct_members: [amy.id], direct_subgroups: [] })
    assert.equal(group.can_mention_group, system['role:everyone'])
    assert.equal(group.can_join_group, system['role:nobody'])
    assert.deepEqual(await heard(), [
      { type: 'user_group', op: 'add', group: { ...group, direct_subgroup_ids: [] } },
      { type: 'user_group', op: 'add_subgroups', group_id: id, direct_subgroup_ids: [system['role:owners']] },
    ])
  })

  test('a name that is blank, too long, reserved or taken is refused; case tells names apart', async () => {
    await make(amy, { name: 'Taken' })
    await make(amy, { name: 'taken' })
    for (const name of ['', '  ', 'x'.repeat(101), '@all', 'role:x', 'user:x', 'stream:x', 'channel:x', 'Taken']) {
      const { msg } = await amy.refused(api.create, { name, description: '', members: [] }, 'BAD_REQUEST')
      assert.match(msg, /^name/)
    }
  })

  test('a name with control characters or a description of more than 1,024 characters is refused', async () => {
    const group = { name: 'tidy', description: 'x'.repeat(1024), members: [] }
    await daemon.owner.refused(api.create, { ...group, name: 'a\u001b[2Jb' }, 'BAD_REQUEST')
    await daemon.owner.refused(api.create, { ...group, description: 'x'.repeat(1025) }, 'BAD_REQUEST')
    await daemon.owner.call(api.create, group)
  })

  test('a nonexistent user ID in members gives BAD_REQUEST', async () => {
    const { msg } = await amy.refused(api.create, { name: 'x', description: '', members: [9999] }, 'BAD_REQUEST')
    assert.match(msg, /9999/)
  })

  test('can_mention_group cannot be role:internet or role:owners, can_manage_group not role:internet or role:everyone', async () => {
    for (const [setting, name] of [
      ['can_mention_group', 'role:internet'],
      ['can_mention_group', 'role:owners'],
      ['can_manage_group', 'role:internet'],
      ['can_manage_group', 'role:everyone'],
      ['can_join_group', 'role:everyone'],
    ] as const)
      await amy.refused(api.create, { name: 'x', description: '', members: [], [setting]: system[name] }, 'BAD_REQUEST')
    await make(amy, { can_mention_group: { direct_members: [amy.id], direct_subgroups: [system['role:owners']] } })
  })

  test('values are normalised: sorted, without repeats, a lone group as its ID, an empty value as role:nobody', async () => {
    const group = await show(
      await make(amy, {
        can_add_members_group: {
          direct_members: [],
          direct_subgroups: [system['role:moderators'], system['role:moderators']],
        },
        can_join_group: { direct_members: [], direct_subgroups: [] },
        can_leave_group: { direct_members: [bob.id, amy.id, bob.id], direct_subgroups: [] },
      }),
    )
    assert.equal(group.can_add_members_group, system['role:moderators'])
    assert.equal(group.can_join_group, system['role:nobody'])
    assert.deepEqual(group.can_leave_group, { direct_members: [amy.id, bob.id].sort(), direct_subgroups: [] })
  })
})

describe('PATCH /user_groups/{user_group_id}', () => {
  test('changes name, description and settings, and tells what changed', async () => {
    const id = await make(amy)
    const heard = await listen(bob, ['user_group'])
    const everyone = system['role:members']!
    await amy.call(api.update, {
      user_group_id: id,
      name: 'renamed',
      can_join_group: { new: everyone, old: system['role:nobody']! },
    })
    assert.deepEqual(await heard(), [
      { type: 'user_group', op: 'update', group_id: id, data: { name: 'renamed' } },
      { type: 'user_group', op: 'update', group_id: id, data: { can_join_group: everyone } },
    ])
    await amy.call(api.update, { user_group_id: id, name: 'renamed', can_join_group: { new: everyone } })
    assert.deepEqual(await heard(), [], 'what does not change is not told')
  })

  test('an old value that is not the current one gives EXPECTATION_MISMATCH, and nothing changes', async () => {
    const id = await make(amy)
    const { field_name } = await amy.refused(
      api.update,
      { user_group_id: id, description: 'new', can_join_group: { new: 6, old: 7 } },
      'EXPECTATION_MISMATCH',
    )
    assert.equal(field_name, 'old')
    assert.equal((await show(id)).description, '')
  })

  test('needs a right to manage the group, a change, and no system group', async () => {
    const id = await make(amy)
    await bob.refused(api.update, { user_group_id: id, name: 'mine' }, 'BAD_REQUEST')
    await daemon.owner.call(api.update, { user_group_id: id, description: 'owners manage all groups' })
    await amy.refused(api.update, { user_group_id: id }, 'BAD_REQUEST')
    await amy.call(api.update, { user_group_id: id, deactivated: true })
    assert.equal((await show(id)).deactivated, false, 'only false has an effect')
    await daemon.owner.refused(api.update, { user_group_id: system['role:members'], name: 'x' }, 'BAD_REQUEST')
    await amy.refused(api.update, { user_group_id: 9999, name: 'x' }, 'BAD_REQUEST')
  })
})

describe('POST /user_groups/{user_group_id}/members', () => {
  test('members and subgroups come and go, all or nothing', async () => {
    const id = await make(amy)
    const inner = await make(amy)
    const heard = await listen(bob, ['user_group'])
    await amy.call(api.updateMembers, { user_group_id: id, add: [bob.id], add_subgroups: [inner] })
    await amy.refused(api.updateMembers, { user_group_id: id, add: [bob.id] }, 'BAD_REQUEST')
    await amy.refused(api.updateMembers, { user_group_id: id, add: [9999] }, 'BAD_REQUEST')
    await amy.refused(api.updateMembers, { user_group_id: id, add: [amy.id], add_subgroups: [inner] }, 'BAD_REQUEST')
    await amy.refused(api.updateMembers, { user_group_id: id }, 'BAD_REQUEST')
    await amy.call(api.updateMembers, { user_group_id: id, delete: [bob.id], delete_subgroups: [inner] })
    assert.deepEqual(await heard(), [
      { type: 'user_group', op: 'add_members', group_id: id, user_ids: [bob.id] },
      { type: 'user_group', op: 'add_subgroups', group_id: id, direct_subgroup_ids: [inner] },
      { type: 'user_group', op: 'remove_members', group_id: id, user_ids: [bob.id] },
      { type: 'user_group', op: 'remove_subgroups', group_id: id, direct_subgroup_ids: [inner] },
    ])
  })

  test('what is added and removed in one call is added first', async () => {
    const id = await make(amy)
    const inner = await make(amy)
    const { members } = (await amy.call(api.list, {})).user_groups.find(group => group.id === id)!
    const heard = await listen(amy, ['user_group'])
    const both = { add: [bob.id], delete: [bob.id], add_subgroups: [inner], delete_subgroups: [inner] }
    await amy.call(api.updateMembers, { user_group_id: id, ...both })
    assert.deepEqual(
      (await heard()).map(({ op }) => op),
      ['add_members', 'remove_members', 'add_subgroups', 'remove_subgroups'],
    )
    const after = (await amy.call(api.list, {})).user_groups.find(group => group.id === id)!
    assert.deepEqual([after.members, after.direct_subgroup_ids], [members, []])
    // The order of the parameters does not matter; a member cannot be added again.
    await amy.call(api.updateMembers, { user_group_id: id, add_subgroups: [inner] })
    const swapped = { user_group_id: id, delete_subgroups: [inner], add_subgroups: [inner] }
    await amy.refused(api.updateMembers, swapped, 'BAD_REQUEST')
  })

  test('joining and leaving by oneself have settings of their own', async () => {
    const id = await make(amy)
    await bob.refused(api.updateMembers, { user_group_id: id, add: [bob.id] }, 'BAD_REQUEST')
    await amy.call(api.update, { user_group_id: id, can_join_group: { new: system['role:members']! } })
    await bob.call(api.updateMembers, { user_group_id: id, add: [bob.id] })
    await bob.refused(api.updateMembers, { user_group_id: id, add: [amy.id] }, 'BAD_REQUEST')
    await bob.call(api.updateMembers, { user_group_id: id, delete: [bob.id] })
    await bob.refused(api.updateMembers, { user_group_id: system['role:owners'], add: [bob.id] }, 'BAD_REQUEST')
  })
})

describe('POST /user_groups/{user_group_id}/members', () => {
  test('an organization has at most 200,000 members in all its groups, and room again when some are removed', () => {
    const world = new World()
    const { owner, state } = world
    const members = Array.from({ length: 1000 }, () => world.join(roles.member).id)
    const more = (name: string) => ({ name, description: '', members, subgroups: [] })
    for (let n = 0; n < 200; n++) world.run(owner, 'create-user-group', more(`group ${n}`))
    const full = /^The organization can have 200000 members in its groups/
    assert.match(world.attempt(owner, 'create-user-group', more('one more'))!.message, full)
    const { id } = state.groups.find('name', 'group 0')!
    const change = { user_group_id: id, add_subgroups: [], delete_subgroups: [] }
    assert.match(
      world.attempt(owner, 'update-user-group-members', { ...change, add: [owner.id], delete: [] })!.message,
      full,
    )
    world.run(owner, 'update-user-group-members', { ...change, add: [owner.id], delete: [members[0]] })
  })
})

describe('POST /user_groups/{user_group_id}/members', () => {
  test('tells at most 100 people at once in a direct message', () => {
    const world = new World()
    const members = Array.from({ length: 101 }, () => world.join(roles.member).id)
    const { group_id } = world.run(world.owner, 'create-user-group', { name: 'all', description: '', members: [] })
    const change = (add: readonly number[], remove: readonly number[]) => {
      const before = world.state.messages.count
      world.run(world.owner, 'update-user-group-members', { user_group_id: group_id, add, delete: remove })
      return world.state.messages.count - before
    }
    assert.equal(change(members, []), 0)
    assert.equal(change([], members), 0)
    assert.equal(change(members.slice(1), []), 100)
  })
})

describe('POST /user_groups/{user_group_id}/subgroups', () => {
  test('an organization has at most 2,000 subgroups in all its groups, and room again when some are removed', async t => {
    const { owner } = await startDaemon(t, { flags: ['--memory'] })
    const before = (await owner.call(api.list, {})).user_groups.reduce(
      (sum, { direct_subgroup_ids }) => sum + direct_subgroup_ids.length,
      0,
    )
    const ids: number[] = []
    for (let links = before; links + ids.length <= 2000; links += ids.length - 1)
      ids.push(await make(owner, { subgroups: ids }))
    const { msg } = await owner.refused(
      api.create,
      { name: 'one more', description: '', members: [], subgroups: ids },
      'BAD_REQUEST',
    )
    assert.match(msg, /The organization can have 2000 subgroups in its groups/)
    const last = ids.at(-1)!
    await owner.call(api.updateSubgroups, { user_group_id: last, delete: ids.slice(0, -1) })
    await make(owner, { subgroups: ids })
    const named = { direct_members: [], direct_subgroups: Array.from({ length: 101 }, (_, n) => n + 1) }
    const long = await owner.refused(
      api.create,
      { name: 'long', description: '', members: [], can_mention_group: named },
      'BAD_REQUEST',
    )
    assert.match(long.msg, /can_mention_group: must name at most 100 people and groups/)
    // Each contains the others, through many ways.
    await owner.refused(api.updateSubgroups, { user_group_id: ids[0]!, add: [ids[5]!] }, 'BAD_REQUEST')
  })

  test('a group cannot be put into itself, however far around', async () => {
    const a = await make(amy)
    const b = await make(amy, { subgroups: [a] })
    const c = await make(amy, { subgroups: [b] })
    await amy.refused(api.updateSubgroups, { user_group_id: a, add: [a] }, 'BAD_REQUEST')
    await amy.refused(api.updateSubgroups, { user_group_id: a, add: [c] }, 'BAD_REQUEST')
    const { msg } = await amy.refused(api.updateSubgroups, { user_group_id: a, add: [9999] }, 'BAD_REQUEST')
    assert.match(msg, /^add: /)
    await amy.refused(api.updateSubgroups, { user_group_id: a }, 'BAD_REQUEST')
    await amy.call(api.updateSubgroups, { user_group_id: c, add: [a] })
    assert.deepEqual(await amy.call(api.subgroups, { user_group_id: c }).then(reply => reply.subgroups), [a, b])
    await amy.call(api.updateSubgroups, { user_group_id: c, delete: [b] })
    assert.deepEqual(
      await amy.call(api.subgroups, { user_group_id: c, direct_subgroup_only: true }).then(r => r.subgroups),
      [a],
    )
  })
})

describe('a group that private channels name', () => {
  test('changes for at most 300,000 people times channels at once', () => {
    const world = new World()
    const { state } = world
    for (let n = 0; n < 500; n++) world.join(roles.member)
    const amy = world.join(roles.member)
    const group = { name: 'readers', description: '', members: [], subgroups: [] }
    const { group_id: user_group_id } = world.run(amy, 'create-user-group', group)
    const { group_id: empty } = world.run(amy, 'create-user-group', { ...group, name: 'empty' })
    for (let n = 0; n < 600; n++) {
      const channel = channelRow(state, state.channels.nextId, { name: `private ${n}`, inviteOnly: true })
      state.channels.put({ ...channel, permissions: { ...channel.permissions, can_subscribe_group: user_group_id } })
    }
    const inside = state.groups.find('name', 'role:members')!.id
    const change = (params: object) =>
      world.attempt(amy, 'update-user-group-subgroups', { user_group_id, add: [], delete: [], ...params })
    assert.match(
      change({ add: [inside] })!.message,
      /^Too many private channels name this group to change 50\d people in it at once\. Change fewer at a time/,
    )
    assert.equal(change({ add: [empty] }), undefined)
    assert.equal(change({ delete: [empty] }), undefined)
  })
})

describe('GET /user_groups/{user_group_id}/members', () => {
  test('members of groups in groups count, unless only direct ones are asked for', async () => {
    const inner = await make(amy, { members: [bob.id] })
    const outer = await make(amy, { members: [amy.id], subgroups: [inner] })
    const all = await amy.call(api.members, { user_group_id: outer })
    assert.deepEqual(all.members, [amy.id, bob.id].sort())
    const direct = await amy.call(api.members, { user_group_id: outer, direct_member_only: true })
    assert.deepEqual(direct.members, [amy.id])
    const of = async (user_id: number, direct_member_only: boolean) =>
      (await amy.call(api.isMember, { user_group_id: outer, user_id, direct_member_only })).is_user_group_member
    assert.deepEqual([await of(bob.id, false), await of(bob.id, true), await of(amy.id, true)], [true, false, true])
    await amy.refused(api.isMember, { user_group_id: outer, user_id: 9999 }, 'BAD_REQUEST')
    await amy.refused(api.members, { user_group_id: 9999 }, 'BAD_REQUEST')
    await amy.refused(api.subgroups, { user_group_id: 9999 }, 'BAD_REQUEST')
  })

  test('system groups follow from roles', async () => {
    const owners = await amy.call(api.members, { user_group_id: system['role:owners']! })
    assert.deepEqual(owners.members, [daemon.owner.id])
    const everyone = await amy.call(api.members, { user_group_id: system['role:everyone']! })
    assert.ok([daemon.owner.id, amy.id, bob.id].every(id => everyone.members.includes(id)))
    const direct = await amy.call(api.members, { user_group_id: system['role:members']!, direct_member_only: true })
    assert.deepEqual(direct.members, [amy.id, bob.id].sort())
  })
})

describe('POST /user_groups/{user_group_id}/deactivate', () => {
  test('a group that is used is not deactivated, and the objections say where', async () => {
    const id = await make(amy)
    const outer = await make(amy, {
      subgroups: [id],
      can_join_group: { direct_members: [bob.id], direct_subgroups: [id] },
    })
    const { objections } = await amy.refused(api.deactivate, { user_group_id: id }, 'CANNOT_DEACTIVATE_GROUP_IN_USE')
    assert.deepEqual(objections, [
      { type: 'subgroup', supergroup_ids: [outer] },
      { type: 'user_group', group_id: outer, settings: ['can_join_group'] },
    ])
    await bob.refused(api.deactivate, { user_group_id: id }, 'BAD_REQUEST')
  })

  test('a deactivated group is hidden from clients that did not ask for it, and comes back by PATCH', async () => {
    const id = await make(amy, { members: [bob.id] })
    const plain = await listen(bob, ['user_group'])
    const modern = await listen(bob, ['user_group'], { client_capabilities: { include_deactivated_groups: true } })
    await amy.call(api.deactivate, { user_group_id: id })
    await amy.refused(api.deactivate, { user_group_id: id }, 'BAD_REQUEST')
    await amy.call(api.update, { user_group_id: id, name: 'asleep' })
    await amy.refused(api.members, { user_group_id: id }, 'BAD_REQUEST')
    await amy.refused(api.create, { name: 'asleep', description: '', members: [] }, 'BAD_REQUEST')
    await amy.refused(api.create, { name: 'x', description: '', members: [], subgroups: [id] }, 'BAD_REQUEST')
    await amy.refused(api.create, { name: 'x', description: '', members: [], can_join_group: id }, 'BAD_REQUEST')
    const ids = (state: Record<string, any>) => state.realm_user_groups.map((group: { id: number }) => group.id)
    assert.ok(!ids(await fetched(bob, ['realm_user_groups'])).includes(id))
    const capable = { client_capabilities: { include_deactivated_groups: true } }
    assert.ok(ids(await fetched(bob, ['realm_user_groups'], capable)).includes(id))
    await amy.call(api.update, { user_group_id: id, deactivated: false })
    const update = { type: 'user_group', op: 'update', group_id: id }
    assert.deepEqual(await modern(), [
      { ...update, data: { deactivated: true } },
      { ...update, data: { name: 'asleep' } },
      { ...update, data: { deactivated: false } },
    ])
    assert.deepEqual(await plain(), [
      { type: 'user_group', op: 'remove', group_id: id },
      { type: 'user_group', op: 'add', group: await show(id) },
    ])
  })
})
