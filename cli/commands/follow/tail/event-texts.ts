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
  /** Text that is not consumed yet. */
  #rest = ''
  #place: 'before' | 'inside' | 'after' = 'before'
  /** Of an event that has begun and is not complete. */
  #scan: Scan | undefined

  /** The events that are complete now. */
  push(piece: string): Arrived[] {
    const found: Arrived[] = []
    if (this.#place === 'after') return found
    const text = this.#rest + piece
    let at = this.#place === 'before' ? this.#begin(text) : 0
    while (this.#place === 'inside') {
      at = skipSeparators(text, at)
      if (text[at] === ']') this.#place = 'after'
      if (text[at] !== '{') break
      this.#scan ??= new Scan()
      const length = this.#scan.measureObject(text, at)
      if (length === undefined) break
      this.#scan = undefined
      const arrived = text.slice(at, at + length)
      found.push({ text: arrived, event: JSON.parse(arrived) })
      at += length
    }
    this.#rest = text.slice(at)
    if (this.#rest.length > largestAnswer) throw tooLarge('the server', largestAnswer)
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

/** Looks for the brace that closes the first one of an object. Looks at every character once, in however many pieces the object arrives. */
class Scan {
  #at = 0
  #depth = 0
  #isInString = false

  /** Of the object that begins at `start`; undefined if its end has not arrived yet. */
  measureObject(text: string, start: number): number | undefined {
    let at = start + this.#at
    while (at < text.length) {
      if (this.#isInString) {
        const end = endOfString(text, at)
        this.#isInString = end === undefined
        at = end ?? text.length
        continue
      }
      const character = text[at++]
      if (character === '"') this.#isInString = true
      else if (character === '{') this.#depth++
      else if (character === '}' && --this.#depth === 0) return at - start
    }
    this.#at = at - start
    return undefined
  }
}

/** After its closing quote. Most of the text is strings, and `indexOf` is faster than a look at each character. */
function endOfString(text: string, from: number): number | undefined {
  for (let quote = text.indexOf('"', from); quote >= 0; quote = text.indexOf('"', quote + 1))
    if (!isEscaped(text, quote)) return quote + 1
  return undefined
}

/** Two backslashes are an escaped backslash. */
function isEscaped(text: string, at: number): boolean {
  let first = at
  while (text[first - 1] === '\\') first--
  return (at - first) % 2 === 1
}

function skipSeparators(text: string, at: number): number {
  while (text[at] === ',' || text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at++
  return at
}
