// The log of a process: lines of JSON, written by pino. Most daemons write none, so pino is set up for the first line.

import { hostname } from 'node:os'
import { type Logger, pino } from 'pino'
import type { Log } from './edge-parts.ts'
import type { FinishedCall } from './observed-call.ts'

/** Text that ends with a line feed, made when it is written. */
export interface LogLine {
  toString(): string
}

/** Where the log goes: one call for each line. */
export interface LogStream {
  write(line: LogLine): void
}

/** What every line says of this process. */
const base = { pid: process.pid, hostname: hostname() }
const ofThisProcess = JSON.stringify(base).slice(1, -1)

const ranks: Readonly<Record<string, number>> = { trace: 0, debug: 1, info: 2, warn: 3, error: 4, silent: 5 }

export class ServerLog implements Log {
  readonly #stream: LogStream
  #level: string
  #rank: number
  #logger: Logger | undefined

  constructor(level: string, stream: LogStream = { write: line => void process.stdout.write(line.toString()) }) {
    this.#level = level
    this.#rank = ranks[level]!
    this.#stream = stream
  }

  /** For fastify, which writes lines of its own. */
  get logger(): Logger {
    this.#logger ??= pino({ level: this.#level, base }, this.#stream)
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

  /** One line a call. */
  call(call: FinishedCall): void {
    this.#stream.write(new CallLine(call))
  }

  error(fields: object, text: string): void {
    if (this.isLevelEnabled('error')) this.logger.error(fields, text)
  }
}

/**
 * As pino would write it, but by hand: pino takes several times as long, and there is one for every call. Nothing in it is a secret:
 * no header, no query, no parameter.
 */
class CallLine {
  readonly #call: FinishedCall
  readonly #time = Date.now()

  constructor(call: FinishedCall) {
    this.#call = call
  }

  toString(): string {
    const { requestId, account, operation, method, path, status, milliseconds } = this.#call
    const who = account === undefined ? '' : `,"account":${account}`
    const what = operation === undefined ? '' : `,"operation":"${operation}"`
    const asked = `"method":"${method}","path":${plain.test(path) ? `"${path}"` : JSON.stringify(path)}`
    const ms = inMilliseconds(Math.round(milliseconds * 1000))
    return `{"level":30,"time":${this.#time},${ofThisProcess},"reqId":"${requestId}"${who}${what},${asked},"status":${status},"ms":${ms},"msg":"request"}\n`
  }
}

/** Needs no escapes in JSON. Most paths are like this, and to look takes a quarter of the time of JSON.stringify. */
const plain = /^[\w/.~%-]*$/

/** A number with three decimals, made of two integers: that is several times as fast as the text of a fraction. */
function inMilliseconds(microseconds: number): string {
  return `${Math.floor(microseconds / 1000)}.${String(1000 + (microseconds % 1000)).slice(1)}`
}
