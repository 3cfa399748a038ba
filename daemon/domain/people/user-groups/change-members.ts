// Members and subgroups of a user group: added and removed, all or nothing.

import { checkSights } from '../../channels/channels/visibility.ts'
import type { Fact } from '../../facts.ts'
import { limits } from '../../limits.ts'
import { directNotice } from '../../messages/notices/post.ts'
import type { Group, State } from '../../model/state.ts'
import { conflict, full, missing, neededOneOf } from '../../refusal.ts'
import type { Context } from '../../resource.ts'
import { activeGroup, ascending, directMembers, withSupergroups } from '../../rules/group-values.ts'
import * as may from '../../rules/index.ts'
import { knownActiveUser } from '../../rules/user-access.ts'

interface MemberChange {
  readonly add: readonly number[]
  readonly remove: readonly number[]
  readonly addSubgroups: readonly number[]
  readonly removeSubgroups: readonly number[]
}

/** `subgroupParams`: what the caller's parameters for groups are called. */
export function changeMembers(
  ctx: Context,
  group: Group,
  change: MemberChange,
  subgroupParams: readonly [add: string, remove: string] = ['add_subgroups', 'delete_subgroups'],
): Fact[] {
  const add = ascending(change.add)
  const remove = ascending(change.remove)
  const addSubgroups = ascending(change.addSubgroups)
  const removeSubgroups = ascending(change.removeSubgroups)
  if (add.length + remove.length + addSubgroups.length + removeSubgroups.length === 0)
    throw neededOneOf('add', 'delete', 'add_subgroups', 'delete_subgroups')
  checkRights(ctx, group, { add, remove, addSubgroups, removeSubgroups })
  checkPeople(ctx, group, add, remove)
  checkMemberCount(ctx.state, add.length - remove.length)
  checkGroups(ctx.state, group, addSubgroups, removeSubgroups, subgroupParams)
  checkSights(ctx.state, group, [...add, ...remove], [...addSubgroups, ...removeSubgroups])
  const groupId = group.id
  const facts: Fact[] = []
  if (add.length > 0) facts.push({ type: 'group.members-added', groupId, userIds: add })
  if (remove.length > 0) facts.push({ type: 'group.members-removed', groupId, userIds: remove })
  if (addSubgroups.length > 0) facts.push({ type: 'group.subgroups-added', groupId, subgroupIds: addSubgroups })
  if (removeSubgroups.length > 0) facts.push({ type: 'group.subgroups-removed', groupId, subgroupIds: removeSubgroups })
  const who = `@_**${ctx.actor.fullName}|${ctx.actor.id}**`
  facts.push(...notice(ctx, add, `${who} added you to the group @_*${group.name}*.`))
  facts.push(...notice(ctx, remove, `${who} removed you from the group @_*${group.name}*.`))
  return facts
}

function checkRights(ctx: Context, group: Group, { add, remove, addSubgroups, removeSubgroups }: MemberChange): void {
  const onlySelf = (ids: readonly number[]) => ids.length === 1 && ids[0] === ctx.actor.id
  if (add.length > 0) may.check(onlySelf(add) ? may.joinGroup : may.addToGroup, ctx, group)
  if (remove.length > 0) may.check(onlySelf(remove) ? may.leaveGroup : may.removeFromGroup, ctx, group)
  if (addSubgroups.length > 0) may.check(may.addToGroup, ctx, group)
  if (removeSubgroups.length > 0) may.check(may.manageGroup, ctx, group)
}

function checkPeople(ctx: Context, group: Group, add: readonly number[], remove: readonly number[]): void {
  const members = new Set(directMembers(ctx.state, group))
  for (const id of add) {
    if (!knownActiveUser(ctx, id)) throw missing('add', 'active user', id)
    if (members.has(id)) throw conflict('add', `user ${id} is already a member`)
  }
  // Additions come first, so one call can add and remove the same.
  for (const id of add) members.add(id)
  for (const id of remove) if (!members.has(id)) throw conflict('delete', `user ${id} is not a member`)
}

function checkGroups(
  state: State,
  group: Group,
  add: readonly number[],
  remove: readonly number[],
  [addName, removeName]: readonly [string, string],
): void {
  const subgroups = new Set(group.subgroups)
  checkSubgroupCount(state, add.length - remove.length)
  const containing = add.length > 0 ? withSupergroups(state, [group]) : new Set()
  for (const id of add) {
    activeGroup(state, addName, id)
    if (subgroups.has(id)) throw conflict(addName, `group ${id} is already a subgroup`)
    if (containing.has(id))
      throw conflict(addName, `group ${id} contains group ${group.id}, so it cannot become its subgroup`)
  }
  for (const id of add) subgroups.add(id)
  for (const id of remove) {
    activeGroup(state, removeName, id)
    if (!subgroups.has(id)) throw conflict(removeName, `group ${id} is not a subgroup`)
  }
}

export function checkMemberCount(state: State, more: number): void {
  if (more > 0 && more > freeMemberships(state))
    throw full('The organization', limits.groupMembers, 'members in its groups', 'Remove some first.')
}

/** How many people can still be added to groups. */
export function freeMemberships(state: State): number {
  let left: number = limits.groupMembers
  for (const { members } of state.groups.values()) left -= members.length
  return Math.max(0, left)
}

export function checkSubgroupCount(state: State, more: number): void {
  // Most changes are about people.
  if (more <= 0) return
  const count = [...state.groups.values()].reduce((sum, { subgroups }) => sum + subgroups.length, 0)
  if (count + more > limits.subgroups)
    throw full('The organization', limits.subgroups, 'subgroups in its groups', 'Remove some first.')
}

/**
 * To the people concerned, unless they did it themselves.
 * OPEN: the public server tells any number of people; here many at once get no message, as when they are subscribed to a channel.
 */
function notice(ctx: Context, ids: readonly number[], content: string): Fact[] {
  const people = ids.filter(id => id !== ctx.actor.id && may.isHuman(ctx.state.users.get(id)!))
  return people.length <= limits.bulkNewSubscriptionMessages ? directNotice(ctx, people, content) : []
}
