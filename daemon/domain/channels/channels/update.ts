// PATCH /streams/{stream_id}: every setting is checked before the first is changed.

import { channelPermissions } from '../../../api/shapes/permission-settings.ts'
import type { Fact } from '../../facts.ts'
import { channelEventNotice } from '../../messages/notices/post.ts'
import type { ChannelSettings } from '../../model/facts/channels.ts'
import { channelByName, listSubscribers } from '../../model/lookups.ts'
import type { GroupValue } from '../../model/roles.ts'
import { organizationSetting } from '../../model/settings.ts'
import type { Channel, State } from '../../model/state.ts'
import { conflict, invalid, missing, type Refusal, taken } from '../../refusal.ts'
import type { Context } from '../../resource.ts'
import { changedValue, channelPermission } from '../../rules/group-values.ts'
import * as may from '../../rules/index.ts'
import { knownActiveUser } from '../../rules/user-access.ts'
import { emptyTopicDisplayName } from '../../values/topic-names.ts'
import {
  checkDescription,
  checkDescriptionRoom,
  checkFolder,
  checkKind,
  checkName,
  checkPrivacy,
  checkRetention,
  checkTopicCreators,
  checkTopicsPolicy,
  deletePermissions,
  kindInWords,
  onlyNamedTopics,
  permissionNames,
  type UpdateParams,
} from './checks.ts'
import { mention, quote } from './create.ts'
import { hasNamedTopic } from './history.ts'
import { postPolicyOf } from './present.ts'
import { visibilityFacts } from './visibility.ts'

type Writable<T> = { -readonly [K in keyof T]: T[K] }

/** The channel, for a caller who wants to change or archive it. */
export function channelToChange(ctx: Context, id: number, rule = may.administerChannel): Channel {
  const channel = ctx.state.channels.get(id)
  if (channel && rule.allows(ctx, channel)) return channel
  if (channel && may.seeContent.allows(ctx, channel)) throw may.forbidden(rule, channel)
  throw missing('stream_id', 'channel', id)
}

export function updateFacts(ctx: Context, params: UpdateParams): Fact[] {
  const old = channelToChange(ctx, params.stream_id)
  const facts: Fact[] = []
  if (params.is_archived === false) {
    checkUnarchiving(ctx, old)
    facts.push({ type: 'channel.unarchived', channelId: old.id })
  }
  const settings = changedSettings(ctx, params, old)
  const permissions = changedPermissions(ctx, params, old)
  if (Object.keys(settings).length + Object.keys(permissions).length > 0) {
    const channel = { ...old, ...settings, permissions: { ...old.permissions, ...permissions } }
    checkTopicCreators(ctx, channel)
    const sight = visibilityFacts(ctx.state, { channels: [channel] })
    const strangers = sight.flatMap(({ gained }) => gained.flatMap(({ userIds }) => userIds))
    facts.push({ ...settingsFact(ctx.state, old, settings), permissions, strangers })
    facts.push(...sight, ...notices(ctx, old, channel, { ...settings, ...permissions }))
  }
  if (params.is_archived === false) facts.push(...archiveNotice(ctx, old, 'unarchived'))
  return facts
}

/** A change of settings that shows the channel to no new user. */
export function settingsFact(state: State, old: Channel, settings: ChannelSettings) {
  return {
    type: 'channel.updated' as const,
    channelId: old.id,
    was: { name: old.name, postPolicy: postPolicyOf(state, old.permissions.can_send_message_group) },
    settings,
    permissions: {},
    strangers: [],
  }
}

/** Marks an archived channel as read: its unread messages could not be found. */
export function archiveNotice(ctx: Context, channel: Channel, done: 'archived' | 'unarchived'): Fact[] {
  const readBy = done === 'archived' ? listSubscribers(ctx.state, channel.id) : []
  return channelEventNotice(ctx, channel, `Channel #**${channel.name}** has been ${done}.`, readBy)
}

function checkUnarchiving(ctx: Context, channel: Channel): void {
  if (!channel.archived) throw conflict('is_archived', 'the channel is not archived')
  if (channel.inviteOnly && listSubscribers(ctx.state, channel.id).length === 0)
    throw conflict('is_archived', 'a private channel without subscribers cannot be unarchived')
}

function changedSettings(ctx: Context, params: UpdateParams, old: Channel): ChannelSettings {
  const next: Writable<ChannelSettings> = privacy(ctx, params, old)
  const inviteOnly = next.inviteOnly ?? old.inviteOnly
  if (params.new_name !== undefined) next.name = checkRename(ctx, params.new_name, old)
  if (params.description !== undefined) {
    next.description = checkDescription('description', params.description)
    checkDescriptionRoom(ctx, 'description', [next.description], old.description)
  }
  if (params.is_default_stream !== undefined) {
    may.check(may.administer, ctx)
    if (params.is_default_stream && old.archived) throw conflict('is_default_stream', 'the channel is archived')
    next.isDefault = params.is_default_stream
  }
  if (inviteOnly && (next.isDefault ?? old.isDefault))
    throw invalid(
      params.is_default_stream ? 'is_default_stream' : 'is_private',
      'a private channel cannot be a default channel',
    )
  if (params.message_retention_days !== undefined) {
    may.insist(may.own, ctx, 'change message_retention_days')
    next.retentionDays = checkRetention(params.message_retention_days)
  }
  if (params.default_push_notifications !== undefined) {
    may.insist(may.administer, ctx)
    next.defaultPush = params.default_push_notifications
  }
  if (params.folder_id !== undefined)
    next.folderId = params.folder_id === null ? null : checkFolder(ctx, params.folder_id)
  if (params.topics_policy !== undefined) {
    next.topicsPolicy = checkTopicsPolicy(ctx, params.topics_policy)
    if (next.topicsPolicy === 'empty_topic_only' && hasNamedTopic(ctx.state, old)) throw onlyNamedTopics()
  }
  // The others are told to clients even if they are what they were, as the public server does it.
  if (next.topicsPolicy === old.topicsPolicy) delete next.topicsPolicy
  if (next.isDefault === old.isDefault) delete next.isDefault
  return next
}

function privacy(ctx: Context, params: UpdateParams, old: Channel): ChannelSettings {
  const { is_private, is_web_public, history_public_to_subscribers } = params
  if (is_private === undefined && is_web_public === undefined && history_public_to_subscribers === undefined) return {}
  may.check(may.changeAccess, ctx, old)
  const next = {
    inviteOnly: is_private ?? old.inviteOnly,
    webPublic: is_web_public ?? old.webPublic,
    historyPublic: history_public_to_subscribers ?? (is_private === undefined ? old.historyPublic : !is_private),
  }
  checkPrivacy(next)
  if (is_private !== undefined) checkKind(ctx, is_private ? 'private' : 'public')
  if (is_web_public) checkKind(ctx, 'web-public')
  const moderation = organizationSetting(ctx.state, 'moderation_request_channel_id') === old.id
  if (moderation && !next.inviteOnly)
    throw conflict('is_private', 'the channel for moderation requests must stay private')
  return next
}

function checkRename(ctx: Context, name: string, old: Channel): string {
  const checked = checkName('new_name', name)
  if (checked === old.name) throw conflict('new_name', 'the channel already has this name')
  const holder = channelByName(ctx.state, checked)
  if (holder && holder.id !== old.id) throw nameTaken('new_name', checked)
  return checked
}

export function nameTaken(parameter: string, name: string): Refusal {
  return taken(parameter, name, { code: 'CHANNEL_ALREADY_EXISTS', fields: { channel_name: name } })
}

function changedPermissions(ctx: Context, params: UpdateParams, old: Channel): Partial<Channel['permissions']> {
  const next: [string, GroupValue][] = []
  for (const name of permissionNames) {
    const change = params[name]
    if (change === undefined) continue
    const value = changedValue(
      ctx.state,
      name,
      channelPermissions[name],
      channelPermission(ctx.state, old, name),
      change,
      id => knownActiveUser(ctx, id) !== undefined,
    )
    if (value === undefined) continue
    if (name === 'can_add_subscribers_group' || name === 'can_subscribe_group') may.check(may.changeAccess, ctx, old)
    if (deletePermissions.includes(name)) may.check(may.setDeletePolicy, ctx)
    next.push([name, value])
  }
  return Object.fromEntries(next)
}

// --- what the notification bot says -----------------------------------------------------------------------------

/** In the order in which the events are sent. `set`: the settings and permissions of the request. */
function notices(ctx: Context, old: Channel, channel: Channel, set: ChannelSettings & Partial<Channel['permissions']>) {
  const who = mention(ctx)
  const said: string[] = []
  if ('topicsPolicy' in set && !channel.archived)
    said.push(
      `${who} changed the "Allow posting to the *general chat* topic?" setting from **${policyNames[old.topicsPolicy]}** to **${policyNames[channel.topicsPolicy]}**.`,
    )
  if ('inviteOnly' in set)
    said.push(
      `${who} changed the [access permissions](/help/channel-permissions) for this channel from **${kindInWords(old)}** to **${kindInWords(channel)}**.`,
    )
  if ('retentionDays' in set)
    said.push(
      `${who} has changed the [message retention period](/help/message-retention-policy) for this channel:\n* **Old retention period**: ${kept(ctx, old)}\n* **New retention period**: ${kept(ctx, channel)}\n\n${fate(ctx, channel)}`,
    )
  if ('description' in set)
    said.push(
      `${who} changed the description for this channel.\n\n* **Old description:**\n${quote(old.description)}\n* **New description:**\n${quote(channel.description)}`,
    )
  if ('name' in set) said.push(`${who} renamed channel **${old.name}** to **${channel.name}**.`)
  if ('can_send_message_group' in set)
    said.push(
      `${who} changed the [posting permissions](/help/channel-posting-policy) for this channel:\n\n* **Old**: ${holders(ctx, old)}\n* **New**: ${holders(ctx, channel)}`,
    )
  return said.flatMap(text => channelEventNotice(ctx, channel, text))
}

function holders(ctx: Context, channel: Channel): string {
  const value = channel.permissions.can_send_message_group
  const [people, groups] = typeof value === 'number' ? [[], [value]] : [value.direct_members, value.direct_subgroups]
  return [
    ...inOrder(groups).map(id => `@_*${ctx.state.groups.get(id)?.name}*`),
    ...inOrder(people).map(id => `@_**${ctx.state.users.get(id)?.fullName}|${id}**`),
  ].join(', ')
}

function inOrder(ids: readonly number[]): number[] {
  return [...ids].sort((a, b) => a - b)
}

function daysOf(ctx: Context, { retentionDays }: Channel): number {
  return retentionDays ?? organizationSetting(ctx.state, 'message_retention_days')
}

function kept(ctx: Context, channel: Channel): string {
  const days = daysOf(ctx, channel)
  return days === -1 ? 'Forever' : `${days} days`
}

function fate(ctx: Context, channel: Channel): string {
  const days = daysOf(ctx, channel)
  return days === -1
    ? 'Messages in this channel will now be retained forever.'
    : `Messages in this channel will now be automatically deleted ${days} days after they are sent.`
}

const policyNames: Readonly<Record<Channel['topicsPolicy'], string>> = {
  inherit: 'Automatic',
  allow_empty_topic: `*${emptyTopicDisplayName}* topic allowed`,
  disable_empty_topic: `No *${emptyTopicDisplayName}* topic`,
  empty_topic_only: `Only *${emptyTopicDisplayName}* topic allowed`,
}
