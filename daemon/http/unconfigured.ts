// Operations of public servers that need a service which this daemon has no settings for. They are refused as a public server without
// that service refuses them, so that a client finds the operation and not an unknown path.

import { malformed, type Refusal } from '../domain/refusal.ts'

interface Unconfigured {
  readonly access: 'user' | 'anyone'
  readonly refusal: () => Refusal
}

const operations: ReadonlyMap<string, Unconfigured> = new Map([
  ['POST /calls/zoom/create', needs('user', 'Zoom is not configured on this server.')],
  ['GET /messages/summary', needs('user', 'Summaries are not enabled on this server.')],
  ['POST /jwt/fetch_api_key', needs('anyone', 'JSON web tokens are not enabled for this organization.')],
])

/** The path is relative to the prefix of the API. */
export function findUnconfigured(method: string, path: string): Unconfigured | undefined {
  return operations.get(`${method} ${path}`)
}

function needs(access: Unconfigured['access'], sentence: string): Unconfigured {
  return { access, refusal: () => malformed(sentence) }
}
