// Pages of a long answer: the first request, and from each reply the request for what comes after it. A server can neither send pages without
// an end nor fill the memory with them.

import { exitCodes, Failure, usage } from '../base/failure.ts'
import type { Reply } from '../base/reply.ts'
import type { Request } from './client.ts'

/** The most messages that a server returns at once. */
const largest = 5000
/** Characters of JSON that are kept of many answers together. */
const mostKept = 256 * 1024 * 1024

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
  // A first page can end at its anchor.
  const anchor = request.fields.get('include_anchor') === 'false' ? Number(request.fields.get('anchor')) : Number.NaN
  const next = nextAnchor(messages, anchor, back)
  const fields = new Map(request.fields).set('anchor', String(next)).set('include_anchor', 'false')
  // After a page around an anchor, only one direction goes on.
  if (back) fields.set('num_after', '0')
  return { ...request, fields }
}

/**
 * The ID after which the next page begins; before which, where it goes back. Refuses a page that does not go beyond its own anchor: such pages
 * would never end. An anchor that is not a number can be anywhere.
 */
export function nextAnchor(messages: readonly Reply[], anchor: number | undefined, back: boolean): number {
  const id = (back ? messages[0] : messages.at(-1))?.id as number
  const goesBeyond = back ? !(id >= anchor!) : !(id <= anchor!)
  if (Number.isSafeInteger(id) && goesBeyond) return id
  throw new Failure(exitCodes.refused, 'the server sent the same messages again', { code: 'BAD_ANSWER' })
}

/** Counts what is kept of many answers until the last of them is there. */
export class Kept {
  #characters = 0

  add(part: unknown): void {
    this.#characters += JSON.stringify(part).length
    if (this.#characters > mostKept)
      throw new Failure(exitCodes.refused, `the server sent more than ${mostKept / (1024 * 1024)} MiB of messages`, {
        code: 'ANSWER_TOO_LARGE',
        hint: 'Ask for less at once; `natter messages export` saves any number of messages.',
      })
  }
}
