// Events without gaps: registers, polls, and begins again when the queue is lost. Messages sent meanwhile are fetched,
// nothing is told twice, and what could not be fetched is marked by an event of type `gap`.

import { events as api } from '../api/events.ts'
import { type Calls, NatterError, pause } from './calls.ts'

export interface EventOptions {
  /** Which types; all when absent. */
  readonly types?: readonly string[]
  /** Only messages that match these pairs of operator and operand. */
  readonly narrow?: readonly (readonly [string, string])[]
  readonly allPublicStreams?: boolean
  readonly applyMarkdown?: boolean
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
/** One page of messages after a gap. */
const page = 1000

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

  constructor(calls: Calls, options: EventOptions) {
    this.#calls = calls
    this.#options = options
  }

  async *follow(): AsyncGenerator<Event, void> {
    for (let first = true; ; first = false) {
      const before = this.#newestMessage
      const newest = await this.#insist(() => this.#register())
      this.#options.onReady?.()
      if (first) this.#newestMessage = newest
      else yield* this.#caughtUp(before)
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
        const reply = await this.#insist(() => this.#calls.endpoint(api.get, params, this.#options.signal))
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
  async *#caughtUp(after: number): AsyncGenerator<Event, void> {
    const { types, narrow = [], applyMarkdown = false } = this.#options
    const messages = !types || types.includes('message')
    if (!messages || types?.length !== 1) yield { type: 'gap', id: null, filled: messages ? ['message'] : [] }
    if (!messages) return
    for (let anchor = after; ; ) {
      const fields = new Map([
        ['anchor', String(Math.max(anchor, 0))],
        ['include_anchor', 'false'],
        ['num_before', '0'],
        ['num_after', String(page)],
        ['narrow', JSON.stringify(narrow)],
        ['apply_markdown', String(applyMarkdown)],
      ])
      const reply = await this.#insist(() => this.#calls.send('GET', '/messages', fields, this.#options.signal))
      const found = reply.messages as { id: number; flags?: string[] }[]
      for (const { flags = [], ...message } of found) {
        anchor = message.id
        const event = { type: 'message', id: null, message, flags }
        if (this.#isNew(event)) yield event
      }
      if (found.length === 0 || reply.found_newest) return
    }
  }

  /** Message IDs grow: one that is not above the newest was told already. */
  #isNew(event: Event): boolean {
    if (event.type !== 'message') return true
    if (event.message.id <= this.#newestMessage) return false
    this.#newestMessage = event.message.id
    return true
  }

  /** Returns the newest message there is. */
  async #register(): Promise<number> {
    const { types, narrow = [], allPublicStreams = false, applyMarkdown = false, signal } = this.#options
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
    return typeof reply.max_message_id === 'number' ? reply.max_message_id : -1
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
