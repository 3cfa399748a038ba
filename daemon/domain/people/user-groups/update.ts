// Changes to a user group itself, its end and its return.

import type { ParamsOf } from '../../../api/define.ts'
import type { userGroups as api } from '../../../api/people/user-groups.ts'
import { type GroupPermission, groupPermissions } from '../../../api/shapes/permission-settings.ts'
import type { Fact } from '../../facts.ts'
import type { GroupValue } from '../../model/roles.ts'
import type { Group, State } from '../../model/state.ts'
import { conflict, missing, Refusal } from '../../refusal.ts'
import type { Context, Outcome } from '../../resource.ts'
import { changedValue } from '../../rules/group-values.ts'
import * as may from '../../rules/index.ts'
import { knownActiveUser } from '../../rules/user-access.ts'
import { checkDescription, checkName } from './create.ts'

type Nothing = Record<never, never>

export function update(ctx: Context, params: ParamsOf<typeof api.update>): Outcome<Nothing> {
  const { state } = ctx
  const group = findManaged(ctx, params.user_group_id)
  if (Object.keys(params).length === 1)
    throw new Refusal('Give a name, a description or at least one setting to change.', { kind: 'invalid' })
  const name = params.name === undefined ? group.name : checkName(state, params.name, group)
  const description = params.description === undefined ? group.description : checkDescription(params.description)
  const changes = {
    ...(name !== group.name && { name }),
    ...(description !== group.description && { description }),
  }
  const permissions: Partial<Record<GroupPermission, GroupValue>> = {}
  for (const setting of Object.keys(groupPermissions) as GroupPermission[]) {
    const change = params[setting]
    if (!change) continue
    const value = changedValue(
      state,
      setting,
      groupPermissions[setting],
      group.permissions[setting],
      change,
      id => knownActiveUser(ctx, id) !== undefined,
    )
    if (value !== undefined) permissions[setting] = value
  }
  const facts: Fact[] = []
  const groupId = group.id
  if (Object.keys(changes).length > 0) facts.push({ type: 'group.edited', groupId, changes, permissions: {} })
  // true is not an error, but does nothing: there is another endpoint for it.
  if (params.deactivated === false && group.deactivated) facts.push({ type: 'group.reactivated', groupId })
  if (Object.keys(permissions).length > 0) facts.push({ type: 'group.edited', groupId, changes: {}, permissions })
  return { facts, reply: {} }
}

export function deactivate(ctx: Context, { user_group_id }: ParamsOf<typeof api.deactivate>): Outcome<Nothing> {
  const group = findManaged(ctx, user_group_id)
  if (group.deactivated) throw conflict('user_group_id', `user group ${group.id} is already deactivated`)
  const objections = findUses(ctx.state, group.id)
  if (objections.length > 0)
    throw conflict('user_group_id', 'the user group is still in use', {
      code: 'CANNOT_DEACTIVATE_GROUP_IN_USE',
      fields: { objections },
    })
  return { facts: [{ type: 'group.deactivated', groupId: group.id }], reply: {} }
}

/** Deactivated ones too. */
export function knownGroup(ctx: Context, id: number): Group {
  may.check(may.useGroups, ctx)
  const group = ctx.state.groups.get(id)
  if (!group) throw missing('user_group_id', 'user group', id)
  return group
}

function findManaged(ctx: Context, id: number): Group {
  const group = knownGroup(ctx, id)
  may.check(may.manageGroup, ctx, group)
  return group
}

/** Where the group is still named: what would break if it were gone. */
function findUses(state: State, id: number): object[] {
  const objections: object[] = []
  const supergroups = state.groups.where('subgroup', id).filter(group => !group.deactivated)
  if (supergroups.length > 0)
    objections.push({ type: 'subgroup', supergroup_ids: supergroups.map(group => group.id).sort((a, b) => a - b) })
  for (const channel of state.channels.values()) {
    const settings = channel.archived ? [] : naming(channel.permissions, id)
    if (settings.length > 0) objections.push({ type: 'channel', channel_id: channel.id, settings })
  }
  for (const group of state.groups.values()) {
    const settings = group.deactivated ? [] : naming(group.permissions, id)
    if (settings.length > 0) objections.push({ type: 'user_group', group_id: group.id, settings })
  }
  const settings = naming(state.organization.permissions, id)
  if (settings.length > 0) objections.push({ type: 'realm', settings })
  return objections
}

function naming(permissions: Readonly<Record<string, GroupValue>>, id: number): string[] {
  return Object.entries(permissions)
    .filter(([, value]) => value === id || (typeof value === 'object' && value.direct_subgroups.includes(id)))
    .map(([name]) => name)
}
