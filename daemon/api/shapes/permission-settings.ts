// Settings whose value is a group of users: which groups each accepts, and its default. `register` reports this table.

import { eitherOf, groupId, listOf, record, userId } from '../define.ts'

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

const creator = 'creator'

export const channelPermissions = {
  can_add_subscribers_group: { nobody: true, everyone: false, default: 'role:nobody' },
  can_administer_channel_group: { nobody: true, everyone: false, default: creator },
  can_create_topic_group: { nobody: true, everyone: true, default: 'role:everyone', since: 441 },
  can_delete_any_message_group: { nobody: true, everyone: true, default: 'role:nobody' },
  can_delete_own_message_group: { nobody: true, everyone: true, default: 'role:nobody' },
  can_move_messages_out_of_channel_group: { nobody: true, everyone: true, default: 'role:nobody' },
  can_move_messages_within_channel_group: { nobody: true, everyone: true, default: 'role:nobody' },
  can_remove_subscribers_group: { nobody: true, everyone: true, default: 'role:administrators' },
  can_resolve_topics_group: { nobody: true, everyone: true, default: 'role:nobody' },
  can_send_message_group: { nobody: true, everyone: true, default: 'role:everyone' },
  can_subscribe_group: { nobody: true, everyone: false, default: 'role:nobody' },
} as const satisfies Record<string, PermissionSetting>

export const groupPermissions = {
  can_add_members_group: { nobody: true, everyone: false, default: creator },
  can_join_group: { nobody: true, everyone: false, default: 'role:nobody' },
  can_leave_group: { nobody: true, everyone: true, default: 'role:everyone' },
  can_manage_group: { nobody: true, everyone: false, default: creator },
  can_mention_group: { nobody: true, everyone: true, forbidden: ['role:owners'], default: 'role:everyone' },
  can_remove_members_group: { nobody: true, everyone: false, default: 'role:nobody' },
} as const satisfies Record<string, PermissionSetting>

export const organizationPermissions = {
  create_multiuse_invite_group: { nobody: true, everyone: false, default: 'role:administrators', owner: true },
  can_access_all_users_group: {
    systemOnly: true,
    nobody: false,
    everyone: true,
    allowed: ['role:everyone', 'role:members'],
    default: 'role:everyone',
  },
  can_add_subscribers_group: { nobody: true, everyone: false, default: 'role:members' },
  can_add_custom_emoji_group: { nobody: true, everyone: false, default: 'role:members' },
  can_create_bots_group: { nobody: true, everyone: false, default: 'role:members' },
  can_create_groups: { nobody: true, everyone: false, default: 'role:members', owner: true },
  can_create_public_channel_group: { nobody: true, everyone: false, default: 'role:members' },
  can_create_private_channel_group: { nobody: true, everyone: false, default: 'role:members' },
  can_create_web_public_channel_group: {
    systemOnly: true,
    nobody: true,
    everyone: false,
    allowed: ['role:moderators', 'role:administrators', 'role:owners', 'role:nobody'],
    default: 'role:owners',
  },
  can_create_write_only_bots_group: { nobody: true, everyone: false, default: 'role:members' },
  can_delete_any_message_group: { nobody: true, everyone: false, default: 'role:administrators' },
  can_delete_own_message_group: { nobody: true, everyone: true, default: 'role:everyone' },
  can_invite_users_group: { nobody: true, everyone: false, default: 'role:members', owner: true },
  can_manage_all_groups: { nobody: false, everyone: false, default: 'role:owners', owner: true },
  can_manage_billing_group: { nobody: false, everyone: false, default: 'role:administrators', owner: true },
  can_mention_many_users_group: { nobody: true, everyone: true, default: 'role:administrators' },
  can_move_messages_between_channels_group: { nobody: true, everyone: false, default: 'role:members' },
  can_move_messages_between_topics_group: { nobody: true, everyone: true, default: 'role:everyone' },
  can_resolve_topics_group: { nobody: true, everyone: true, default: 'role:everyone' },
  can_set_delete_message_policy_group: { nobody: true, everyone: false, default: 'role:moderators' },
  can_set_topics_policy_group: { nobody: true, everyone: true, default: 'role:members' },
  can_summarize_topics_group: { nobody: true, everyone: true, default: 'role:everyone' },
  direct_message_initiator_group: { nobody: true, everyone: true, default: 'role:everyone' },
  direct_message_permission_group: { nobody: true, everyone: true, default: 'role:everyone' },
} as const satisfies Record<string, PermissionSetting>

export type ChannelPermission = keyof typeof channelPermissions
export type GroupPermission = keyof typeof groupPermissions
export type OrganizationPermission = keyof typeof organizationPermissions
