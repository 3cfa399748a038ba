// Messages of the past, oldest first and each once, in the form that events have.

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

export async function lookBack(call: Call, selection: Selection, past: Past): Promise<MessageEvent[]> {
  const { narrow, allPublic, applyMarkdown } = selection
  const found = new Map<number, Message>()
  for (const one of allPublic ? [narrow, [...narrow, { operator: 'channels', operand: 'public' }]] : [narrow]) {
    const fetch: Fetch = range => fetchPage(call, one, applyMarkdown, range)
    for (const message of await fetchAll(fetch, past)) found.set(message.id, message)
  }
  const events = [...found.values()].sort((a, b) => a.id - b.id).map(asEvent)
  // Each of the two searches may have found that many.
  return 'last' in past ? events.slice(Math.max(0, events.length - past.last)) : events
}

interface Range {
  readonly anchor: number | 'newest'
  readonly num_before: number
  readonly num_after: number
}

type Fetch = (range: Range) => Promise<{ readonly messages: readonly Message[]; readonly reply: Reply }>

function fetchAll(fetch: Fetch, past: Past): Promise<Message[]> {
  if ('last' in past) return fetchLast(fetch, past.last, past.upTo)
  return 'after' in past ? fetchAfter(fetch, past.after) : fetchSince(fetch, past.since)
}

async function fetchAfter(fetch: Fetch, id: number): Promise<Message[]> {
  const found: Message[] = []
  for (let anchor = id; ; anchor = found.at(-1)!.id) {
    const { messages, reply } = await fetch({ anchor, num_before: 0, num_after: pageSize })
    const newer = messages.filter(message => message.id > anchor)
    found.push(...newer)
    if (reply.found_newest === true || newer.length === 0) return found
  }
}

async function fetchLast(fetch: Fetch, count: number, upTo?: number): Promise<Message[]> {
  const found: Message[] = []
  while (found.length < count)
    if (!(await fetchBack(fetch, found, Math.min(pageSize, count - found.length), upTo))) break
  return found
}

async function fetchSince(fetch: Fetch, time: number): Promise<Message[]> {
  const found: Message[] = []
  const isWithin = ({ timestamp = 0 }: Message) => timestamp >= time
  while (found.length === 0 || isWithin(found[0]!)) if (!(await fetchBack(fetch, found, pageSize))) break
  return found.filter(isWithin)
}

/** Puts older messages before those found; false when there are no more. */
async function fetchBack(fetch: Fetch, found: Message[], count: number, upTo?: number): Promise<boolean> {
  const oldest = found[0]?.id
  const { messages, reply } = await fetch({ anchor: oldest ?? upTo ?? 'newest', num_before: count, num_after: 0 })
  const older = messages.filter(message => oldest === undefined || message.id < oldest)
  found.unshift(...older)
  return reply.found_oldest !== true && older.length > 0
}

async function fetchPage(call: Call, narrow: readonly unknown[], applyMarkdown: boolean, range: Range) {
  const reply = await call('GET', '/messages', {
    ...range,
    ...(narrow.length > 0 && { narrow }),
    apply_markdown: applyMarkdown,
    // As in the events of the queue.
    allow_empty_topic_name: true,
  })
  return { messages: (Array.isArray(reply.messages) ? reply.messages : []) as Message[], reply }
}

function asEvent({ flags = [], ...message }: Message): MessageEvent {
  return { type: 'message', message: message as Message, flags }
}
