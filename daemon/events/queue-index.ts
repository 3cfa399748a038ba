// All queues of an organization, found by ID and by user, with the characters that are pending for each account.

import type { Announcement } from '../domain/resource.ts'
import { Clients } from './adapt.ts'
import { type Queue, sumSizes, type Unsaved } from './queue.ts'

/** The queues of one user and of their bots, of which a member can have many, and the characters that are pending in all of them. */
export interface Account {
  readonly queues: Set<Queue>
  size: number
}

const none: ReadonlySet<Queue> = new Set()

export class QueueIndex {
  /** Queues registered for all public channels, or with a narrow: they can receive messages that are not sent to their user. */
  readonly overhearing = new Set<Queue>()
  readonly #queues = new Map<string, Queue>()
  readonly #byUser = new Map<number, Set<Queue>>()
  readonly #accounts = new Map<number, Account>()
  readonly #clients = new Clients()
  readonly #ownerOf: (userId: number) => number

  /** `ownerOf`: the owner of a bot; any other user is their own. */
  constructor(ownerOf: (userId: number) => number) {
    this.#ownerOf = ownerOf
  }

  get size(): number {
    return this.#queues.size
  }

  values(): IterableIterator<Queue> {
    return this.#queues.values()
  }

  get(id: string): Queue | undefined {
    return this.#queues.get(id)
  }

  /** The account that the queue counts for. */
  account({ ownerId }: Queue): Account | undefined {
    return this.#accounts.get(ownerId)
  }

  /** How many queues the user has together with their bots, or the bot with its owner. */
  countOwned(userId: number): number {
    return this.#accounts.get(this.#ownerOf(userId))?.queues.size ?? 0
  }

  ofUser(userId: number): ReadonlySet<Queue> {
    return this.#byUser.get(userId) ?? none
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
      ownerId: this.#ownerOf(row.userId),
      types: row.eventTypes && new Set(row.eventTypes),
      size: sumSizes(row.pending),
      unrecorded: 0,
      delivered: row.acknowledged,
      joined: undefined,
      waiter: undefined,
      heartbeatAt: 0,
      lastSeen: 0,
      idleSince: 0,
    }
    this.#queues.set(queue.id, queue)
    if (queue.allPublicStreams || queue.narrow.length > 0) this.overhearing.add(queue)
    const ofUser = this.#byUser.get(queue.userId) ?? new Set()
    this.#byUser.set(queue.userId, ofUser.add(queue))
    const account = this.account(queue) ?? { queues: new Set(), size: 0 }
    this.#accounts.set(queue.ownerId, account)
    account.queues.add(queue)
    account.size += queue.size
    return queue
  }

  delete(queue: Queue): void {
    this.#queues.delete(queue.id)
    this.overhearing.delete(queue)
    this.#clients.release(queue)
    const ofUser = this.#byUser.get(queue.userId)
    ofUser?.delete(queue)
    if (ofUser?.size === 0) this.#byUser.delete(queue.userId)
    const account = this.account(queue)
    account?.queues.delete(queue)
    if (account) account.size -= queue.size
    if (account?.queues.size === 0) this.#accounts.delete(queue.ownerId)
  }

  /** Counts characters that were added to the queue's pending events; negative for those that were dropped. */
  grow(queue: Queue, by: number): void {
    queue.size += by
    const account = this.account(queue)
    if (account) account.size += by
  }
}
