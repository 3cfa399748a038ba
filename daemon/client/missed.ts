// Messages that came while nobody listened, in the form that events have.

import type { Calls } from './calls.ts'
import type { Event } from './events.ts'

export interface Selection {
  readonly narrow?: readonly (readonly [string, string])[]
  readonly allPublicStreams?: boolean
  readonly applyMarkdown?: boolean
  readonly signal?: AbortSignal
}

interface Message {
  readonly id: number
  readonly flags?: readonly string[]
}

/** One page of messages. */
const page = 1000

/** All after that one, oldest first, each once. */
export async function messagesAfter(calls: Calls, selection: Selection, id: number): Promise<Event[]> {
  const found = new Map<number, Message>()
  for (const narrow of narrowsOf(selection))
    for (let anchor = Math.max(id, 0); ; ) {
      const query = { anchor, include_anchor: false, num_before: 0, num_after: page }
      const { messages, found_newest } = await fetchPage(calls, selection, narrow, query)
      for (const message of messages) found.set(message.id, message)
      anchor = messages.at(-1)?.id ?? anchor
      if (messages.length === 0 || found_newest) break
    }
  const sorted = [...found.values()].sort((a, b) => a.id - b.id)
  return sorted.map(({ flags = [], ...message }) => ({ type: 'message', id: null, message, flags }))
}

/** ID of the newest that there is to see; -1 when there is none. */
export async function newestMessage(calls: Calls, selection: Selection): Promise<number> {
  let newest = -1
  for (const narrow of narrowsOf({ ...selection, narrow: [] })) {
    const query = { anchor: 'newest', num_before: 1, num_after: 0 }
    const { messages } = await fetchPage(calls, selection, narrow, query)
    newest = Math.max(newest, messages.at(-1)?.id ?? -1)
  }
  return newest
}

/** What is sent in public channels is no part of anybody's own messages, and is asked for by itself. */
function narrowsOf({ narrow = [], allPublicStreams }: Selection): (readonly (readonly [string, string])[])[] {
  return allPublicStreams ? [narrow, [...narrow, ['channels', 'public']]] : [narrow]
}

async function fetchPage(
  calls: Calls,
  { applyMarkdown = false, signal }: Selection,
  narrow: readonly unknown[],
  query: Readonly<Record<string, string | number | boolean>>,
): Promise<{ messages: Message[]; found_newest: boolean }> {
  const fields = new Map(Object.entries(query).map(([name, value]) => [name, String(value)]))
  fields.set('narrow', JSON.stringify(narrow)).set('apply_markdown', String(applyMarkdown))
  // As the queue of events has it.
  fields.set('allow_empty_topic_name', 'true')
  const reply = await calls.send('GET', '/messages', fields, signal)
  return { messages: reply.messages as Message[], found_newest: reply.found_newest === true }
}
