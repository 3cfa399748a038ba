// Keys that make it safe to send a request twice: the second answer is that of the first, and nothing happens again.

/** A request header: a text of the caller's choice, the same for each attempt at one call. */
export const keyHeader = 'Idempotency-Key'

/** A response header, `true` if the answer is that of an earlier request. */
export const replayedHeader = 'Idempotency-Replayed'

export const idempotencyLimits = {
  /** Characters of a key. */
  keyLength: 255,
  /** Answers that are kept for each account; the oldest go first. */
  answers: 1000,
  /** Bytes of JSON that are kept for each account. A longer answer is not kept. */
  bytes: 1_048_576,
} as const
