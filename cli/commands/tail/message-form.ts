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
    const [, before, content, between, time, after] = anyMessage.exec(text) ?? []
    if (content === undefined) return undefined
    const isSame = last?.before === before && last?.between === between && last?.after === after
    if (isSame) last!.#seen++
    const form = isSame ? last! : new MessageForm(before!, between!, after!)
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

/** Quotes inside a string are escaped, so what is in quotes here is found nowhere else. */
const inString = String.raw`[^"\\]*(?:\\.[^"\\]*)*`
const anyMessage = new RegExp(
  String.raw`^\{"id":\d+,"type":"message","message":\{"id":\d+(,.*?,"content":")(${inString})(","content_type":"text/x-markdown","display_recipient":.*?,"is_me_message":false,"timestamp":)(\d+)([,}].*)$`,
  's',
)

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
}
