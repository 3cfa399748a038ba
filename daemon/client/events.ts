// Events without gaps: registers, polls, and begins again when the queue is lost. Messages sent meanwhile are fetched,
// nothing is told twice, and what could not be fetched is marked by an event of type `gap`.

import { events as api } from '../api/events.ts'
import { type Calls, NatterError, pause } from './calls.ts'
import { messagesAfter, newestMessage } from './missed.ts'

export interface EventOptions {
  /** Which types; all when absent. */
  readonly types?: readonly string[]
  /** Only messages that match these pairs of operator and operand. */
  readonly narrow?: readonly (readonly [string, string])[]
  readonly allPublicStreams?: boolean
  readonly applyMarkdown?: boolean
  /** A poll that is not answered within so many seconds is made anew; as the server says unless given. */
  readonly pollSeconds?: number
  /** Ends the stream. */
  readonly signal?: AbortSignal
  /** Called when a queue stands: what happens from now on is seen. */
  readonly onReady?: () => void
}

export interface Event {
  readonly type: string
  /** Of the queue; null for what was fetched after a gap. */
  readonly id: number | null
  readonly [field: string]: any
}

interface Queue {
  readonly id: string
  last: number
}

const longestPause = 10_000

export async function* eventsOf(calls: Calls, options: EventOptions): AsyncGenerator<Event, void> {
  const follower = new Follower(calls, options)
  try {
    yield* follower.follow()
  } catch (error) {
    if (!options.signal?.aborted) throw error
  } finally {
    await follower.leave()
  }
}

class Follower {
  readonly #calls: Calls
  readonly #options: EventOptions
  #queue: Queue | undefined
  /** Newest message seen, or there before the first queue. */
  #newestMessage = -1
  #failures = 0
  /** Seconds. */
  #longestPoll = 90

  constructor(calls: Calls, options: EventOptions) {
    this.#calls = calls
    this.#options = options
  }

  async *follow(): AsyncGenerator<Event, void> {
    for (let first = true; ; first = false) {
      const newest = await this.#insist(() => this.#register())
      this.#options.onReady?.()
      if (first) this.#newestMessage = newest
      else yield* this.#caughtUp(newest)
      yield* this.#poll()
    }
  }

  async leave(): Promise<void> {
    const id = this.#queue?.id
    if (id !== undefined) await this.#calls.endpoint(api.delete, { queue_id: id }).catch(() => {})
  }

  /** Until the queue is lost. */
  async *#poll(): AsyncGenerator<Event, void> {
    const queue = this.#queue!
    for (;;) {
      let events: Event[]
      try {
        const params = { queue_id: queue.id, last_event_id: queue.last }
        const reply = await this.#insist(() => this.#limited(limit => this.#calls.endpoint(api.get, params, limit)))
        events = reply.events as Event[]
      } catch (error) {
        if (!(error instanceof NatterError && error.code === 'BAD_EVENT_QUEUE_ID')) throw error
        this.#queue = undefined
        return
      }
      for (const event of events) {
        // A server or a proxy may say something twice.
        if (event.id! <= queue.last) continue
        queue.last = event.id!
        if (event.type === 'heartbeat' || !this.#isNew(event)) continue
        yield event
      }
    }
  }

  /** What came between the old queue and the new one. Only messages can be asked for later. */
  async *#caughtUp(newest: number): AsyncGenerator<Event, void> {
    const { types } = this.#options
    const wanted = !types || types.includes('message')
    // The server was set back, or the newest message was deleted: numbers up to there may come again.
    const setBack = wanted && newest < this.#newestMessage
    if (setBack) this.#newestMessage = newest
    if (!wanted || setBack || types?.length !== 1)
      yield { type: 'gap', id: null, filled: wanted && !setBack ? ['message'] : [] }
    if (!wanted) return
    const missed = await this.#insist(() => messagesAfter(this.#calls, this.#options, this.#newestMessage))
    for (const event of missed) if (this.#isNew(event)) yield event
  }

  /** Message IDs grow: one that is not above the newest was told already. */
  #isNew(event: Event): boolean {
    if (event.type !== 'message') return true
    if (event.message.id <= this.#newestMessage) return false
    this.#newestMessage = event.message.id
    return true
  }

  /** A poll that is never answered must not end everything: the server says how long one can take. */
  async #limited<T>(call: (limit: AbortSignal) => Promise<T>): Promise<T> {
    const { signal, pollSeconds = this.#longestPoll } = this.#options
    const limit = new AbortController()
    // AbortSignal.timeout would not do: what AbortSignal.any made of it never fires once garbage was collected.
    const timer = setTimeout(() => limit.abort(), pollSeconds * 1000)
    try {
      return await call(signal ? AbortSignal.any([signal, limit.signal]) : limit.signal)
    } finally {
      clearTimeout(timer)
    }
  }

  /** Returns the newest message there is. */
  async #register(): Promise<number> {
    const { types, narrow = [], allPublicStreams = false, applyMarkdown = false, signal } = this.#options
    // Before the queue: what comes between must not be taken for told.
    const seen = allPublicStreams ? await newestMessage(this.#calls, this.#options) : -1
    const reply = await this.#calls.endpoint(
      api.register,
      {
        ...(types && { event_types: types }),
        fetch_event_types: ['message'],
        narrow,
        all_public_streams: allPublicStreams,
        apply_markdown: applyMarkdown,
        client_capabilities: { bulk_message_deletion: true, stream_typing_notifications: true, empty_topic_name: true },
      },
      signal,
    )
    this.#queue = { id: String(reply.queue_id), last: Number(reply.last_event_id) }
    if (typeof reply.event_queue_longpoll_timeout_seconds === 'number')
      this.#longestPoll = reply.event_queue_longpoll_timeout_seconds
    return allPublicStreams || typeof reply.max_message_id !== 'number' ? seen : reply.max_message_id
  }

  /** A server that is away or in trouble comes back; one that refuses means it. */
  async #insist<T>(call: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        const result = await call()
        this.#failures = 0
        return result
      } catch (error) {
        const passing = !(error instanceof NatterError) || error.status >= 500 || error.status === 429
        if (!passing || this.#options.signal?.aborted) throw error
        await pause(Math.min(100 * 2 ** this.#failures++, longestPause), this.#options.signal)
      }
    }
  }
}
