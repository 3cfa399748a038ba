// Membership in groups, through groups in groups: what is remembered must be what a naive computation finds.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { PermissionSetting } from '../../../daemon/api/shapes/permission-settings.ts'
import { applyFact } from '../../../daemon/domain/index.ts'
import { roles } from '../../../daemon/domain/model/roles.ts'
import { type Group, State } from '../../../daemon/domain/model/state.ts'
import { found } from '../../../daemon/domain/organization/founding.ts'
import {
  activeGroup,
  changedValue,
  checkedValue,
  defaultValue,
  directMembers,
  findGroups,
  isIn,
  isNobody,
  normalise,
  presentValue,
  systemGroup,
  withSubgroups,
} from '../../../daemon/domain/rules/group-values.ts'
import seed from '../../../data/seed.json' with { type: 'json' }
import { cases } from '../../support/cases.ts'

function organization(people: number): State {
  const state = new State()
  applyFact(state, found(seed, 'example.com', 0))
  const owner = [...state.users.values()].at(-1)!
  for (let n = 0; n < people; n++)
    state.users.put({ ...owner, id: state.users.nextId, email: `p${n}@example.com`, role: roles.member })
  return state
}

function addGroup(state: State, members: number[], subgroups: number[]): number {
  const some = state.groups.get(1)!
  const group: Group = {
    ...some,
    id: state.groups.nextId,
    name: `g${state.groups.nextId}`,
    system: false,
    members,
    subgroups,
  }
  applyFact(state, { type: 'group.created', group })
  return group.id
}

/** By hand: a group is in, when it or a group inside it lists the person. */
function naive(state: State, userId: number): number[] {
  const user = state.users.get(userId)!
  const holds = (group: Group, seen: Set<number>): boolean => {
    if (seen.has(group.id)) return false
    seen.add(group.id)
    if (group.members.includes(userId)) return true
    if (group.name === 'role:members' && user.role === roles.member) return true
    if (group.name === 'role:fullmembers' && user.role === roles.member && user.fullMember) return true
    if (group.name === 'role:everyone' && user.role === roles.guest) return true
    return group.subgroups.some(id => holds(state.groups.get(id)!, seen))
  }
  if (!user.active) return []
  return [...state.groups.values()].filter(group => holds(group, new Set())).map(group => group.id)
}

describe('groups in groups', () => {
  test('remembered memberships stay right under any change', () => {
    const step = fc.record({
      what: fc.constantFrom('create', 'add', 'remove', 'nest', 'unnest', 'role', 'active'),
      a: fc.nat(30),
      b: fc.nat(30),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), steps => {
        const state = organization(4)
        const people = [...state.users.values()].filter(user => user.role === roles.member && !user.bot)
        for (const { what, a, b } of steps) {
          const user = state.users.get(people[a % people.length]!.id)!
          const own = [...state.groups.values()].filter(group => !group.system)
          const group = own[a % Math.max(own.length, 1)]
          const other = [...state.groups.values()][b % state.groups.size]!
          if (what === 'create') addGroup(state, [user.id], [other.id])
          else if (what === 'role')
            state.users.put({ ...user, role: b % 2 ? roles.guest : roles.member, fullMember: b % 3 === 0 })
          else if (what === 'active') state.users.put({ ...user, active: !user.active })
          else if (group) change(state, what, group, people[b % people.length]!.id, other)
          for (const { id } of people)
            assert.deepEqual(
              [...findGroups(state, state.users.get(id)!)].sort((x, y) => x - y),
              naive(state, id),
            )
        }
      }),
      { numRuns: cases(40) },
    )
  })

  test('a thousand groups inside each other are answered, and answered again at no cost', () => {
    const state = organization(1)
    const user = [...state.users.values()].at(-1)!
    let inner = addGroup(state, [user.id], [])
    for (let n = 1; n < 1000; n++) inner = addGroup(state, [], [inner])
    const groups = findGroups(state, user)
    assert.ok(groups.has(inner))
    assert.equal(withSubgroups(state, inner).size, 1000)
    assert.equal(findGroups(state, user), groups, 'the same answer, not a new one')
    applyFact(state, { type: 'group.members-removed', groupId: inner - 999, userIds: [user.id] })
    assert.ok(!findGroups(state, user).has(inner))
  })

  test('are looked up once for all people, and not again for a change that is about no group', t => {
    const state = organization(20)
    const people = [...state.users.values()].filter(user => user.role === roles.member)
    let inner = addGroup(
      state,
      people.map(({ id }) => id),
      [],
    )
    for (let n = 1; n < 100; n++) inner = addGroup(state, [], [inner])
    const where = t.mock.method(state.groups, 'where')
    const groups = people.map(user => findGroups(state, user))
    assert.ok(groups.every(found => found.has(inner)))
    const looks = where.mock.calls.filter(call => call.arguments[0] === 'subgroup').length
    assert.ok(looks < 150, `${looks} looks`)
    const supposed = state.with({ channels: [...state.channels.values()] })
    for (const [at, user] of people.entries()) assert.equal(findGroups(supposed, user), groups[at])
  })
})

function change(state: State, what: string, group: Group, userId: number, other: Group): void {
  const groupId = group.id
  const inside = group.members.includes(userId)
  const nested = group.subgroups.includes(other.id)
  if (what === 'add' && !inside) applyFact(state, { type: 'group.members-added', groupId, userIds: [userId] })
  if (what === 'remove' && inside) applyFact(state, { type: 'group.members-removed', groupId, userIds: [userId] })
  if (what === 'nest' && !nested && !withSubgroups(state, other.id).has(groupId))
    applyFact(state, { type: 'group.subgroups-added', groupId, subgroupIds: [other.id] })
  if (what === 'unnest' && nested)
    applyFact(state, { type: 'group.subgroups-removed', groupId, subgroupIds: [other.id] })
}

describe('members of a group', () => {
  const state = organization(3)
  const [ann, bob, cat] = [...state.users.values()].filter(user => user.role === roles.member && !user.bot)
  state.users.put({ ...bob!, active: false })
  state.users.put({ ...cat!, fullMember: false })
  const members = (name: string) => directMembers(state, systemGroup(state, name))

  test('of one that people made: users who are active, in ascending order, each as given', () => {
    const group = state.groups.get(addGroup(state, [cat!.id, 9_999, bob!.id, ann!.id], []))!
    assert.deepEqual(directMembers(state, group), [ann!.id, cat!.id])
  })

  test('of one of the system: by role and waiting period, without inactive accounts and bots of the system', () => {
    const owner = [...state.users.values()].find(user => user.role === roles.owner)!
    assert.deepEqual(members('role:members'), [ann!.id, cat!.id])
    assert.deepEqual(members('role:fullmembers'), [ann!.id])
    assert.deepEqual(members('role:owners'), [owner.id])
    assert.deepEqual(members('role:nobody'), [])
  })

  test('a group that people made is no system group, whatever its name', () => {
    const { name } = state.groups.get(addGroup(state, [], []))!
    assert.throws(() => systemGroup(state, name), /no system group/)
    assert.throws(() => systemGroup(state, 'role:unknown'), /no system group/)
  })

  test('a value holds those it names and those in its groups, while they are active', () => {
    const inner = addGroup(state, [cat!.id], [])
    const outer = addGroup(state, [], [inner])
    const other = addGroup(state, [], [])
    const value = { direct_members: [bob!.id], direct_subgroups: [other, outer] }
    const now = (id: number) => state.users.get(id)!
    assert.equal(isIn(state, now(cat!.id), value), true)
    assert.equal(isIn(state, now(ann!.id), value), false)
    assert.equal(isIn(state, now(bob!.id), value), false, 'not active')
    assert.equal(isIn(state, { ...bob!, active: true }, value), true)
    assert.equal(isIn(state, now(bob!.id), systemGroup(state, 'role:members').id), false)
    assert.equal(isIn(state, now(ann!.id), systemGroup(state, 'role:members').id), true)
  })

  test('a group that does not exist has no subgroups', () => {
    assert.deepEqual([...withSubgroups(state, 9_999)], [9_999])
  })
})

describe('values of group settings', () => {
  const state = organization(3)
  const [ann, bob, gone] = [...state.users.values()].filter(user => user.role === roles.member && !user.bot)
  state.users.put({ ...gone!, active: false })
  const group = (name: string) => systemGroup(state, name).id
  const own = addGroup(state, [], [])
  const any: PermissionSetting = { nobody: true, everyone: true, default: 'role:members' }
  const value = (direct_members: number[], direct_subgroups: number[] = []) => ({ direct_members, direct_subgroups })
  const isActive = (id: number) => state.users.get(id)?.active === true
  const check = (setting: Partial<PermissionSetting>, given: Parameters<typeof normalise>[1]) =>
    checkedValue(state, 'can_x', { ...any, ...setting }, given, isActive)

  test('have one way to be written', () => {
    const nobody = group('role:nobody')
    assert.equal(normalise(state, own), own)
    assert.equal(normalise(state, value([], [own])), own)
    assert.equal(normalise(state, value([])), nobody)
    assert.deepEqual(normalise(state, value([10, 9, 10])), value([9, 10]))
    assert.deepEqual(normalise(state, value([ann!.id], [own])), value([ann!.id], [own]))
    assert.deepEqual(normalise(state, value([], [1_000, 999, 1_000])), value([], [999, 1_000]))
    assert.ok(isNobody(state, nobody))
    assert.ok(!isNobody(state, own))
    assert.ok(!isNobody(state, value([])))
  })

  test('are shown without deactivated and unknown users', () => {
    assert.equal(presentValue(state, own), own)
    assert.deepEqual(presentValue(state, value([ann!.id, gone!.id, 9_999], [own])), value([ann!.id], [own]))
  })

  test('start as the setting says', () => {
    assert.equal(defaultValue(state, any, ann!.id), group('role:members'))
    assert.equal(defaultValue(state, { ...any, default: 'creator' }, null), group('role:nobody'))
    assert.deepEqual(defaultValue(state, { ...any, default: 'creator' }, ann!.id), value([ann!.id]))
  })

  test('name active users and groups', () => {
    assert.deepEqual(
      check({}, value([ann!.id, bob!.id], [own])),
      value(
        [ann!.id, bob!.id].sort((a, b) => a - b),
        [own],
      ),
    )
    const missing = { kind: 'not-found', parameter: 'can_x' }
    assert.throws(() => check({}, value([gone!.id])), missing)
    assert.throws(() => check({}, value([9_999])), missing)
    assert.throws(() => check({}, value([ann!.id], [9_999])), missing)
    assert.throws(() => check({}, 9_999), missing)
    const retired = addGroup(state, [], [])
    state.groups.put({ ...state.groups.get(retired)!, deactivated: true })
    assert.throws(() => check({}, retired), { kind: 'conflict', parameter: 'can_x' })
    assert.throws(() => check({}, value([ann!.id], [retired])), { kind: 'conflict' })
    assert.equal(activeGroup(state, 'can_x', own).id, own)
  })

  test('are system groups where the setting wants one', () => {
    const wrong = { code: 'SYSTEM_GROUP_REQUIRED', parameter: 'can_x', fields: { setting_name: 'can_x' } }
    assert.throws(() => check({ systemOnly: true }, own), wrong)
    assert.throws(() => check({ systemOnly: true }, value([ann!.id])), wrong)
    assert.equal(check({ systemOnly: true }, group('role:members')), group('role:members'))
    assert.equal(check({}, own), own)
  })

  test('are not the system groups that the setting does not take', () => {
    const refuses = (setting: Partial<PermissionSetting>, name: string) =>
      assert.throws(() => check(setting, group(name)), { kind: 'invalid', parameter: 'can_x' }, name)
    const takes = (setting: Partial<PermissionSetting>, name: string) =>
      assert.equal(check(setting, group(name)), group(name))
    refuses({}, 'role:internet')
    takes({}, 'role:nobody')
    refuses({ nobody: false }, 'role:nobody')
    takes({ nobody: false }, 'role:everyone')
    takes({}, 'role:everyone')
    refuses({ everyone: false }, 'role:everyone')
    takes({ everyone: false }, 'role:nobody')
    takes({ allowed: ['role:owners'] }, 'role:owners')
    refuses({ allowed: ['role:owners'] }, 'role:members')
    refuses({ forbidden: ['role:members'] }, 'role:members')
    takes({ forbidden: ['role:members'] }, 'role:owners')
    // What people made is none of these.
    assert.equal(check({ nobody: false, everyone: false, allowed: [] }, own), own)
  })

  test('change from the value that the caller knows', () => {
    const current = value([ann!.id, gone!.id])
    const change = (asked: Parameters<typeof changedValue>[4]) =>
      changedValue(state, 'can_x', any, current, asked, isActive)
    assert.equal(change({ new: own }), own)
    assert.equal(change({ new: own, old: null }), own)
    assert.equal(change({ new: own, old: value([ann!.id, ann!.id]) }), own)
    assert.equal(change({ new: value([ann!.id]) }), undefined, 'it is the current value')
    assert.equal(change({ new: value([ann!.id]), old: value([ann!.id]) }), undefined)
    const stale = { code: 'EXPECTATION_MISMATCH', kind: 'conflict', fields: { field_name: 'old' } }
    assert.throws(() => change({ new: own, old: own }), stale)
    assert.throws(() => change({ new: value([ann!.id]), old: value([bob!.id]) }), stale)
    assert.throws(() => change({ new: 9_999 }), { kind: 'not-found' })
  })
})
