// Channels as the API shows them, and the events that every change of who knows them is made of.

import type { Level } from '../../../api/levels/level.ts'
import type { ShownChannel } from '../../../api/shapes/channels.ts'
import { type ChannelPermission, channelPermissions } from '../../../api/shapes/permission-settings.ts'
import { renderDescription } from '../../markdown/index.ts'
import { subscriberCount } from '../../model/lookups.ts'
import type { GroupValue } from '../../model/roles.ts'
import type { Channel, State } from '../../model/state.ts'
import type { Event, Forms } from '../../resource.ts'
import { channelPermission, presentValue, systemGroup } from '../../rules/group-values.ts'
import { type Asker, seeMetadata } from '../../rules/index.ts'
import { day } from '../../values/time.ts'
import { firstMessageId, recentTraffic } from './history.ts'

/** Without the time, as in events, the traffic is left open. */
export function presentChannel(state: State, channel: Channel, level: Level, now?: number): ShownChannel {
  const postPolicy = postPolicyOf(state, channel.permissions.can_send_message_group)
  return {
    stream_id: channel.id,
    name: channel.name,
    description: channel.description,
    rendered_description: renderDescription(state, channel, channel.description, level),
    date_created: channel.dateCreated,
    creator_id: channel.creatorId,
    invite_only: channel.inviteOnly,
    is_web_public: channel.webPublic,
    history_public_to_subscribers: channel.historyPublic,
    is_archived: channel.archived,
    message_retention_days: channel.retentionDays,
    topics_policy: channel.topicsPolicy,
    folder_id: channel.folderId,
    first_message_id: firstMessageId(state, channel),
    is_recently_active: channel.quiet === undefined,
    subscriber_count: subscriberCount(state, channel.id),
    stream_weekly_traffic: now === undefined ? null : weeklyTraffic(state, channel, now),
    stream_post_policy: postPolicy,
    is_announcement_only: postPolicy === 2,
    ...presentPermissions(state, channel, level),
    ...(level.rules.pushChosenByChannel && { default_push_notifications: channel.defaultPush ?? false }),
  }
}

/** The older word for who may post: 1 everyone, 2 administrators, 3 full members, 4 moderators. */
export function postPolicyOf(state: State, value: GroupValue): 1 | 2 | 3 | 4 {
  if (value === systemGroup(state, 'role:administrators').id) return 2
  if (value === systemGroup(state, 'role:fullmembers').id) return 3
  return value === systemGroup(state, 'role:moderators').id ? 4 : 1
}

export function byName(a: Channel, b: Channel): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : a.id - b.id
}

/** Channels the actor may know of, by name. */
export function listKnownChannels(asker: Asker): Channel[] {
  return [...asker.state.channels.values()].filter(channel => seeMetadata.allows(asker, channel)).sort(byName)
}

/** Clients that do not know archived channels get no events about them. */
export function ifKnown(channel: Channel, event: Event): Forms | Event {
  return channel.archived ? client => (client.archivedChannels ? event : null) : event
}

/** These channels came into sight. */
export function presentCreated(state: State, channels: readonly Channel[]): Forms {
  return client => {
    const known = channels.filter(channel => !channel.archived || client.archivedChannels)
    const streams = known.map(channel => presentChannel(state, channel, client.level))
    return streams.length > 0 ? { type: 'stream', op: 'create', streams } : null
  }
}

/** These channels are out of sight. */
export function presentDeleted(channels: readonly Channel[]): Forms {
  return client => {
    const ids = channels.filter(channel => !channel.archived || client.archivedChannels).map(channel => channel.id)
    return ids.length > 0 ? goneEvent(ids) : null
  }
}

export function goneEvent(ids: readonly number[]): Event {
  return { type: 'stream', op: 'delete', stream_ids: ids, streams: ids.map(stream_id => ({ stream_id })) }
}

const permissionNames = Object.keys(channelPermissions) as ChannelPermission[]
const olderPermissionNames = permissionNames.filter(name => name !== 'can_create_topic_group')

function presentPermissions(state: State, channel: Channel, { rules }: Level) {
  const names = rules.topicCreationLimited ? permissionNames : olderPermissionNames
  return Object.fromEntries(
    names.map(name => [name, presentValue(state, channelPermission(state, channel, name))]),
  ) as Pick<ShownChannel, keyof typeof channelPermissions & keyof ShownChannel>
}

/** Messages per week over the last four, to two digits; null for channels younger than a week. */
function weeklyTraffic(state: State, channel: Channel, now: number): number | null {
  const days = Math.floor((now / 1000 - channel.dateCreated) / day)
  if (days < 7) return null
  const recent = recentTraffic(state, channel, now)
  const weekly = days >= 28 ? Math.floor(recent / 4) : Math.floor((recent * 7) / days)
  return weekly === 0 && recent > 0 ? 1 : Number(weekly.toPrecision(2))
}
