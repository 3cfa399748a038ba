// Calls of an account that keeps the process busy wait for their turn. Without this, the calls of all others would wait for all that it
// has sent: a limit of 200 calls a minute is enough for a minute's work of reading large pages.

import { monotonicMs } from '../local/monotonic.ts'
import { HeldBytes } from './held-bytes.ts'

/** Milliseconds of work that an account has at once, and those that it gets back in each second. */
const [mostAtOnce, perSecond] = [200, 100]

/** Milliseconds of work in one turn, after which calls that have arrived meanwhile are read. */
const longestTurn = 10

/**
 * Passes of the event loop between two turns: one pass accepts one new connection, of many that may be waiting. Not more than fit into the
 * duration of a turn, because a pass takes long where many calls arrive.
 */
const passesBetween = 100

/** The calls of an account and its bots, of all callers without an account, or of a space. */
export class Share {
  readonly waiting: (() => void)[] = []
  /** What they hold until they are answered. */
  readonly held: HeldBytes
  #used = 0
  #countedAt = 0

  constructor(held: HeldBytes) {
    this.held = held
  }

  get isUsedUp(): boolean {
    return this.waiting.length > 0 || this.#used > mostAtOnce
  }

  add(began: number, ended: number): void {
    this.#used = Math.max(0, this.#used - ((began - this.#countedAt) / 1000) * perSecond) + (ended - began)
    this.#countedAt = began
  }
}

/** In place of an account: calls of the control plane. */
export const controlPlane = -1

/** Bytes that the calls of one share may hold, and those of all. */
const [mostOfShare, mostOfAll] = [16 * 1024 * 1024, 64 * 1024 * 1024]
/** Of those, what each share has whatever the others hold: enough for usual calls. */
const freeOfShare = 64 * 1024

/** Shares by account, with 0 for callers without one. */
export class Shares {
  readonly #held = new HeldBytes(mostOfAll)
  // The token of the main organization takes snapshots that are larger than the part of a share.
  readonly #shares = new Map([[controlPlane, new Share(this.#held)]])

  get(account: number): Share {
    const known = this.#shares.get(account)
    if (known) return known
    const share = this.create()
    this.#shares.set(account, share)
    return share
  }

  create(): Share {
    return new Share(new HeldBytes(mostOfShare, this.#held, freeOfShare))
  }
}

/** Of all sites of a process. */
export class Turns {
  readonly #now: () => number
  /** Those with calls that wait, in the order of their turns. */
  readonly #shares = new Set<Share>()

  constructor(now = monotonicMs) {
    this.#now = now
  }

  /** Makes the call now, or when it is its turn. `Pieces` bounds how many of a connection can wait. */
  take<T>(share: Share, call: () => T | Promise<T>): T | Promise<T> {
    if (!share.isUsedUp) return this.#make(share, call)
    return new Promise((resolve, reject) => {
      share.waiting.push(() => {
        try {
          resolve(this.#make(share, call))
        } catch (error) {
          reject(error)
        }
      })
      if (this.#shares.size === 0) setImmediate(() => this.#turn())
      this.#shares.add(share)
    })
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
    if (this.#shares.size > 0) this.#pass(passesBetween, this.#now() + longestTurn)
  }

  #pass(left: number, end: number): void {
    setImmediate(() => (left > 1 && this.#now() < end ? this.#pass(left - 1, end) : this.#turn()))
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
