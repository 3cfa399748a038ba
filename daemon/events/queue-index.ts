// All queues of an organization, found by ID and by user, with the characters that are pending for each user.

import type { Announcement } from '../domain/resource.ts'
import { Clients } from './adapt.ts'
import { type Queue, sumSizes, type Unsaved } from './queue.ts'

/** The queues of one user, and the characters that are pending in all of them. */
export interface Account {
  readonly queues: Set<Queue>
  size: number
}

const none: ReadonlySet<Queue> = new Set()

export class QueueIndex {
  /** Queues registered for all public channels, or with a narrow: they can receive messages that are not sent to their user. */
  readonly overhearing = new Set<Queue>()
  readonly #queues = new Map<string, Queue>()
  readonly #byUser = new Map<number, Account>()
  readonly #clients = new Clients()

  get size(): number {
    return this.#queues.size
  }

  values(): IterableIterator<Queue> {
    return this.#queues.values()
  }

  get(id: string): Queue | undefined {
    return this.#queues.get(id)
  }

  account(userId: number): Account | undefined {
    return this.#byUser.get(userId)
  }

  ofUser(userId: number): ReadonlySet<Queue> {
    return this.#byUser.get(userId)?.queues ?? none
  }

  /** The users of the audience who have a queue, `first` before the others; costs the smaller of the two. */
  listening(to: Announcement['to'], first?: number): Iterable<number> {
    const listening =
      Array.isArray(to) || !('has' in to) || to.size <= this.#byUser.size
        ? to
        : [...this.#byUser.keys()].filter(userId => to.has(userId))
    if (first === undefined || !this.#byUser.has(first)) return listening
    const rest = [...listening]
    return rest.includes(first) ? [first, ...rest.filter(userId => userId !== first)] : rest
  }

  add(row: Omit<Queue, Unsaved>): Queue {
    const queue: Queue = {
      ...row,
      client: this.#clients.take(row),
      types: row.eventTypes && new Set(row.eventTypes),
      size: sumSizes(row.pending),
      delivered: row.acknowledged,
      joined: undefined,
      waiter: undefined,
      heartbeatAt: 0,
      lastSeen: 0,
      idleSince: 0,
    }
    this.#queues.set(queue.id, queue)
    if (queue.allPublicStreams || queue.narrow.length > 0) this.overhearing.add(queue)
    const account = this.#byUser.get(queue.userId) ?? { queues: new Set(), size: 0 }
    this.#byUser.set(queue.userId, account)
    account.queues.add(queue)
    account.size += queue.size
    return queue
  }

  delete(queue: Queue): void {
    this.#queues.delete(queue.id)
    this.overhearing.delete(queue)
    this.#clients.release(queue)
    const account = this.#byUser.get(queue.userId)
    account?.queues.delete(queue)
    if (account) account.size -= queue.size
    if (account?.queues.size === 0) this.#byUser.delete(queue.userId)
  }

  /** Counts characters that were added to the queue's pending events; negative for those that were dropped. */
  grow(queue: Queue, by: number): void {
    queue.size += by
    const account = this.#byUser.get(queue.userId)
    if (account) account.size += by
  }
}
