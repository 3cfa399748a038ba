// An event as a line for people: time, place, sender, content.

import { nameConversation } from '../../daemon/local/conversation-name.ts'
import { harmless } from '../../daemon/local/harmless.ts'
import { type ChatEvent, type Message, type Place, placeOfMessage } from '../base/chat-event.ts'
import type { Reply } from '../base/reply.ts'
import { columnWidth, cutText } from '../base/text-layout.ts'
import { showClock } from '../base/times.ts'
import { summarize } from './event-summaries.ts'
import { markdownText, measureWidth, type Terminal, wrapText } from './terminal.ts'

const indent = 6
/** Minimum number of columns for the text next to its head. */
const leastRoom = 16

/** Ends without a line break. */
export function renderLine(
  event: ChatEvent,
  place: Place | undefined,
  terminal: Terminal,
  now: Date,
  self?: string,
): string {
  const { colors, columns } = terminal
  const time = showClock(timeOf(event, now), now)
  const where = renderPlace(place, self)
  const { who, what, quiet } = describeEvent(event, place)
  const speaker = renderSpeaker(who, quiet)
  let head = colors ? colors.dim(time) : time
  if (where) head += `  ${colors ? colors.cyan(where) : where}`
  head += speaker ? `  ${colors ? colors.bold(speaker) : speaker} ` : '  '
  const text = quiet ? (colors ? colors.dim(harmless(what)) : harmless(what)) : markdownText(what, colors)
  if (columns === undefined) return (head + wrapText(text, undefined, indent, 0)).trimEnd()
  const width = measureWidth(head)
  if (columns - width >= leastRoom) return (head + wrapText(text, columns, indent, width)).trimEnd()
  // Too narrow to put them next to each other.
  const top = head.trimEnd()
  const lines = [width - 1 > columns ? wrapText(top, columns, indent, 0) : top, wrapText(text, columns, indent, indent)]
  return lines.join(`\n${' '.repeat(indent)}`).trimEnd()
}

/** The part between the time and the text of a message, without colors. */
export function renderHead(event: ChatEvent, place: Place | undefined, self?: string): string {
  const where = renderPlace(place, self)
  const { who, quiet } = describeEvent(event, place)
  return `${where && `  ${where}`}  ${renderSpeaker(who, quiet)} `
}

/** A list of messages, as `tail` prints them, after their IDs: edits and reactions need those. */
export function messageLines(messages: readonly Reply[], { columns, colors }: Terminal, self?: string): string[] {
  const now = new Date()
  const width = columnWidth(messages.map(({ id }) => String(id ?? '').length))
  const rest = { columns: columns === undefined ? undefined : Math.max(20, columns - width - 2), colors }
  return messages.map(item => {
    const message = item as Message
    const id = String(item.id ?? '').padStart(width)
    const lines = renderLine({ type: 'message', message }, placeOfMessage(message), rest, now, self).split('\n')
    return lines
      .map((line, index) => `${index > 0 ? ' '.repeat(width) : colors ? colors.dim(id) : id}  ${line}`.trimEnd())
      .join('\n')
  })
}

function renderPlace(place: Place | undefined, self: string | undefined): string {
  return place ? harmless(nameConversation(place, self)).replaceAll('\n', ' ') : ''
}

function renderSpeaker(who: string, quiet: boolean): string {
  return who && (quiet ? harmless(who) : `${harmless(who)}:`)
}

interface Said {
  readonly who: string
  readonly what: string
  /** Whether it is an event other than a message. */
  readonly quiet: boolean
}

function describeEvent(event: ChatEvent, place: Place | undefined): Said {
  const { message } = event
  if (event.type === 'message' && message) {
    const who = message.sender_full_name ?? message.sender_email ?? String(message.sender_id ?? '')
    const content = message.content ?? ''
    if (message.is_me_message) return { who: '', what: `* ${who} ${content.replace(/^\/me /, '')}`, quiet: false }
    return { who, what: content, quiet: false }
  }
  const who = actorName(event, place)
  const about = place?.content ? ` “${shorten(place.content)}”` : messageText(event)
  const happened = (what: string): Said => ({ who, what, quiet: true })
  switch (event.type) {
    case 'reaction':
      return happened(
        `${event.op === 'remove' ? 'removed' : 'reacted with'} :${event.emoji_name}: ${event.op === 'remove' ? 'from' : 'to'}${about}`,
      )
    case 'update_message':
      if (typeof event.content === 'string') return happened(`edited${about} to “${shorten(event.content)}”`)
      return happened(`moved${about}${event.subject === undefined ? '' : ` to ${event.subject}`}`)
    case 'delete_message':
      return happened(`deleted${about}`)
    case 'typing':
      return happened(event.op === 'stop' ? 'stopped typing' : 'is typing')
    case 'typing_edit_message':
      return happened(event.op === 'stop' ? 'stopped editing' : 'is editing')
    case 'presence':
      return happened(`is ${presenceOf(event)}`)
    case '_gap':
      return { who: '', what: gapText(event), quiet: true }
    default:
      return { who: '', what: summarize(event), quiet: true }
  }
}

export function gapText(event: ChatEvent): string {
  const lost = (event.lost_types as string[]).join(', ')
  const what =
    lost === '' ? '' : lost === '*' ? '; events other than messages may be missing' : `; may be missing: ${lost}`
  return `--- gap: ${event.reason}${what} ---`
}

function actorName(event: ChatEvent, place: Place | undefined): string {
  const person = (event.user ?? event.sender) as Reply | string | undefined
  if (typeof person === 'object') return String(person.full_name ?? person.email ?? person.user_id)
  if (typeof person === 'string') return person
  if (typeof event.email === 'string') return event.email
  const id = event.user_id ?? event.sender_id
  // Usually people edit their own messages.
  if (id !== undefined && id === place?.senderId && place.senderName) return place.senderName
  return typeof id === 'number' ? `user ${id}` : ''
}

function presenceOf(event: ChatEvent): string {
  const clients = Object.values((event.presence ?? {}) as Record<string, Reply>)
  return String(clients[0]?.status ?? 'here')
}

function messageText(event: ChatEvent): string {
  const ids = Array.isArray(event.message_ids) ? event.message_ids : [event.message_id]
  return ids.length === 1 ? ` message ${ids[0]}` : ` messages ${ids.join(', ')}`
}

function shorten(text: string): string {
  return cutText(text.replaceAll('\n', ' '), 40)
}

function timeOf(event: ChatEvent, now: Date): number {
  const seconds = event.message?.timestamp ?? event.edit_timestamp
  return typeof seconds === 'number' ? seconds : Math.floor(now.getTime() / 1000)
}
