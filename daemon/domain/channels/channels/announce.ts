// The events of a channel that is created, changed or archived, and who gets them.

import { type ChannelPermission, channelPermissions } from '../../../api/shapes/permission-settings.ts'
import { renderDescription } from '../../markdown/index.ts'
import type { ChannelFact } from '../../model/facts/channels.ts'
import { listSubscribers } from '../../model/lookups.ts'
import type { Channel, State } from '../../model/state.ts'
import type { Announcement, Event, Forms } from '../../resource.ts'
import { activeUsers, channelAudience, everyone, usersWhere } from '../../rules/audiences.ts'
import { presentValue } from '../../rules/group-values.ts'
import { isGuest } from '../../rules/index.ts'
import { defaultsAnnouncement, groupsAnnouncement } from '../default-channels/present.ts'
import { addedAnnouncements } from '../subscriptions/present.ts'
import { goneEvent, ifKnown, postPolicyOf, presentCreated } from './present.ts'
import { compact } from './visibility.ts'

type Of<T extends ChannelFact['type']> = Extract<ChannelFact, { type: T }>

export function announceCreated(state: State, { channel }: Of<'channel.created'>): Announcement[] {
  return [
    { to: channelAudience(state, channel), event: presentCreated(state, [channel]) },
    ...(channel.isDefault ? [defaultsAnnouncement(state)] : []),
  ]
}

export function announceUpdated(state: State, fact: Of<'channel.updated'>): Announcement[] {
  const channel = state.channels.get(fact.channelId)!
  // Users who did not know of it before get the channel as it is now, not the change.
  const to = channelAudience(state, channel, new Set(fact.strangers))
  const told = (name: string, changes: readonly Change[]): Announcement[] =>
    changes.map(change => {
      const event = { type: 'stream', op: 'update', stream_id: channel.id, name, ...change }
      return {
        to,
        event: change.property === 'description' ? tellDescription(state, channel, event) : ifKnown(channel, event),
      }
    })
  const { access, details, afterwards } = changes(state, fact, channel)
  return [
    ...told(fact.was.name, access),
    ...('isDefault' in fact.settings ? [defaultsAnnouncement(state)] : []),
    ...told(fact.was.name, details),
    ...told(channel.name, afterwards),
  ]
}

export function announceArchived(state: State, fact: Of<'channel.archived'>): Announcement[] {
  const channel = state.channels.get(fact.channelId)!
  return [
    ...(fact.wasDefault ? [defaultsAnnouncement(state)] : []),
    ...(fact.groupIds.length > 0 ? [groupsAnnouncement(state)] : []),
    ...(fact.announcing.length > 0 ? [pointersGone(state, fact.announcing)] : []),
    {
      to: channelAudience(state, channel),
      event: client => (client.archivedChannels ? archivedEvent(channel) : goneEvent([channel.id])),
    },
  ]
}

function pointersGone(state: State, names: readonly string[]): Announcement {
  const data = Object.fromEntries(names.map(name => [name, -1]))
  return { to: everyone(state), event: { type: 'realm', op: 'update_dict', property: 'default', data } }
}

/**
 * To clients that know nothing of archived channels it comes into sight again, with its subscribers.
 * OPEN: when a channel is unarchived, the public server sends clients that know nothing of archived channels the channel alone, so that
 * they do not know that they follow it; here they get its subscribers too.
 */
export function announceUnarchived(state: State, { channelId }: Of<'channel.unarchived'>): Announcement[] {
  const channel = state.channels.get(channelId)!
  const to = channelAudience(state, channel)
  const subscribers = listSubscribers(state, channelId)
  const peers = { type: 'subscription', op: 'peer_add', stream_ids: [channelId], user_ids: subscribers }
  const rows = subscribers.map(userId => state.subscriptions.get(channelId, userId)!)
  return [
    {
      to,
      event: client => (client.archivedChannels ? archivedEvent(channel) : presentCreated(state, [channel])(client)),
    },
    ...(addedAnnouncements(state, rows).map(({ to, event }) => ({
      to,
      event: client => (client.archivedChannels ? null : typeof event === 'function' ? event(client) : event),
    })) satisfies Announcement[]),
    {
      to: subscribers.length > 0 ? channelAudience(state, channel, new Set(subscribers)) : [],
      event: client => (client.archivedChannels ? null : peers),
    },
  ]
}

function archivedEvent({ id, name, archived }: Channel): Event {
  return { type: 'stream', op: 'update', stream_id: id, name, property: 'is_archived', value: archived }
}

function tellDescription(state: State, channel: Channel, event: Event): Forms {
  return ({ level, archivedChannels }) =>
    channel.archived && !archivedChannels
      ? null
      : { ...event, rendered_description: renderDescription(state, channel, channel.description, level) }
}

interface Change {
  readonly property: string
  readonly value: unknown
  readonly [companion: string]: unknown
}

/** One entry per property, in the words and in the order of the API: those up to the name are told under the old name. */
function changes(state: State, { settings, permissions, was }: Of<'channel.updated'>, channel: Channel) {
  const { inviteOnly, webPublic, historyPublic } = channel
  const access: Change[] = []
  if ('topicsPolicy' in settings) access.push({ property: 'topics_policy', value: channel.topicsPolicy })
  if ('inviteOnly' in settings || 'webPublic' in settings || 'historyPublic' in settings)
    access.push({
      property: 'invite_only',
      value: inviteOnly,
      history_public_to_subscribers: historyPublic,
      is_web_public: webPublic,
    })
  const details: Change[] = []
  if ('retentionDays' in settings) details.push({ property: 'message_retention_days', value: channel.retentionDays })
  if ('description' in settings) details.push({ property: 'description', value: channel.description })
  if ('name' in settings) details.push({ property: 'name', value: channel.name })
  const afterwards: Change[] = []
  if ('defaultPush' in settings) afterwards.push({ property: 'default_push_notifications', value: channel.defaultPush })
  if ('folderId' in settings) afterwards.push({ property: 'folder_id', value: channel.folderId })
  for (const name of Object.keys(channelPermissions) as ChannelPermission[]) {
    if (!(name in permissions)) continue
    afterwards.push({ property: name, value: presentValue(state, channel.permissions[name]) })
    const policy = postPolicyOf(state, channel.permissions.can_send_message_group)
    // Both older words for who may post, whichever of them changed.
    if (name === 'can_send_message_group' && policy !== was.postPolicy)
      afterwards.push(
        { property: 'stream_post_policy', value: policy },
        { property: 'is_announcement_only', value: policy === 2 },
      )
  }
  return { access, details, afterwards }
}

/** A deactivated account no longer counts as a subscriber, a reactivated one does again: for `announce` of users. */
export function peerAnnouncements(state: State, userId: number, op: 'peer_add' | 'peer_remove'): Announcement[] {
  const rows = state.subscriptions.ofUser(userId).filter(row => row.active)
  const ids = (archived: boolean) =>
    rows.map(row => row.channelId).filter(id => state.channels.get(id)!.archived === archived)
  const changeIn = (channelIds: readonly number[]) =>
    subscriberChange(state, op, new Map(channelIds.map(id => [id, [userId]])))
  return [...changeIn(ids(false)), ...changeIn(ids(true)).map(limitToArchived)]
}

function limitToArchived({ event, ...announcement }: Announcement): Announcement {
  return {
    ...announcement,
    event: client => {
      if (!client.level.rules.deactivationToldInArchived) return null
      return typeof event === 'function' ? event(client) : event
    },
  }
}

/**
 * Tells everyone else who knows of the channels. Channels that the same people know of share one event: web-public ones, and public
 * ones without guests.
 */
export function subscriberChange(
  state: State,
  op: 'peer_add' | 'peer_remove',
  users: ReadonlyMap<number, readonly number[]>,
): Announcement[] {
  const ordered = new Map([...users].map(([id, userIds]) => [id, [...userIds].sort((a, b) => a - b)]))
  return compact(ordered).flatMap(({ channelIds, userIds }) => {
    // OPEN: the public server does not tell people who left a channel together about each other, so that their clients keep each other
    // as subscribers; here they get the event if they still know of the channel. New subscribers are given the list.
    const except = new Set(op === 'peer_remove' && userIds.length > 1 ? [] : userIds)
    const channels = channelIds.map(id => state.channels.get(id)!)
    const event = (some: readonly Channel[]): Event => ({
      type: 'subscription',
      op,
      stream_ids: some.map(channel => channel.id),
      user_ids: userIds,
    })
    const alone = (channel: Channel): Announcement => ({
      to: channelAudience(state, channel, except),
      event: ifKnown(channel, event([channel])),
    })
    if (channels.length === 1) return channels.map(alone)
    const closed = channels.filter(channel => channel.inviteOnly || channel.archived)
    const webPublic = channels.filter(channel => channel.webPublic && !channel.archived)
    const rest = channels.filter(channel => !closed.includes(channel) && !webPublic.includes(channel))
    const guests = activeUsers(state, isGuest)
    const withGuests = rest.filter(({ id }) => guests.some(guest => state.subscriptions.isActive(id, guest.id)))
    const withoutGuests = rest.filter(channel => !withGuests.includes(channel))
    return [
      ...[...closed, ...withGuests].map(alone),
      ...(webPublic.length > 0 ? [{ to: usersWhere(state, () => true, except), event: event(webPublic) }] : []),
      ...(withoutGuests.length > 0
        ? [{ to: usersWhere(state, user => !isGuest(user), except), event: event(withoutGuests) }]
        : []),
    ]
  })
}
