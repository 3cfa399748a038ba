// A limit on the bytes that an account and its bots write to the journal. Calls are no measure of them: one call can write a megabyte,
// and in a cluster etcd keeps the newest thousands of entries in memory, whatever their size.

import type { State } from './domain/model/state.ts'
import { rateLimited } from './domain/refusal.ts'

/** Bytes that an account can write without a pause, and those that it gets back each minute. */
export const writtenBytes = { atOnce: 16 * 1024 * 1024, perMinute: 2 * 1024 * 1024 }

export class WrittenBudget {
  readonly #elapsed: () => number
  /** What each account has written, less what it got back, at a time by `elapsed`. */
  readonly #written = new Map<number, { readonly bytes: number; readonly at: number }>()

  constructor(elapsed: () => number) {
    this.#elapsed = elapsed
  }

  /** Refuses a call that would write. What it writes is known later, so one call may go beyond the limit, and the next ones wait. */
  check(state: State, actor: number | null): void {
    const wait = actor === null ? 0 : this.secondsLeft(state, actor)
    if (wait > 0) throw rateLimited(wait)
  }

  /** Seconds until the account may write; 0 if it may write now. */
  secondsLeft(state: State, actor: number): number {
    const excess = this.#level(accountOf(state, actor)) - writtenBytes.atOnce
    return (Math.max(0, excess) / writtenBytes.perMinute) * 60
  }

  /** Counts what was written. */
  spend(state: State, actor: number | null, bytes: number): void {
    if (actor === null) return
    const account = accountOf(state, actor)
    this.#written.set(account, { bytes: this.#level(account) + bytes, at: this.#elapsed() })
  }

  #level(account: number): number {
    const { bytes, at } = this.#written.get(account) ?? { bytes: 0, at: this.#elapsed() }
    const minutes = (this.#elapsed() - at) / 60_000
    return Math.max(0, bytes - minutes * writtenBytes.perMinute)
  }
}

/** Bots write on account of their owner: a member can have many. */
function accountOf({ users }: State, actor: number): number {
  return users.get(actor)?.bot?.ownerId ?? actor
}
