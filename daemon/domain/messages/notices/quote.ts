// Quoting a message in another: who said it, where, and the words.

import { messageUrl } from '../../markdown/urls.ts'
import type { Message } from '../../model/message-store/index.ts'
import type { State } from '../../model/state.ts'
import { fenceAround, truncate } from '../../values/text.ts'

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

/** A link that names the place, in words the renderer knows; in plain ones where the names would break them. */
export function messageLink(state: State, { id, channelId, topic }: Message): string {
  const channel = state.channels.get(channelId!)!
  const words = `${channel.name}>${topic}@${id}`
  if (!/[*`$]|&|>.*>/.test(words)) return `#**${words}**`
  const shown = `#${escapeLabel(channel.name)} \\> ${escapeLabel(topic!)}`
  return `[${shown}](${messageUrl(channel, topic!, id)})`
}

/** The words as a block, with a fence longer than any in them, cut so that the block has so many code points at most. */
export function quote(content: string, room: number): string {
  const fence = fenceAround(content)
  const kept = truncate(content, room - 2 * fence.length - 'quote\n\n'.length, '\n[message truncated]')
  return `${fence}quote\n${kept}\n${fence}`
}
