// New channels: the settings they start with, who may choose them, and what the notification bot says of them.

import type { ParamsOf } from '../../../api/define.ts'
import type { creationParams } from '../../../api/shapes/channels.ts'
import { type ChannelPermission, channelPermissions } from '../../../api/shapes/permission-settings.ts'
import type { Fact } from '../../facts.ts'
import { limits } from '../../limits.ts'
import { channelEventNotice, channelNotice } from '../../messages/notices/post.ts'
import { placeLink } from '../../messages/notices/quote.ts'
import { countCreated } from '../../model/lookups.ts'
import type { GroupValue } from '../../model/roles.ts'
import { organizationSetting } from '../../model/settings.ts'
import type { Channel } from '../../model/state.ts'
import { full, invalid } from '../../refusal.ts'
import type { Context } from '../../resource.ts'
import { checkedValue, defaultValue, isNobody } from '../../rules/group-values.ts'
import * as may from '../../rules/index.ts'
import { knownActiveUser } from '../../rules/user-access.ts'
import { fenceAround } from '../../values/text.ts'
import { seconds } from '../../values/time.ts'
import {
  checkFolder,
  checkKind,
  checkRetention,
  checkTopicCreators,
  checkTopicsPolicy,
  deletePermissions,
  kindInWords,
  kindOf,
  permissionNames,
} from './checks.ts'

type CreationParams = ParamsOf<{ params: typeof creationParams }>

/** What every new channel of a request starts with. */
export type Blueprint = Omit<Channel, 'id' | 'name' | 'description'>

/** Checks the settings whether or not a channel is created from them. */
export function blueprint(ctx: Context, params: CreationParams): Blueprint {
  const inviteOnly = params.invite_only ?? false
  const plan: Blueprint = {
    creatorId: ctx.actor.id,
    dateCreated: seconds(ctx.now),
    inviteOnly,
    webPublic: params.is_web_public ?? false,
    // A public channel hides nothing, whatever was sent; a private one protects its history unless the call says otherwise.
    historyPublic: !inviteOnly || (params.history_public_to_subscribers ?? false),
    archived: false,
    isDefault: params.is_default_stream ?? false,
    retentionDays: checkRetention(params.message_retention_days ?? 'realm_default'),
    topicsPolicy: checkTopicsPolicy(ctx, params.topics_policy ?? 'inherit'),
    folderId: params.folder_id === undefined ? null : checkFolder(ctx, params.folder_id),
    ...(params.default_push_notifications !== undefined && { defaultPush: params.default_push_notifications }),
    permissions: checkedPermissions(ctx, params),
  }
  if (params.can_create_topic_group !== undefined) checkTopicCreators(ctx, plan)
  return plan
}

/** What only matters when channels are really created. */
export function checkCreation(ctx: Context, plan: Blueprint, count: number): void {
  if (ctx.state.channels.size + count > limits.channels)
    throw full('The organization', limits.channels, 'channels', 'Archived ones count.')
  if (
    !may.administer.allows(ctx) &&
    countCreated(ctx.state, ctx.state.channels, ctx.actor) + count > limits.channelsPerMember
  )
    throw full('You', limits.channelsPerMember, 'channels of your own', 'Ask an administrator to create it.')
  if (plan.webPublic && plan.inviteOnly) throw invalid('is_web_public', 'a private channel cannot be web-public')
  checkKind(ctx, plan.inviteOnly ? 'private' : 'public')
  if (plan.webPublic) checkKind(ctx, kindOf(plan))
  if (plan.isDefault) {
    may.check(may.administer, ctx)
    if (plan.inviteOnly) throw invalid('is_default_stream', 'a private channel cannot be a default channel')
  }
  if (plan.defaultPush !== undefined) may.insist(may.administer, ctx)
  if (plan.retentionDays !== null) may.insist(may.own, ctx, 'set message_retention_days')
}

/** Said, when asked, where new channels are announced, and then in the new channels themselves. */
export function creationNotices(ctx: Context, created: readonly Channel[], announce: boolean): Fact[] {
  // Their creator knows of them.
  const readBy = [ctx.actor.id]
  const what = created.length > 1 ? 'the following channels:' : 'a new channel'
  const links = created.map(channel => placeLink(channel)).join(', ')
  const place = ctx.state.channels.get(organizationSetting(ctx.state, 'new_stream_announcements_stream_id'))
  const announces = announce && place !== undefined && created.length > 0
  return [
    ...(announces
      ? channelNotice(ctx, place, 'new channels', `${mention(ctx)} created ${what} ${links}.`, readBy)
      : []),
    ...created.flatMap(channel => channelEventNotice(ctx, channel, welcome(ctx, channel), readBy)),
  ]
}

/** A silent mention. */
export function mention({ actor }: Context): string {
  return `@_**${actor.fullName}|${actor.id}**`
}

export function quote(text: string): string {
  const fence = fenceAround(text, 4)
  return `${fence} quote\n${text || '*No description.*'}\n${fence}`
}

function welcome(ctx: Context, channel: Channel): string {
  return `**${kindInWords(channel)}** channel created by ${mention(ctx)}. **Description:**\n${quote(channel.description)}`
}

function checkedPermissions(ctx: Context, params: CreationParams): Channel['permissions'] {
  const values = permissionNames.map((name): [ChannelPermission, GroupValue] => {
    const setting = channelPermissions[name]
    const given = params[name]
    if (given === undefined) return [name, defaultValue(ctx.state, setting, ctx.actor.id)]
    const value = checkedValue(ctx.state, name, setting, given, id => knownActiveUser(ctx, id) !== undefined)
    if (deletePermissions.includes(name) && !isNobody(ctx.state, value)) may.check(may.setDeletePolicy, ctx)
    return [name, value]
  })
  return Object.fromEntries(values) as Channel['permissions']
}
