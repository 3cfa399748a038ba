// Facts about event queues, and about the store as a whole. No resource owns these facts.

import type { Answer } from '../rows/people.ts'
import type { QueueRegistration } from '../rows/queues.ts'

/** Facts of the event queues. */
export type QueueFact =
  | { readonly type: 'queue.registered'; readonly queue: QueueRegistration }
  | {
      readonly type: 'queue.acknowledged'
      readonly queueId: string
      readonly upTo: number
      /** IDs of earlier events that stay: the client was sent them as part of a later event. */
      readonly kept?: readonly number[]
    }
  | { readonly type: 'queue.removed'; readonly queueId: string; readonly reason: 'deleted' | 'expired' | 'overflowed' }

/** Facts about the store as a whole. */
export type StoreFact =
  /** Everything was put back to how it once was. */
  | { readonly type: 'store.restored'; readonly sections: Readonly<Record<string, unknown[]>> }
  /**
   * The store was put back from a backup. All queues end: their clients may know events that the store does not have, and the IDs of
   * those events would come again. The ID is that of the restore.
   */
  | { readonly type: 'store.put-back'; readonly restoreId: string }
  /** API keys are derived from another secret than before, or the store remembers for the first time from which. */
  | { readonly type: 'store.secret-changed'; readonly verifier: string }
  /** A request with an idempotency key was answered. */
  | { readonly type: 'store.answered'; readonly answer: Answer }
