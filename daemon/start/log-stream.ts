// The log on stderr. Lines of a few milliseconds are made and written together: one after the other, they would cost a small call a
// tenth of its time.

import { writeSync } from 'node:fs'
import type { LogLine } from '../http/log.ts'

const delay = 10 // ms
const mostLines = 1000

export class LogStream {
  #lines: LogLine[] = []
  #timer: NodeJS.Timeout | undefined

  write(line: LogLine): void {
    this.#lines.push(line)
    if (!this.#timer) {
      this.#timer = setTimeout(this.#flush, delay)
      process.once('exit', this.#flushAtExit)
    } else if (this.#lines.length >= mostLines) this.#flush()
  }

  readonly #flush = (): void => {
    clearTimeout(this.#timer)
    this.#timer = undefined
    process.removeListener('exit', this.#flushAtExit)
    process.stderr.write(this.#take())
  }

  readonly #flushAtExit = (): void => {
    try {
      writeSync(2, this.#take())
    } catch {
      // Nobody reads it any more.
    }
  }

  #take(): string {
    let text = ''
    for (const line of this.#lines) text += line.toString()
    this.#lines = []
    return text
  }
}
