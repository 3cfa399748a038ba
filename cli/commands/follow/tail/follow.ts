// Follows an event queue across lost connections, restarts of the daemon and expired queues.
// Missed messages are fetched, events that cannot be fetched are marked as a gap, and nothing is delivered twice.

import {
  buildRegistration,
  capabilities,
  type Gap,
  idlePause,
  isOutOfStep,
  isPassingStatus,
  laterPause,
  lookBetween,
  queueLost,
  registerQueue,
  type Wanted,
} from '../../../../daemon/client/following.ts'
import { areFlags, type Call, isMessage, lookBack, type Past } from '../../../../daemon/client/look-back.ts'
import { pause as sleep } from '../../../../daemon/client/sender.ts'
import { TakenIds } from '../../../../daemon/client/taken-ids.ts'
import { pauseFor } from '../../../../daemon/local/durations.ts'
import type { ChatEvent } from '../../../base/chat-event.ts'
import { exitCodes, Failure } from '../../../base/failure.ts'
import type { Globals } from '../../../base/globals.ts'
import { note } from '../../../base/note.ts'
import type { Account } from '../../../base/profile.ts'
import { type Connection, encodeFields } from '../../../transport/connection.ts'
import type { Position } from './cursor.ts'
import { type Arrived, EventTexts, noEvents } from './event-texts.ts'

/** What to follow. */
export interface Plan extends Omit<Wanted, 'applyMarkdown'> {
  /** Seconds that the queue stays alive without its reader. */
  readonly lifespan?: number
  /** Items of one reply to gather into a batch, where each batch has a price; 1 if absent. */
  readonly gather?: number
}

export interface Item {
  readonly event: ChatEvent
  /** The event as received, if it came through the queue. */
  readonly text?: string | undefined
  /** Where to continue after this item. */
  readonly position: Position
}

/** Items that arrived together. */
export interface Batch {
  readonly items: readonly Item[]
  /** Where to continue after all items; past the last item if later events were skipped. */
  readonly position?: Position
}

/** Characters that arrive for one batch: events can be large. */
const mostGathered = 16 * 1024 * 1024

/** Yields events in batches. */
export class Follower {
  readonly #connection: Connection
  readonly #plan: Plan
  readonly #wanted: Wanted
  readonly #stop: AbortSignal
  #queueId = ''
  /** Of the queue. */
  #events = new TakenIds(-1)
  /** Messages that were delivered, or existed before the start. */
  #messages = new TakenIds(-1)
  /** The newest message delivered here, for its time. */
  #latest: ChatEvent | undefined
  /** Where the queue ended that is being replaced. */
  #lost: Position | undefined
  #pollTimeout = 90_000
  readonly #call: Call = (method, path, params) => this.#connection.call(method, path, params, { signal: this.#stop })

  constructor(connection: Connection, plan: Plan, stop: AbortSignal) {
    this.#connection = connection
    this.#plan = plan
    this.#wanted = { ...plan, applyMarkdown: false }
    this.#stop = stop
  }

  get position(): Position {
    const { last } = this.#messages
    return { queue_id: this.#queueId, last_event_id: this.#events.last, last_message_id: last < 0 ? null : last }
  }

  /** Registers a queue. From here on, nothing is missed. */
  async begin(): Promise<void> {
    this.#messages = new TakenIds((await this.#register()) ?? -1)
  }

  /** Messages from before the queue began, only the last ones if there are too many: call after `begin`, before `follow`. */
  async *past(past: Past, most = Number.POSITIVE_INFINITY): AsyncGenerator<Batch> {
    const { events, isWhole } = await lookBack(this.#call, this.#wanted, past)
    if (!isWhole) note(`not all messages could be fetched; only the last ${events.length} are shown`)
    const messages = events.slice(Math.max(0, events.length - most))
    // A tail that stops in the middle of this fetches the rest next time.
    const items = messages.map(event => {
      const { position } = this.#told(event)
      return { event, position: { ...position, queue_id: '', last_event_id: -1, last_message_id: event.message.id } }
    })
    yield { items }
  }

  /** Continues where an earlier tail stopped if its queue still exists; otherwise as after any lost queue. */
  async *resume(from: Position, sameQueue: boolean): AsyncGenerator<Batch> {
    this.#queueId = from.queue_id
    this.#events = new TakenIds(from.last_event_id)
    this.#messages = new TakenIds(from.last_message_id ?? -1)
    if (!sameQueue) {
      yield* this.#startOver('a new queue was needed')
      if (from.queue_id !== '')
        await this.#connection.call('DELETE', '/events', { queue_id: from.queue_id }).catch(() => {})
      return
    }
    try {
      yield* this.#poll(true)
    } catch (error) {
      if (isQueueLost(error)) yield* this.#startOver(queueExpired)
      else if (isTooFar(error, this.#events.last)) yield* this.#startOver(queueRead)
      else throw error
    }
  }

  /** Events as they arrive, until stopped. */
  async *follow(): AsyncGenerator<Batch> {
    let pause = 0
    let lost = false
    let gone: string | undefined
    while (!this.#stop.aborted) {
      const isNew = gone !== undefined
      try {
        if (gone !== undefined) yield* this.#startOver(gone)
        gone = undefined
        const before = this.#events.last
        const asked = performance.now()
        let hasNews = false
        for await (const batch of this.#poll(false)) {
          hasNews ||= batch.items.length > 0
          if (lost) note('reconnected')
          lost = false
          yield batch
        }
        pause = idlePause(pause, hasNews, this.#events.last > before, performance.now() - asked)
      } catch (error) {
        if (this.#stop.aborted) return
        if (isQueueLost(error)) {
          gone ??= queueExpired
          // A new queue that is lost at once: the next one may be, too.
          pause = isNew ? laterPause(pause) : 0
          if (pause > 0) await sleep(pause, this.#stop).catch(() => {})
          continue
        }
        // Only for the poll: a refused registration would be refused again.
        const isElsewhere = gone === undefined && isTooFar(error, this.#events.last)
        if (isElsewhere) gone = queueRead
        pause = isElsewhere ? laterPause(pause) : this.#pauseAfter(error, pause)
        if (!lost) note(`${(error as Error).message}; retrying`)
        lost = true
      }
      if (pause > 0) await sleep(pause, this.#stop).catch(() => {})
    }
  }

  /** Deletes the queue when no later run will read it. */
  async leave(): Promise<void> {
    if (this.#queueId === '') return
    const limit = { signal: AbortSignal.timeout(2000) }
    await this.#connection.call('DELETE', '/events', { queue_id: this.#queueId }, limit).catch(() => {})
  }

  /** Returns the newest visible message, or null if the server does not report it. */
  async #register(): Promise<number | null> {
    const { id, lastEvent, newest, longestPoll } = await registerQueue(this.#call, this.#wanted, more(this.#plan))
    this.#queueId = id
    this.#events = new TakenIds(lastEvent)
    if (longestPoll !== undefined) this.#pollTimeout = longestPoll * 1000
    return newest
  }

  async *#poll(dontBlock: boolean): AsyncGenerator<Batch> {
    const answer = await this.#connection.stream(
      '/events',
      { queue_id: this.#queueId, last_event_id: this.#events.last, dont_block: dontBlock || undefined },
      { timeout: this.#pollTimeout, signal: this.#stop },
    )
    const texts = new EventTexts()
    const { gather = 1 } = this.#plan
    let items: Item[] = []
    let characters = 0
    try {
      for await (const piece of answer) {
        for (const item of this.#taken(texts.push(piece))) items.push(item)
        characters += piece.length
        if (items.length < gather && gather > 1 && characters < mostGathered) continue
        yield { items, position: this.position }
        items = []
        characters = 0
      }
    } catch (error) {
      // They count as read: the next poll asks for what comes after them.
      if (items.length > 0 && !this.#stop.aborted) yield { items, position: this.position }
      throw error
    }
    if (gather > 1) yield { items, position: this.position }
    texts.end()
  }

  #taken(arrived: readonly Arrived[]): Item[] {
    const items: Item[] = []
    for (const { event, text } of arrived) {
      const { id, type, message } = event
      if (typeof id !== 'number') throw noEvents()
      // A server or a proxy may say something twice.
      if (!this.#events.take(id)) continue
      if (type === 'heartbeat') continue
      if (type === 'message') {
        if (!isMessage(message) || !areFlags(event.flags)) throw noEvents()
        // What was fetched may also be in the queue.
        if (!this.#messages.take(message.id)) continue
        if (message.id === this.#messages.last) this.#latest = event
      }
      items.push({ event, text, position: this.position })
    }
    return items
  }

  #told(event: ChatEvent): Item {
    const id = event.message?.id
    if (id !== undefined) {
      this.#messages.take(id)
      this.#latest = event
    }
    return { event, position: this.position }
  }

  /** Registers a new queue, then yields the messages between the old queue and the new one. */
  async *#startOver(reason: string): AsyncGenerator<Batch> {
    // Kept when this fails on the way: then the next attempt has another queue, but starts from the same place.
    this.#lost ??= this.position
    const before = this.#lost
    const newest = await this.#register()
    const told = { id: before.last_message_id, time: this.#latest?.message?.timestamp }
    const isPassing = (error: unknown) => this.#stop.aborted || isPassingFailure(error)
    const change = { before: before.queue_id, after: this.#queueId, newest }
    const { missed, lost, setBack } = await lookBetween(this.#call, this.#wanted, told, change, isPassing)
    if (setBack) this.#messages = new TakenIds(0)
    // Until all of it is delivered, the position stays at the end of the old queue.
    const items = missed.map(event => {
      return { event, position: { ...before, last_message_id: this.#told(event).position.last_message_id } }
    })
    yield { items }
    this.#lost = undefined
    if (newest !== null) this.#messages.skipTo(newest)
    if (lost.length === 0 && !setBack?.reason) return yield { items: [], position: this.position }
    const gap: ChatEvent & Gap = {
      type: '_gap',
      reason: setBack?.reason ?? reason,
      lost_types: lost,
      messages_filled: missed.length,
      after_event_id: before.last_event_id,
      after_message_id: before.last_message_id,
      newest_message_id: newest,
    }
    yield { items: [{ event: gap, position: this.position }], position: this.position }
  }

  #pauseAfter(error: unknown, pause: number): number {
    if (!isPassingFailure(error)) throw error
    const asked = (error as Failure).retryAfter
    return asked !== undefined ? pauseFor(asked) : laterPause(pause)
  }
}

/** `--dry-run` and `--curl`: the call that would register the queue. */
export async function showRegistration(account: Account, plan: Plan, globals: Globals): Promise<void> {
  const { printRequest } = await import('../../../print/request-text.ts')
  const fields = encodeFields(buildRegistration({ ...plan, applyMarkdown: false }, more(plan)))
  await printRequest(account, { method: 'POST', path: '/api/v1/register', fields }, globals)
}

function more({ lifespan }: Plan): Readonly<Record<string, unknown>> {
  return { queue_lifespan_secs: lifespan, client_capabilities: { ...capabilities, user_settings_object: true } }
}

/** Temporary errors: the daemon is unreachable, slow or overloaded. */
export function isPassingFailure(error: unknown): boolean {
  if (!(error instanceof Failure)) return false
  if (error.exit === exitCodes.unreachable || error.exit === exitCodes.unmet) return true
  return error.exit === exitCodes.rateLimited || (error.http !== null && isPassingStatus(error.http))
}

function isQueueLost(error: unknown): boolean {
  return error instanceof Failure && error.code === queueLost
}

/** Later events were acknowledged: another client read them, or we did and were killed before saving the position. */
function isTooFar(error: unknown, lastEvent: number): boolean {
  return error instanceof Failure && isOutOfStep({ status: error.http ?? 0, code: error.code }, lastEvent)
}

const queueExpired = 'the queue had expired'
const queueRead = 'another client has read the queue'
