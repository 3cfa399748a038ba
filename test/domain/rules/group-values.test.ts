// Who is in which group, through groups in groups: what is remembered must be what a naive computation finds.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { applyFact } from '../../../daemon/domain/index.ts'
import { roles } from '../../../daemon/domain/model/roles.ts'
import { type Group, State } from '../../../daemon/domain/model/state.ts'
import { found } from '../../../daemon/domain/organization/founding.ts'
import { groupsOf, withSubgroups } from '../../../daemon/domain/rules/group-values.ts'
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
              [...groupsOf(state, state.users.get(id)!)].sort((x, y) => x - y),
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
    const groups = groupsOf(state, user)
    assert.ok(groups.has(inner))
    assert.equal(withSubgroups(state, inner).size, 1000)
    assert.equal(groupsOf(state, user), groups, 'the same answer, not a new one')
    applyFact(state, { type: 'group.members-removed', groupId: inner - 999, userIds: [user.id] })
    assert.ok(!groupsOf(state, user).has(inner))
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
