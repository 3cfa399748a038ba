// Calls that are made again while the server is away or its answer was lost. Each has an idempotency key, so it happens once; those
// that change something are made one after the other, so they happen in their order. For bots and `natter tail --reply`.

import { laterPause } from './following.ts'
import { pause } from './sender.ts'

export interface RepeaterOptions {
  /** Whether the same call can succeed later. */
  readonly isPassing: (error: unknown) => boolean
  /** Told when a call has to wait, and when it is given up. */
  readonly say: (text: string) => void
  /** Ends all waiting: calls then fail as they last did. */
  readonly signal?: AbortSignal
  /** Milliseconds from the first failure of a call until it is given up. */
  readonly within?: number
}

/** A restart takes seconds; an upgrade or a large store, minutes. */
const defaultWithin = 5 * 60_000
const longestPause = 1000

export class Repeater {
  readonly #options: RepeaterOptions
  #turn: Promise<unknown> = Promise.resolve()
  #waiting = 0
  #since = 0
  #waited = 0

  constructor(options: RepeaterOptions) {
    this.#options = options
  }

  /** Milliseconds that calls have waited so far. */
  get waited(): number {
    return this.#waited + (this.#waiting > 0 ? performance.now() - this.#since : 0)
  }

  /** Calls `late` after this time, in which the waiting of calls does not count. Returns what withdraws it. */
  startTimer(ms: number, late: () => void): () => void {
    let counted = this.waited
    const look = () => {
      const more = this.waited - counted
      counted += more
      if (more > 0) timer = setTimeout(look, more)
      else late()
    }
    let timer = setTimeout(look, ms)
    return () => clearTimeout(timer)
  }

  /** A call that changes something. */
  change<T>(attempt: (key: string) => Promise<T>): Promise<T> {
    const key = crypto.randomUUID()
    const done = this.#turn.then(() => this.read(() => attempt(key)))
    this.#turn = done.catch(() => {})
    return done
  }

  /** A call that changes nothing: it needs no key and no order. */
  async read<T>(attempt: () => Promise<T>): Promise<T> {
    try {
      return await attempt()
    } catch (error) {
      if (!this.#isRepeatable(error)) throw error
      if (this.#waiting++ === 0) this.#since = performance.now()
      try {
        return await this.#insist(attempt, error as Error)
      } finally {
        if (--this.#waiting === 0) this.#waited += performance.now() - this.#since
      }
    }
  }

  async #insist<T>(attempt: () => Promise<T>, first: Error): Promise<T> {
    const { say, signal, within = defaultWithin } = this.#options
    const end = performance.now() + within
    say(`${first.message}; trying again for up to ${within / 1000} s`)
    for (let wait = laterPause(0); ; wait = Math.min(longestPause, laterPause(wait))) {
      await pause(wait, signal).catch(() => {})
      try {
        return await attempt()
      } catch (error) {
        if (!this.#isRepeatable(error)) throw error
        if (performance.now() < end) continue
        say(`gave up a call after ${within / 1000} s`)
        throw error
      }
    }
  }

  #isRepeatable(error: unknown): boolean {
    return this.#options.signal?.aborted !== true && this.#options.isPassing(error)
  }
}
