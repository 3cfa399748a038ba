// Rows of channels, subscriptions, conversations and topics.

import { bool, eitherOf, int, listOf, maybe, nullable, oneOf } from '../../../api/define.ts'
import { channelPermissions } from '../../../api/shapes/permission-settings.ts'
import {
  count,
  id,
  label,
  longText,
  permissionsOf,
  type RowOf,
  row,
  time,
  trueOnly,
  tuple,
  typed,
  rowUserId as userId,
} from '../../../api/shapes/rows.ts'

export const channel = row({
  id,
  name: label,
  description: longText,
  creatorId: nullable(userId),
  /** Seconds. */
  dateCreated: time,
  inviteOnly: bool,
  webPublic: bool,
  historyPublic: bool,
  archived: bool,
  /** Joined by new accounts. */
  isDefault: bool,
  /** null: as the organization; -1: without limit. */
  retentionDays: nullable(int),
  topicsPolicy: oneOf('inherit', 'allow_empty_topic', 'disable_empty_topic', 'empty_topic_only'),
  folderId: nullable(id),
  /** Nothing was said in it for long. */
  quiet: maybe(trueOnly()),
  /** Whether new subscribers get push notifications. */
  defaultPush: maybe(bool),
  permissions: permissionsOf(channelPermissions),
})
export type Channel = RowOf<typeof channel>

const following = {
  active: bool,
  color: label,
  muted: bool,
  pinned: bool,
  /** null: as the user's own settings say. */
  notifications: row({
    desktop: nullable(bool),
    audible: nullable(bool),
    push: nullable(bool),
    email: nullable(bool),
    wildcardMentions: nullable(bool),
  }),
  /**
   * When the user was subscribed, as message IDs between `after` and `upTo`, both left out; upTo is absent while it
   * lasts. Who received a message follows from this, so a send costs the same however many listen.
   */
  spans: typed<[after: number, upTo?: number][]>(listOf(eitherOf(tuple(count), tuple(count, count)))),
}
/** Those of a channel whose rows say the same, together. */
export const subscriptions = row({ channelId: id, ...following, userIds: listOf(userId) })
export type Subscriptions = RowOf<typeof subscriptions>
/** Format 1 had a row for each person. */
export const subscription = row({ channelId: id, userId, ...following })
export type Subscription = RowOf<typeof subscription>
/** What a subscription says, apart from whose it is. Never changed, so that many can have the same. */
export type Following = Omit<Subscription, 'channelId' | 'userId'>

/** The people of a direct conversation, ascending; its ID never changes and never goes away. */
export const conversation = row({ id, userIds: listOf(userId) })
export type Conversation = RowOf<typeof conversation>

export const channelFolder = row({
  id,
  name: label,
  description: longText,
  order: int,
  creatorId: nullable(userId),
  /** Seconds. */
  dateCreated: time,
  archived: bool,
})
export type ChannelFolder = RowOf<typeof channelFolder>

/** Channels offered together to new accounts. */
export const defaultChannelGroup = row({ id, name: label, description: longText, channelIds: listOf(id) })
export type DefaultChannelGroup = RowOf<typeof defaultChannelGroup>

/** A user's visibility policy for a topic, where it differs from that of the channel. */
export const userTopic = row({
  userId,
  channelId: id,
  /** As first spelt; found in any case. */
  topic: label,
  /** 1 muted, 2 unmuted, 3 followed. */
  policy: int,
  /** Seconds. */
  updated: time,
})
export type UserTopic = RowOf<typeof userTopic>
