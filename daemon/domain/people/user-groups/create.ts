// A new user group, and the rules its name follows.

import type { ParamsOf } from '../../../api/define.ts'
import type { userGroups as api } from '../../../api/people/user-groups.ts'
import { groupPermissions } from '../../../api/shapes/permission-settings.ts'
import { mapTable } from '../../../api/tables.ts'
import { limits } from '../../limits.ts'
import { countCreated } from '../../model/lookups.ts'
import type { Group, State } from '../../model/state.ts'
import { full, inQuotes, invalid, missing, taken } from '../../refusal.ts'
import type { Context, Outcome } from '../../resource.ts'
import { activeGroup, ascending, checkedValue, defaultValue } from '../../rules/group-values.ts'
import * as may from '../../rules/index.ts'
import { knownActiveUser } from '../../rules/user-access.ts'
import { clean, hasUnprintable } from '../../values/text.ts'
import { seconds } from '../../values/time.ts'
import { checkMemberCount, checkSubgroupCount } from './change-members.ts'

export function create(ctx: Context, params: ParamsOf<typeof api.create>): Outcome<{ group_id: number }> {
  const { state, actor } = ctx
  may.check(may.createGroups, ctx)
  const name = checkName(state, params.name)
  for (const id of params.members) if (!knownActiveUser(ctx, id)) throw missing('members', 'active user', id)
  for (const id of params.subgroups) activeGroup(state, 'subgroups', id)
  const members = ascending(params.members)
  checkMemberCount(state, members.length)
  checkSubgroupCount(state, params.subgroups.length)
  if (state.groups.size >= limits.userGroups)
    throw full('The organization', limits.userGroups, 'user groups', 'Deactivated ones count.')
  if (!may.administer.allows(ctx) && countCreated(state, state.groups, actor) >= limits.userGroupsPerMember)
    throw full('You', limits.userGroupsPerMember, 'user groups of your own', 'Ask an administrator to create it.')
  const group: Group = {
    id: state.groups.nextId,
    name,
    description: checkDescription(params.description),
    system: false,
    creatorId: actor.id,
    dateCreated: seconds(ctx.now),
    deactivated: false,
    members,
    subgroups: ascending(params.subgroups),
    permissions: mapTable(groupPermissions, setting => {
      const given = params[setting]
      return given === undefined
        ? defaultValue(state, groupPermissions[setting], actor.id)
        : checkedValue(state, setting, groupPermissions[setting], given, id => knownActiveUser(ctx, id) !== undefined)
    }),
  }
  return { facts: [{ type: 'group.created', group }], reply: { group_id: group.id } }
}

const reserved = ['@', 'role:', 'user:', 'stream:', 'channel:']

export function checkDescription(given: string): string {
  // Kept as it was written: only its length is checked.
  clean('description', given, limits.groupDescription)
  return given
}

/** Names differ by case, and those of deactivated groups stay taken. */
export function checkName(state: State, given: string, current?: Group): string {
  const name = clean('name', given, limits.groupName)
  if (name === '') throw invalid('name', 'cannot be blank')
  if (hasUnprintable(name)) throw invalid('name', 'cannot contain control characters')
  const start = reserved.find(word => name.startsWith(word))
  if (start) throw invalid('name', `cannot start with ${inQuotes(start)}`)
  const namesake = state.groups.find('name', name)
  if (namesake && namesake.id !== current?.id) throw taken('name', name)
  return name
}
