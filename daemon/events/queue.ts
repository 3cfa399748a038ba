// One event queue: what a client asked for, what it has not acknowledged yet, and who waits for more; and what all queues need.

import type { Clock } from '../clock.ts'
import type { QueueRegistration } from '../domain/model/facts/queues.ts'
import type { Refusal } from '../domain/refusal.ts'
import type { Client } from '../domain/resource.ts'
import type { EventText } from './event-text.ts'

export interface Pending {
  readonly id: number
  readonly position: number
  /** Signals and heartbeats are forgotten by a crash, so acknowledging them need not be remembered. */
  readonly lasting: boolean
  /** Without its ID. Shared between all queues that want this form. */
  readonly body: EventText
  /** The account whose secrets belong in the event; they are filled in when it is read. */
  readonly secretsOf?: number
}

export interface Waiter {
  /** Called once with the answer; events are empty when the poll was superseded or the daemon stops. */
  answer(queue: Queue, events: readonly Pending[]): void
  /** Called instead when a defect has ended the world. */
  refuse(refusal: Refusal): void
}

export interface Queue extends QueueRegistration {
  /** Where its event IDs are counted from. */
  birth: number
  readonly client: Client
  /** The types it takes; null: all. */
  readonly types: ReadonlySet<string> | null
  pending: Pending[]
  /** Characters of all that is pending. */
  size: number
  /** Highest ID ever given out, and highest ever acknowledged. */
  newest: number
  acknowledged: number
  /** Highest ID that an answer carried, since the daemon started. */
  delivered: number
  /** Where the newest ID belongs, to count n from. */
  position: number
  /** By ID of an event: the later event that an answer joined it with (`collapse.ts`). */
  joined: Map<number, number> | undefined
  waiter: Waiter | undefined
  /** When the poll that waits gets a heartbeat, if nothing else comes. */
  heartbeatAt: number
  /** When its client was last here: by the clock, and by the time that runs its deadlines. */
  lastSeen: number
  idleSince: number
}

interface QueueLimits {
  readonly maxPending: number
  /** Characters that all queues of an account may hold unread; one queue may hold half of it. */
  readonly maxPendingSize: number
  readonly heartbeatMs: () => number
}

export interface QueuesParts {
  /**
   * `now` tells when a queue was last seen; deadlines are counted by `elapsed`, which cannot be set. Clients who call or
   * wait while the clock is moved count as there until the move ends (`heading`): a move by years does not send them a
   * heartbeat for every minute of it, nor end their queues.
   */
  readonly clock: Clock
  readonly limits: QueueLimits
  /** Asks the engine to journal the end of queues. */
  readonly remove: (queueIds: readonly string[], reason: 'expired' | 'overflowed') => void
  /** Asks the engine for a new position, because IDs at this one run out. */
  readonly tick: () => void
}

/** What follows from the registration, or is counted again after a start. */
export type Unsaved =
  | 'client'
  | 'types'
  | 'delivered'
  | 'size'
  | 'joined'
  | 'waiter'
  | 'heartbeatAt'
  | 'lastSeen'
  | 'idleSince'

/** Whether its client was here within its lifespan; `elapsed` by the time that runs its deadlines. */
export function isInUse(queue: Queue, elapsed: number): boolean {
  return queue.waiter !== undefined || elapsed - queue.idleSince < queue.lifespan
}

/** Bounded by the pending events of one queue. */
export function sumSizes(pending: readonly Pending[]): number {
  let size = 0
  for (const { body } of pending) size += body.length
  return size
}

/** Bounded by the queues of one account. */
export function largest(queues: ReadonlySet<Queue>): Queue {
  let found: Queue | undefined
  for (const queue of queues) if (!found || queue.size > found.size) found = queue
  return found!
}
