// The log of a process on stderr: lines of JSON, written by pino. Most daemons write none, so pino is loaded for the first line.

import { hostname } from 'node:os'
import { type Logger, pino } from 'pino'
import type { ProcessLog } from './edge-parts.ts'
import type { FinishedCall } from './observed-call.ts'

/** Where the log goes: one call for each line. */
interface LogStream {
  write(line: string): void
}

/** Milliseconds until a line is written. */
const longestWait = 100

const ranks: Readonly<Record<string, number>> = { trace: 0, debug: 1, info: 2, warn: 3, error: 4, silent: 5 }

export class ServerLog implements ProcessLog {
  readonly #stream: LogStream | undefined
  #level: string
  #rank: number
  #logger: Logger | undefined

  constructor(level: string, stream?: LogStream) {
    this.#level = level
    this.#rank = ranks[level]!
    this.#stream = stream
  }

  /** For fastify, which writes lines of its own. */
  get logger(): Logger {
    this.#logger ??= pino(
      { level: this.#level, base: { pid: process.pid, hostname: hostname() } },
      // A write for each line takes twice as long as making it. What is left is written at the exit of the process.
      this.#stream ?? pino.destination({ fd: 2, sync: false, minLength: 8192, periodicFlush: longestWait }),
    )
    return this.#logger
  }

  set level(level: string) {
    this.#level = level
    this.#rank = ranks[level]!
    if (this.#logger) this.#logger.level = level
  }

  isLevelEnabled(level: string): boolean {
    return ranks[level]! >= this.#rank
  }

  info(fields: object, text: string): void {
    if (this.isLevelEnabled('info')) this.logger.info(fields, text)
  }

  /** One line a call. Nothing in it is a secret: no header, no query, no parameter. */
  call({ requestId: reqId, account, operation, method, path, status, milliseconds }: FinishedCall): void {
    const ms = Math.round(milliseconds * 1000) / 1000
    this.logger.info({ reqId, account, operation, method, path, status, ms }, 'request')
  }

  error(fields: object, text: string): void {
    if (!this.isLevelEnabled('error')) return
    this.logger.error(fields, text)
    this.logger.flush()
  }
}
