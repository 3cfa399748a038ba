// Prints events on stdout: as lines for people, as JSON, or as the result of a jq expression.

import { harmlessJson } from '../../../../daemon/local/harmless.ts'
import type { ChatEvent, Place } from '../../../base/chat-event.ts'
import type { Failure } from '../../../base/failure.ts'
import type { Globals } from '../../../base/globals.ts'
import type { Account } from '../../../base/profile.ts'
import { printError, printLinesAtOnce } from '../../../base/writer.ts'
import { pickFields } from '../../../print/select.ts'
import { gapText, renderLine } from '../../../terminal/message-lines.ts'
import type { Terminal } from '../../../terminal/terminal.ts'
import type { Item } from './follow.ts'

export interface Printer {
  /** Whether it needs only the event. */
  readonly raw: boolean
  /** The lines of an event, each with its line break. */
  renderItem(item: Pick<Item, 'event' | 'text'>, place: Place | undefined): string | Promise<string>
  /** Call with items that arrived together before `renderItem` is called with each: together they cost little more than one. */
  prepare?(items: readonly Pick<Item, 'event' | 'text'>[]): Promise<void>
}

export async function printerFor(
  globals: Pick<Globals, 'json' | 'ndjson' | 'fields' | 'jq'>,
  terminal: Terminal,
  { email: self, site }: Pick<Account, 'email' | 'site'>,
  types: readonly string[] | undefined,
): Promise<Printer> {
  const { json, ndjson, fields, jq } = globals
  if (jq !== undefined) return jqPrinter(jq)
  if (fields) {
    const { withLink } = await import('../../../print/links.ts')
    const linked = (event: ChatEvent) => (fields.includes('link') ? withLink(event, event.message, site) : event)
    return {
      raw: true,
      renderItem({ event }) {
        const text = JSON.stringify(choose(linked(event), fields, types))
        return isGap(event) && text === '{}' ? tellGap(event) : `${harmlessJson(text)}\n`
      },
    }
  }
  if (json || ndjson) return { raw: true, renderItem: jsonLine }
  return {
    raw: false,
    renderItem: ({ event }, place) => `${renderLine(event, place, terminal, new Date(), self)}\n`,
  }
}

async function jqPrinter(expression: string): Promise<Printer> {
  const { jqTexts } = await import('../../../print/jq.ts')
  type Source = Pick<Item, 'event' | 'text'>
  const writeJson = (item: Source) => item.text ?? JSON.stringify(item.event)
  /** Only of the items that arrived last. A failure counts only if its item is printed: filters may leave it out. */
  let outcomes = new Map<Source, string | Failure>()
  const prepare = async (items: readonly Source[]) => {
    const found = await jqTexts(items.map(writeJson), expression)
    outcomes = new Map(items.map((item, index) => [item, found[index]!]))
  }
  const takeOutcome = (item: Source) => {
    const outcome = outcomes.get(item)!
    if (isGap(item.event) && (typeof outcome !== 'string' || /^(null\n)*$/.test(outcome))) return tellGap(item.event)
    if (typeof outcome !== 'string') throw outcome
    return outcome
  }
  return {
    raw: true,
    prepare,
    renderItem: item => (outcomes.has(item) ? takeOutcome(item) : prepare([item]).then(() => takeOutcome(item))),
  }
}

/** Of several types, an event has fields of its own, and so has a gap. Of one type, a field that an event does not have is a mistake. */
function choose(event: ChatEvent, fields: readonly string[], types: readonly string[] | undefined): unknown {
  const isMixed = types?.length !== 1 || isGap(event)
  return pickFields(event, isMixed ? fields.filter(field => Object.hasOwn(event, field.split('.', 1)[0]!)) : fields)
}

function isGap({ type }: ChatEvent): boolean {
  return type === '_gap'
}

/** On stderr, also with --quiet, where nothing of the gap was chosen: it would be lost, or a null that looks like an event. */
function tellGap(event: ChatEvent): string {
  printError(`${gapText(event)}\n`)
  return ''
}

/** Unchanged, unless it spans several lines. */
function jsonLine(item: Pick<Item, 'event' | 'text'>): string {
  const json = item.text === undefined || item.text.includes('\n') ? JSON.stringify(item.event) : item.text
  return `${harmlessJson(json)}\n`
}

/** Collects lines, writes them in pieces, and reports after each piece how far everything is written. */
export class Output<Position> {
  readonly #piece: number
  readonly #prepare: (position: Position) => () => void
  #waiting = ''
  #size = 0
  #reached: { readonly position: Position } | undefined

  /** `piece`: bytes per write; a longer line is written alone. `prepare` returns what to call after the write. */
  constructor(piece: number, prepare: (position: Position) => () => void) {
    this.#piece = piece
    this.#prepare = prepare
  }

  /** A promise if something had to be written first and the reader is slow. */
  add(text: string): Promise<void> | undefined {
    const size = Buffer.byteLength(text)
    const full = this.#size > 0 && this.#size + size > this.#piece
    const pending = full ? this.flush() : undefined
    this.#waiting += text
    this.#size += size
    return pending
  }

  /** Sets the position to save once everything that was added is written. */
  reached(item: { readonly position: Position }): void {
    this.#reached = item
  }

  flush(): Promise<void> | undefined {
    const text = this.#waiting
    const reached = this.#reached
    this.#waiting = ''
    this.#size = 0
    this.#reached = undefined
    const done = reached && this.#prepare(reached.position)
    if (text === '') return void done?.()
    const pending = printLinesAtOnce(text)
    return pending ? pending.then(() => done?.()) : void done?.()
  }
}
