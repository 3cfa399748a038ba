// Sets of users: who is in a group, at any depth, and the group-setting values built from groups.

import {
  type ChannelPermission,
  channelPermissions,
  type PermissionSetting,
} from '../../api/shapes/permission-settings.ts'
import { limits } from '../limits.ts'
import { type GroupValue, roles } from '../model/roles.ts'
import type { Channel, Group, State, User } from '../model/state.ts'
import { conflict, invalid, missing, type Refusal } from '../refusal.ts'

/** System groups by the roles whose accounts are their direct members; wider ones contain them as subgroups. */
const systemGroupOfRole: Readonly<Record<number, string>> = {
  [roles.owner]: 'role:owners',
  [roles.administrator]: 'role:administrators',
  [roles.moderator]: 'role:moderators',
  [roles.member]: 'role:members',
  [roles.guest]: 'role:everyone',
}

export function systemGroup(state: State, name: string): Group {
  const group = state.groups.find('name', name)
  if (!group?.system) throw new Error(`there is no system group ${name}`)
  return group
}

export function isNobody(state: State, value: GroupValue): boolean {
  return value === systemGroup(state, 'role:nobody').id
}

// --- membership -------------------------------------------------------------------------------------------------

interface Memberships {
  /** The table they were read from, and the version of its lists then: another world counts its own. */
  readonly table: State['groups']
  readonly version: number
  readonly groups: ReadonlySet<number>
}

const memberships = new WeakMap<User, Memberships>()

/**
 * Every group the account is in, directly or through groups in groups. Kept until the members or subgroups of a group change; a
 * change of the account gives a new row, and so a new answer.
 */
export function findGroups(state: State, user: User): ReadonlySet<number> {
  const known = memberships.get(user)
  const version = state.groups.listsVersion
  if (known?.table === state.groups && known.version === version) return known.groups
  const groups = user.active ? withSupergroups(state, directGroups(state, user)) : new Set<number>()
  memberships.set(user, { table: state.groups, version, groups })
  return groups
}

/** System groups too, which follow from role and waiting period. */
export function directGroups(state: State, user: User): Group[] {
  const names = [systemGroupOfRole[user.role]!]
  if (isFullMember(user)) names.push('role:fullmembers')
  return [...state.groups.where('member', user.id), ...names.map(name => systemGroup(state, name))]
}

/** Active direct members, ascending. */
export function directMembers(state: State, group: Group): number[] {
  if (!group.system) return group.members.filter(id => state.users.get(id)?.active).sort((a, b) => a - b)
  const members: number[] = []
  for (const user of state.users.values()) {
    const inside =
      systemGroupOfRole[user.role] === group.name || (group.name === 'role:fullmembers' && isFullMember(user))
    if (inside && user.active && !user.bot?.system) members.push(user.id)
  }
  return members
}

function isFullMember(user: User): boolean {
  return user.role === roles.member && user.fullMember
}

/** The group itself and every group inside it, at any depth. */
export function withSubgroups(state: State, groupId: number): Set<number> {
  const all = new Set<number>()
  const found = [groupId]
  for (let id = found.pop(); id !== undefined; id = found.pop()) {
    if (all.has(id)) continue
    all.add(id)
    for (const inner of state.groups.get(id)?.subgroups ?? []) found.push(inner)
  }
  return all
}

/** Whether an account is in one of the groups, at any depth; for many accounts in a row. */
export function memberCheck(state: State, groupIds: readonly number[]): (user: User) => boolean {
  const inside = new Set(groupIds.flatMap(id => [...withSubgroups(state, id)]))
  return user => user.active && directGroups(state, user).some(({ id }) => inside.has(id))
}

/** The groups themselves and every group that contains one of them, at any depth. */
export function withSupergroups(state: State, groups: readonly Group[]): Set<number> {
  const all = new Set<number>()
  const found = groups.map(({ id }) => id)
  const outer = outerGroups(state)
  for (let id = found.pop(); id !== undefined; id = found.pop()) {
    if (all.has(id)) continue
    all.add(id)
    for (const outerId of outer(id)) found.push(outerId)
  }
  return all
}

interface OuterGroups {
  readonly version: number
  readonly byGroup: Map<number, readonly number[]>
}

const outerGroupsIn = new WeakMap<State['groups'], OuterGroups>()

/** Groups that contain a group directly. Kept like memberships: thousands of accounts in a row ask for the same ones. */
function outerGroups({ groups }: State): (groupId: number) => readonly number[] {
  let known = outerGroupsIn.get(groups)
  if (known?.version !== groups.listsVersion) {
    known = { version: groups.listsVersion, byGroup: new Map() }
    outerGroupsIn.set(groups, known)
  }
  const { byGroup } = known
  return groupId => {
    let found = byGroup.get(groupId)
    if (!found) {
      found = groups.where('subgroup', groupId).map(({ id }) => id)
      byGroup.set(groupId, found)
    }
    return found
  }
}

/** Who has a permission in a channel. Channels of older stores lack those that came later. */
export function channelPermission(
  state: State,
  channel: Pick<Channel, 'permissions'>,
  name: ChannelPermission,
): GroupValue {
  return channel.permissions[name] ?? systemGroup(state, channelPermissions[name].default).id
}

/** How many people and groups the value lists itself. */
export function countNamed(value: GroupValue): number {
  return typeof value === 'number' ? 0 : value.direct_members.length + value.direct_subgroups.length
}

/** In the settings of all channels and groups, without those that name one. */
function countAllNamed(state: State): number {
  let count = 0
  for (const rows of [state.channels, state.groups])
    for (const { permissions } of rows.values())
      for (const value of Object.values(permissions)) {
        const named = countNamed(value)
        if (named > 1) count += named
      }
  return count
}

/** Whether the account is one of the people the value names. */
export function isIn(state: State, user: User, value: GroupValue): boolean {
  if (!user.active) return false
  if (typeof value === 'number') return findGroups(state, user).has(value)
  if (value.direct_members.includes(user.id)) return true
  const groups = findGroups(state, user)
  return value.direct_subgroups.some(id => groups.has(id))
}

// --- values as parameters ---------------------------------------------------------------------------------------

/** One way to write each value: lists sorted and without repeats, a lone group as its ID, an empty value as role:nobody. */
export function normalise(state: State, value: GroupValue): GroupValue {
  if (typeof value === 'number') return value
  const direct_members = ascending(value.direct_members)
  const direct_subgroups = ascending(value.direct_subgroups)
  if (direct_members.length > 0 || direct_subgroups.length > 1) return { direct_members, direct_subgroups }
  return direct_subgroups[0] ?? systemGroup(state, 'role:nobody').id
}

/** The value as the API shows it: deactivated users are left out, and come back when they are reactivated. */
export function presentValue(state: State, value: GroupValue): GroupValue {
  if (typeof value === 'number') return value
  return { ...value, direct_members: value.direct_members.filter(id => state.users.get(id)?.active) }
}

function sameValue(a: GroupValue, b: GroupValue): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

/** The value a setting starts with. */
export function defaultValue(state: State, setting: PermissionSetting, creatorId: number | null): GroupValue {
  if (setting.default !== 'creator') return systemGroup(state, setting.default).id
  if (creatorId === null) return systemGroup(state, 'role:nobody').id
  return { direct_members: [creatorId], direct_subgroups: [] }
}

/** Normalises and checks a new value; refuses what the setting does not take, and people for whom `isKnown` is false. */
export function checkedValue(
  state: State,
  name: string,
  setting: PermissionSetting,
  given: GroupValue,
  isKnown: (userId: number) => boolean,
): GroupValue {
  const value = normalise(state, given)
  if (typeof value === 'number') checkGroup(state, name, setting, value)
  else {
    if (setting.systemOnly) throw systemGroupRequired(name)
    if (countNamed(value) > limits.namedInSetting)
      throw invalid(
        name,
        `must name at most ${limits.namedInSetting} people and groups; make a user group of them and name that`,
      )
    // Many settings name the one who made the channel.
    if (countNamed(value) > 1 && countNamed(value) > limits.namedInAllSettings - countAllNamed(state))
      throw invalid(
        name,
        `settings name ${limits.namedInAllSettings} people and groups already; make a user group and name that`,
      )
    for (const id of value.direct_members) if (!isKnown(id)) throw missing(name, 'active user', id)
    for (const id of value.direct_subgroups) activeGroup(state, name, id)
  }
  return value
}

export interface Change {
  readonly new: GroupValue
  readonly old?: GroupValue | null | undefined
}

/** What `{new, old}` asks for: the checked new value, or undefined when it is the current one already. */
export function changedValue(
  state: State,
  name: string,
  setting: PermissionSetting,
  current: GroupValue,
  change: Change,
  isKnown: (userId: number) => boolean,
): GroupValue | undefined {
  const seen = normalise(state, presentValue(state, current))
  if (change.old !== undefined && change.old !== null && !sameValue(normalise(state, change.old), seen))
    throw conflict(name, '"old" is not the current value; fetch it again', {
      code: 'EXPECTATION_MISMATCH',
      fields: { field_name: 'old' },
    })
  if (sameValue(normalise(state, change.new), seen)) return undefined
  return checkedValue(state, name, setting, change.new, isKnown)
}

function checkGroup(state: State, name: string, setting: PermissionSetting, id: number): void {
  const group = activeGroup(state, name, id)
  if (setting.systemOnly && !group.system) throw systemGroupRequired(name)
  if (!group.system) return
  const forbidden =
    group.name === 'role:internet' ||
    (group.name === 'role:nobody' && !setting.nobody) ||
    (group.name === 'role:everyone' && !setting.everyone) ||
    (setting.allowed && !setting.allowed.includes(group.name)) ||
    setting.forbidden?.includes(group.name)
  if (forbidden) throw invalid(name, `cannot be set to ${group.name}`)
}

/** The group that a parameter names; refuses one that is gone or never was. */
export function activeGroup(state: State, name: string, id: number): Group {
  const group = state.groups.get(id)
  if (!group) throw missing(name, 'user group', id)
  if (group.deactivated) throw conflict(name, `user group ${id} is deactivated`)
  return group
}

function systemGroupRequired(name: string): Refusal {
  return invalid(name, 'must be a system group', { code: 'SYSTEM_GROUP_REQUIRED', fields: { setting_name: name } })
}

/** Each once, in order. */
export function ascending(ids: readonly number[]): number[] {
  return [...new Set(ids)].sort((a, b) => a - b)
}
