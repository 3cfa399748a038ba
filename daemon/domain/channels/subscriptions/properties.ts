// Personal properties of a subscription: color, mute, pin, notifications.

import type { Fact } from '../../facts.ts'
import type { SubscriptionChanged } from '../../model/facts/channels.ts'
import type { Subscription } from '../../model/rows/channels.ts'
import { userSetting } from '../../model/settings.ts'
import type { State, User } from '../../model/state.ts'
import { conflict, invalid, missing } from '../../refusal.ts'
import type { Announcement, Context, Event } from '../../resource.ts'
import { liveChannelFor } from '../../rules/channel-access.ts'
import * as may from '../../rules/index.ts'
import { checkColor } from './colors.ts'
import { inherited, notificationNames } from './present.ts'

interface Wish {
  readonly stream_id: number
  readonly property: string
  readonly value: boolean | string
  /** Its place in a list of wishes; empty for a single one. */
  readonly place: string
}

/** The last of several wishes for a property counts. One for what is so already leaves no fact. */
export function changing(ctx: Context, wishes: readonly Wish[]): Fact[] {
  const facts = new Map<string, Fact>()
  for (const wish of wishes) {
    const label = (name: string) => (wish.place === '' ? name : `${wish.place}[${JSON.stringify(name)}]`)
    const channel = liveChannelFor(ctx, wish.stream_id, may.seeMetadata, label('stream_id'))
    const row = ctx.state.subscriptions.get(channel.id, ctx.actor.id)
    if (!row?.active) throw conflict(label('stream_id'), 'you are not subscribed to this channel')
    const set = checkWish(wish, label)
    const key = `${channel.id} ${Object.keys(set.notifications ?? set)}`
    facts.delete(key)
    if (!isSo(row, set))
      facts.set(key, { type: 'subscription.changed', userId: ctx.actor.id, channelId: channel.id, set })
  }
  return [...facts.values()]
}

/** The change in the words of the API; muting has two of them. */
export function propertyEvents({ channelId, set }: SubscriptionChanged): Event[] {
  const event = (property: string, value: unknown) => propertyEvent(channelId, property, value)
  const events: Event[] = []
  if (set.color !== undefined) events.push(event('color', set.color))
  if (set.muted !== undefined) events.push(event('in_home_view', !set.muted), event('is_muted', set.muted))
  if (set.pinned !== undefined) events.push(event('pin_to_top', set.pinned))
  for (const [property, key] of Object.entries(notificationNames))
    if (set.notifications?.[key] !== undefined) events.push(event(property, set.notifications[key]))
  return events
}

function propertyEvent(channelId: number, property: string, value: unknown): Event {
  return { type: 'subscription', op: 'update', stream_id: channelId, property, value }
}

/** Clients that do not know null ("as my settings say") get the value that follows from the settings, again whenever a setting changes. */
export function inheritedNews(state: State, user: User, setting: string): Announcement[] {
  const property = Object.entries(inherited).find(([, name]) => name === setting)?.[0] as keyof typeof inherited
  if (property === undefined) return []
  const rows = state.subscriptions
    .ofUser(user.id)
    .filter(row => row.active && row.notifications[notificationNames[property]] === null)
  const value = userSetting(user, inherited[property])
  const events = (archived: boolean) =>
    rows
      .filter(row => archived || !state.channels.get(row.channelId)!.archived)
      .map(row => propertyEvent(row.channelId, property, value))
  if (rows.length === 0) return []
  return [
    {
      to: [user.id],
      event: client => (client.inheritedNotifications ? null : events(client.archivedChannels)),
    },
  ]
}

function checkWish({ property, value }: Wish, label: (name: string) => string): SubscriptionChanged['set'] {
  if (property === 'color') return { color: checkColor(label('value'), value) }
  const known =
    ['is_muted', 'in_home_view', 'pin_to_top'].includes(property) || Object.hasOwn(notificationNames, property)
  if (!known) throw missing(label('property'), 'subscription property', property)
  if (typeof value !== 'boolean') throw invalid(label('value'), 'must be a boolean (true or false)')
  if (property === 'is_muted') return { muted: value }
  if (property === 'in_home_view') return { muted: !value }
  if (property === 'pin_to_top') return { pinned: value }
  return { notifications: { [notificationNames[property as keyof typeof notificationNames]]: value } }
}

function isSo(row: Subscription, { notifications = {}, ...set }: SubscriptionChanged['set']): boolean {
  return (
    Object.entries(set).every(([key, value]) => row[key as keyof Subscription] === value) &&
    Object.entries(notifications).every(([key, value]) => row.notifications[key as never] === value)
  )
}
