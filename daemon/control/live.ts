// Waits until anything in a set of logs is new: one long poll shows a daemon live.

import type { Boundary } from '../boundary.ts'
import { conflict } from '../domain/refusal.ts'
import type { NumberedLog } from './recent.ts'

/** Milliseconds. A longer wait would exceed the timeouts of proxies. */
export const longestWatch = 60_000
/** Calls that wait at the same time. A change wakes all of them, and each looks through a log. */
const mostWaiting = 100

export class Live {
  readonly #waiting = new Set<() => void>()
  #ended = false

  readonly #boundary: Boundary

  constructor(logs: readonly NumberedLog<any>[], boundary: Boundary) {
    this.#boundary = boundary
    for (const log of logs) log.onChange = () => this.#wake()
  }

  /** Resolves at the next change, when the time is up, or when the daemon stops. Refused if too many wait. */
  async next(ms: number): Promise<void> {
    if (this.#ended || ms <= 0) return
    if (this.#waiting.size >= mostWaiting)
      throw conflict('within', `${mostWaiting} calls already wait for a change; let some of them end`)
    return new Promise(resolve => {
      const end = () => {
        cancel()
        this.#waiting.delete(end)
        resolve()
      }
      // Real time: the clock of the daemon may be frozen.
      const cancel = this.#boundary.after(ms, end)
      this.#waiting.add(end)
    })
  }

  get isAwaited(): boolean {
    return this.#waiting.size > 0
  }

  get ended(): boolean {
    return this.#ended
  }

  /** The daemon stops: everyone who waits gets an answer. */
  end(): void {
    this.#ended = true
    this.#wake()
  }

  #wake(): void {
    for (const end of this.#waiting) end()
  }
}
