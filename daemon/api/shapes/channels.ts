// Channels and subscriptions as the API shows them, and the settings a channel is created with.

import type { Static } from '@sinclair/typebox'
import {
  bool,
  channelId,
  copySpan,
  eitherOf,
  folderId,
  int,
  keyed,
  listOf,
  maybe,
  natural,
  nullable,
  oneOf,
  optional,
  record,
  since,
  text,
  timestamp,
  userId,
} from '../define.ts'
import { mapTable } from '../tables.ts'
import {
  type ChannelPermission,
  channelPermissions,
  groupValue,
  type PermissionSetting,
} from './permission-settings.ts'

export const topicsPolicy = oneOf('inherit', 'allow_empty_topic', 'disable_empty_topic', 'empty_topic_only')

/** Days, or one of the words `realm_default` and `unlimited`. */
export const retention = eitherOf(int, text)

/** What shows a channel leaves out what its level does not have. */
const permissionFields = mapTable(channelPermissions, name => {
  const { since: level }: PermissionSetting = channelPermissions[name]
  return level === undefined ? groupValue : (since(level, groupValue, 'leftOut') as unknown as typeof groupValue)
})

export const channelFields = {
  stream_id: channelId,
  name: text,
  description: text,
  rendered_description: text,
  date_created: timestamp,
  creator_id: nullable(userId),
  invite_only: bool,
  is_web_public: bool,
  history_public_to_subscribers: bool,
  is_archived: bool,
  message_retention_days: nullable(int),
  topics_policy: topicsPolicy,
  folder_id: nullable(int),
  first_message_id: nullable(int),
  is_recently_active: bool,
  subscriber_count: natural,
  stream_weekly_traffic: nullable(int),
  stream_post_policy: oneOf(1, 2, 3, 4),
  is_announcement_only: bool,
  ...permissionFields,
  default_push_notifications: since(507, bool, 'leftOut'),
}

export const channel = record({ ...channelFields, is_default: maybe(bool) })
export type ShownChannel = Static<typeof channel>

export const subscription = record({
  ...channelFields,
  color: text,
  is_muted: bool,
  in_home_view: bool,
  pin_to_top: bool,
  desktop_notifications: nullable(bool),
  audible_notifications: nullable(bool),
  push_notifications: nullable(bool),
  email_notifications: nullable(bool),
  wildcard_mentions_notify: nullable(bool),
  subscribers: maybe(listOf(int)),
  partial_subscribers: maybe(listOf(int)),
})

/** User ID to channel names. */
export const namesByUser = keyed(listOf(text))

/** The permissions of a channel. */
export const permissionsAbout: Readonly<Record<ChannelPermission, string>> = {
  can_add_subscribers_group: 'who can subscribe others',
  can_administer_channel_group: 'who can administer the channel',
  can_create_topic_group: 'who can start topics in it',
  can_delete_any_message_group: 'who can delete any message in it',
  can_delete_own_message_group: 'who can delete their own messages in it',
  can_move_messages_out_of_channel_group: 'who can move messages out of it',
  can_move_messages_within_channel_group: 'who can move messages within it',
  can_remove_subscribers_group: 'who can unsubscribe others',
  can_resolve_topics_group: 'who can resolve topics in it',
  can_send_message_group: 'who can post in it',
  can_subscribe_group: 'who can subscribe themselves',
}

export const pushAbout = 'whether new subscribers get push notifications by default (administrators)'

/** Settings of a new channel; `subscribe` ignores them for channels that exist. */
export const creationParams = {
  announce: optional(bool, 'whether the notification bot announces the new channel'),
  invite_only: optional(bool, 'whether it is private'),
  is_web_public: optional(bool, 'whether it can be read without an account'),
  is_default_stream: optional(bool, 'whether new accounts are subscribed to it'),
  history_public_to_subscribers: optional(bool, 'private channels only: whether new subscribers see earlier messages'),
  message_retention_days: optional(retention, 'days until messages are deleted; `realm_default` or `unlimited`', {
    jsonOnPublicServers: true,
  }),
  topics_policy: optional(topicsPolicy, 'which topics are allowed; `inherit` if omitted', {
    jsonOnPublicServers: true,
  }),
  folder_id: optional(folderId, 'the channel folder'),
  send_new_subscription_messages: optional(
    bool,
    'whether the notification bot notifies the subscribers; true if omitted',
  ),
  ...mapTable(channelPermissions, name =>
    optional(groupValue, permissionsAbout[name], copySpan(channelPermissions[name])),
  ),
  default_push_notifications: optional(bool, pushAbout, { since: 507 }),
}
