// Messages as tools return them: one record with names, a link and Markdown, and the same as compact text.

import type { Static } from '@sinclair/typebox'
import { messageLink } from '../api/links.ts'
import { Type } from '../api/shape-builders.ts'
import type { Reply } from '../client/sender.ts'
import type { Chat } from './chat.ts'
import { type Cut, cut, fence, isoTime, oneLine } from './text.ts'

export const messageShape = Type.Object({
  id: Type.Integer(),
  link: Type.String(),
  time: Type.String(),
  sender: Type.String(),
  sender_id: Type.Integer(),
  channel: Type.Optional(Type.String()),
  topic: Type.Optional(Type.String()),
  direct_with: Type.Optional(Type.Array(Type.String())),
  content: Type.String(),
  cut_characters: Type.Optional(Type.Integer()),
  reactions: Type.Optional(Type.Record(Type.String(), Type.Integer())),
  unread: Type.Optional(Type.Boolean()),
})

export type MessageRecord = Static<typeof messageShape>

/** A message of the API, with its content as Markdown. */
export function messageRecord(site: string, message: Reply, flags: readonly unknown[], most?: number): MessageRecord {
  const { display_recipient: recipient, subject, reactions } = message
  const { text, missing } = cut(String(message.content), most)
  const place =
    typeof recipient === 'string'
      ? { channel: oneLine(recipient), topic: oneLine(String(subject)) }
      : { direct_with: (recipient as { full_name: string }[]).map(user => oneLine(user.full_name)) }
  const counts = countReactions(reactions)
  return {
    id: Number(message.id),
    link: messageLink(site, message as never),
    time: isoTime(Number(message.timestamp)),
    sender: oneLine(String(message.sender_full_name)),
    sender_id: Number(message.sender_id),
    ...place,
    content: text,
    ...(missing > 0 && { cut_characters: missing }),
    ...(counts && { reactions: counts }),
    ...(!flags.includes('read') && { unread: true }),
  }
}

function countReactions(reactions: unknown): Record<string, number> | undefined {
  if (!Array.isArray(reactions) || reactions.length === 0) return undefined
  const counts = new Map<string, number>()
  for (const { emoji_name: name } of reactions) counts.set(name, (counts.get(name) ?? 0) + 1)
  return Object.fromEntries(counts)
}

/** Under a heading for each place; a message is a line with its link, then its content between fences. */
export function messagesText(messages: readonly MessageRecord[]): string {
  const lines: string[] = []
  let place = ''
  for (const message of messages) {
    const next = placeName(message)
    if (next !== place) lines.push(`## ${next}`)
    place = next
    lines.push(messageText(message))
  }
  return lines.join('\n\n')
}

function messageText({ id, link, time, sender, content, cut_characters, reactions, unread }: MessageRecord): string {
  const marks = Object.entries(reactions ?? {}).map(([name, count]) => `:${name}: ${count}`)
  const notes = [...(unread ? ['unread'] : []), ...marks]
  const kept: Cut = { text: content, missing: cut_characters ?? 0 }
  const all = `Call get_messages with anchor ${id}, limit 1 and full true to see all of it.`
  return `**${sender}** ${time} [${id}](${link})${notes.length > 0 ? ` (${notes.join(', ')})` : ''}\n${fence(kept, all)}`
}

export function placeName({
  channel,
  topic,
  direct_with,
}: Pick<MessageRecord, 'channel' | 'topic' | 'direct_with'>): string {
  if (channel === undefined) return `Direct messages with ${(direct_with ?? []).join(', ')}`
  return `#${channel} > ${topic === '' ? '(no topic)' : topic}`
}

/** What a call of /messages can ask for. */
export interface Range {
  readonly narrow: readonly unknown[]
  readonly anchor: number | string
  readonly before: number
  readonly after: number
  readonly includeAnchor?: boolean
}

export async function fetchMessages(chat: Chat, range: Range, signal: AbortSignal): Promise<Reply & { list: Reply[] }> {
  const params = {
    anchor: String(range.anchor),
    num_before: range.before,
    num_after: range.after,
    narrow: range.narrow,
    apply_markdown: false,
    allow_empty_topic_name: true,
    ...(range.includeAnchor === false && { include_anchor: false }),
  }
  const reply = await chat.call({ method: 'GET', path: '/messages', params, signal })
  return { ...reply, list: Array.isArray(reply.messages) ? (reply.messages as Reply[]) : [] }
}

/** The API counts nothing, so all that match are fetched, up to this number. */
const mostCounted = 1000

/** How many messages match. If there are more than can be counted, `count` is the least number that there are. */
export async function countMessages(
  chat: Chat,
  narrow: readonly unknown[],
  signal: AbortSignal,
): Promise<{ readonly count: number; readonly isExact: boolean }> {
  const range = { narrow, anchor: 'newest', before: mostCounted, after: 0 }
  const { list, found_oldest } = await fetchMessages(chat, range, signal)
  return { count: list.length, isExact: found_oldest === true }
}
