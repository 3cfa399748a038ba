// Lines for messages in our daemon's format, made without parsing the whole event: when thousands arrive at once, parsing is
// most of the work. Messages differ in text and time; everything else is parsed once and remembered.

import { harmless } from '../../../../daemon/local/harmless.ts'
import { type ChatEvent, placeOfMessage } from '../../../base/chat-event.ts'
import { clock, headOf, indented } from '../../../print/message-lines.ts'
import type { MessageForm, MessageParts } from './message-form.ts'

const remembered = 1000

/** Nothing to escape, to indent or to trim. */
const plain = /^[ !#-[\]-~]*[!#-[\]-~]$/

/** For output without colors and wrapping. */
export class QuickLines {
  readonly #self: string | undefined
  /** What is shown between time and text, by the parts of the form that can change it. */
  readonly #heads = new Map<string, string>()
  /** Most messages have the form of the one before. */
  #form: MessageForm | undefined
  #head = ''

  constructor(self: string | undefined) {
    this.#self = self
  }

  /** With its line break. `text` is the whole event. */
  lineOf({ form, content, seconds }: MessageParts, text: string): string {
    if (form !== this.#form) {
      this.#form = form
      this.#head = this.#headOf(form, text)
    }
    const time = clock(seconds, Date.now())
    if (plain.test(content)) return `${time}${this.#head}${content}\n`
    const written = content.includes('\\') ? JSON.parse(`"${content}"`) : content
    return `${(time + this.#head + indented(harmless(written))).trimEnd()}\n`
  }

  #headOf({ before, between }: MessageForm, text: string): string {
    const key = before + between
    const known = this.#heads.get(key)
    if (known !== undefined) return known
    const event = JSON.parse(text) as ChatEvent
    const head = headOf(event, placeOfMessage(event.message!), this.#self)
    if (this.#heads.size >= remembered) this.#heads.clear()
    this.#heads.set(key, head)
    return head
  }
}
