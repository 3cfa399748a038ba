// The progress of a campaign on stderr: one line that is rewritten on a terminal, and a line for each note elsewhere.

import type { Report } from './report.ts'

const width = 24

export class ProgressBar {
  readonly #name: string
  readonly #unit: string
  readonly #count: number
  readonly #minutes: number | undefined
  readonly #begin = performance.now()
  readonly #terminal = process.stderr.isTTY
  #done = 0

  constructor(name: string, unit: string, count: number, minutes: number | undefined) {
    this.#name = name
    this.#unit = unit
    this.#count = count
    this.#minutes = minutes
    this.#draw()
  }

  hear(report: Report): void {
    if (report.kind === 'note') this.#write(`${this.#name}: ${report.text}`)
    if (report.kind === 'progress') this.#done = report.done
    this.#draw()
  }

  end(): void {
    if (this.#terminal) process.stderr.write('\r\x1b[K')
  }

  #write(line: string): void {
    this.end()
    process.stderr.write(`${line}\n`)
  }

  #draw(): void {
    if (!this.#terminal) return
    const minutes = (performance.now() - this.#begin) / 60_000
    // It ends with the count or with the time, whichever is first.
    const part = Math.min(1, Math.max(this.#done / this.#count, this.#minutes ? minutes / this.#minutes : 0))
    const full = Math.round(part * width)
    const bar = '█'.repeat(full) + '░'.repeat(width - full)
    const text = `${this.#name} ${bar} ${Math.floor(part * 100)} %, ${this.#done} of ${this.#count} ${this.#unit}`
    process.stderr.write(`\r\x1b[K${text}`)
  }
}
