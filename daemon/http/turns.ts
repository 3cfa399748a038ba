// Calls of an account that keeps the process busy wait for their turn. Without this, the calls of all others would wait for all that it
// has sent: a limit of 200 calls a minute is enough for a minute's work of reading large pages.

import { monotonicMs } from '../local/monotonic.ts'
import { mostWaiting, tooManyWaiting } from './page-turns.ts'

/** Milliseconds of work that an account has at once, and those that it gets back in each second. */
const [mostAtOnce, perSecond] = [200, 100]

/** Milliseconds of work in one turn, after which calls that have arrived meanwhile are read. */
const longestTurn = 10

/** Passes of the event loop between two turns: one pass accepts one new connection, of many that may be waiting. */
const passesBetween = 100

/** The calls of an account and its bots, of all callers without an account, or of a space. */
export class Share {
  readonly waiting: (() => void)[] = []
  #used = 0
  #countedAt = 0

  get isUsedUp(): boolean {
    return this.waiting.length > 0 || this.#used > mostAtOnce
  }

  add(began: number, ended: number): void {
    this.#used = Math.max(0, this.#used - ((began - this.#countedAt) / 1000) * perSecond) + (ended - began)
    this.#countedAt = began
  }
}

/** Shares by account, with 0 for callers without one. */
export class Shares {
  readonly #shares = new Map<number, Share>()

  get(account: number): Share {
    const known = this.#shares.get(account)
    if (known) return known
    const share = new Share()
    this.#shares.set(account, share)
    return share
  }
}

/** Of all sites of a process. */
export class Turns {
  readonly #now: () => number
  /** Those with calls that wait, in the order of their turns. */
  readonly #shares = new Set<Share>()
  /** How many calls of a connection wait. node:http reads on while none of them is answered. */
  readonly #waitingOn = new WeakMap<object, number>()

  constructor(now = monotonicMs) {
    this.#now = now
  }

  /** Makes the call now, or when it is its turn. Refuses it if too many of its connection wait. */
  take<T>(share: Share, connection: object, call: () => T | Promise<T>): T | Promise<T> {
    if (!share.isUsedUp) return this.#make(share, call)
    this.#count(connection, 1)
    return new Promise((resolve, reject) => {
      share.waiting.push(() => {
        this.#count(connection, -1)
        try {
          resolve(this.#make(share, call))
        } catch (error) {
          reject(error)
        }
      })
      if (this.#shares.size === 0) this.#pass(1)
      this.#shares.add(share)
    })
  }

  #count(connection: object, more: 1 | -1): void {
    const waiting = (this.#waitingOn.get(connection) ?? 0) + more
    if (waiting > mostWaiting) throw tooManyWaiting()
    this.#waitingOn.set(connection, waiting)
  }

  #turn(): void {
    const end = this.#now() + longestTurn
    for (const share of this.#shares) {
      // Its next call comes after those of the other shares: a set keeps the order in which it is filled.
      this.#shares.delete(share)
      share.waiting.shift()!()
      if (share.waiting.length > 0) this.#shares.add(share)
      if (this.#now() >= end) break
    }
    if (this.#shares.size > 0) this.#pass(passesBetween)
  }

  #pass(left: number): void {
    setImmediate(() => (left > 1 ? this.#pass(left - 1) : this.#turn()))
  }

  #make<T>(share: Share, call: () => T): T {
    const began = this.#now()
    try {
      return call()
    } finally {
      share.add(began, this.#now())
    }
  }
}
