// Reporting a message: the notification bot tells the moderators, in their channel.

import type { ParamsOf } from '../../../api/define.ts'
import type { messages as api } from '../../../api/messages/messages.ts'
import { limits } from '../../limits.ts'
import { organizationSetting } from '../../model/settings.ts'
import { needed, Refusal } from '../../refusal.ts'
import type { Context } from '../../resource.ts'
import { clean } from '../../values/text.ts'
import { topicOf } from '../../values/topic-names.ts'
import { channelNotice } from '../notices/post.ts'
import { attribution, messageLink, quote, silentMention } from '../notices/quote.ts'
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
  const lines = [
    `${silentMention(state, actor.id)} reported ${about(ctx, message)} sent by ${silentMention(state, message.senderId)}.`,
    `- Reason: **${reportReasons[report_type]}**`,
    ...(notes === '' ? [] : ['- Notes:', quote(notes, notes.length + 100)]),
    '',
    `${attribution(state, message, 'said')}:`,
  ]
  const head = `${lines.join('\n')}\n`
  const text = head + quote(message.content, limits.messageContent - [...head].length)
  const reported = state.users.get(message.senderId)!
  return { facts: channelNotice(ctx, channel, topicOf(`${reported.fullName}’s moderation requests`), text), reply: {} }
}

/** Moderators need not have access to a direct message: its words are in the report. */
function about({ state }: Context, message: Parameters<typeof messageLink>[1]): string {
  return message.channelId === undefined ? 'a direct message' : messageLink(state, message)
}
