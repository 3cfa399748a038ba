// Messages that arrive together mostly differ in IDs, text and time only; everything else of an event is its form. One
// regular expression finds an event that has the form of the one before, and nothing of it needs to be parsed.

/** The parts of a message event that differ within a form. */
export interface MessageParts {
  readonly form: MessageForm
  /** As it is written in JSON, without its quotes. */
  readonly content: string
  /** When it was sent. */
  readonly seconds: number
}

export class MessageForm {
  /** What comes before the text, between the text and the time, and after the time. */
  readonly before: string
  readonly between: string
  readonly after: string
  /** Made only when many events in a row have this form: it costs as much as cutting several events. */
  #pattern: RegExp | undefined
  #seen = 1

  constructor(before: string, between: string, after: string) {
    this.before = before
    this.between = between
    this.after = after
  }

  /** Of a message event in our daemon's format. If it has the form of the last one, that is returned. */
  static partsOf(text: string, last: MessageForm | undefined): MessageParts | undefined {
    const cut = cutMessage(text)
    if (!cut) return undefined
    const { before, content, between, time, after } = cut
    const isSame = last?.before === before && last?.between === between && last?.after === after
    if (isSame) last!.#seen++
    const form = isSame ? last! : new MessageForm(before, between, after)
    return { form, content, seconds: Number(time) }
  }

  /** Finds an event of this form where its `lastIndex` is: IDs of event and message, text, time. Undefined if the form is not frequent. */
  get pattern(): RegExp | undefined {
    if (this.#pattern || this.#seen < enough) return this.#pattern
    const [before, between, after] = [this.before, this.between, this.after].map(escaped)
    this.#pattern = new RegExp(
      `\\{"id":(\\d+),"type":"message","message":\\{"id":(\\d+)${before}(${inString})${between}(\\d+)${after}`,
      'y',
    )
    return this.#pattern
  }
}

const enough = 8

const inString = String.raw`[^"\\]*(?:\\.[^"\\]*)*`
const begins = /^\{"id":\d+,"type":"message","message":\{"id":\d+(?=,)/
const restOfString = new RegExp(inString, 'y')
const number = /\d+(?=[,}])/y
/** Quotes inside a string are escaped, so these are found nowhere else. */
const textBegins = ',"content":"'
const textEnds = '","content_type":"text/x-markdown","display_recipient":'
const timeBegins = ',"is_me_message":false,"timestamp":'

/** From left to right, never back: the text comes from a server that may be hostile, and can be long. */
function cutMessage(text: string): Record<'before' | 'content' | 'between' | 'time' | 'after', string> | undefined {
  const ids = begins.exec(text)?.[0].length
  const textAt = ids === undefined ? -1 : text.indexOf(textBegins, ids) + textBegins.length
  if (textAt < textBegins.length) return undefined
  const content = matchAt(restOfString, text, textAt)!
  const textEnd = textAt + content.length
  if (!text.startsWith(textEnds, textEnd)) return undefined
  const timeAt = text.indexOf(timeBegins, textEnd) + timeBegins.length
  const time = timeAt < timeBegins.length ? undefined : matchAt(number, text, timeAt)
  if (time === undefined) return undefined
  const [before, between] = [text.slice(ids, textAt), text.slice(textEnd, timeAt)]
  return { before, content, between, time, after: text.slice(timeAt + time.length) }
}

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0]
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
}
