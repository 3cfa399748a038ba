// Event queues: the events that each client has not acknowledged yet, and the polls that wait for more. Registrations and
// acknowledgements are facts, and replay makes the pending events again, so queues survive a restart.

import type { QueueRegistration } from '../domain/model/rows/queues.ts'
import type { Refusal } from '../domain/refusal.ts'
import type { Announcement } from '../domain/resource.ts'
import { Adapter, type FormedEvent } from './adapt.ts'
import { assumeJoined, drop } from './collapse.ts'
import { hasRoom, isUsedUp, skipTo, takeId } from './event-ids.ts'
import { addFields, type EventText, heartbeat } from './event-text.ts'
import {
  type Pending,
  type Queue,
  type QueuesParts,
  savedFields,
  sumSizes,
  type Unsaved,
  type Waiter,
} from './queue.ts'
import { type Account, QueueIndex } from './queue-index.ts'
import { queuesOfRows, rowsOfQueues } from './saved-queues.ts'
import { Wheel } from './timer-wheel.ts'

/** A deadline that is missed by more milliseconds means that the process or the machine was suspended. */
const suspendedMs = 10_000

type Formed = readonly FormedEvent[]

export class Queues {
  /** Called with every announcement, and the IDs of the queues it was put into (the first hundred). */
  onAnnounced: ((announcement: Announcement, position: number, queues: readonly string[]) => void) | undefined
  /** Called with each queue whose narrow does not take the message that is announced. */
  onPassedOver: ((queueId: string) => void) | undefined
  #reached: string[] | undefined
  readonly #parts: QueuesParts
  readonly #queues: QueueIndex
  readonly #heartbeats: Wheel<Queue>
  readonly #expiries: Wheel<Queue>
  /** Everything up to here is on disk and may be delivered. */
  #released = 0
  /** Queues with events that wait for the disk, by position, ascending. */
  #held: { readonly position: number; readonly queues: Queue[] }[] = []
  #expectedRemoved: ReadonlySet<string> = new Set()
  /** Accounts that have too much unread. */
  readonly #overflowed = new Set<Account>()
  /** Queues of such accounts that have not got an event. */
  readonly #missing = new Set<Queue>()
  #live = false
  #stopping = false

  constructor(parts: QueuesParts) {
    this.#parts = parts
    this.#queues = new QueueIndex(parts.ownerOf ?? (userId => userId))
    this.#heartbeats = new Wheel(parts.clock, queue => this.#heartbeat(queue))
    this.#expiries = new Wheel(parts.clock, queue => this.#expire(queue))
  }

  get size(): number {
    return this.#queues.size
  }

  /** Whether an announcement would reach any queue. */
  get listened(): boolean {
    return this.#queues.size > 0 || this.onAnnounced !== undefined
  }

  values(): IterableIterator<Queue> {
    return this.#queues.values()
  }

  get(id: string): Queue | undefined {
    return this.#queues.get(id)
  }

  readonly ofUser = (userId: number): ReadonlySet<Queue> => this.#queues.ofUser(userId)
  readonly countOwned = (userId: number): number => this.#queues.countOwned(userId)

  /** Puts events into the queues of the audience. They are delivered when the position is released. */
  push(position: number, announcements: readonly Announcement[], lasting = true): void {
    for (const announcement of announcements) {
      if (this.onAnnounced) this.#reached = []
      const { to, fits } = announcement
      const adapter = new Adapter(announcement)
      for (const userId of this.#queues.listening(to, announcement.first)) {
        const queues = this.#queues.ofUser(userId)
        if (queues.size === 0) continue
        const personal = announcement.personal?.(userId)
        for (const queue of queues)
          if (this.#takes(queue, fits))
            this.#put(queue, position, announcement, adapter.eventsWith(queue.client, personal), lasting)
      }
      this.#overhear(position, announcement, adapter, lasting)
      if (this.#reached) this.onAnnounced?.(announcement, position, this.#reached)
    }
    this.#endLargest()
  }

  #takes(queue: Queue, fits: Announcement['fits']): boolean {
    if (!fits || queue.narrow.length === 0 || fits(queue)) return true
    this.onPassedOver?.(queue.id)
    return false
  }

  /** Puts events into queues of users outside the audience that are registered for all public channels, or with a narrow. */
  #overhear(position: number, announcement: Announcement, adapter: Adapter, lasting: boolean): void {
    const { to, overheard } = announcement
    if (!overheard || this.#queues.overhearing.size === 0) return
    const audience = 'has' in to ? to : new Set(to)
    for (const queue of this.#queues.overhearing) {
      if (audience.has(queue.userId)) continue
      if (overheard.fits(queue))
        this.#put(queue, position, announcement, adapter.eventsWith(queue.client, overheard.fields), lasting)
      else if (queue.allPublicStreams) this.onPassedOver?.(queue.id)
    }
  }

  /** Puts events of the types that it takes into the queue. */
  #put(queue: Queue, position: number, { echo, secretsOf }: Announcement, events: Formed, lasting: boolean): void {
    for (const event of events) {
      if (queue.types && !queue.types.has(event.type)) continue
      const account = this.#queues.account(queue)
      if (this.#live && account && account.size > 2 * this.#parts.limits.maxPendingSize) {
        // It is ended anyway. An event can be large, and each form of it would be written.
        this.#overflowed.add(account)
        this.#missing.add(queue)
        return
      }
      const body = echo?.queueId === queue.id ? addFields(echo.fields, event.text) : event.text
      this.#enqueue(queue, position, body, lasting, secretsOf)
    }
  }

  /** Whether some queue has no ID left at this position for these signals. */
  full(announcements: readonly Announcement[], position: number): boolean {
    // An announcement can be two events: one in an older form, for older clients.
    for (const { to } of announcements)
      for (const userId of this.#queues.listening(to))
        for (const queue of this.ofUser(userId)) if (!hasRoom(queue, position, 2 * announcements.length)) return true
    return false
  }

  /** Everything up to the position is on disk: answer the polls that wait for it. */
  release(position: number): void {
    if (position > this.#released) this.#released = position
    let ready = 0
    while (ready < this.#held.length && this.#held[ready]!.position <= this.#released) ready++
    if (ready > 0) for (const { queues } of this.#held.splice(0, ready)) this.#wake(queues, 0)
  }

  /** Events that may be delivered now. */
  ready(queue: Queue): Pending[] {
    const { pending } = queue
    if (pending.length === 0 || pending.at(-1)!.position <= this.#released) return pending
    return pending.filter(event => event.position <= this.#released)
  }

  /** Leaves a poll waiting. One that waited before it is answered without events. */
  addWaiter(queue: Queue, waiter: Waiter): void {
    this.answer(queue, [])
    queue.waiter = waiter
    queue.heartbeatAt = this.#parts.clock.heading() + this.#parts.limits.heartbeatMs()
    if (this.#stopping) this.answer(queue, [])
    // The deadline of an earlier poll is moved when it is due, not with every poll.
    if (!this.#heartbeats.has(queue)) this.#heartbeats.at(queue.heartbeatAt, queue)
  }

  /** For a client that closed its connection before it was answered. */
  removeWaiter(queue: Queue, waiter: Waiter): void {
    if (queue.waiter !== waiter) return
    queue.waiter = undefined
    this.touch(queue)
  }

  touch(queue: Queue): void {
    const { clock } = this.#parts
    queue.idleSince = clock.heading()
    queue.lastSeen = clock.now() + Math.round(queue.idleSince - clock.elapsed())
  }

  /** Restarts its lifespan. */
  revive(queue: Queue): void {
    this.touch(queue)
    this.#expiries.at(queue.idleSince + queue.lifespan, queue)
  }

  answer(queue: Queue, events: readonly Pending[]): void {
    const { waiter } = queue
    if (!waiter) return
    queue.waiter = undefined
    this.touch(queue)
    waiter.answer(events)
  }

  /** The daemon stops: every poll that waits, or still arrives, gets an answer. */
  answerAll(): void {
    this.#stopping = true
    for (const queue of this.#queues.values()) this.answer(queue, [])
  }

  /** A defect ended the world: every poll that waits is refused. */
  refuseAll(refusal: Refusal): void {
    for (const queue of this.#queues.values()) {
      queue.waiter?.refuse(refusal)
      queue.waiter = undefined
    }
  }

  /** To be called after the replay: starts the lifespans, so that the time before does not count, and continues after all IDs that were sent. */
  resume(position: number): void {
    this.#live = true
    this.#expectedRemoved = new Set()
    for (const queue of this.#queues.values()) {
      skipTo(queue, position)
      assumeJoined(queue)
      this.revive(queue)
    }
  }

  /** Rows for a snapshot, with the events that are pending now. */
  save(): Iterable<unknown> {
    const queues = [...this.#queues.values()].map(savedFields)
    return { [Symbol.iterator]: () => rowsOfQueues(queues) }
  }

  load(saved: Iterable<unknown>): void {
    for (const queue of queuesOfRows(saved)) if (!this.#expectedRemoved.has(queue.id)) this.#index(queue)
  }

  /** To be called before the replay: these queues end during it, so nothing has to be done for them. */
  expectRemoved(queueIds: ReadonlySet<string>): void {
    this.#expectedRemoved = queueIds
  }

  // --- facts ----------------------------------------------------------------------------------------------------

  register(registration: QueueRegistration, position: number): void {
    if (this.#expectedRemoved.has(registration.id)) return
    this.#index({
      ...registration,
      birth: position,
      pending: [],
      newest: -1,
      acknowledged: -1,
      position,
    })
  }

  acknowledge(queueId: string, upTo: number, kept?: readonly number[]): void {
    const queue = this.#queues.get(queueId)
    if (!queue) return
    this.forget(queue, upTo, kept)
    queue.unrecorded = 0
  }

  /**
   * Whether it should be recorded that these signals are acknowledged, although a crash loses signals: the other daemons of a cluster keep
   * them until then, and must not end the queue for them.
   */
  fillsOthers(queue: Queue, signals: readonly Pending[]): boolean {
    const { maxPending, maxPendingSize } = this.#parts.limits
    // An account has up to 1,000 queues in this size.
    queue.unrecorded += Math.max((4 * signals.length) / maxPending, (2000 * sumSizes(signals)) / maxPendingSize)
    return queue.unrecorded >= 1
  }

  removeUser(userId: number): void {
    for (const { id } of [...this.ofUser(userId)]) this.remove(id)
  }

  /** Removes all queues and answers their waiting polls. */
  clear(): void {
    for (const { id } of [...this.#queues.values()]) this.remove(id)
    this.#held = []
  }

  /** Answers the waiting polls of an account whose key has changed. Clients with the new key poll again. */
  interrupt(userId: number): void {
    for (const queue of this.ofUser(userId)) this.answer(queue, [])
  }

  #index(row: Omit<Queue, Unsaved>): void {
    const queue = this.#queues.add(row)
    this.touch(queue)
    if (this.#live) this.#expiries.at(queue.idleSince + queue.lifespan, queue)
  }

  /** Drops events that the client has acknowledged. */
  forget(queue: Queue, upTo: number, kept?: readonly number[]): void {
    this.#queues.grow(queue, -sumSizes(drop(queue, upTo, kept)))
    queue.acknowledged = Math.max(queue.acknowledged, upTo)
    queue.newest = Math.max(queue.newest, upTo)
  }

  remove(queueId: string): void {
    const queue = this.#queues.get(queueId)
    if (!queue) return
    this.#queues.delete(queue)
    this.#heartbeats.forget(queue)
    this.#expiries.forget(queue)
    this.answer(queue, [])
  }

  // --- events ---------------------------------------------------------------------------------------------------

  #enqueue(queue: Queue, position: number, body: EventText, lasting: boolean, secretsOf?: number): void {
    // A signal without an ID is dropped: another position's ID could be given out again after a crash.
    if (!lasting && !hasRoom(queue, position, 0)) return
    this.#append(queue, position, body, lasting, secretsOf)
    if (this.#reached && this.#reached.length < 100 && this.#reached.at(-1) !== queue.id) this.#reached.push(queue.id)
    // No poll waits while the journal is replayed.
    if (!this.#live) return
    this.#hold(queue, position)
    this.#endOverflowed(queue)
  }

  /** Ends a queue whose client is too slow. The client registers again; a queue with some events dropped would leave it out of date. */
  #endOverflowed(queue: Queue): void {
    const { maxPending, maxPendingSize } = this.#parts.limits
    const account = this.#queues.account(queue)
    if (queue.pending.length > maxPending || queue.size > maxPendingSize / 2 || isUsedUp(queue))
      this.#parts.remove([queue.id], 'overflowed')
    else if (account && account.size > maxPendingSize) this.#overflowed.add(account)
  }

  /**
   * Ends the largest queues of accounts that have too much unread, after those that an event is missing in. All at once: an account and
   * its bots can have many thousands.
   */
  #endLargest(): void {
    const accounts = [...this.#overflowed]
    const missing = new Set(this.#missing)
    this.#overflowed.clear()
    this.#missing.clear()
    const ended: string[] = []
    const rank = (queue: Queue) => (missing.has(queue) ? Number.MAX_SAFE_INTEGER : queue.size)
    for (const { queues, size } of accounts) {
      let excess = size - this.#parts.limits.maxPendingSize
      for (const queue of excess > 0 ? [...queues].sort((a, b) => rank(b) - rank(a)) : []) {
        if (excess <= 0 && !missing.has(queue)) break
        ended.push(queue.id)
        excess -= queue.size
      }
    }
    if (ended.length > 0) this.#parts.remove(ended, 'overflowed')
  }

  #append(queue: Queue, position: number, body: EventText, lasting: boolean, secretsOf?: number): void {
    const id = takeId(queue, position, lasting)
    queue.position = position
    queue.pending.push(
      secretsOf === undefined ? { id, position, lasting, body } : { id, position, lasting, body, secretsOf },
    )
    this.#queues.grow(queue, body.length)
  }

  /** Wakes the poll that waits on the queue when the position is on disk. Positions only rise. */
  #hold(queue: Queue, position: number): void {
    const newest = this.#held.at(-1)
    if (newest?.position === position) newest.queues.push(queue)
    else this.#held.push({ position, queues: [queue] })
  }

  #wake(queues: readonly Queue[], from: number): void {
    // In slices: ten thousand answers in one turn would hold up all other requests.
    const until = Math.min(from + 500, queues.length)
    for (let i = from; i < until; i++) {
      const queue = queues[i]!
      const events = queue.waiter ? this.ready(queue) : []
      if (events.length > 0) this.answer(queue, events)
    }
    if (until < queues.length) this.#parts.clock.boundary.nextTurn(() => this.#wake(queues, until))
  }

  #heartbeat(queue: Queue): void {
    if (!queue.waiter) return
    const now = this.#parts.clock.elapsed()
    if (queue.heartbeatAt > now) {
      this.#heartbeats.at(queue.heartbeatAt, queue)
      return
    }
    // An event that is not on disk yet will be sent instead of the heartbeat.
    const expected = queue.position > this.#released
    const idsEnd = !expected && !hasRoom(queue, this.#released, 0)
    if (idsEnd) this.#parts.tick()
    if (expected || idsEnd) this.#heartbeats.at(now + 1000, queue)
    else {
      this.#append(queue, this.#released, heartbeat, false)
      this.answer(queue, this.ready(queue))
    }
  }

  #expire(queue: Queue): void {
    const late = this.#parts.clock.elapsed() - (queue.idleSince + queue.lifespan)
    // Missed by so much, the deadline passed while the process was suspended.
    if (queue.waiter || late > suspendedMs) this.revive(queue)
    else if (late < 0) this.#expiries.at(queue.idleSince + queue.lifespan, queue)
    else this.#parts.remove([queue.id], 'expired')
  }
}
