// Lines for messages in our daemon's format, made without parsing the whole event: when thousands arrive at once, parsing is
// most of the work. Messages differ in text and time; everything else is parsed once and remembered.

import { harmless } from '../../../daemon/api/harmless.ts'
import type { ChatEvent } from './chat-event.ts'
import { placeOfMessage } from './criteria.ts'
import { clock, headOf, indented } from './lines.ts'

/** Quotes inside a string are escaped, so these occur nowhere else. */
const textBegins = ',"content":"'
const textEnds = '","content_type":"text/x-markdown","display_recipient":'
const timeBegins = ',"is_me_message":false,"timestamp":'

const remembered = 1000

interface Head {
  /** The parts of the event before the text, and between the text and the time. */
  readonly before: string
  readonly after: string
  /** The part that is shown. */
  readonly shown: string
}

/** For output without colors and wrapping. */
export class QuickLines {
  readonly #self: string | undefined
  /** By everything around text and time. */
  readonly #heads = new Map<string, Head>()
  /** Most messages have the same surroundings as the one before. */
  #last: Head | undefined

  constructor(self: string | undefined) {
    this.#self = self
  }

  /** With its line break; undefined for an event of another form. */
  lineOf(text: string): string | undefined {
    const start = text.indexOf('"message":{"id":')
    const begin = start < 0 ? -1 : text.indexOf(',', start)
    if (begin < 0) return undefined
    const last = this.#last
    const from = last && has(text, last.before, begin) ? begin + last.before.length : after(text, textBegins, begin)
    const to = from < 0 ? -1 : text.indexOf(textEnds, from)
    if (to < 0) return undefined
    const time =
      last && has(text, last.after, to) ? to + last.after.length : after(text, timeBegins, to + textEnds.length)
    if (time < 0) return undefined
    const head = last && last.before.length === from - begin && last.after.length === time - to ? last : undefined
    const { shown } = head ?? this.#find(text, text.slice(begin, from), text.slice(to, time))
    const written = text.slice(from, to)
    const content = written.includes('\\') ? JSON.parse(`"${written}"`) : written
    const seconds = Number.parseInt(text.slice(time, time + 16), 10)
    return `${(clock(seconds, Date.now()) + shown + indented(harmless(content))).trimEnd()}\n`
  }

  #find(text: string, before: string, after: string): Head {
    const key = before + after
    let head = this.#heads.get(key)
    if (!head) {
      const event = JSON.parse(text) as ChatEvent
      head = { before, after, shown: headOf(event, placeOfMessage(event.message!), this.#self) }
      if (this.#heads.size >= remembered) this.#heads.clear()
      this.#heads.set(key, head)
    }
    this.#last = head
    return head
  }
}

/** Index after a part of a text, or -1. */
function after(text: string, part: string, from: number): number {
  const at = text.indexOf(part, from)
  return at < 0 ? -1 : at + part.length
}

/** `startsWith` compares one character at a time. */
function has(text: string, part: string, at: number): boolean {
  return text.slice(at, at + part.length) === part
}
