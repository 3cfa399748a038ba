// The log on stderr. Lines of one turn are written together: a write for each would cost a small call a tenth of its time.

import { writeSync } from 'node:fs'

export class LogStream {
  #lines = ''

  write(line: string): void {
    const planned = this.#lines !== ''
    this.#lines += line
    if (planned) return
    setImmediate(this.#flush)
    process.once('exit', this.#flushAtExit)
  }

  readonly #flush = (): void => {
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
    const lines = this.#lines
    this.#lines = ''
    return lines
  }
}
