// Takes an answer of GET /events apart while it comes, so that the first event is told before the last has arrived, and
// a long answer is never in memory as a whole.

import { bodyOf } from '../../client.ts'
import { refusal } from '../../failure.ts'
import type { ChatEvent } from './history.ts'

export interface ReadEvent {
  readonly event: ChatEvent
  /** The event as it came. */
  readonly text: string
}

export class EventTexts {
  /** What is not used up yet. */
  #rest = ''
  #place: 'before' | 'inside' | 'after' = 'before'

  /** The events that are complete now. */
  push(piece: string): ReadEvent[] {
    const found: ReadEvent[] = []
    if (this.#place === 'after') return found
    const text = this.#rest + piece
    let at = this.#place === 'before' ? this.#begin(text) : 0
    while (this.#place === 'inside') {
      at = skipped(text, at)
      if (text[at] === ']') this.#place = 'after'
      const read = text[at] === '{' ? guessed(text, at) : undefined
      if (!read) break
      found.push(read)
      at += read.text.length
    }
    this.#rest = this.#place === 'after' ? '' : text.slice(at)
    return found
  }

  /** When nothing more comes. */
  end(): void {
    if (this.#place === 'after') return
    const body = bodyOf({ status: 200, reason: '', headers: [], text: this.#place === 'before' ? this.#rest : '' })
    if (body.result === 'error') throw refusal(200, body)
  }

  /** Quotes inside of a string are escaped, so this is found nowhere else. */
  #begin(text: string): number {
    const list = /"events"\s*:\s*\[/.exec(text)
    if (!list) return 0
    this.#place = 'inside'
    return list.index + list[0].length
  }
}

/**
 * Mostly an event ends where the next begins, and both can be found without looking at every character. No part of an
 * object that ends sooner than the object is valid JSON, so a wrong guess does not go unseen.
 */
function guessed(text: string, start: number): ReadEvent | undefined {
  const end = text.indexOf('},{', start)
  if (end >= 0) {
    const part = text.slice(start, end + 1)
    try {
      return { text: part, event: JSON.parse(part) }
    } catch {
      // Objects within it are separated in the same way.
    }
  }
  const part = text.slice(start, endOf(text, start))
  return part === '' ? undefined : { text: part, event: JSON.parse(part) }
}

/** After the brace that closes the one at `start`, or `start` when that is still to come. */
function endOf(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const character = text[at]
    if (character === '"') {
      for (at++; at < text.length && text[at] !== '"'; at++) if (text[at] === '\\') at++
    } else if (character === '{') depth++
    else if (character === '}' && --depth === 0) return at + 1
  }
  return start
}

function skipped(text: string, at: number): number {
  while (at < text.length && /[\s,]/.test(text[at]!)) at++
  return at
}
