// Subscriptions as the API shows them: the channel, and what this person has set for it.

import { listSubscribers } from '../../model/lookups.ts'
import type { Subscription } from '../../model/rows/channels.ts'
import { userSetting } from '../../model/settings.ts'
import type { Channel, State, User } from '../../model/state.ts'
import type { Announcement, Client, Context } from '../../resource.ts'
import { byName, listKnownChannels, presentChannel } from '../channels/present.ts'

/** From here on `partial` leaves people out. */
const largeChannel = 1000
const shownOfLarge = 250

/** What decides the form of a subscription for one client. */
type Form = Pick<Client, 'inheritedNotifications' | 'includeSubscribers' | 'level'>

export const notificationNames = {
  desktop_notifications: 'desktop',
  audible_notifications: 'audible',
  push_notifications: 'push',
  email_notifications: 'email',
  wildcard_mentions_notify: 'wildcardMentions',
} as const satisfies Record<string, keyof Subscription['notifications']>

export const inherited = {
  desktop_notifications: 'enable_stream_desktop_notifications',
  audible_notifications: 'enable_stream_audible_notifications',
  push_notifications: 'enable_stream_push_notifications',
  email_notifications: 'enable_stream_email_notifications',
  wildcard_mentions_notify: 'wildcard_mentions_notify',
} as const

function presentSubscription(state: State, row: Subscription, user: User, form: Form, now?: number) {
  const channel = state.channels.get(row.channelId)!
  return {
    ...presentChannel(state, channel, form.level, now),
    color: row.color,
    is_muted: row.muted,
    in_home_view: !row.muted,
    pin_to_top: row.pinned,
    ...presentNotifications(row, user, form),
    ...presentSubscribers(state, channel, form.includeSubscribers),
  }
}

/** The `subscription` section of register: what the actor follows, followed before, and could follow. */
export function presentAll(ctx: Context, form: Client) {
  const { state, actor, now } = ctx
  const subscriptions: object[] = []
  const unsubscribed: object[] = []
  const never_subscribed: object[] = []
  for (const channel of listKnownChannels(ctx)) {
    if (channel.archived && !form.archivedChannels) continue
    const row = state.subscriptions.get(channel.id, actor.id)
    if (row) (row.active ? subscriptions : unsubscribed).push(presentSubscription(state, row, actor, form, now))
    else
      never_subscribed.push({
        ...presentChannel(state, channel, form.level, now),
        ...presentSubscribers(state, channel, form.includeSubscribers),
      })
  }
  return { subscriptions, unsubscribed, never_subscribed }
}

/** The actor's own, archived channels left out, by name. */
export function presentOwn({ state, actor, now, server }: Context, includeSubscribers: Form['includeSubscribers']) {
  const form: Form = { inheritedNotifications: true, includeSubscribers, level: server.level }
  return state.subscriptions
    .ofUser(actor.id)
    .filter(row => row.active && !state.channels.get(row.channelId)!.archived)
    .sort((a, b) => byName(state.channels.get(a.channelId)!, state.channels.get(b.channelId)!))
    .map(row => presentSubscription(state, row, actor, form, now))
}

/** `subscription` `add` for these rows; people whose rows look the same share one event. */
export function addedAnnouncements(state: State, rows: Iterable<Subscription>): Announcement[] {
  const byUser = new Map<number, Subscription | Subscription[]>()
  for (const row of rows) {
    const own = byUser.get(row.userId)
    // Most people come to one channel only.
    if (own === undefined) byUser.set(row.userId, row)
    else if (Array.isArray(own)) own.push(row)
    else byUser.set(row.userId, [own, row])
  }
  const alike = new Map<string, { to: number[]; user: User; rows: Subscription[] }>()
  for (const [userId, own] of byUser) {
    const user = state.users.get(userId)!
    const key = (Array.isArray(own) ? own.map(looks).join() : looks(own)) + settingsKey(user)
    const group = alike.get(key)
    if (group) group.to.push(userId)
    else alike.set(key, { to: [userId], user, rows: [own].flat() })
  }
  return [...alike.values()].map(({ to, user, rows }) => ({
    to,
    event: client => {
      const seen = rows.filter(row => !state.channels.get(row.channelId)!.archived || client.archivedChannels)
      const subscriptions = seen.map(row => presentSubscription(state, row, user, client))
      return subscriptions.length > 0 ? { type: 'subscription', op: 'add', subscriptions } : null
    },
  }))
}

/** Nothing, everyone, or of a large channel its bots and some others. */
function presentSubscribers(state: State, channel: Channel, include: Form['includeSubscribers']) {
  if (include === 'false') return {}
  const subscribers = listSubscribers(state, channel.id)
  if (include === 'true' || subscribers.length < largeChannel) return { subscribers }
  // OPEN: which people a partial list has is free; these are the oldest accounts.
  const bots = subscribers.filter(id => state.users.get(id)!.bot)
  const people = subscribers.filter(id => !state.users.get(id)!.bot).slice(0, shownOfLarge)
  return { partial_subscribers: [...bots, ...people].sort((a, b) => a - b) }
}

function presentNotifications(row: Subscription, user: User, { inheritedNotifications }: Form) {
  const value = (name: keyof typeof inherited): boolean | null =>
    row.notifications[notificationNames[name]] ?? (inheritedNotifications ? null : userSetting(user, inherited[name]))
  return {
    desktop_notifications: value('desktop_notifications'),
    audible_notifications: value('audible_notifications'),
    push_notifications: value('push_notifications'),
    email_notifications: value('email_notifications'),
    wildcard_mentions_notify: value('wildcard_mentions_notify'),
  }
}

function looks({ channelId, color, muted, pinned, notifications }: Subscription): string {
  const { desktop, audible, push, email, wildcardMentions } = notifications
  return `${channelId}${color}${muted}${pinned}${desktop}${audible}${push}${email}${wildcardMentions}`
}

function settingsKey(user: User): string {
  for (const _ in user.settings)
    return Object.values(inherited)
      .map(name => userSetting(user, name))
      .join()
  return ''
}
