// Keys that make it safe to send a request twice: the second answer is that of the first, and nothing happens again.

import type { Endpoint } from './define.ts'

/** A request header: a text of the caller's choice, the same for each attempt at one call. */
export const keyHeader = 'Idempotency-Key'

/** A response header, `true` if the answer is that of an earlier request. */
export const replayedHeader = 'Idempotency-Replayed'

export const idempotencyLimits = {
  /** Characters of a key. */
  keyLength: 255,
  /** Answers that are kept for each account, for any time; the oldest go first. */
  answers: 1000,
  /** Characters of JSON that are kept for each account. Of a longer answer only the key is kept. */
  bytes: 1_048_576,
} as const

/** Why an endpoint that is no GET refuses a key; undefined where it takes one. */
export function whyNoKey({ access, reply }: Endpoint): string | undefined {
  if (access === 'anyone' || access === 'control')
    return 'keys belong to accounts, and this endpoint is called without one'
  if (Object.hasOwn(reply, 'api_key')) return 'this endpoint returns an API key, which the daemon does not store'
  // What `register` returns includes the API keys of the caller's bots.
  if (Object.hasOwn(reply, 'queue_id')) return 'this endpoint can return API keys, which the daemon does not store'
  return undefined
}
