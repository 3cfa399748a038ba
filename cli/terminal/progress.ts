// A progress line on stderr, only if it is a terminal.

import type { Globals } from '../base/globals.ts'
import { countText } from '../base/text-layout.ts'
import { printError, redrawError } from '../base/writer.ts'

const interval = 100
const barWidth = 24

export class Progress {
  readonly #total: number | undefined
  readonly #noun: string
  readonly #shown: boolean
  readonly #began = Date.now()
  #done = 0
  #failed = 0
  #last = 0
  #text: string | undefined

  constructor(total: number | undefined, { quiet }: Pick<Globals, 'quiet'>, noun = 'call') {
    this.#total = total
    this.#noun = noun
    this.#shown = process.stderr.isTTY === true && !quiet
  }

  step(failed: boolean): void {
    this.#done++
    if (failed) this.#failed++
    this.#drawSometimes()
  }

  /** For work whose steps have no number: how far it is, and what to say of it. */
  reach(done: number, text: string): void {
    this.#done = done
    this.#text = text
    this.#drawSometimes()
  }

  /** Before other lines are printed on the same terminal; the next step draws it again. */
  erase(): void {
    if (this.#shown && this.#last > 0) redrawError('')
  }

  end(): void {
    if (!this.#shown) return
    this.#draw()
    printError('\n')
  }

  #drawSometimes(): void {
    const now = Date.now()
    if (!this.#shown || now - this.#last < interval) return
    this.#last = now
    this.#draw()
  }

  #draw(): void {
    const rate = Math.round((this.#done * 1000) / Math.max(1, Date.now() - this.#began))
    const failed = this.#failed > 0 ? `, ${this.#failed} failed` : ''
    const done = this.#total === undefined ? countText(this.#done, this.#noun) : `${this.#done}/${this.#total}`
    const text = this.#text ?? `${done}${failed}, ${rate}/s`
    redrawError(`${this.#bar()}${text}`)
  }

  #bar(): string {
    if (!this.#total) return ''
    const full = Math.min(barWidth, Math.round((this.#done / this.#total) * barWidth))
    return `[${'#'.repeat(full)}${'.'.repeat(barWidth - full)}] `
  }
}
