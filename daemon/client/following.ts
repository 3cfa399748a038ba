// How a queue is followed so that nothing is missed and nothing comes twice: the rules by which natter/client and
// `natter tail` go. How they reach the server, and what they make of an event, is theirs.

import { type Call, lookBack, type MessageEvent, type Params, type Selection } from './look-back.ts'

/** What to follow. */
export interface Wanted extends Selection {
  /** Undefined for all types. */
  readonly types: readonly string[] | undefined
  /** For the queue, which takes pairs of texts only; `narrow` is for looking back, where all operators are allowed. */
  readonly queueNarrow: readonly (readonly [string, string])[]
}

export interface Queue {
  readonly id: string
  readonly lastEvent: number
  /** The newest message there was to see before it; null if the server does not say. */
  readonly newest: number | null
  /** Seconds that a poll can take, if the server says. */
  readonly longestPoll: number | undefined
}

/** What every follower of ours understands; it may add to them in `more`. */
export const capabilities = { bulk_message_deletion: true, empty_topic_name: true, stream_typing_notifications: true }

export async function registerQueue(call: Call, wanted: Wanted, more: Params = {}): Promise<Queue> {
  const { allPublic } = wanted
  // The reply is about the account's own messages. Asked before: what arrives in between must not count as delivered.
  const seen = allPublic ? await newestMessage(call, wanted) : undefined
  const reply = await call('POST', '/register', registrationOf(wanted, more))
  const { last_event_id, max_message_id, event_queue_longpoll_timeout_seconds: seconds } = reply
  const own = typeof max_message_id === 'number' ? Math.max(0, max_message_id) : null
  return {
    id: String(reply.queue_id),
    lastEvent: typeof last_event_id === 'number' ? last_event_id : -1,
    newest: allPublic ? (seen?.message.id ?? 0) : own,
    longestPoll: typeof seconds === 'number' && seconds > 0 ? seconds : undefined,
  }
}

/** What a queue is registered with. */
export function registrationOf(wanted: Wanted, more: Params = {}): Params {
  const { types, queueNarrow, allPublic, applyMarkdown } = wanted
  return {
    ...(types && { event_types: types }),
    fetch_event_types: ['message'],
    narrow: queueNarrow,
    // Not said, it is for bots as they were set up.
    ...(allPublic && { all_public_streams: true }),
    apply_markdown: applyMarkdown,
    client_capabilities: capabilities,
    ...more,
  }
}

/** The newest message that was delivered, or existed before the first queue. */
export interface Told {
  /** Null as long as the server has not said. */
  readonly id: number | null
  /** UNIX seconds, where it is known. */
  readonly time: number | undefined
}

/** What happened between a queue that was lost and the one that took its place. */
export interface Between {
  readonly missed: readonly MessageEvent[]
  /** Types of events that are lost, `*` for all but messages: those cannot be asked for again. */
  readonly lost: readonly string[]
  /** The newest message is older than what was delivered. With a reason, unless messages were deleted and nothing else. */
  readonly setBack: { readonly reason?: string } | undefined
}

/** Throws what `isPassing`: then it can be done again with a further queue. */
export async function lookBetween(
  call: Call,
  wanted: Wanted,
  told: Told,
  newest: number | null,
  isPassing: (error: unknown) => boolean,
): Promise<Between> {
  const isBack = told.id !== null && newest !== null && newest < told.id
  const setBack = isBack ? await whySetBack(call, wanted, told.time, newest, isPassing) : undefined
  const lost = wanted.types?.filter(type => type !== 'message') ?? ['*']
  if (wanted.types?.includes('message') === false) return { missed: [], lost, setBack }
  const since = setBack?.since
  try {
    if (told.id === null) return { missed: [], lost: ['message', ...lost], setBack }
    const past = since === undefined ? { after: isBack ? newest : told.id } : { since }
    return { missed: await lookBack(call, wanted, past), lost, setBack }
  } catch (error) {
    if (isPassing(error)) throw error
    return { missed: [], lost: ['message', ...lost], setBack }
  }
}

/** IDs grow, so where the newest is older than what was delivered, messages were deleted, or it is another world by now. */
async function whySetBack(
  call: Call,
  wanted: Wanted,
  told: number | undefined,
  newest: number,
  isPassing: (error: unknown) => boolean,
): Promise<{ readonly reason?: string; readonly since?: number }> {
  let found = told
  try {
    // What came since the queue was registered proves nothing.
    found = (await newestMessage(call, wanted, newest))?.message.timestamp ?? 0
  } catch (error) {
    if (isPassing(error)) throw error
  }
  if (told === undefined || found === undefined || found === told)
    return { reason: 'messages were deleted, or the server was set back' }
  return found < told ? {} : { reason: 'the server was reset', since: told + 1 }
}

async function newestMessage(call: Call, wanted: Wanted, upTo?: number): Promise<MessageEvent | undefined> {
  return (await lookBack(call, { ...wanted, narrow: [] }, { last: 1, ...(upTo !== undefined && { upTo }) }))[0]
}

/** The code of the refusal that means: register again. */
export const queueLost = 'BAD_EVENT_QUEUE_ID'

/** A server in trouble comes back, and one with too much to do has time later. One that refuses means it. */
export function isPassingStatus(status: number): boolean {
  return status >= 500 || status === 429
}

export const firstPause = 100
const longestPause = 10_000

/** Milliseconds: twice as long each time, a little uneven, so that a hundred followers do not come back at once. */
export function laterPause(pause: number): number {
  return Math.min(longestPause, Math.max(firstPause, pause * 2)) * (0.8 + Math.random() * 0.4)
}
