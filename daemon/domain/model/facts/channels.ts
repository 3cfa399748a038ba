// Facts about channels, subscriptions, topics and channel folders.

import type { Subscription, UserTopic } from '../rows/channels.ts'
import type { Channel, ChannelFolder, DefaultChannelGroup } from '../state.ts'

export type AnyChannelFact =
  | ChannelFact
  | ChannelVisibilityChanged
  | SubscriptionFact
  | DefaultChannelFact
  | UserTopicFact
  | ChannelFolderFact

export type ChannelFact =
  | { readonly type: 'channel.created'; readonly channel: Channel }
  | {
      readonly type: 'channel.updated'
      readonly channelId: number
      readonly was: { readonly name: string; readonly postPolicy: number }
      readonly settings: ChannelSettings
      readonly permissions: Partial<Channel['permissions']>
      /** Users who did not know of it before. */
      readonly strangers: readonly number[]
    }
  | {
      readonly type: 'channel.archived'
      readonly channelId: number
      readonly wasDefault: boolean
      /** Default channel groups it was in. */
      readonly groupIds: readonly number[]
      /** Settings of the organization that pointed to it. */
      readonly announcing: readonly AnnouncingSetting[]
    }
  | { readonly type: 'channel.unarchived'; readonly channelId: number }
  | ChannelActivityChanged

/** Settings of the organization that name a channel. */
export type AnnouncingSetting =
  | 'new_stream_announcements_stream_id'
  | 'signup_announcements_stream_id'
  | 'svc_update_announcements_stream_id'
  | 'moderation_request_channel_id'

export interface ChannelActivityChanged {
  readonly type: 'channel.activity-changed'
  readonly quiet: readonly number[]
  readonly woken: readonly number[]
}

export interface ChannelVisibilityChanged {
  readonly type: 'channel.visibility-changed'
  readonly gained: readonly Sight[]
  readonly lost: readonly Sight[]
  /** Users who became guests or stopped being guests: guests get no default channels. */
  readonly guests: readonly number[]
}

/** These people, each of these channels. */
export interface Sight {
  readonly channelIds: readonly number[]
  readonly userIds: readonly number[]
}

export type SubscriptionFact = SubscriptionAdded | SubscriptionRemoved | SubscriptionChanged

export interface SubscriptionAdded {
  readonly type: 'subscription.added'
  /** The newest message; later ones are received. */
  readonly after: number
  readonly added: readonly Added[]
}

export interface Added {
  readonly channelId: number
  /** Who were subscribed before: they find everything as they left it. */
  readonly returning: readonly number[]
  /** The others, by the color they get. */
  readonly fresh: Readonly<Record<string, readonly number[]>>
  /** Users who did not know of the channel. */
  readonly gained: readonly number[]
}

interface SubscriptionRemoved {
  readonly type: 'subscription.removed'
  /** The first message that is no longer received. */
  readonly upTo: number
  readonly removed: readonly {
    readonly channelId: number
    readonly userIds: readonly number[]
    /** Users who no longer know of the channel. */
    readonly lost: readonly number[]
    /** Messages that were moved from here to where they still are unread: user ID and runs of IDs. */
    readonly unread?: readonly (readonly [userId: number, runs: readonly number[]])[]
  }[]
}

export interface SubscriptionChanged {
  readonly type: 'subscription.changed'
  readonly userId: number
  readonly channelId: number
  readonly set: Partial<Pick<Subscription, 'color' | 'muted' | 'pinned'>> & {
    readonly notifications?: Partial<Subscription['notifications']>
  }
}

export type DefaultChannelFact =
  | { readonly type: 'default-channel-group.set'; readonly group: DefaultChannelGroup }
  | { readonly type: 'default-channel-group.deleted'; readonly id: number }

export type UserTopicFact =
  | { readonly type: 'user-topic.set'; readonly row: UserTopic }
  /** Policy 0: as the channel. */
  | { readonly type: 'user-topic.cleared'; readonly row: UserTopic }

export type ChannelFolderFact =
  | { readonly type: 'channel-folder.created'; readonly folder: ChannelFolder }
  | {
      readonly type: 'channel-folder.edited'
      readonly id: number
      readonly set: Partial<Pick<ChannelFolder, 'name' | 'description' | 'archived'>>
    }
  | { readonly type: 'channel-folder.reordered'; readonly order: readonly number[] }

export type ChannelSettings = Partial<Omit<Channel, 'id' | 'permissions' | 'archived'>>
