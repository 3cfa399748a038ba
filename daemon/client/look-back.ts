// Messages of the past, oldest first and each once, in the form that events have.

import { isRecord } from '../local/json.ts'
import { largestAnswer } from './sender.ts'

export type Params = Readonly<Record<string, unknown>>
export type Reply = Readonly<Record<string, unknown>>

/** A call of the API that succeeds or throws. Texts travel as they are, everything else as JSON. */
export type Call = (method: 'GET' | 'POST', path: string, params: Params) => Promise<Reply>

/** A message of the API: the fields that are read here. */
export interface Message {
  readonly id: number
  /** UNIX seconds. */
  readonly timestamp?: number
  readonly flags?: readonly string[]
  readonly [field: string]: unknown
}

export interface MessageEvent {
  readonly type: 'message'
  readonly message: Message
  readonly flags: readonly string[]
  readonly [field: string]: unknown
}

export interface Selection {
  readonly narrow: readonly unknown[]
  /** Messages of public channels that the account does not follow are not among its own, and are asked for separately. */
  readonly allPublic: boolean
  readonly applyMarkdown: boolean
}

/** The last `last` messages, up to an ID if one is given; all messages after an ID; or all since a time in UNIX seconds. */
export type Past =
  | { readonly last: number; readonly upTo?: number }
  | { readonly after: number }
  | { readonly since: number }

const pageSize = 1000
/** A server that never comes to an end must not fill the memory. */
const most = { messages: 100_000, characters: largestAnswer }

export interface Found {
  readonly events: readonly MessageEvent[]
  /** False if there are more than are fetched: then the first ones after an ID are here, or the last ones since a time. */
  readonly isWhole: boolean
}

export async function lookBack(call: Call, selection: Selection, past: Past): Promise<Found> {
  const { narrow, allPublic, applyMarkdown } = selection
  const gathered = new Gathered()
  for (const one of allPublic ? [narrow, [...narrow, { operator: 'channels', operand: 'public' }]] : [narrow]) {
    const fetch: Fetch = range => fetchPage(call, one, applyMarkdown, range)
    await fetchAll(fetch, past, gathered)
  }
  const events = [...gathered.messages.values()].sort((a, b) => a.id - b.id).map(asEvent)
  const { isWhole } = gathered
  // Each of the two searches may have found that many.
  return { events: 'last' in past ? events.slice(Math.max(0, events.length - past.last)) : events, isWhole }
}

class Gathered {
  readonly messages = new Map<number, Message>()
  isWhole = true
  #characters = 0

  /** Whether there is room for another page. */
  add(page: readonly Message[]): boolean {
    for (const message of page) {
      this.messages.set(message.id, message)
      this.#characters += JSON.stringify(message).length
    }
    return this.messages.size < most.messages && this.#characters < most.characters
  }
}

interface Range {
  readonly anchor: number | 'newest'
  readonly num_before: number
  readonly num_after: number
}

interface Page {
  readonly messages: readonly Message[]
  readonly reply: Reply
}

type Fetch = (range: Range) => Promise<Page>

function fetchAll(fetch: Fetch, past: Past, gathered: Gathered): Promise<void> {
  if ('last' in past) return fetchLast(fetch, past.last, past.upTo, gathered)
  return 'after' in past ? fetchAfter(fetch, past.after, gathered) : fetchSince(fetch, past.since, gathered)
}

async function fetchAfter(fetch: Fetch, id: number, gathered: Gathered): Promise<void> {
  for (let anchor = id, hasRoom = true; hasRoom; ) {
    const { messages, reply } = await fetch({ anchor, num_before: 0, num_after: pageSize })
    const newer = messages.filter(message => message.id > anchor)
    hasRoom = gathered.add(newer)
    if (newer.length === 0) gathered.isWhole &&= isEnd(messages, reply.found_newest)
    if (reply.found_newest === true || newer.length === 0) return
    anchor = newer.at(-1)!.id
  }
  gathered.isWhole = false
}

async function fetchLast(fetch: Fetch, count: number, upTo: number | undefined, gathered: Gathered): Promise<void> {
  let left = count
  for (let oldest: number | undefined, hasRoom = true; hasRoom; ) {
    if (left <= 0) return
    const older = await fetchBack(fetch, Math.min(pageSize, left), oldest, upTo)
    hasRoom = gathered.add(older.messages)
    gathered.isWhole &&= older.isWhole
    if (older.isLast) return
    left -= older.messages.length
    oldest = older.messages[0]!.id
  }
  gathered.isWhole = false
}

async function fetchSince(fetch: Fetch, time: number, gathered: Gathered): Promise<void> {
  const isWithin = ({ timestamp = 0 }: Message) => timestamp >= time
  for (let oldest: number | undefined, hasRoom = true; hasRoom; ) {
    const older = await fetchBack(fetch, pageSize, oldest)
    hasRoom = gathered.add(older.messages.filter(isWithin))
    gathered.isWhole &&= older.isWhole
    if (older.isLast || !isWithin(older.messages[0]!)) return
    oldest = older.messages[0]!.id
  }
  gathered.isWhole = false
}

/** Messages before the oldest one that is known. */
async function fetchBack(fetch: Fetch, count: number, oldest: number | undefined, upTo?: number) {
  const { messages, reply } = await fetch({ anchor: oldest ?? upTo ?? 'newest', num_before: count, num_after: 0 })
  const older = messages.filter(message => oldest === undefined || message.id < oldest)
  const isLast = reply.found_oldest === true || older.length === 0
  return { messages: older, isLast, isWhole: older.length > 0 || isEnd(messages, reply.found_oldest) }
}

/** Of a page without anything new: a server that says that there is more, and sends what it has sent before, has not sent all. */
function isEnd(page: readonly Message[], found: unknown): boolean {
  return page.length === 0 || found !== false
}

async function fetchPage(call: Call, narrow: readonly unknown[], applyMarkdown: boolean, range: Range) {
  const reply = await call('GET', '/messages', {
    ...range,
    ...(narrow.length > 0 && { narrow }),
    apply_markdown: applyMarkdown,
    // As in the events of the queue.
    allow_empty_topic_name: true,
  })
  return { messages: Array.isArray(reply.messages) ? reply.messages.filter(isMessage) : [], reply }
}

/** What a server leaves out is no mistake; what is there has the types that programs count on. */
export function isMessage(value: unknown): value is Message {
  if (!isRecord(value) || typeof value.id !== 'number') return false
  const { content = '', subject = '', sender_id = 0, display_recipient = '', flags } = value
  const isPeople = Array.isArray(display_recipient) && display_recipient.every(isRecord)
  return (
    [content, subject].every(text => typeof text === 'string') &&
    typeof sender_id === 'number' &&
    (typeof display_recipient === 'string' || isPeople) &&
    areFlags(flags)
  )
}

export function areFlags(value: unknown): value is readonly string[] | undefined {
  return value === undefined || (Array.isArray(value) && value.every(flag => typeof flag === 'string'))
}

function asEvent({ flags = [], ...message }: Message): MessageEvent {
  return { type: 'message', message: message as Message, flags }
}
