// The header Idempotency-Key: a request that is sent again with the same key gets the first answer, and nothing is done twice.
// The answer is recorded in the same entry as the change, so that a crash loses both or neither.

import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Endpoint, Upload } from '../api/define.ts'
import { idempotencyLimits, keyHeader, replayedHeader, whyNoKey } from '../api/idempotency.ts'
import { isSecretName } from '../api/masking.ts'
import { conflict, invalid } from '../domain/refusal.ts'
import type { Context, Keys, Outcome } from '../domain/resource.ts'
import type { FieldMap } from './parameters.ts'

/** A request with a key. */
export interface Attempt {
  readonly key: string
  /** A digest that differs from that of other requests. */
  readonly request: string
}

/** Undefined for a request without a key, and for one that only reads. */
export function readAttempt(
  headers: Readonly<IncomingHttpHeaders>,
  endpoint: Endpoint,
  path: Readonly<Record<string, string>>,
  fields: FieldMap,
  keys: Keys,
): Attempt | undefined {
  const key = headers[headerName]
  if (key === undefined || endpoint.method === 'GET') return undefined
  if (typeof key !== 'string' || !wellFormed.test(key))
    throw invalid(keyHeader, `must be 1 to ${idempotencyLimits.keyLength} visible ASCII characters`)
  const why = whyNoKey(endpoint)
  if (why !== undefined) throw invalid(keyHeader, `${why}; send no key here`)
  // Without secrets: a person who has the store and its secret could check guesses of a password against its digest.
  const told = [...fields].filter(([name]) => !isSecretName(name)).sort(([a], [b]) => (a < b ? -1 : 1))
  const request = [endpoint.id, path, told.map(([name, value]) => [name, digestContent(value)])]
  return { key, request: keys.digestText(JSON.stringify(request)) }
}

/** The answer to an earlier attempt, announced in the headers; or the outcome of the command with its answer to keep. */
export function once(
  { key, request }: Attempt,
  { state, actor }: Context,
  headers: string[],
  decide: () => Outcome<object>,
): Outcome<object> {
  const earlier = state.answers.find(actor.id, key)
  if (earlier) {
    if (earlier.request !== '' && earlier.request !== request)
      throw conflict(keyHeader, 'you used this key for another request')
    if (earlier.reply === '')
      throw conflict(keyHeader, 'the request with this key was carried out, but its answer was too long to keep')
    headers.push(replayedHeader, 'true')
    return { reply: JSON.parse(earlier.reply) }
  }
  const outcome = decide()
  // A refusal is not kept: the next attempt may succeed.
  if (outcome.refusal) return outcome
  const { facts = [] } = outcome
  const reply = JSON.stringify(outcome.reply)
  // Also if nothing was changed: repeated later, the same request might change something.
  const answer = { userId: actor.id, key, request, reply: reply.length > idempotencyLimits.bytes ? '' : reply }
  return { ...outcome, facts: [...facts, { type: 'store.answered', answer }] }
}

export const headerName = keyHeader.toLowerCase()
const wellFormed = new RegExp(`^[\\x21-\\x7e]{1,${idempotencyLimits.keyLength}}$`)

/** Of a file its name, its type and a digest of all its bytes. */
function digestContent(value: string | Upload): unknown {
  if (typeof value === 'string') return value
  const { filename, contentType, bytes, received } = value
  return [filename, contentType, received ? received.digest() : createHash('sha256').update(bytes).digest('hex')]
}
