// Splits a reply of GET /events while it arrives, so that the first event is printed before the last has arrived, and
// a long answer is never in memory as a whole.

import type { ChatEvent } from '../../../base/chat-event.ts'
import { exitCodes, Failure } from '../../../base/failure.ts'
import { largestAnswer, readReply, tooLarge } from '../../../transport/client.ts'

/** An event, and its JSON as received. */
export interface Arrived {
  readonly text: string
  readonly event: ChatEvent
}

export class EventTexts {
  /** Text that is not consumed yet: before the list of events, and between two of them. */
  #rest = ''
  #place: 'before' | 'inside' | 'after' = 'before'
  /** The event that has begun and is not complete, in the pieces it came in. Joined once: an event can be large, and its pieces many. */
  #begun: { readonly scan: Scan; readonly pieces: string[]; length: number } | undefined

  /** The events that are complete now. */
  push(piece: string): Arrived[] {
    const found: Arrived[] = []
    if (this.#place === 'after') return found
    const text = this.#rest + piece
    let at = this.#place === 'before' ? this.#begin(text) : 0
    while (this.#place === 'inside') {
      if (!this.#begun) {
        at = skipSeparators(text, at)
        if (text[at] === ']') this.#place = 'after'
        if (text[at] !== '{') break
        this.#begun = { scan: new Scan(), pieces: [], length: 0 }
      }
      const { scan, pieces } = this.#begun
      const end = scan.findEnd(text, at)
      pieces.push(text.slice(at, end))
      this.#begun.length += (end ?? text.length) - at
      at = end ?? text.length
      if (end === undefined) break
      this.#begun = undefined
      const arrived = pieces.join('')
      found.push({ text: arrived, event: JSON.parse(arrived) })
    }
    this.#rest = text.slice(at)
    if (this.#rest.length + (this.#begun?.length ?? 0) > largestAnswer) throw tooLarge('the server', largestAnswer)
    return found
  }

  /** At the end of the reply. */
  end(): void {
    if (this.#place === 'after') return
    if (this.#place === 'before') readReply({ status: 200, reason: '', headers: [], text: this.#rest })
    throw noEvents()
  }

  /** Quotes inside a string are escaped, so this is found nowhere else. */
  #begin(text: string): number {
    const list = /"events"\s*:\s*\[/.exec(text)
    if (!list) return 0
    this.#place = 'inside'
    return list.index + list[0].length
  }
}

export function noEvents(): Failure {
  return new Failure(exitCodes.refused, "the server's answer to GET /api/v1/events is not a list of events", {
    code: 'BAD_ANSWER',
    hint: 'Check --site, NATTER_SITE or the profile.',
  })
}

/** Looks for the brace that closes the first one of an object, in one piece of its text after the other. */
class Scan {
  #depth = 0
  #isInString = false
  /** Whether a backslash at the end of the last piece escapes the first character of the next. */
  #escapes = false

  /** After the closing brace; undefined if it is not in this piece. */
  findEnd(piece: string, from: number): number | undefined {
    let at = from
    while (at < piece.length) {
      if (this.#isInString) {
        const start = this.#escapes ? at + 1 : at
        const end = endOfString(piece, start)
        this.#isInString = end === undefined
        this.#escapes = end === undefined && isEscaped(piece, piece.length, start)
        at = end ?? piece.length
        continue
      }
      const character = piece[at++]
      if (character === '"') this.#isInString = true
      else if (character === '{') this.#depth++
      else if (character === '}' && --this.#depth === 0) return at
    }
    return undefined
  }
}

/** After its closing quote. Most of the text is strings, and `indexOf` is faster than a look at each character. */
function endOfString(text: string, from: number): number | undefined {
  for (let quote = text.indexOf('"', from); quote >= 0; quote = text.indexOf('"', quote + 1))
    if (!isEscaped(text, quote, from)) return quote + 1
  return undefined
}

/** Whether the backslashes before it escape it. Two are an escaped backslash. */
function isEscaped(text: string, at: number, from: number): boolean {
  let first = at
  while (first > from && text[first - 1] === '\\') first--
  return (at - first) % 2 === 1
}

function skipSeparators(text: string, at: number): number {
  while (text[at] === ',' || text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at++
  return at
}
