// Lines of messages as our daemon writes them, made without reading the whole event: when thousands come at once, that is
// most of the work. What differs from message to message is its text and its time; the rest is read once and remembered.

import { harmless } from '../../failure.ts'
import { placeOfMessage } from './criteria.ts'
import type { ChatEvent } from './history.ts'
import { clock, headOf, indented } from './lines.ts'

/** Quotes inside of a string are escaped, so these are found nowhere else. */
const beforeText = ',"content":"'
const afterText = '","content_type":"text/x-markdown","display_recipient":'
const beforeTime = ',"is_me_message":false,"timestamp":'

const remembered = 1000

/** For what nobody colours or wraps. */
export class QuickLines {
  readonly #self: string | undefined
  /** By all that surrounds text and time. */
  readonly #heads = new Map<string, string>()

  constructor(self: string | undefined) {
    this.#self = self
  }

  /** With its line break; undefined for an event of another form. */
  lineOf(text: string): string | undefined {
    const start = text.indexOf('"message":{"id":')
    const from = start < 0 ? -1 : text.indexOf(beforeText, start)
    const to = from < 0 ? -1 : text.indexOf(afterText, from)
    const then = to < 0 ? -1 : text.indexOf(beforeTime, to)
    if (then < 0) return undefined
    const seconds = Number.parseInt(text.slice(then + beforeTime.length, then + beforeTime.length + 16), 10)
    const key = text.slice(text.indexOf(',', start), from) + text.slice(to + afterText.length, then)
    const head = this.#heads.get(key) ?? this.#read(key, text)
    const written = text.slice(from + beforeText.length, to)
    const content = written.includes('\\') ? harmless(JSON.parse(`"${written}"`)) : harmless(written)
    return `${(clock(seconds, Date.now()) + head + indented(content)).trimEnd()}\n`
  }

  #read(key: string, text: string): string {
    const event = JSON.parse(text) as ChatEvent
    const head = headOf(event, placeOfMessage(event.message!), this.#self)
    if (this.#heads.size >= remembered) this.#heads.clear()
    this.#heads.set(key, head)
    return head
  }
}
