// Reporting a message: the notification bot tells the moderators, in their channel.

import type { ParamsOf } from '../../../api/define.ts'
import type { messages as api } from '../../../api/messages/messages.ts'
import { limits } from '../../limits.ts'
import type { Message } from '../../model/message-store/index.ts'
import { organizationSetting } from '../../model/settings.ts'
import { needed, Refusal } from '../../refusal.ts'
import type { Context } from '../../resource.ts'
import { clean, fenceAround, truncate } from '../../values/text.ts'
import { normalizeTopic } from '../../values/topic-names.ts'
import { channelNotice } from '../notices/post.ts'
import { messageLink, quote, silentMention } from '../notices/quote.ts'
import { checkVisible } from './access.ts'

export const reportReasons = {
  spam: 'Spam',
  harassment: 'Harassment',
  inappropriate: 'Inappropriate content',
  norms: 'Violates community norms',
  other: 'Other reason',
} as const

export function report(ctx: Context, { message_id, report_type, description = '' }: ParamsOf<typeof api.report>) {
  const { state, actor } = ctx
  const message = state.messages.get(checkVisible(ctx, message_id))!
  const notes = clean('description', description, limits.reportDescription)
  if (report_type === 'other' && notes === '') throw needed('description', 'for a report of type "other"')
  const channel = state.channels.get(organizationSetting(state, 'moderation_request_channel_id'))
  if (!channel || channel.archived)
    throw new Refusal('This organization has no channel for reports.', { kind: 'conflict' })
  const reported = state.users.get(message.senderId)!
  const sender = silentMention(state, reported.id)
  const content = truncate(message.content, mostContent, '\n[message truncated]')
  const fence = fenceAround(content)
  const lines = [
    `${silentMention(state, actor.id)} reported ${describeMessage(ctx, message, sender)}.`,
    // The key, not its sentence: as public servers of level 417 do.
    `- Reason: **${report_type}**`,
    '- Notes:',
    quote(notes, notes.length + 100),
    `${fence} spoiler **Message sent by ${sender}**`,
    content,
    fence,
  ]
  const topic = normalizeTopic(`${reported.fullName}'s moderation requests`)
  return { facts: channelNotice(ctx, channel, topic, lines.join('\n')), reply: {} }
}

/** Characters of the reported message in a report, which has other parts too. */
const mostContent = limits.messageContent - limits.reportDescription - 500

/** Without a link to a direct message, which moderators may not be able to open. */
function describeMessage({ state }: Context, message: Message, sender: string): string {
  if (message.channelId !== undefined) return `${messageLink(state, message)} sent by ${sender}`
  const people = state.conversations.get(message.conversationId!)!.userIds
  if (people.length <= 2) return `a DM sent by ${sender}`
  const byAddress = people.map(id => state.users.get(id)!).sort((one, other) => (one.email < other.email ? -1 : 1))
  const mentions = byAddress.map(({ id }) => silentMention(state, id))
  return `a DM sent by ${sender} to ${mentions.slice(0, -1).join(', ')}, and ${mentions.at(-1)}`
}
