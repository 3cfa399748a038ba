// One event queue: its registration, the events that its client has not acknowledged yet, and the poll that waits for more.

import type { Clock } from '../clock.ts'
import type { QueueRegistration } from '../domain/model/rows/queues.ts'
import type { Refusal } from '../domain/refusal.ts'
import type { Client } from '../domain/resource.ts'
import type { EventText } from './event-text.ts'

export interface Pending {
  readonly id: number
  readonly position: number
  /** False for signals and heartbeats: a crash loses them, so their acknowledgements are not recorded. */
  readonly lasting: boolean
  /** Without its ID. Shared by all queues that take this form. */
  readonly body: EventText
  /** The account whose secrets belong in the event; they are filled in when it is read. */
  readonly secretsOf?: number
}

export interface Waiter {
  /** Called once with the answer; events are empty when the poll was superseded or the daemon stops. */
  answer(events: readonly Pending[]): void
  /** Called instead when a defect has ended the world. */
  refuse(refusal: Refusal): void
}

export interface Queue extends QueueRegistration {
  /** The position that its event IDs are counted from. */
  birth: number
  readonly client: Client
  /** The user that it counts for: the owner of a bot, or the user themselves. */
  readonly ownerId: number
  /** The types it takes; null: all. */
  readonly types: ReadonlySet<string> | null
  pending: Pending[]
  /** Characters of all that is pending. */
  size: number
  /** Highest ID ever given out, and highest ever acknowledged. */
  newest: number
  acknowledged: number
  /** How much its client has acknowledged since that was last recorded; from 1 on it should be. */
  unrecorded: number
  /** Highest ID that an answer carried, since the daemon started. */
  delivered: number
  /** The position of the newest ID. */
  position: number
  /** By the ID of an event: the ID of the later event that an answer merged it into (`collapse.ts`). */
  joined: Map<number, number> | undefined
  waiter: Waiter | undefined
  /** When the poll that waits gets a heartbeat if there is no event before. */
  heartbeatAt: number
  /** When its client last polled: by the clock, and by `elapsed`, which deadlines are counted by. */
  lastSeen: number
  idleSince: number
}

interface QueueLimits {
  readonly maxPending: number
  /** Characters that all queues of a user and their bots may hold unread; one queue may hold half of it. */
  readonly maxPendingSize: number
  readonly heartbeatMs: () => number
}

export interface QueuesParts {
  /**
   * `now` says when a queue was last polled. Deadlines are counted by `elapsed`, which cannot be set. While the clock is moved,
   * they are counted from the end of the move (`heading`): a move by years neither sends a heartbeat for every minute of it nor
   * ends queues whose clients poll.
   */
  readonly clock: Clock
  readonly limits: QueueLimits
  /** The owner of a bot; any other user is their own. */
  readonly ownerOf?: (userId: number) => number
  /** Asks the engine to journal the end of queues. */
  readonly remove: (queueIds: readonly string[], reason: 'expired' | 'overflowed') => void
  /** Asks the engine for a new position, because IDs at this one run out. */
  readonly tick: () => void
}

/** Fields that follow from the registration, or are counted again after a start. */
export type Unsaved =
  | 'client'
  | 'ownerId'
  | 'types'
  | 'unrecorded'
  | 'delivered'
  | 'size'
  | 'joined'
  | 'waiter'
  | 'heartbeatAt'
  | 'lastSeen'
  | 'idleSince'

/** A copy for a snapshot. */
export function savedFields(queue: Queue): Omit<Queue, Unsaved> {
  const { client, ownerId, types, size, unrecorded, delivered, joined, ...more } = queue
  const { waiter, heartbeatAt, lastSeen, idleSince, ...saved } = more
  return { ...saved, pending: [...queue.pending] }
}

/** Whether its client polls, or has polled within its lifespan. */
export function isInUse(queue: Queue, elapsed: number): boolean {
  return queue.waiter !== undefined || elapsed - queue.idleSince < queue.lifespan
}

/** Bounded by the pending events of one queue. */
export function sumSizes(pending: readonly Pending[]): number {
  let size = 0
  for (const { body } of pending) size += body.length
  return size
}
