// Calls of an account that keeps the process busy wait for their turn. Without this, the calls of all others would wait for all that it
// has sent: a limit of 200 calls a minute is enough for a minute's work of reading large pages.

import { monotonicMs } from '../local/monotonic.ts'
import { mostWaiting, tooManyWaiting } from './page-turns.ts'
import type { FieldMap } from './parameters.ts'

/** Milliseconds of work that an account has at once, and those that it gets back in each second. */
const [mostAtOnce, perSecond] = [200, 100]

/** Milliseconds of work in one turn, after which calls that have arrived meanwhile are read. */
const longestTurn = 10

/**
 * Passes of the event loop between two turns: one pass accepts one new connection, of many that may be waiting. Not more than fit into the
 * duration of a turn, because a pass takes long where many calls arrive.
 */
const passesBetween = 100

/** Characters of the fields of calls that wait: of one share, and of all. Beyond that a call is refused. */
const [mostOfShare, mostOfAll] = [16 * 1024 * 1024, 64 * 1024 * 1024]
/** What a call and each of its fields take besides. More calls than the daemon has connections fit. */
const perField = 128

/** The calls of an account and its bots, of all callers without an account, or of a space. */
export class Share {
  readonly waiting: (() => void)[] = []
  /** Characters of the calls that wait. */
  size = 0
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

/** In place of an account: calls of the control plane. */
export const controlPlane = -1

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

/** What a call takes while it waits. */
interface Waiting {
  readonly request: { readonly socket: object }
  readonly fields: FieldMap
}

/** Of all sites of a process. */
export class Turns {
  readonly #now: () => number
  /** Those with calls that wait, in the order of their turns. */
  readonly #shares = new Set<Share>()
  /** How many calls of a connection wait. node:http reads on while none of them is answered. */
  readonly #waitingOn = new WeakMap<object, number>()
  /** Characters of all calls that wait. */
  #size = 0

  constructor(now = monotonicMs) {
    this.#now = now
  }

  /** Makes the call now, or when it is its turn. Refuses it if too many of its connection wait, or too large ones. */
  take<T>(share: Share, { request: { socket }, fields }: Waiting, call: () => T | Promise<T>): T | Promise<T> {
    if (!share.isUsedUp) return this.#make(share, call)
    const size = measure(fields)
    const onConnection = this.#waitingOn.get(socket) ?? 0
    if (onConnection >= mostWaiting || share.size + size > mostOfShare || this.#size + size > mostOfAll)
      throw tooManyWaiting()
    this.#waitingOn.set(socket, onConnection + 1)
    share.size += size
    this.#size += size
    return new Promise((resolve, reject) => {
      share.waiting.push(() => {
        this.#waitingOn.set(socket, this.#waitingOn.get(socket)! - 1)
        share.size -= size
        this.#size -= size
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

function measure(fields: FieldMap): number {
  let size = perField
  for (const [name, value] of fields) size += perField + name.length + (typeof value === 'string' ? value.length : 0)
  return size
}
