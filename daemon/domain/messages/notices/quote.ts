// Quoting a message in another: who said it, where, and the words.

import { topicLink } from '../../../api/links.ts'
import { channelUrl, messageUrl } from '../../markdown/urls.ts'
import type { Message } from '../../model/message-store/index.ts'
import type { Channel, State } from '../../model/state.ts'
import { fenceAround, truncate } from '../../values/text.ts'
import { emptyTopicDisplayName } from '../../values/topic-names.ts'

/** A silent mention. */
export function silentMention(state: State, userId: number): string {
  return `@_**${state.users.get(userId)!.fullName}|${userId}**`
}

/** `@_**Amy|9** [said](…)` */
export function attribution(state: State, site: string, message: Message, verb: 'said' | 'sent'): string {
  return `${silentMention(state, message.senderId)} [${verb}](${site}${buildAddress(state, message)})`
}

/** Where clients show the message. */
export function buildAddress(state: State, { id, channelId, topic, conversationId }: Message): string {
  if (channelId !== undefined) return messageUrl(state.channels.get(channelId)!, topic!, id)
  const { userIds } = state.conversations.get(conversationId!)!
  return conversationUrl(userIds, id)
}

export function conversationUrl(userIds: readonly number[], id: number): string {
  return `/#narrow/dm/${userIds.join(',')}${userIds.length > 2 ? '-group' : ''}/near/${id}`
}

/** A name inside the brackets of a link. */
export function escapeLabel(name: string): string {
  return name.replace(/[[\]\\`*_$<>&]/g, '\\$&')
}

/** What would end or break a link such as `#**channel>topic**`. */
const breaking = /[`>*&[\]]|\$\$/g

/** A link that names the place, in words the renderer knows; an ordinary link where the names would break them. */
export function placeLink(channel: Channel, topic?: string, messageId?: number): string {
  const isBroken = channel.name.search(breaking) >= 0 || (topic ?? '').search(breaking) >= 0
  const near = messageId === undefined ? '' : `@${messageId}`
  if (!isBroken) return `#**${channel.name}${topic === undefined ? '' : `>${topic}`}${near}**`
  const place = topic === undefined ? '' : ` > ${escapeBreaking(topic || emptyTopicDisplayName)}`
  const shown = `#${escapeBreaking(channel.name)}${place}${messageId === undefined ? '' : ' @ 💬'}`
  return `[${shown}](${placeUrl(channel, topic, messageId).slice(1)})`
}

function placeUrl(channel: Channel, topic: string | undefined, messageId: number | undefined): string {
  if (topic === undefined) return channelUrl(channel)
  return messageId === undefined ? topicLink('', channel, topic) : messageUrl(channel, topic, messageId)
}

function escapeBreaking(name: string): string {
  return name.replace(breaking, found => [...found].map(char => entities[char]).join(''))
}

const entities: Readonly<Record<string, string>> = {
  '`': '&#96;',
  '>': '&gt;',
  '*': '&#42;',
  '&': '&amp;',
  $: '&#36;',
  '[': '&#91;',
  ']': '&#93;',
}

export function messageLink(state: State, { id, channelId, topic }: Message): string {
  return placeLink(state.channels.get(channelId!)!, topic, id)
}

/** The words as a block, with a fence longer than any in them, cut so that the block has at most `room` code points. */
export function quote(content: string, room: number): string {
  const fence = fenceAround(content)
  const kept = truncate(content, room - 2 * fence.length - 'quote\n\n'.length, '\n[message truncated]')
  return `${fence}quote\n${kept}\n${fence}`
}
