// Events without gaps: registers, polls, and begins again when the queue is lost. Messages sent meanwhile are fetched,
// nothing is delivered twice, and what could not be fetched is marked by an event of type `gap`, if the caller asks for it.

import { type EventType, eventTypes, foreignEventTypes } from '../api/event-types.ts'
import { events as api } from '../api/events.ts'
import { refuseUnknown, unknownName } from '../local/did-you-mean.ts'
import { isRecord } from '../local/json.ts'
import type { Calls } from './calls.ts'
import {
  type Gap,
  gapText,
  idlePause,
  isOutOfStep,
  isPassingStatus,
  laterPause,
  lookBetween,
  mostSeconds,
  olderReason,
  queueLost,
  registerQueue,
  type Wanted,
} from './following.ts'
import { areFlags, type Call, isMessage } from './look-back.ts'
import { type Caller, encodeFields, NatterError, pause, type Reply, type SendOptions } from './sender.ts'
import { TakenIds } from './taken-ids.ts'

export interface EventOptions<T extends EventType = EventType, G extends boolean = boolean> {
  /** Which types; all when absent. */
  readonly types?: readonly T[]
  /**
   * Also an event of type `gap` where events were lost that cannot be fetched again. If absent, a gap is a warning of the process; if
   * false, it is not reported.
   */
  readonly gaps?: G
  /** Only messages that match these pairs of operator and operand. */
  readonly narrow?: readonly (readonly [string, string])[]
  readonly allPublicStreams?: boolean
  readonly applyMarkdown?: boolean
  /** A poll without an answer is repeated after this time; the default is what the server says. */
  readonly pollSeconds?: number
  /** Ends the stream. */
  readonly signal?: AbortSignal
  /** Called when a queue is registered: events from now on are seen. */
  readonly onReady?: () => void
  /** Called with the error when the server cannot be reached; calls are then made again until it can. */
  readonly onAway?: (error: Error) => void
  /** Called when it answers again. */
  readonly onBack?: () => void
}

/** An event of one of these types. Without a check of `type`, only what all of them have can be read. */
export type Event<T extends EventType = EventType> = T extends 'message' ? MessageEvent : OtherEvent<T>

export interface MessageEvent {
  readonly type: 'message'
  /** Of the queue; null for what was fetched after the queue was lost. */
  readonly id: number | null
  readonly message: Message
  readonly flags: readonly string[]
}

export interface Message {
  readonly id: number
  readonly type: 'stream' | 'private'
  /** Markdown, or HTML with `applyMarkdown`. */
  readonly content: string
  /** The topic; empty in a direct message. */
  readonly subject: string
  readonly sender_id: number
  readonly sender_email: string
  readonly sender_full_name: string
  /** UNIX seconds. */
  readonly timestamp: number
  readonly [field: string]: any
}

export interface OtherEvent<T extends EventType> {
  readonly type: T
  readonly id: number | null
  /** Declared so that it cannot be read without a check of `type`. */
  readonly message?: undefined
  readonly [field: string]: any
}

/** Events were lost here. */
export interface GapEvent extends Gap {
  readonly type: 'gap'
  readonly id: null
  /** `['message']` if messages were fetched again. */
  readonly filled: readonly string[]
  readonly message?: undefined
}

/**
 * Throws at once for options that do not exist: a misspelled one would be an event stream with other events. `ending` ends the stream as `signal`
 * among the options does.
 */
export function followEvents(
  calls: Calls,
  options: EventOptions,
  caller: Caller,
  ending?: AbortSignal,
): AsyncGenerator<Event | GapEvent, void> {
  refuseUnknown('client.events', options, optionNames)
  for (const type of options.types ?? [])
    if (!eventTypeNames.includes(type)) throw new TypeError(unknownName('event type', type, eventTypeNames))
  const { signal = ending } = options
  const either = ending && signal !== ending ? AbortSignal.any([signal!, ending]) : signal
  return follow(calls, either ? { ...options, signal: either } : options, caller)
}

export const eventTypeNames: readonly string[] = [...eventTypes, ...foreignEventTypes]
const optionNames = Object.keys({
  types: 1,
  gaps: 1,
  narrow: 1,
  allPublicStreams: 1,
  applyMarkdown: 1,
  pollSeconds: 1,
  signal: 1,
  onReady: 1,
  onAway: 1,
  onBack: 1,
} satisfies Record<keyof EventOptions, 1>)

export function warnOfGap(gap: GapEvent): void {
  globalThis.process?.emitWarning?.(gapText(gap), 'NatterGap')
}

async function* follow(calls: Calls, options: EventOptions, caller: Caller): AsyncGenerator<Event | GapEvent, void> {
  const follower = new Follower(calls, options, caller)
  try {
    yield* follower.follow()
  } catch (error) {
    if (!options.signal?.aborted) throw error
  } finally {
    await follower.leave()
  }
}

/** Seconds for the answer to a call that is no poll. */
const longestAnswer = 300

class Follower {
  readonly #calls: Calls
  readonly #caller: Caller
  readonly #options: EventOptions
  readonly #wanted: Wanted
  #queueId: string | undefined
  /** The queue before this one, as long as the messages after it are not fetched. */
  #lostQueue = ''
  /** Of the queue. */
  #events = new TakenIds(-1)
  /** Messages that were delivered, or existed before the first queue. */
  #messages = new TakenIds(-1)
  /** Of the newest that was delivered. */
  #time: number | undefined
  #pause = 0
  /** Seconds. */
  #longestPoll = 90
  readonly #call: Call = (method, path, params) =>
    this.#insist(() =>
      this.#calls.send(method, path, encodeFields(params), { ...this.#sending, within: longestAnswer }),
    )

  get #sending(): SendOptions {
    return { signal: this.#options.signal, caller: this.#caller }
  }

  constructor(calls: Calls, options: EventOptions, caller: Caller) {
    const { types, narrow = [], allPublicStreams = false, applyMarkdown = false } = options
    this.#calls = calls
    this.#caller = caller
    this.#options = options
    this.#wanted = { types, narrow, queueNarrow: narrow, allPublic: allPublicStreams, applyMarkdown }
  }

  async *follow(): AsyncGenerator<Event | GapEvent, void> {
    for (let first = true, wait = 0; ; first = false) {
      const lastEvent = this.#events.last
      const newest = await this.#register()
      this.#options.onReady?.()
      if (first) this.#messages = new TakenIds(newest ?? -1)
      else yield* this.#caughtUp(newest, lastEvent)
      // A queue that is lost at once: the next one may be, too.
      wait = (yield* this.#poll()) ? 0 : laterPause(wait)
      if (wait > 0) await pause(wait, this.#options.signal)
    }
  }

  async leave(): Promise<void> {
    const id = this.#queueId
    if (id === undefined) return
    // The server forgets the queue later in any case, so it cannot hold up the end.
    await this.#calls.endpoint(api.delete, { queue_id: id }, { within: 2, retries: 0 }).catch(() => {})
  }

  /** Polls until the queue is lost. Returns whether any poll was answered. */
  async *#poll(): AsyncGenerator<Event, boolean> {
    for (let idle = 0, answered = false; ; answered = true) {
      const asked = performance.now()
      let events: readonly Event[]
      try {
        const { pollSeconds = this.#longestPoll } = this.#options
        const params = { queue_id: this.#queueId, last_event_id: this.#events.last }
        const reply = await this.#insist(() =>
          // A poll that is never answered must not end everything: the server says how long one can take.
          this.#calls.endpoint(api.get, params, { ...this.#sending, within: Math.min(pollSeconds, mostSeconds) }),
        )
        events = this.#eventsIn(reply)
      } catch (error) {
        if (!(error instanceof NatterError && (error.code === queueLost || isOutOfStep(error, this.#events.last))))
          throw error
        this.#lostQueue = this.#queueId!
        this.#queueId = undefined
        return answered
      }
      const held = performance.now() - asked
      const lastEvent = this.#events.last
      let hasNews = false
      for (const event of events) {
        // A server or a proxy may say something twice.
        if (!this.#events.take(event.id!)) continue
        if (event.type === 'heartbeat' || (event.type === 'message' && !this.#isNew(event.message))) continue
        hasNews = true
        yield event.type === 'message' ? { ...event, flags: event.flags ?? [] } : event
      }
      idle = idlePause(idle, hasNews, this.#events.last > lastEvent, held)
      if (idle > 0) await pause(idle, this.#options.signal)
    }
  }

  #eventsIn({ events }: Reply): readonly Event[] {
    if (Array.isArray(events) && events.every(isEvent)) return events
    const msg = "the server's answer to GET /events is not a list of events; check that this is a chat server"
    throw new NatterError(200, { msg, code: 'BAD_ANSWER' }, null, 'GET /events', this.#caller)
  }

  /** Yields what came between the old queue and the new one. */
  async *#caughtUp(newest: number | null, lastEvent: number): AsyncGenerator<Event | GapEvent, void> {
    const { last } = this.#messages
    const told = { id: last < 0 ? null : last, time: this.#time }
    const change = { before: this.#lostQueue, after: this.#queueId!, newest }
    const aborted = () => this.#options.signal?.aborted === true
    const { missed, lost, setBack } = await lookBetween(this.#call, this.#wanted, told, change, aborted)
    // Numbers up to there may come again.
    if (setBack) this.#messages = new TakenIds(0)
    const { types } = this.#wanted
    const filled = !setBack && !lost.includes('message') && types?.includes('message') !== false ? ['message'] : []
    if (lost.length > 0 || setBack)
      yield* this.#report({
        type: 'gap',
        id: null,
        filled,
        reason: setBack ? (setBack.reason ?? olderReason) : 'the queue was lost',
        after_event_id: lastEvent,
        after_message_id: told.id,
        newest_message_id: newest,
      })
    for (const event of missed) if (this.#isNew(event.message)) yield { ...event, id: null } as unknown as Event
    if (newest !== null) this.#messages.skipTo(newest)
  }

  *#report(gap: GapEvent): Generator<GapEvent, void> {
    const { gaps } = this.#options
    if (gaps) yield gap
    else if (gaps === undefined) warnOfGap(gap)
  }

  /** What was fetched may also be in the queue. */
  #isNew({ id, timestamp }: { readonly id: number; readonly timestamp?: number }): boolean {
    if (!this.#messages.take(id)) return false
    if (id === this.#messages.last) this.#time = timestamp
    return true
  }

  /** Returns the newest message there is. */
  async #register(): Promise<number | null> {
    const { id, lastEvent, newest, longestPoll } = await registerQueue(this.#call, this.#wanted, {
      all_public_streams: this.#wanted.allPublic,
    })
    this.#queueId = id
    this.#events = new TakenIds(lastEvent)
    this.#longestPoll = longestPoll ?? this.#longestPoll
    return newest
  }

  /** Repeats a call while the server is away or in trouble. */
  async #insist<T>(call: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        const result = await call()
        if (this.#pause > 0) this.#options.onBack?.()
        this.#pause = 0
        return result
      } catch (error) {
        const passing = !(error instanceof NatterError) || error.status === 0 || isPassingStatus(error.status)
        if (!passing || this.#options.signal?.aborted) throw error
        if (this.#pause === 0) this.#options.onAway?.(error as Error)
        this.#pause = laterPause(this.#pause)
        await pause(this.#pause, this.#options.signal)
      }
    }
  }
}

function isEvent(event: unknown): event is Event {
  if (!isRecord(event) || typeof event.id !== 'number') return false
  return event.type !== 'message' || (isMessage(event.message) && areFlags(event.flags))
}
