// The header Idempotency-Key: a request that is sent again with the same key gets the first answer, and nothing is done twice.
// The answer is a fact in the same entry as what it reports, so both survive a crash or neither does.

import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Endpoint } from '../api/define.ts'
import { idempotencyLimits, keyHeader } from '../api/idempotency.ts'
import { conflict, invalid } from '../domain/refusal.ts'
import type { Context, Outcome } from '../domain/resource.ts'
import { Written } from '../domain/written.ts'
import type { FieldMap } from './parameters.ts'

/** A request with a key. */
export interface Attempt {
  readonly key: string
  /** Tells it from other requests. */
  readonly request: string
}

/** Undefined for a request without a key, and for one that changes nothing or is nobody's. */
export function attemptOf(
  headers: Readonly<IncomingHttpHeaders>,
  endpoint: Endpoint,
  path: Readonly<Record<string, string>>,
  fields: FieldMap,
): Attempt | undefined {
  const key = headers[headerName]
  if (key === undefined || endpoint.method === 'GET' || endpoint.access !== 'user') return undefined
  if (typeof key !== 'string' || !wellFormed.test(key))
    throw invalid(keyHeader, `must be 1 to ${idempotencyLimits.keyLength} visible ASCII characters`)
  if (Object.hasOwn(endpoint.reply, 'api_key'))
    throw invalid(keyHeader, 'this endpoint returns an API key, which the daemon does not store; send no key here')
  return { key, request: digest([endpoint.id, path, [...fields].map(field => describe(...field))]) }
}

/** The answer to an earlier attempt, or the outcome of the command with its answer to keep. */
export function once(
  { key, request }: Attempt,
  { state, actor }: Context,
  decide: () => Outcome<object>,
): Outcome<object> & { readonly replayed?: true } {
  const earlier = state.answers.find(actor.id, key)
  if (earlier && earlier.request !== request) throw conflict(keyHeader, 'you used this key for another request')
  if (earlier) return { reply: JSON.parse(earlier.reply), replayed: true }
  const outcome = decide()
  const { facts = [], reply } = outcome
  // Without facts nothing has happened that could happen twice.
  if (facts.length === 0 || reply instanceof Written) return outcome
  const answer = { userId: actor.id, key, request, reply: JSON.stringify(reply) }
  if (answer.reply.length > idempotencyLimits.bytes) return outcome
  return { ...outcome, facts: [...facts, { type: 'store.answered', answer }] }
}

const headerName = keyHeader.toLowerCase()
const wellFormed = new RegExp(`^[\\x21-\\x7e]{1,${idempotencyLimits.keyLength}}$`)

function digest(request: unknown): string {
  return createHash('sha256').update(JSON.stringify(request)).digest('base64url').slice(0, 22)
}

/** Of a file its name and size: a large one is not in memory. */
function describe(name: string, value: string | { filename: string; bytes: Uint8Array; received?: { size: number } }) {
  return [name, typeof value === 'string' ? value : [value.filename, value.received?.size ?? value.bytes.length]]
}
