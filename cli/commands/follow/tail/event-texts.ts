// Splits a reply of GET /events while it arrives, so that the first event is printed before the last has arrived, and
// a long answer is never in memory as a whole.

import type { ChatEvent } from '../../../base/chat-event.ts'
import { refusal } from '../../../base/failure.ts'
import { bodyOf, largestAnswer, tooLarge } from '../../../transport/client.ts'
import { MessageForm, type MessageParts } from './message-form.ts'

/** An event as received. It is parsed only when needed. */
export class Arrived {
  readonly text: string
  /** IDs of the event and of its message, if they are known without parsing all of it. */
  readonly ids: readonly [number, number] | undefined
  /** Of a message in our daemon's format. */
  readonly parts: MessageParts | undefined
  #event: ChatEvent | undefined

  constructor(text: string, ids?: readonly [number, number], parts?: MessageParts, event?: ChatEvent) {
    this.text = text
    this.ids = ids
    this.parts = parts
    this.#event = event
  }

  get event(): ChatEvent {
    this.#event ??= JSON.parse(this.text) as ChatEvent
    return this.#event
  }
}

/** Characters that complete most events. */
const joint = 2048

export class EventTexts {
  /** Text that is not consumed yet. */
  #rest = ''
  #place: 'before' | 'inside' | 'after' = 'before'
  /** Of the last message. */
  #form: MessageForm | undefined
  /** Of an event that has begun and is not complete. */
  #scan: Scan | undefined

  /** The events that are complete now. */
  push(piece: string): Arrived[] {
    const found: Arrived[] = []
    const began = this.#rest.length
    if (began > 0 && piece.length > joint) {
      // Joining long texts copies them, so the event that began in the piece before is completed first.
      this.#read(this.#rest + piece.slice(0, joint), found)
      const isComplete = this.#rest.length <= joint
      this.#read(isComplete ? piece.slice(joint - this.#rest.length) : this.#rest + piece.slice(joint), found)
    } else this.#read(this.#rest + piece, found)
    if (this.#rest.length > largestAnswer) throw tooLarge('the server', largestAnswer)
    return found
  }

  #read(text: string, found: Arrived[]): void {
    if (this.#place === 'after') return
    let at = this.#place === 'before' ? this.#begin(text) : 0
    while (this.#place === 'inside') {
      at = skipped(text, this.#takeAlike(text, at, found))
      if (text[at] === ']') this.#place = 'after'
      if (text[at] !== '{') break
      const arrived = this.#scan ? this.#finish(text, at) : this.#cut(text, at)
      if (!arrived) break
      this.#scan = undefined
      found.push(arrived)
      at += arrived.text.length
    }
    this.#rest = this.#place === 'after' ? '' : text.slice(at)
  }

  /** At the end of the reply. */
  end(): void {
    if (this.#place === 'after') return
    const body = bodyOf({ status: 200, reason: '', headers: [], text: this.#place === 'before' ? this.#rest : '' })
    if (body.result === 'error') throw refusal(200, body)
  }

  /** Takes the events that have the form of the last message, and returns where they end. */
  #takeAlike(text: string, at: number, found: Arrived[]): number {
    const form = this.#form
    const pattern = form?.pattern
    if (!pattern) return at
    for (let end = at; ; end = pattern.lastIndex) {
      pattern.lastIndex = text[end] === ',' ? end + 1 : end
      const match = pattern.exec(text)
      if (!match) return end
      const parts = { form, content: match[3]!, seconds: Number(match[4]) }
      found.push(new Arrived(match[0], [Number(match[1]), Number(match[2])], parts))
    }
  }

  /** Up to the next message, or, where it is another event, up to where its JSON ends. */
  #cut(text: string, at: number): Arrived | undefined {
    const ids = idsAt(text, at)
    const next = ids ? text.indexOf('},{', at) : -1
    if (next < 0 || !idsAt(text, next + 2)) return guessed(text, at) ?? this.#finish(text, at)
    const own = text.slice(at, next + 1)
    const parts = MessageForm.partsOf(own, this.#form)
    this.#form = parts?.form
    return new Arrived(own, ids, parts)
  }

  /** Every character is looked at once, in however many pieces a long event arrives. */
  #finish(text: string, at: number): Arrived | undefined {
    this.#scan ??= new Scan()
    const length = this.#scan.lengthOf(text, at)
    return length === undefined ? undefined : parsed(text.slice(at, at + length))
  }

  /** Quotes inside a string are escaped, so this is found nowhere else. */
  #begin(text: string): number {
    const list = /"events"\s*:\s*\[/.exec(text)
    if (!list) return 0
    this.#place = 'inside'
    return list.index + list[0].length
  }
}

/** How a message event of our daemon begins. Quotes inside a string are escaped, and no part of an event looks like this. */
const head = /\{"id":(\d+),"type":"message","message":\{"id":(\d+),/y

function idsAt(text: string, at: number): [number, number] | undefined {
  head.lastIndex = at
  const found = head.exec(text)
  return found ? [Number(found[1]), Number(found[2])] : undefined
}

/**
 * Usually an event ends where the next begins, and both can be found without looking at every character. No part of an
 * object that ends before the object does is valid JSON, so a wrong guess is always noticed.
 */
function guessed(text: string, start: number): Arrived | undefined {
  const end = text.indexOf('},{', start)
  if (end < 0) return undefined
  try {
    return parsed(text.slice(start, end + 1))
  } catch {
    // Objects within it are separated in the same way.
    return undefined
  }
}

function parsed(text: string): Arrived {
  return new Arrived(text, undefined, undefined, JSON.parse(text))
}

/** Looks for the brace that closes the first one of an object, and goes on where it was when more has arrived. */
class Scan {
  #at = 0
  #depth = 0
  #isInString = false

  /** Of the object that begins at `start`; undefined if its end has not arrived yet. */
  lengthOf(text: string, start: number): number | undefined {
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

function skipped(text: string, at: number): number {
  while (text[at] === ',' || text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at++
  return at
}
