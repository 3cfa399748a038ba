// Messages of the past, in the form that events have.

import type { Reply } from '../../client.ts'
import type { Connection } from '../../connection.ts'

/** A message as the API describes it, as far as we read it. */
export interface Message {
  readonly id: number
  readonly type?: string
  readonly content?: string
  readonly stream_id?: number
  readonly subject?: string
  readonly display_recipient?: string | readonly Reply[]
  readonly sender_id?: number
  readonly sender_email?: string
  readonly sender_full_name?: string
  readonly timestamp?: number
  readonly is_me_message?: boolean
  readonly [field: string]: unknown
}

export interface ChatEvent {
  /** Absent for what did not come through the queue. */
  readonly id?: number
  readonly type: string
  readonly op?: string
  readonly message?: Message
  readonly flags?: readonly string[]
  readonly [field: string]: unknown
}

/** The last so many, all after an ID, or all since a time in UNIX seconds. */
export type Past = { readonly last: number } | { readonly after: number } | { readonly since: number }

export interface Selection {
  readonly narrow: readonly unknown[]
  readonly allPublic: boolean
}

const pageSize = 1000

export async function fetchAfter(connection: Connection, selection: Selection, id: number): Promise<ChatEvent[]> {
  return merged(selection, async narrow => {
    const found: Message[] = []
    for (let anchor = id; ; anchor = found.at(-1)!.id) {
      const { messages, reply } = await fetchPage(connection, narrow, { anchor, num_before: 0, num_after: pageSize })
      const newer = messages.filter(message => message.id > anchor)
      found.push(...newer)
      if (reply.found_newest === true || newer.length === 0) return found
    }
  })
}

export async function fetchLast(connection: Connection, selection: Selection, count: number): Promise<ChatEvent[]> {
  if (count === 0) return []
  const events = await merged(selection, async narrow => {
    const found: Message[] = []
    while (found.length < count) {
      const wanted = Math.min(pageSize, count - found.length)
      if (!(await fetchBack(connection, narrow, found, wanted))) break
    }
    return found
  })
  return events.slice(-count)
}

export async function fetchSince(connection: Connection, selection: Selection, time: number): Promise<ChatEvent[]> {
  const events = await merged(selection, async narrow => {
    const found: Message[] = []
    while (found.length === 0 || (found[0]!.timestamp ?? 0) >= time)
      if (!(await fetchBack(connection, narrow, found, pageSize))) break
    return found
  })
  return events.filter(event => (event.message!.timestamp ?? 0) >= time)
}

/** Puts older messages before those found; false when there are no more. */
async function fetchBack(
  connection: Connection,
  narrow: readonly unknown[],
  found: Message[],
  count: number,
): Promise<boolean> {
  const anchor = found[0]?.id ?? 'newest'
  const { messages, reply } = await fetchPage(connection, narrow, { anchor, num_before: count, num_after: 0 })
  const older = messages.filter(message => found.length === 0 || message.id < found[0]!.id)
  found.unshift(...older)
  return reply.found_oldest !== true && older.length > 0
}

async function fetchPage(
  connection: Connection,
  narrow: readonly unknown[],
  range: { anchor: number | 'newest'; num_before: number; num_after: number },
): Promise<{ messages: Message[]; reply: Reply }> {
  const reply = await connection.call('GET', '/messages', {
    ...range,
    narrow: narrow.length > 0 ? narrow : undefined,
    apply_markdown: false,
    allow_empty_topic_name: true,
  })
  return { messages: Array.isArray(reply.messages) ? reply.messages : [], reply }
}

/** One's own messages, and with `allPublic` those of all public channels besides: two searches, one list. */
async function merged(
  { narrow, allPublic }: Selection,
  fetch: (narrow: readonly unknown[]) => Promise<Message[]>,
): Promise<ChatEvent[]> {
  const found = new Map<number, Message>()
  for (const message of await fetch(narrow)) found.set(message.id, message)
  if (allPublic)
    for (const message of await fetch([...narrow, { operator: 'channels', operand: 'public' }]))
      found.set(message.id, message)
  return [...found.values()].sort((a, b) => a.id - b.id).map(asEvent)
}

function asEvent({ flags, ...message }: Message): ChatEvent {
  return { type: 'message', message, flags: Array.isArray(flags) ? flags : [] }
}
