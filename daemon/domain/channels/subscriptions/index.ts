// Subscriptions: who follows which channel, and what each has set for it.

import { subscriptions as api } from '../../../api/channels/subscriptions.ts'
import type { SubscriptionFact } from '../../model/facts/channels.ts'
import type { Subscription } from '../../model/rows/channels.ts'
import type { Channel, State } from '../../model/state.ts'
import { metInChannels, partedInChannels } from '../../people/users/access.ts'
import { missing, neededOneOf } from '../../refusal.ts'
import { type Announcement, type Context, type Forms, resource } from '../../resource.ts'
import { liveChannelFor } from '../../rules/channel-access.ts'
import * as may from '../../rules/index.ts'
import { subscriberChange } from '../channels/announce.ts'
import { presentCreated, presentDeleted } from '../channels/present.ts'
import { compact } from '../channels/visibility.ts'
import { addedAnnouncements, presentAll, presentOwn } from './present.ts'
import { changing, propertyEvents } from './properties.ts'
import { addedUsers, subscribing } from './subscribe.ts'
import { unsubscribing } from './unsubscribe.ts'

export const subscriptions = resource(api)<SubscriptionFact>({
  commands: {
    list: (ctx, { include_subscribers }) => ({ reply: { subscriptions: presentOwn(ctx, include_subscribers) } }),

    subscribe(ctx, params) {
      const { facts, subscribed, already, more } = subscribing(ctx, params)
      return { facts, reply: { subscribed: subscribed.lists(), already_subscribed: already.lists(), ...more } }
    },

    unsubscribe: (ctx, params) => unsubscribing(ctx, params),

    change(ctx, params) {
      const { add = [], delete: gone = [], ...whom } = params
      if (add.length + gone.length === 0) throw neededOneOf('add', 'delete')
      const adding =
        add.length > 0 ? subscribing(ctx, { subscriptions: add, ...whom, authorization_errors_fatal: true }) : undefined
      // Additions come first, so one call can add and delete the same channel.
      const removing = unsubscribing(ctx, { subscriptions: gone, ...whom }, adding?.joined)
      return {
        facts: [...(adding?.facts ?? []), ...removing.facts],
        reply: {
          new_subscription_messages_sent: add.length > 0,
          subscribed: adding?.subscribed.lists() ?? {},
          already_subscribed: adding?.already.lists() ?? {},
          ...adding?.more,
          ...removing.reply,
        },
      }
    },

    status(ctx, { user_id, stream_id }) {
      const user = ctx.state.users.get(user_id)
      const isBot = user?.bot !== undefined && !ctx.server.level.rules.botsInPeopleQuestions
      if (!user?.active || isBot || !may.accessUser.allows(ctx, user))
        throw missing('user_id', 'active person', user_id)
      const channel = liveChannelFor(ctx, stream_id, may.seeMetadata)
      return { reply: { is_subscribed: ctx.state.subscriptions.isActive(channel.id, user.id) } }
    },

    ofUser(ctx, { user_id }) {
      const user = ctx.state.users.get(user_id)
      const isBot = user?.bot !== undefined && !ctx.server.level.rules.botsInPeopleQuestions
      if (!user?.active || isBot || !may.accessUser.allows(ctx, user)) throw missing('user_id', 'active user', user_id)
      const known = ctx.state.subscriptions
        .ofUser(user.id)
        .filter(row => row.active && isKnown(ctx, ctx.state.channels.get(row.channelId)!))
      return { reply: { subscribed_channel_ids: known.map(row => row.channelId).sort((a, b) => a - b) } }
    },

    properties: (ctx, { subscription_data }) => ({
      facts: changing(
        ctx,
        subscription_data.map((one, index) => ({ ...one, place: `subscription_data[${index}]` })),
      ),
      reply: {},
    }),

    property: (ctx, params) => ({ facts: changing(ctx, [{ ...params, place: '' }]), reply: {} }),
  },

  apply: {
    'subscription.added'(state, { added, after }) {
      const spans = [[after]] as const
      for (const { channelId, returning, fresh } of added) {
        for (const userId of returning) {
          const row = state.subscriptions.get(channelId, userId)!
          state.subscriptions.put({ ...row, active: true, spans: [...row.spans, [after]] })
        }
        for (const [color, userIds] of Object.entries(fresh))
          state.subscriptions.putAll(channelId, userIds, { ...newcomerTo(state.channels.get(channelId)), color, spans })
      }
    },
    'subscription.removed'(state, { removed, upTo }) {
      for (const { channelId, userIds, unread = [] } of removed) {
        for (const userId of userIds) {
          const row = state.subscriptions.get(channelId, userId)!
          const [after] = row.spans.at(-1)!
          // A span without any ID is not kept: its row would grow with every time that someone is removed and added.
          const last = upTo > after + 1 ? [[after, upTo] as const] : []
          state.subscriptions.put({ ...row, active: false, spans: [...row.spans.slice(0, -1), ...last] })
        }
        for (const [userId, runs] of unread) state.messageFlags.add(userId, 'unread', runs)
      }
    },
    'subscription.changed'(state, { channelId, userId, set: { notifications, ...set } }) {
      const row = state.subscriptions.get(channelId, userId)!
      state.subscriptions.put({ ...row, ...set, notifications: { ...row.notifications, ...notifications } })
    },
  },

  announce: {
    'subscription.added': (state, { added }) => {
      const gained = compact(new Map(added.map(entry => [entry.channelId, entry.gained])))
      const users = new Map(added.map(entry => [entry.channelId, addedUsers(entry)]))
      return [
        ...gained.map(({ channelIds, userIds }) => ({
          to: userIds,
          event: presentCreated(state, getChannels(state, channelIds)),
        })),
        ...addedAnnouncements(state, listRows(state, users)),
        ...metInChannels(state, users),
        ...subscriberChange(state, 'peer_add', users),
      ]
    },
    'subscription.removed': (state, { removed }): Announcement[] => {
      const users = new Map(removed.map(entry => [entry.channelId, entry.userIds]))
      const lost = compact(new Map(removed.map(entry => [entry.channelId, entry.lost])))
      return [
        ...compact(users).map(({ channelIds, userIds }) => ({ to: userIds, event: removedEvent(state, channelIds) })),
        ...lost.map(({ channelIds, userIds }) => ({
          to: userIds,
          event: presentDeleted(getChannels(state, channelIds)),
        })),
        ...subscriberChange(state, 'peer_remove', users),
        ...partedInChannels(state, users),
      ]
    },
    'subscription.changed': (_state, fact) => propertyEvents(fact).map(event => ({ to: [fact.userId], event })),
  },

  sections: { subscription: presentAll },
})

function isKnown(ctx: Context, channel: Channel): boolean {
  return !channel.archived && may.seeMetadata.allows(ctx, channel)
}

/** The channel can say whether push notifications are on at first. */
function newcomerTo(channel: Channel | undefined): Omit<Subscription, 'channelId' | 'userId' | 'color' | 'spans'> {
  if (channel?.defaultPush === undefined) return newcomer
  return { ...newcomer, notifications: { ...newcomer.notifications, push: channel.defaultPush } }
}

const newcomer = {
  active: true,
  muted: false,
  pinned: false,
  notifications: { desktop: null, audible: null, push: null, email: null, wildcardMentions: null },
}

function getChannels(state: State, ids: readonly number[]): Channel[] {
  return ids.map(id => state.channels.get(id)!)
}

function* listRows(state: State, users: ReadonlyMap<number, readonly number[]>): Generator<Subscription> {
  for (const [channelId, userIds] of users)
    for (const userId of userIds) yield state.subscriptions.get(channelId, userId)!
}

function removedEvent(state: State, channelIds: readonly number[]): Forms {
  return client => {
    const channels = getChannels(state, channelIds).filter(channel => !channel.archived || client.archivedChannels)
    const subscriptions = channels.map(({ id, name }) => ({ stream_id: id, name }))
    return subscriptions.length > 0 ? { type: 'subscription', op: 'remove', subscriptions } : null
  }
}
