// Checks of the settings of a channel: their values, and who may set them. Shared by creating and updating.

import type { channels as api } from '../../../api/channels/channels.ts'
import type { ParamsOf } from '../../../api/define.ts'
import { type ChannelPermission, channelPermissions } from '../../../api/shapes/permission-settings.ts'
import { limits } from '../../limits.ts'
import { countFormatted } from '../../markdown/index.ts'
import type { Channel, State } from '../../model/state.ts'
import { conflict, invalid, missing, type Refusal } from '../../refusal.ts'
import type { Context } from '../../resource.ts'
import { channelPermission, systemGroup } from '../../rules/group-values.ts'
import * as may from '../../rules/index.ts'
import { clean, hasUnprintable } from '../../values/text.ts'
import { emptyTopicDisplayName } from '../../values/topic-names.ts'

export type UpdateParams = ParamsOf<typeof api.update>
export type Kind = 'public' | 'private' | 'web-public'

export const permissionNames = Object.keys(channelPermissions) as ChannelPermission[]
export const deletePermissions: readonly ChannelPermission[] = [
  'can_delete_any_message_group',
  'can_delete_own_message_group',
]

/** Also the rule for names of folders: whatever cannot be printed on one line is kept out. */
export function checkName(parameter: string, name: string, limit: number = limits.channelName): string {
  const checked = clean(parameter, name, limit)
  if (checked === '') throw invalid(parameter, 'cannot be blank')
  const bad = [...checked].findIndex(hasUnprintable)
  if (bad >= 0) throw invalid(parameter, `has an invalid character at position ${bad + 1}`)
  return checked
}

export function checkDescription(parameter: string, description: string): string {
  return clean(parameter, description.replace(/\r\n|[\r\n]/g, ' '), limits.channelDescription)
}

/** Whether the organization has room for these descriptions, of channels or folders, in place of one that goes. */
export function checkDescriptionRoom(
  { state }: Context,
  parameter: string,
  descriptions: readonly string[],
  replaced = '',
): void {
  const most = limits.formattedDescriptions
  const more = countFormatted(descriptions) - countFormatted([replaced])
  if (more > 0 && countFormatted(descriptionsIn(state)) + more > most)
    throw invalid(
      parameter,
      `all descriptions can have ${most} characters with formatting, formulas 50 times; use plain sentences, or shorten others`,
    )
}

function* descriptionsIn({ channels, channelFolders }: State): Iterable<string> {
  for (const { description } of channels.values()) yield description
  for (const { description } of channelFolders.values()) yield description
}

/** null: as the organization; -1: without limit. */
export function checkRetention(value: string | number): number | null {
  if (value === 'realm_default') return null
  if (value === 'unlimited') return -1
  const days = typeof value === 'number' ? value : /^\d+$/.test(value) ? Number(value) : Number.NaN
  if (Number.isSafeInteger(days) && days > 0) return days
  throw invalid('message_retention_days', 'must be a number of days above 0, "realm_default" or "unlimited"', {
    code: 'REQUEST_VARIABLE_INVALID',
    fields: { var_name: 'message_retention_days', bad_value: value },
  })
}

/** Archived folders are taken too. */
export function checkFolder(ctx: Context, id: number): number {
  if (!ctx.state.channelFolders.has(id)) throw missing('folder_id', 'channel folder', id)
  return id
}

export function checkTopicsPolicy(ctx: Context, policy: Channel['topicsPolicy']): Channel['topicsPolicy'] {
  if (policy !== 'inherit') may.check(may.setTopicsPolicy, ctx)
  return policy
}

/** The creator's rights for a kind of channel, and what must be switched on for it. */
export function checkKind(ctx: Context, kind: Kind): void {
  if (kind === 'web-public' && !may.allowsWebPublic(ctx.state))
    throw invalid('is_web_public', 'web-public channels are not enabled in this organization')
  may.check(may.createChannel, ctx, kind)
}

export function kindOf({ inviteOnly, webPublic }: Pick<Channel, 'inviteOnly' | 'webPublic'>): Kind {
  return webPublic ? 'web-public' : inviteOnly ? 'private' : 'public'
}

/** Four kinds there are; every other combination is refused. */
export function checkPrivacy(privacy: Pick<Channel, 'inviteOnly' | 'webPublic' | 'historyPublic'>): void {
  if (privacy.webPublic && privacy.inviteOnly) throw invalid('is_web_public', 'a private channel cannot be web-public')
  if (!privacy.inviteOnly && !privacy.historyPublic)
    throw invalid('history_public_to_subscribers', 'only a private channel can protect its history')
}

/** People who cannot see a topic must be able to post in it: to them it is new. */
export function checkTopicCreators(ctx: Context, channel: Pick<Channel, 'historyPublic' | 'permissions'>): void {
  if (channel.historyPublic || !ctx.server.level.rules.topicCreationLimited) return
  const value = channelPermission(ctx.state, channel, 'can_create_topic_group')
  if (value !== systemGroup(ctx.state, 'role:everyone').id)
    throw invalid('can_create_topic_group', 'must be role:everyone in a channel with protected history', {
      fields: { parameters: 'history_public_to_subscribers, can_create_topic_group' },
    })
}

export function kindInWords({ inviteOnly, webPublic, historyPublic }: Channel): string {
  if (webPublic) return 'Web-public'
  if (!inviteOnly) return 'Public'
  return historyPublic ? 'Private, shared history' : 'Private, protected history'
}

export function onlyNamedTopics(): Refusal {
  return conflict('topics_policy', 'the channel has messages in named topics', {
    fields: { empty_topic_display_name: emptyTopicDisplayName },
  })
}
