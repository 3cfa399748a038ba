// Applies facts about user groups to the state.

import type { UserGroupFact } from '../../model/facts/people.ts'
import type { Group, State } from '../../model/state.ts'
import type { FactOf } from '../../resource.ts'

export const apply: { [T in UserGroupFact['type']]: (state: State, fact: FactOf<UserGroupFact, T>) => void } = {
  'group.created': (state, { group }) => state.groups.put(group),
  'group.edited': (state, { groupId, changes, permissions }) =>
    change(state, groupId, group => ({ ...changes, permissions: { ...group.permissions, ...permissions } })),
  'group.deactivated': (state, { groupId }) => change(state, groupId, () => ({ deactivated: true })),
  'group.reactivated': (state, { groupId }) => change(state, groupId, () => ({ deactivated: false })),
  'group.members-added': (state, { groupId, userIds }) =>
    change(state, groupId, group => ({ members: together(group.members, userIds) })),
  'group.members-removed': (state, { groupId, userIds }) =>
    change(state, groupId, group => ({ members: without(group.members, userIds) })),
  'group.subgroups-added': (state, { groupId, subgroupIds }) =>
    change(state, groupId, group => ({ subgroups: together(group.subgroups, subgroupIds) })),
  'group.subgroups-removed': (state, { groupId, subgroupIds }) =>
    change(state, groupId, group => ({ subgroups: without(group.subgroups, subgroupIds) })),
}

function change(state: State, id: number, changes: (group: Group) => Partial<Group>): void {
  const group = state.groups.get(id)!
  state.groups.put({ ...group, ...changes(group) })
}

export function together(ids: readonly number[], more: readonly number[]): number[] {
  return [...ids, ...more].sort((a, b) => a - b)
}

export function without(ids: readonly number[], gone: readonly number[]): number[] {
  const left = new Set(gone)
  return ids.filter(id => !left.has(id))
}
