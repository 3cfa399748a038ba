// Follows an event queue for as long as it takes: over lost connections, restarts of the daemon and expired queues.
// What was missed meanwhile is fetched; what cannot be fetched is marked as a gap; nothing comes twice.

import {
  capabilities,
  firstPause,
  isPassingStatus,
  laterPause,
  lookBetween,
  queueLost,
  registerQueue,
  registrationOf,
  type Wanted,
} from '../../../daemon/client/following.ts'
import { type Call, lookBack, type Past } from '../../../daemon/client/look-back.ts'
import { exitCodes, Failure } from '../../base/failure.ts'
import { note } from '../../print/output.ts'
import { type Connection, Refused } from '../../transport/connection.ts'
import type { ChatEvent } from './chat-event.ts'
import type { Position } from './cursor.ts'
import { type Arrived, EventTexts } from './event-texts.ts'

/** What to follow. */
export interface Plan extends Omit<Wanted, 'applyMarkdown'> {
  /** Seconds that the queue outlives its reader. */
  readonly lifespan?: number
}

export interface Item {
  /** Read when it is asked for. */
  readonly event: ChatEvent
  /** The event as it came, where it came through the queue. */
  readonly text?: string | undefined
  /** Where to go on once this one has been dealt with. */
  readonly position: Position
}

/** What arrived together. */
export interface Batch {
  readonly items: readonly Item[]
  /** Where to go on once all of it has been dealt with; further than the last item where some were of no interest. */
  readonly position?: Position
}

/** Gives events in batches. */
export class Follower {
  readonly #connection: Connection
  readonly #plan: Plan
  readonly #wanted: Wanted
  readonly #stop: AbortSignal
  #queueId = ''
  #lastEvent = -1
  /** Messages up to this ID were told, or were there before we came. */
  #lastMessage: number | null = null
  /** The last message that was told here: it says when that was. */
  #latest: { readonly event: ChatEvent } | undefined
  #pollTimeout = 90_000
  readonly #call: Call = (method, path, params) => this.#connection.call(method, path, params, { signal: this.#stop })

  constructor(connection: Connection, plan: Plan, stop: AbortSignal) {
    this.#connection = connection
    this.#plan = plan
    this.#wanted = { ...plan, applyMarkdown: false }
    this.#stop = stop
  }

  get position(): Position {
    return { queue_id: this.#queueId, last_event_id: this.#lastEvent, last_message_id: this.#lastMessage }
  }

  /** Registers a queue. From here on nothing is missed. */
  async begin(): Promise<void> {
    this.#lastMessage = await this.#register()
  }

  /** What came before the queue began, the last of it where there is more than wanted: call after `begin`, before `follow`. */
  async *past(past: Past, most = Number.POSITIVE_INFINITY): AsyncGenerator<Batch> {
    const found = await lookBack(this.#call, this.#wanted, past)
    const messages = found.slice(Math.max(0, found.length - most))
    // A tail that is ended in the middle of this fetches the rest next time.
    const items = messages.map(event => {
      const { position } = this.#told(event)
      return { event, position: { ...position, queue_id: '', last_event_id: -1, last_message_id: event.message.id } }
    })
    yield { items }
  }

  /** Goes on where an earlier tail stopped, if its queue is still there; otherwise as after any lost queue. */
  async *resume(from: Position, sameQueue: boolean): AsyncGenerator<Batch> {
    this.#queueId = from.queue_id
    this.#lastEvent = from.last_event_id
    this.#lastMessage = from.last_message_id
    if (!sameQueue) {
      yield* this.#startOver('another queue was needed')
      if (from.queue_id !== '')
        await this.#connection.call('DELETE', '/events', { queue_id: from.queue_id }).catch(() => {})
      return
    }
    try {
      yield* this.#poll(true)
    } catch (error) {
      if (isQueueLost(error)) yield* this.#startOver('the queue had expired')
      else if (isTooFar(error)) yield* this.#startOver('the queue had gone on')
      else throw error
    }
  }

  /** Events as they come, until told to stop. */
  async *follow(): AsyncGenerator<Batch> {
    let pause = 0
    let lost = false
    let expired = false
    while (!this.#stop.aborted) {
      try {
        if (expired) yield* this.#startOver('the queue had expired')
        expired = false
        const before = this.#lastEvent
        for await (const batch of this.#poll(false)) {
          if (lost) note('connected again')
          lost = false
          yield batch
        }
        // Nothing at all is the answer of a daemon that is about to stop, or of a queue that somebody else reads too.
        pause = this.#lastEvent > before ? 0 : laterPause(pause)
      } catch (error) {
        if (this.#stop.aborted) return
        expired ||= isQueueLost(error)
        if (isQueueLost(error)) continue
        pause = this.#pauseAfter(error, pause)
        if (!lost) note(`${(error as Error).message}; trying again`)
        lost = true
      }
      if (pause > 0) await this.#sleep(pause)
    }
  }

  /** The server need not keep what nobody will read. */
  async leave(): Promise<void> {
    if (this.#queueId === '') return
    await this.#connection.call('DELETE', '/events', { queue_id: this.#queueId }, { timeout: 2000 }).catch(() => {})
  }

  /** Returns the newest message there is to see, or null if the server does not say. */
  async #register(): Promise<number | null> {
    const { id, lastEvent, newest, longestPoll } = await registerQueue(this.#call, this.#wanted, more(this.#plan))
    this.#queueId = id
    this.#lastEvent = lastEvent
    if (longestPoll !== undefined) this.#pollTimeout = longestPoll * 1000
    return newest
  }

  async *#poll(dontBlock: boolean): AsyncGenerator<Batch> {
    const answer = await this.#connection.stream(
      '/events',
      { queue_id: this.#queueId, last_event_id: this.#lastEvent, dont_block: dontBlock || undefined },
      { timeout: this.#pollTimeout, signal: this.#stop },
    )
    const texts = new EventTexts()
    for await (const piece of answer) yield { items: this.#taken(texts.push(piece)), position: this.position }
    texts.end()
  }

  #taken(arrived: readonly Arrived[]): Item[] {
    const items: Item[] = []
    for (const one of arrived) {
      const [id, messageId] = one.ids ?? idsOf(one.event)
      if (id !== undefined) this.#lastEvent = Math.max(this.#lastEvent, id)
      if (messageId === undefined) {
        if (one.event.type === 'heartbeat') continue
      } else if (this.#lastMessage !== null && messageId <= this.#lastMessage) continue
      else {
        this.#lastMessage = messageId
        this.#latest = one
      }
      items.push(new QueueItem(one, this.#queueId, this.#lastEvent, this.#lastMessage))
    }
    return items
  }

  #told(event: ChatEvent): Item {
    const id = event.message?.id
    if (id !== undefined) {
      this.#lastMessage = Math.max(this.#lastMessage ?? 0, id)
      this.#latest = { event }
    }
    return { event, position: this.position }
  }

  /** A new queue, then the messages that came between the old one and it. */
  async *#startOver(reason: string): AsyncGenerator<Batch> {
    const before = this.position
    const newest = await this.#register()
    const told = { id: before.last_message_id, time: this.#latest?.event.message?.timestamp }
    const isPassing = (error: unknown) => this.#stop.aborted || isPassingFailure(error)
    const { missed, lost, setBack } = await lookBetween(this.#call, this.#wanted, told, newest, isPassing)
    if (setBack) this.#lastMessage = 0
    // Until all of it is told, the place to go on from is the old queue's end.
    const items = missed.map(event => {
      return { event, position: { ...before, last_message_id: this.#told(event).position.last_message_id } }
    })
    yield { items }
    if (newest !== null) this.#lastMessage = Math.max(this.#lastMessage ?? 0, newest)
    if (lost.length === 0 && !setBack?.reason) return yield { items: [], position: this.position }
    const gap = {
      type: '_gap',
      reason: setBack?.reason ?? reason,
      lost_types: lost,
      messages_filled: missed.length,
      after_event_id: before.last_event_id,
      after_message_id: before.last_message_id,
    }
    yield { items: [{ event: gap, position: this.position }], position: this.position }
  }

  #pauseAfter(error: unknown, pause: number): number {
    if (!isPassingFailure(error)) throw error
    const asked = error instanceof Refused ? error.retryAfter : undefined
    return asked !== undefined ? Math.max(asked * 1000, firstPause) : laterPause(pause)
  }

  #sleep(ms: number): Promise<void> {
    return new Promise(resolve => {
      const done = () => {
        clearTimeout(timer)
        this.#stop.removeEventListener('abort', done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      this.#stop.addEventListener('abort', done)
    })
  }
}

/** What a queue is registered with. */
export function registration(plan: Plan): Readonly<Record<string, unknown>> {
  return registrationOf({ ...plan, applyMarkdown: false }, more(plan))
}

function more({ lifespan }: Plan): Readonly<Record<string, unknown>> {
  return { queue_lifespan_secs: lifespan, client_capabilities: { ...capabilities, user_settings_object: true } }
}

class QueueItem implements Item {
  readonly #arrived: Arrived
  readonly #queueId: string
  readonly #lastEvent: number
  readonly #lastMessage: number | null

  constructor(arrived: Arrived, queueId: string, lastEvent: number, lastMessage: number | null) {
    this.#arrived = arrived
    this.#queueId = queueId
    this.#lastEvent = lastEvent
    this.#lastMessage = lastMessage
  }

  get position(): Position {
    return { queue_id: this.#queueId, last_event_id: this.#lastEvent, last_message_id: this.#lastMessage }
  }

  get event(): ChatEvent {
    return this.#arrived.event
  }

  get text(): string {
    return this.#arrived.text
  }
}

/** Of an event, and of its message if it is about a new one. */
function idsOf({ id, type, message }: ChatEvent): readonly [number | undefined, number | undefined] {
  return [typeof id === 'number' ? id : undefined, type === 'message' ? message?.id : undefined]
}

/** Trouble that goes away by itself: the daemon is away, slow, or has too much to do. */
function isPassingFailure(error: unknown): boolean {
  if (!(error instanceof Failure)) return false
  if (error.exit === exitCodes.unreachable || error.exit === exitCodes.unmet) return true
  return error.exit === exitCodes.rateLimited || (error.http !== null && isPassingStatus(error.http))
}

function isQueueLost(error: unknown): boolean {
  return error instanceof Failure && error.code === queueLost
}

/** Events up to a later one were acknowledged: somebody else read on, or we did and were killed before we could note it. */
function isTooFar(error: unknown): boolean {
  return error instanceof Failure && error.http === 400 && error.code === 'BAD_REQUEST'
}
