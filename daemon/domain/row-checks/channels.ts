// Shapes of the rows of channels, subscriptions, conversations and topics.

import { bool, eitherOf, int, listOf, maybe, nullable, oneOf } from '../../api/define.ts'
import { channelPermissions } from '../../api/shapes/permission-settings.ts'
import {
  count,
  id,
  label,
  longText,
  permissionsOf,
  row,
  time,
  trueOnly,
  tuple,
  typed,
  rowUserId as userId,
} from '../../api/shapes/rows.ts'
import type { Following } from '../model/followers.ts'
import type { UserTopic } from '../model/personal-records.ts'
import type { Channel, ChannelFolder, Conversation, DefaultChannelGroup } from '../model/state.ts'
import type { Subscription } from '../model/subscription-table.ts'
import type { Describes } from './same.ts'

export const channel = row({
  id,
  name: label,
  description: longText,
  creatorId: nullable(userId),
  dateCreated: time,
  inviteOnly: bool,
  webPublic: bool,
  historyPublic: bool,
  archived: bool,
  isDefault: bool,
  retentionDays: nullable(int),
  topicsPolicy: oneOf('inherit', 'allow_empty_topic', 'disable_empty_topic', 'empty_topic_only'),
  folderId: nullable(id),
  quiet: maybe(trueOnly()),
  defaultPush: maybe(bool),
  permissions: permissionsOf(channelPermissions),
})
true satisfies Describes<typeof channel, Channel>

const following = {
  active: bool,
  color: label,
  muted: bool,
  pinned: bool,
  notifications: row({
    desktop: nullable(bool),
    audible: nullable(bool),
    push: nullable(bool),
    email: nullable(bool),
    wildcardMentions: nullable(bool),
  }),
  spans: typed<Following['spans']>(listOf(eitherOf(tuple(count), tuple(count, count)))),
}
/** Those of a channel whose rows say the same, together. */
export const subscriptions = row({ channelId: id, ...following, userIds: listOf(userId) })
/** Format 1 had a row for each person. */
export const subscription = row({ channelId: id, userId, ...following })
true satisfies Describes<typeof subscriptions, Following & { channelId: number; userIds: number[] }>
true satisfies Describes<typeof subscription, Subscription>

export const conversation = row({ id, userIds: listOf(userId) })
true satisfies Describes<typeof conversation, Conversation>

export const channelFolder = row({
  id,
  name: label,
  description: longText,
  order: int,
  creatorId: nullable(userId),
  dateCreated: time,
  archived: bool,
})
true satisfies Describes<typeof channelFolder, ChannelFolder>

export const defaultChannelGroup = row({ id, name: label, description: longText, channelIds: listOf(id) })
true satisfies Describes<typeof defaultChannelGroup, DefaultChannelGroup>

export const userTopic = row({ userId, channelId: id, topic: label, policy: int, updated: time })
true satisfies Describes<typeof userTopic, UserTopic>
