// Settings whose value is a group of users: which groups each accepts, and its default. `register` reports this table.

import facts from '../../../data/permission-settings.json' with { type: 'json' }
import { eitherOf, groupId, listOf, record, userId } from '../define.ts'
import { mapTable } from '../tables.ts'

/** A set of users: a group's ID, or users and groups listed. */
export const groupValue = eitherOf(
  groupId,
  record({ direct_members: listOf(userId), direct_subgroups: listOf(groupId) }),
)

export interface PermissionSetting {
  /** Accepts only a system group. */
  readonly systemOnly?: true
  readonly nobody: boolean
  /** Whether role:everyone is allowed; if not, guests never have the permission. */
  readonly everyone: boolean
  readonly allowed?: readonly string[]
  /** System groups it does not accept, besides role:internet, which no setting accepts. */
  readonly forbidden?: readonly string[]
  /** Name of a system group, or the creator. */
  readonly default: string
  /** Only owners can change it. */
  readonly owner?: true
  /** The level that it came with. Rows of older stores do not have it. */
  readonly since?: number
}

/** What the tables below are made from names the creator of a channel or a group in these ways. */
const creatorNames = ['stream_creator_or_nobody', 'group_creator']

interface Row {
  readonly nobody: boolean
  readonly everyone: boolean
  readonly default: string
  readonly systemOnly?: boolean
  readonly allowed?: readonly string[]
}

function settingsIn<T extends Readonly<Record<string, Row>>>(
  table: T,
  more: { readonly [K in keyof T]?: Partial<PermissionSetting> },
): { readonly [K in keyof T]: PermissionSetting } {
  return mapTable(table, name => {
    const { systemOnly, allowed, default: first, ...row } = table[name]!
    return {
      ...row,
      default: creatorNames.includes(first) ? 'creator' : first,
      ...(systemOnly && { systemOnly }),
      ...(allowed && { allowed }),
      ...more[name],
    }
  })
}

/** Came after the level of the facts. */
const can_create_topic_group = { nobody: true, everyone: true, default: 'role:everyone' }

export const channelPermissions = settingsIn(
  { ...facts.stream, can_create_topic_group },
  { can_create_topic_group: { since: 441 } },
)

export const groupPermissions = settingsIn(facts.group, {
  // The specification says so; the public server takes them.
  can_mention_group: { forbidden: ['role:owners'] },
})

const forOwners = { owner: true } as const

export const organizationPermissions = settingsIn(facts.realm, {
  create_multiuse_invite_group: forOwners,
  can_create_groups: forOwners,
  can_invite_users_group: forOwners,
  can_manage_all_groups: forOwners,
  can_manage_billing_group: forOwners,
})

export type ChannelPermission = keyof typeof channelPermissions
export type GroupPermission = keyof typeof groupPermissions
export type OrganizationPermission = keyof typeof organizationPermissions
