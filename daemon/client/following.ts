// Rules for following a queue so that no event is missed and none comes twice. natter/client and `natter tail` share them; each has
// its own connection and its own form of events.

import { wasRestored } from '../api/queue-ids.ts'
import { limitCode } from '../local/profiles.ts'
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

/** Capabilities of every follower here; `more` can add others. */
export const capabilities = {
  // Public servers refuse capabilities without it.
  notification_settings_null: true,
  bulk_message_deletion: true,
  empty_topic_name: true,
  stream_typing_notifications: true,
}

/** Of a timer: one of 25 days would fire at once. */
export const mostSeconds = 2_000_000

export async function registerQueue(call: Call, wanted: Wanted, more: Params = {}): Promise<Queue> {
  const { allPublic } = wanted
  // The reply is about the account's own messages. Asked before: what arrives in between must not count as delivered.
  const seen = allPublic ? await newestMessage(call, wanted).catch(ignoreLimit) : undefined
  const reply = await call('POST', '/register', buildRegistration(wanted, more))
  const { last_event_id, max_message_id, event_queue_longpoll_timeout_seconds: seconds } = reply
  const own = typeof max_message_id === 'number' ? Math.max(0, max_message_id) : null
  return {
    id: String(reply.queue_id),
    lastEvent: typeof last_event_id === 'number' ? last_event_id : -1,
    newest: seen === null ? null : allPublic ? (seen?.message.id ?? 0) : own,
    longestPoll: typeof seconds === 'number' && seconds > 0 ? Math.min(seconds, mostSeconds) : undefined,
  }
}

/** A profile that is limited to some places cannot ask for the newest message of all. */
function ignoreLimit(error: { readonly code?: string }): null {
  if (error.code === limitCode) return null
  throw error
}

/** What a queue is registered with. */
export function buildRegistration(wanted: Wanted, more: Params = {}): Params {
  const { types, queueNarrow, allPublic, applyMarkdown } = wanted
  return {
    ...(types && { event_types: types }),
    fetch_event_types: ['message'],
    narrow: queueNarrow,
    // If it is left out, a bot gets what its own setting says.
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

/** A queue that was lost, and the one that took its place. */
export interface Change {
  readonly before: string
  readonly after: string
  /** The newest message when the second was registered. */
  readonly newest: number | null
}

/** What happened between a queue that was lost and the one that took its place. */
export interface Between {
  readonly missed: readonly MessageEvent[]
  /** Types of events that are lost, `*` for all but messages: those cannot be asked for again. */
  readonly lost: readonly string[]
  /** The newest message is older than what was delivered. With a reason, unless messages were deleted and nothing else. */
  readonly setBack: { readonly reason?: string } | undefined
}

/** Where events may be missing. */
export interface Gap {
  /** Such as `the server was restored from a backup`. */
  readonly reason: string
  /** The last ones that were delivered. */
  readonly after_event_id: number
  readonly after_message_id: number | null
  /** The newest message when the next queue was registered. */
  readonly newest_message_id: number | null
}

/** For people. */
export function gapText({ reason, after_event_id, after_message_id, newest_message_id }: Gap): string {
  const after = after_event_id < 0 ? '' : ` after event ${after_event_id}`
  const messages = `the newest message was ${after_message_id ?? 'unknown'} and is now ${newest_message_id ?? 'unknown'}`
  return `${reason}: events${after} may be missing; ${messages}`
}

/** Throws errors that `isPassing` accepts: the caller can try again with another queue. */
export async function lookBetween(
  call: Call,
  wanted: Wanted,
  told: Told,
  { before, after, newest }: Change,
  isPassing: (error: unknown) => boolean,
): Promise<Between> {
  const isBack = told.id !== null && newest !== null && newest < told.id
  const isRestored = wasRestored(before, after)
  const setBack = isRestored
    ? { reason: 'the server was restored from a backup', since: told.time }
    : isBack
      ? await whySetBack(call, wanted, told.time, newest, isPassing)
      : undefined
  const others = wanted.types?.filter(type => type !== 'message') ?? ['*']
  if (wanted.types?.includes('message') === false) return { missed: [], lost: others, setBack }
  const since = setBack?.since
  // Since when to look is not known, and new messages may have the IDs of old ones.
  const lost = isRestored && since === undefined ? ['message', ...others] : others
  try {
    if (told.id === null) return { missed: [], lost: ['message', ...others], setBack }
    const { id } = told
    const past = since === undefined ? { after: isBack ? newest : id } : { since }
    const { events, isWhole } = await lookBack(call, wanted, past)
    // Of the messages in that second, those up to the ID were delivered.
    const isNew = ({ message }: MessageEvent) =>
      since === undefined || message.id > id || (message.timestamp ?? 0) > since
    return { missed: events.filter(isNew), lost: isWhole ? lost : ['message', ...others], setBack }
  } catch (error) {
    if (isPassing(error)) throw error
    return { missed: [], lost: ['message', ...others], setBack }
  }
}

/** Where the newest message is older than what was delivered, and nothing says why. */
export const olderReason = 'messages were deleted, or the server was set back'

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
    // Only up to `newest`: a message that came after the registration does not show what happened before it.
    found = (await newestMessage(call, wanted, newest))?.message.timestamp ?? 0
  } catch (error) {
    if (isPassing(error)) throw error
  }
  if (told === undefined || found === undefined || found === told) return { reason: olderReason }
  return found < told ? {} : { reason: 'the server was reset', since: told }
}

async function newestMessage(call: Call, wanted: Wanted, upTo?: number): Promise<MessageEvent | undefined> {
  const past = { last: 1, ...(upTo !== undefined && { upTo }) }
  return (await lookBack(call, { ...wanted, narrow: [] }, past)).events[0]
}

/** The code of the refusal that means: register again. */
export const queueLost = 'BAD_EVENT_QUEUE_ID'

/**
 * Whether a refused poll means that the events after `lastEvent` are elsewhere: another client has read the queue, or the server was set back
 * and numbers its events again. Only of a queue that was read before: what no queue accepts must not make one after the other.
 */
export function isOutOfStep(refusal: { readonly status: number; readonly code?: string }, lastEvent: number): boolean {
  return refusal.status === 400 && refusal.code === 'BAD_REQUEST' && lastEvent >= 0
}

/** Whether the same call can succeed later: the server is in trouble or has too much to do. Any other refusal is final. */
export function isPassingStatus(status: number): boolean {
  return status >= 500 || status === 429
}

const firstPause = 100
const longestPause = 10_000

/** Milliseconds: twice as long each time, a little uneven, so that a hundred followers do not come back at once. */
export function laterPause(pause: number): number {
  return Math.min(longestPause, Math.max(firstPause, pause * 2)) * (0.8 + Math.random() * 0.4)
}

/**
 * Milliseconds before the next poll. A reply whose event IDs do not go on comes from a daemon that is stopping, from a queue that another client
 * reads too, or from a server in disorder. After one with heartbeats alone, wanted events may follow soon. The time that the server has held the
 * poll counts: only one that answers at once is kept from being asked all the time.
 */
export function idlePause(pause: number, hasNews: boolean, goesOn: boolean, held: number): number {
  if (hasNews && goesOn) return 0
  return Math.max(0, (goesOn ? firstPause : laterPause(pause)) - held)
}
