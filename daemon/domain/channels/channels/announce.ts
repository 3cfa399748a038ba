// The events of a channel that is created, changed or archived, and who gets them.

import { type ChannelPermission, channelPermissions } from '../../../api/shapes/permission-settings.ts'
import { renderInline } from '../../markdown/index.ts'
import type { ChannelFact } from '../../model/facts/channels.ts'
import { subscribersOf } from '../../model/lookups.ts'
import type { Channel, State } from '../../model/state.ts'
import type { Announcement, Event } from '../../resource.ts'
import { channelAudience, everyone, usersWhere } from '../../rules/audiences.ts'
import { presentValue } from '../../rules/group-values.ts'
import { isGuest, seeMetadata } from '../../rules/index.ts'
import { defaultsAnnouncement, groupsAnnouncement } from '../default-channels/present.ts'
import { addedAnnouncements } from '../subscriptions/present.ts'
import { goneEvent, ifKnown, postPolicyOf, streamCreated } from './present.ts'
import { compact } from './visibility.ts'

type Of<T extends ChannelFact['type']> = Extract<ChannelFact, { type: T }>

export function created(state: State, { channel }: Of<'channel.created'>): Announcement[] {
  return [
    { to: channelAudience(state, channel), event: streamCreated(state, [channel]) },
    ...(channel.isDefault ? [defaultsAnnouncement(state)] : []),
  ]
}

export function updated(state: State, fact: Of<'channel.updated'>): Announcement[] {
  const channel = state.channels.get(fact.channelId)!
  // Users who did not know of it before get the channel as it is now, not the change.
  const to = channelAudience(state, channel, new Set(fact.strangers))
  const events = changes(state, fact, channel).map(change => ({
    to,
    event: ifKnown(channel, {
      type: 'stream',
      op: 'update',
      stream_id: channel.id,
      name: change.property === 'name' ? fact.was.name : channel.name,
      ...change,
    }),
  }))
  return 'isDefault' in fact.settings ? [...events, defaultsAnnouncement(state)] : events
}

export function archived(state: State, fact: Of<'channel.archived'>): Announcement[] {
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

/** To clients that know nothing of archived channels it comes into sight again, with its subscribers. */
export function unarchived(state: State, { channelId }: Of<'channel.unarchived'>): Announcement[] {
  const channel = state.channels.get(channelId)!
  const to = channelAudience(state, channel)
  const subscribers = subscribersOf(state, channelId)
  const peers = { type: 'subscription', op: 'peer_add', stream_ids: [channelId], user_ids: subscribers }
  const rows = subscribers.map(userId => state.subscriptions.get(channelId, userId)!)
  return [
    {
      to,
      event: client => (client.archivedChannels ? archivedEvent(channel) : streamCreated(state, [channel])(client)),
    },
    ...(addedAnnouncements(state, rows).map(({ to, event }) => ({
      to,
      event: client => (client.archivedChannels ? null : typeof event === 'function' ? event(client) : event),
    })) satisfies Announcement[]),
    {
      to: channelAudience(state, channel, new Set(subscribers)),
      event: client => (client.archivedChannels ? null : peers),
    },
  ]
}

function archivedEvent({ id, name, archived }: Channel): Event {
  return { type: 'stream', op: 'update', stream_id: id, name, property: 'is_archived', value: archived }
}

interface Change {
  readonly property: string
  readonly value: unknown
  readonly [companion: string]: unknown
}

/** One entry per property, in the words of the API. */
function changes(state: State, { settings, permissions, was }: Of<'channel.updated'>, channel: Channel): Change[] {
  const { inviteOnly, webPublic, historyPublic } = channel
  const list: Change[] = []
  if ('name' in settings) list.push({ property: 'name', value: channel.name })
  if ('description' in settings)
    list.push({
      property: 'description',
      value: channel.description,
      rendered_description: renderInline(state, channel.description),
    })
  if ('inviteOnly' in settings || 'webPublic' in settings || 'historyPublic' in settings)
    list.push({
      property: 'invite_only',
      value: inviteOnly,
      history_public_to_subscribers: historyPublic,
      is_web_public: webPublic,
    })
  if ('retentionDays' in settings) list.push({ property: 'message_retention_days', value: channel.retentionDays })
  if ('topicsPolicy' in settings) list.push({ property: 'topics_policy', value: channel.topicsPolicy })
  if ('defaultPush' in settings) list.push({ property: 'default_push_notifications', value: channel.defaultPush })
  if ('folderId' in settings) list.push({ property: 'folder_id', value: channel.folderId })
  for (const name of Object.keys(channelPermissions) as ChannelPermission[])
    if (name in permissions) list.push({ property: name, value: presentValue(state, channel.permissions[name]) })
  const policy = postPolicyOf(state, channel.permissions.can_send_message_group)
  if (policy !== was.postPolicy) list.push({ property: 'stream_post_policy', value: policy })
  if ((policy === 2) !== (was.postPolicy === 2)) list.push({ property: 'is_announcement_only', value: policy === 2 })
  return list
}

/** A deactivated account no longer counts as a subscriber, a reactivated one does again: for `announce` of users. */
export function peerAnnouncements(state: State, userId: number, op: 'peer_add' | 'peer_remove'): Announcement[] {
  const rows = state.subscriptions.ofUser(userId).filter(row => row.active)
  const ids = (archived: boolean) =>
    rows.map(row => row.channelId).filter(id => state.channels.get(id)!.archived === archived)
  const changeIn = (channelIds: readonly number[]) =>
    subscriberChange(state, op, new Map(channelIds.map(id => [id, [userId]])))
  return [...changeIn(ids(false)), ...changeIn(ids(true)).map(toldInArchived)]
}

function toldInArchived({ event, ...announcement }: Announcement): Announcement {
  return {
    ...announcement,
    event: client => {
      if (!client.level.rules.deactivationToldInArchived) return null
      return typeof event === 'function' ? event(client) : event
    },
  }
}

/** Tells everyone else who knows of the channels; those with the same news share one event where they can. */
export function subscriberChange(
  state: State,
  op: 'peer_add' | 'peer_remove',
  users: ReadonlyMap<number, readonly number[]>,
): Announcement[] {
  const ordered = new Map([...users].map(([id, userIds]) => [id, [...userIds].sort((a, b) => a - b)]))
  return compact(ordered).flatMap(({ channelIds, userIds }) => {
    // Those who left together get an event about each other, if they still know of the channel; those who came are given the list.
    const except = new Set(op === 'peer_remove' && userIds.length > 1 ? [] : userIds)
    const channels = channelIds.map(id => state.channels.get(id)!)
    const closed = channels.filter(channel => channel.inviteOnly || channel.archived)
    const open = channels.filter(channel => !channel.inviteOnly && !channel.archived)
    const event = (some: readonly Channel[]): Event => ({
      type: 'subscription',
      op,
      stream_ids: some.map(channel => channel.id),
      user_ids: userIds,
    })
    return [
      ...(open.length > 0 ? [{ to: usersWhere(state, user => !isGuest(user), except), event: event(open) }] : []),
      ...open.map(channel => ({ to: guestsKnowing(state, channel, except), event: event([channel]) })),
      ...closed.map(channel => ({
        to: channelAudience(state, channel, except),
        event: ifKnown(channel, event([channel])),
      })),
    ]
  })
}

function guestsKnowing(state: State, channel: Channel, except: ReadonlySet<number>) {
  return usersWhere(state, actor => isGuest(actor) && seeMetadata.allows({ state, actor }, channel), except)
}
