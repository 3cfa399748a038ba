// Pages of a long answer: the first request, and from each reply the request for what comes after it.

import { usage } from '../base/failure.ts'
import type { Reply } from '../base/reply.ts'
import type { Request } from './client.ts'

/** The most messages that a server returns at once. */
const largest = 5000

/** What the request leaves open is filled in: all messages, the oldest first. */
export function firstPage(request: Request): Request {
  const [path, search] = request.path.split('?')
  if (request.method !== 'GET' || path !== '/api/v1/messages') throw usage('--paginate: only GET /messages has pages')
  const query = new URLSearchParams(search)
  const has = (name: string) => request.fields.has(name) || query.has(name)
  const filled: [string, string][] = [
    ['anchor', has('num_before') && !has('num_after') ? 'newest' : 'oldest'],
    ['num_before', '0'],
    ['num_after', has('num_before') ? '0' : String(largest)],
  ]
  const fields = new Map([...request.fields, ...filled.filter(([name]) => !has(name))])
  return { ...request, path, fields: new Map([...query, ...fields]) }
}

/** Undefined after the last page. */
export function nextPage(request: Request, reply: Reply): Request | undefined {
  const { messages, found_oldest, found_newest } = reply
  if (!Array.isArray(messages) || messages.length === 0) return undefined
  const back = Number(request.fields.get('num_before') ?? 0) > 0
  if ((back ? found_oldest : found_newest) !== false) return undefined
  const last: Reply = back ? messages[0] : messages.at(-1)
  const anchor = request.fields.get('anchor')
  // A server that sends a page twice would never come to an end.
  if (String(last?.id) === anchor && request.fields.get('include_anchor') === 'false') return undefined
  const fields = new Map(request.fields).set('anchor', String(last.id)).set('include_anchor', 'false')
  // After a page around an anchor, only one direction goes on.
  if (back) fields.set('num_after', '0')
  return { ...request, fields }
}
