// The log of a process: lines of JSON, written by pino. Most daemons write none, so pino is set up for the first line.

import { hostname } from 'node:os'
import { type Logger, pino } from 'pino'
import type { Log } from './edge.ts'
import type { FinishedCall } from './observed-call.ts'

/** Where the log goes: one call for each line. */
export interface LogStream {
  write(line: string): void
}

/** What every line says of this process. */
const base = { pid: process.pid, hostname: hostname() }
const ofThisProcess = JSON.stringify(base).slice(1, -1)

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
    this.#logger ??= pino({ level: this.#level, base }, this.#stream)
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

  /**
   * One line a call, as pino would write it, but by hand: pino takes several times as long, and there is one for every call. Nothing in
   * it is a secret: no header, no query, no parameter.
   */
  call({ requestId, account, operation, method, path, status, milliseconds }: FinishedCall): void {
    const who = account === undefined ? '' : `,"account":${account}`
    const what = operation === undefined ? '' : `,"operation":"${operation}"`
    const asked = `"method":"${method}","path":${JSON.stringify(path)}`
    const ms = Math.round(milliseconds * 1000) / 1000
    this.#stream.write(
      `{"level":30,"time":${Date.now()},${ofThisProcess},"reqId":"${requestId}"${who}${what},${asked},"status":${status},"ms":${ms},"msg":"request"}\n`,
    )
  }

  error(fields: object, text: string): void {
    if (this.isLevelEnabled('error')) this.logger.error(fields, text)
  }
}

function rankOf(level: string): number {
  return levels.indexOf(level)
}
