// The log of a process: lines of JSON, written by pino. Most daemons write none, so pino is set up for the first line.

import { type Logger, pino } from 'pino'
import type { Log } from './edge.ts'

/** Where the log goes: one call for each line. */
export interface LogStream {
  write(line: string): void
}

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'silent']

export class ServerLog implements Log {
  readonly #stream: LogStream
  #level: string
  #logger: Logger | undefined

  constructor(level: string, stream: LogStream = process.stdout) {
    this.#level = level
    this.#stream = stream
  }

  /** For fastify, which writes lines of its own. */
  get logger(): Logger {
    this.#logger ??= pino({ level: this.#level }, this.#stream)
    return this.#logger
  }

  set level(level: string) {
    this.#level = level
    if (this.#logger) this.#logger.level = level
  }

  isLevelEnabled(level: string): boolean {
    return rankOf(level) >= rankOf(this.#level)
  }

  info(fields: object, text: string): void {
    if (this.isLevelEnabled('info')) this.logger.info(fields, text)
  }

  error(fields: object, text: string): void {
    if (this.isLevelEnabled('error')) this.logger.error(fields, text)
  }
}

function rankOf(level: string): number {
  return levels.indexOf(level)
}
