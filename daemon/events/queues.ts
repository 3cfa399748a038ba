// Event queues: what each client has not yet acknowledged, and who is waiting for more. Registrations and
// acknowledgements are facts; pending events are made again by replay, so queues outlive the daemon.

import type { Fact } from '../domain/facts.ts'
import type { QueueRegistration } from '../domain/model/facts/queues.ts'
import type { Announcement, Client } from '../domain/resource.ts'
import { Adapter, clientOf } from './adapt.ts'
import { Wheel } from './timer-wheel.ts'

/**
 * Event IDs are (position - birth) * K + n: n counts what a queue heard since that position. No command announces K
 * events to one queue (batches stop at half of it), and signals that would reach K make the engine journal an empty entry.
 */
const K = 10_000

export interface Pending {
  readonly id: number
  readonly position: number
  /** Signals and heartbeats are forgotten by a crash, so acknowledging them need not be remembered. */
  readonly lasting: boolean
  /** The event as JSON text, without its id. Shared between all queues that want this form. */
  readonly body: string
  /** Whose secrets belong into the body, where they are not. */
  readonly secretsOf?: number
}

export interface Waiter {
  /** Called once with the answer; events are empty when the poll was superseded or the daemon stops. */
  answer(queue: Queue, events: readonly Pending[]): void
}

export interface Queue extends QueueRegistration {
  readonly birth: number
  readonly client: Client
  pending: Pending[]
  /** Highest ID ever given out, and highest ever acknowledged. */
  newest: number
  acknowledged: number
  /** Where the newest ID belongs, to count n from. */
  position: number
  waiter: Waiter | undefined
  /** When the poll that waits gets a heartbeat, if nothing else comes. */
  heartbeatAt: number
  lastSeen: number
}

export interface QueueLimits {
  readonly maxPending: number
  readonly heartbeatMs: () => number
}

export interface QueuesParts {
  readonly clock: { now(): number; after(ms: number, run: () => void): () => void }
  readonly limits: QueueLimits
  /** Asks the engine to journal the end of queues. */
  readonly remove: (queueIds: readonly string[], reason: 'expired' | 'overflowed') => void
  /** Asks the engine for a new position, because IDs at this one run out. */
  readonly tick: () => void
}

const none: ReadonlySet<Queue> = new Set()

export class Queues {
  /** Hears of everything that is announced, whether or not anyone listens. */
  onAnnounced: ((announcements: readonly Announcement[]) => void) | undefined
  readonly #parts: QueuesParts
  readonly #queues = new Map<string, Queue>()
  readonly #byUser = new Map<number, Set<Queue>>()
  readonly #overhearing = new Set<Queue>()
  readonly #heartbeats: Wheel<Queue>
  readonly #expiries: Wheel<Queue>
  /** Everything up to here is on disk and may be told. */
  #released = 0
  /** Queues with events that wait for the disk, by position, ascending. */
  #held: { readonly position: number; readonly queues: Queue[] }[] = []
  #live = false
  #stopping = false

  constructor(parts: QueuesParts) {
    this.#parts = parts
    this.#heartbeats = new Wheel(parts.clock, queue => this.#heartbeat(queue))
    this.#expiries = new Wheel(parts.clock, queue => this.#expire(queue))
  }

  get size(): number {
    return this.#queues.size
  }

  /** Whether an announcement would reach anybody at all. */
  get listened(): boolean {
    return this.#queues.size > 0 || this.onAnnounced !== undefined
  }

  values(): IterableIterator<Queue> {
    return this.#queues.values()
  }

  get(id: string): Queue | undefined {
    return this.#queues.get(id)
  }

  ofUser(userId: number): ReadonlySet<Queue> {
    return this.#byUser.get(userId) ?? none
  }

  /** Takes a fact about queues; false when it is about something else. */
  apply(position: number, fact: Fact): boolean {
    if (fact.type === 'queue.registered') this.#add(fact.queue, position)
    else if (fact.type === 'queue.acknowledged') this.#prune(fact.queueId, fact.upTo)
    else if (fact.type === 'queue.removed') this.#drop(fact.queueId)
    else {
      // What happened while the account was deactivated was told to nobody: its clients must start again.
      if (fact.type === 'user.reactivated') for (const { id } of [...this.ofUser(fact.userId)]) this.#drop(id)
      return false
    }
    return true
  }

  /** Puts events into the queues of those concerned. They are told when the position is released. */
  push(position: number, announcements: readonly Announcement[], lasting = true): void {
    this.onAnnounced?.(announcements)
    for (const announcement of announcements) {
      const { to, fits, echo, overheard } = announcement
      const adapter = new Adapter(announcement)
      for (const userId of this.#listening(to, announcement.first)) {
        const queues = this.#byUser.get(userId)
        if (!queues) continue
        const personal = announcement.personal?.(userId)
        for (const queue of queues) {
          if (fits && queue.narrow.length > 0 && !fits(queue)) continue
          for (const body of adapter.textsWith(queue.client, personal))
            this.#enqueue(
              queue,
              position,
              echo?.queueId === queue.id ? withFields(echo.fields, body) : body,
              lasting,
              announcement.secretsOf,
            )
        }
      }
      if (overheard) this.#overhear(position, announcement, overheard, adapter, lasting)
    }
  }

  /** Queues registered for all public channels, of people who are not told anyway. */
  #overhear(position: number, { to, fits }: Announcement, fields: object, adapter: Adapter, lasting: boolean): void {
    if (this.#overhearing.size === 0) return
    const told = 'has' in to ? to : new Set(to)
    for (const queue of this.#overhearing) {
      if (told.has(queue.userId) || (fits && queue.narrow.length > 0 && !fits(queue))) continue
      for (const body of adapter.textsWith(queue.client, fields)) this.#enqueue(queue, position, body, lasting)
    }
  }

  /** Those of the audience who have a queue; costs the smaller of the two. */
  #listening(to: Announcement['to'], first?: number): Iterable<number> {
    const listening =
      Array.isArray(to) || !('has' in to) || to.size <= this.#byUser.size
        ? to
        : [...this.#byUser.keys()].filter(userId => to.has(userId))
    if (first === undefined || !this.#byUser.has(first)) return listening
    const rest = [...listening]
    return rest.includes(first) ? [first, ...rest.filter(userId => userId !== first)] : rest
  }

  /** Whether a signal has no ID left at this position in some queue. */
  full(announcements: readonly Announcement[], position: number): boolean {
    for (const { to } of announcements)
      for (const userId of this.#listening(to))
        for (const queue of this.ofUser(userId)) if (atEnd(queue, position)) return true
    return false
  }

  /** Everything up to the position is on disk: wake those who wait for it. */
  release(position: number): void {
    if (position > this.#released) this.#released = position
    let ready = 0
    while (ready < this.#held.length && this.#held[ready]!.position <= this.#released) ready++
    if (ready > 0) for (const { queues } of this.#held.splice(0, ready)) this.#wake(queues, 0)
  }

  /** Events that may be told now. */
  ready(queue: Queue): Pending[] {
    const { pending } = queue
    if (pending.length === 0 || pending.at(-1)!.position <= this.#released) return pending
    return pending.filter(event => event.position <= this.#released)
  }

  /** Leaves a poll waiting; one that waited before is answered with nothing. */
  park(queue: Queue, waiter: Waiter): void {
    this.answer(queue, [])
    queue.waiter = waiter
    queue.heartbeatAt = this.#parts.clock.now() + this.#parts.limits.heartbeatMs()
    if (this.#stopping) this.answer(queue, [])
    // A deadline left from an earlier poll is moved on when it comes, not with every poll.
    if (!this.#heartbeats.has(queue)) this.#heartbeats.at(queue.heartbeatAt, queue)
  }

  /** The client went away before it was answered. */
  unpark(queue: Queue, waiter: Waiter): void {
    if (queue.waiter !== waiter) return
    queue.waiter = undefined
    this.touch(queue)
  }

  touch(queue: Queue): void {
    queue.lastSeen = this.#parts.clock.now()
  }

  answer(queue: Queue, events: readonly Pending[]): void {
    const { waiter } = queue
    if (!waiter) return
    queue.waiter = undefined
    this.touch(queue)
    waiter.answer(queue, events)
  }

  /** The daemon stops: everybody who waits, or still comes to wait, gets an answer. */
  answerAll(): void {
    this.#stopping = true
    for (const queue of this.#queues.values()) this.answer(queue, [])
  }

  /** All of them are gone, and who waits is told. */
  clear(): void {
    for (const queueId of [...this.#queues.keys()]) this.#drop(queueId)
    this.#held = []
  }

  /** After boot: time without the daemon does not count against anyone, and IDs go on beyond all that were told. */
  resume(position: number): void {
    this.#live = true
    for (const queue of this.#queues.values()) {
      queue.newest = Math.max(queue.newest, (position - queue.birth) * K - 1)
      this.touch(queue)
      this.#expiries.at(queue.lastSeen + queue.lifespan, queue)
    }
  }

  save(): unknown[] {
    return [...this.#queues.values()].map(queue => {
      const { client, waiter, heartbeatAt, lastSeen, ...kept } = queue
      return { ...kept, pending: [...queue.pending] }
    })
  }

  load(saved: Iterable<unknown>): void {
    for (const row of saved as Iterable<Omit<Queue, 'client' | 'waiter' | 'heartbeatAt' | 'lastSeen'>>)
      this.#index({ ...row, client: clientOf(row), waiter: undefined, heartbeatAt: 0, lastSeen: 0 })
  }

  // --- facts ----------------------------------------------------------------------------------------------------

  #add(registration: QueueRegistration, position: number): void {
    this.#index({
      ...registration,
      client: clientOf(registration),
      birth: position,
      pending: [],
      newest: -1,
      acknowledged: -1,
      position,
      waiter: undefined,
      heartbeatAt: 0,
      lastSeen: 0,
    })
  }

  #index(queue: Queue): void {
    this.#queues.set(queue.id, queue)
    if (queue.allPublicStreams) this.#overhearing.add(queue)
    const others = this.#byUser.get(queue.userId)
    if (others) others.add(queue)
    else this.#byUser.set(queue.userId, new Set([queue]))
    this.touch(queue)
    if (this.#live) this.#expiries.at(queue.lastSeen + queue.lifespan, queue)
  }

  #prune(queueId: string, upTo: number): void {
    const queue = this.#queues.get(queueId)
    if (queue) this.forget(queue, upTo)
  }

  /** Drops what the client has seen. */
  forget(queue: Queue, upTo: number): void {
    const keep = queue.pending.findIndex(event => event.id > upTo)
    queue.pending = keep === -1 ? [] : keep === 0 ? queue.pending : queue.pending.slice(keep)
    queue.acknowledged = Math.max(queue.acknowledged, upTo)
    queue.newest = Math.max(queue.newest, upTo)
  }

  #drop(queueId: string): void {
    const queue = this.#queues.get(queueId)
    if (!queue) return
    this.#queues.delete(queueId)
    this.#overhearing.delete(queue)
    const others = this.#byUser.get(queue.userId)
    others?.delete(queue)
    if (others?.size === 0) this.#byUser.delete(queue.userId)
    this.#heartbeats.forget(queue)
    this.#expiries.forget(queue)
    this.answer(queue, [])
  }

  // --- events ---------------------------------------------------------------------------------------------------

  #enqueue(queue: Queue, position: number, body: string, lasting: boolean, secretsOf?: number): void {
    this.#append(queue, position, body, lasting, secretsOf)
    // Nobody waits while the journal is replayed.
    if (!this.#live) return
    this.#hold(queue, position)
    // A reader that slow must start again: dropping an event out of the middle would be a lie.
    if (queue.pending.length > this.#parts.limits.maxPending) this.#parts.remove([queue.id], 'overflowed')
  }

  #append(queue: Queue, position: number, body: string, lasting: boolean, secretsOf?: number): void {
    queue.newest = Math.max(queue.newest + 1, (position - queue.birth) * K)
    queue.position = position
    queue.pending.push(
      secretsOf === undefined
        ? { id: queue.newest, position, lasting, body }
        : { id: queue.newest, position, lasting, body, secretsOf },
    )
  }

  /** Wakes whoever waits by then on the queue when the position is on disk. Positions only rise. */
  #hold(queue: Queue, position: number): void {
    const newest = this.#held.at(-1)
    if (newest?.position === position) newest.queues.push(queue)
    else this.#held.push({ position, queues: [queue] })
  }

  #wake(queues: readonly Queue[], from: number): void {
    // Ten thousand answers in one turn would keep everyone else waiting: slices.
    const until = Math.min(from + 500, queues.length)
    for (let i = from; i < until; i++) {
      const queue = queues[i]!
      if (!queue.waiter) continue
      const events = this.ready(queue)
      if (events.length > 0) this.answer(queue, events)
    }
    if (until < queues.length) setImmediate(() => this.#wake(queues, until))
  }

  #heartbeat(queue: Queue): void {
    if (!queue.waiter) return
    const now = this.#parts.clock.now()
    if (queue.heartbeatAt > now) {
      this.#heartbeats.at(queue.heartbeatAt, queue)
      return
    }
    // An event is on its way to the disk: it will come instead, and must not come sooner.
    const expected = queue.position > this.#released
    const idsEnd = !expected && atEnd(queue, this.#released)
    if (idsEnd) this.#parts.tick()
    if (expected || idsEnd) this.#heartbeats.at(now + 1000, queue)
    else {
      this.#append(queue, this.#released, '"type":"heartbeat"}', false)
      this.answer(queue, this.ready(queue))
    }
  }

  #expire(queue: Queue): void {
    const due = queue.waiter ? this.#parts.clock.now() + queue.lifespan : queue.lastSeen + queue.lifespan
    if (due > this.#parts.clock.now()) this.#expiries.at(due, queue)
    else this.#parts.remove([queue.id], 'expired')
  }
}

/** The same event with more fields; the text begins after the opening brace. */
function withFields(fields: object, body: string): string {
  return `${JSON.stringify(fields).slice(1, -1)},${body}`
}

/** One ID is left over for the heartbeat that may come beside a signal. */
function atEnd(queue: Queue, position: number): boolean {
  return queue.newest + 2 >= (position - queue.birth + 1) * K
}
