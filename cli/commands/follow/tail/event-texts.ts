// Splits a reply of GET /events while it arrives, so that the first event is printed before the last has arrived, and
// a long answer is never in memory as a whole.

import type { ChatEvent } from '../../../base/chat-event.ts'
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
    readReply({ status: 200, reason: '', headers: [], text: this.#place === 'before' ? this.#rest : '' })
  }

  /** Quotes inside a string are escaped, so this is found nowhere else. */
  #begin(text: string): number {
    const list = /"events"\s*:\s*\[/.exec(text)
    if (!list) return 0
    this.#place = 'inside'
    return list.index + list[0].length
  }
}

/** Looks for the brace that closes the first one of an object. Looks at every character once, in however many pieces the object arrives. */
class Scan {
  #at = 0
  #depth = 0
  #isInString = false

  /** Of the object that begins at `start`; undefined if its end has not arrived yet. */
  measureObject(text: string, start: number): number | undefined {
    let at = start + this.#at
    for (; at < text.length; at++) {
      const character = text[at]
      if (this.#isInString) {
        if (character === '\\') at++
        else if (character === '"') this.#isInString = false
      } else if (character === '"') this.#isInString = true
      else if (character === '{') this.#depth++
      else if (character === '}' && --this.#depth === 0) return at + 1 - start
    }
    this.#at = at - start
    return undefined
  }
}

function skipSeparators(text: string, at: number): number {
  while (text[at] === ',' || text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at++
  return at
}
