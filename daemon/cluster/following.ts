// Following the log: reads what is there, then watches what comes, and begins again when the connection to etcd ends.

import { setTimeout as sleep } from 'node:timers/promises'
import { warn } from '../local/warnings.ts'
import type { Etcd } from './etcd.ts'
import type { Incarnation, IncarnationMaker } from './incarnation.ts'
import { Damaged } from './keys.ts'
import type { SharedLog } from './log.ts'
import type { PositionWaiters } from './position-waiters.ts'

/** Milliseconds before it begins again. */
const pause = 100
/** The same if the log is damaged: an operator has to mend it. */
const pauseIfDamaged = 1000
/** Milliseconds without news although there are some, after which the connection is given up. */
const stalledAfter = 2000

export class Following {
  readonly #etcd: Etcd
  readonly #log: SharedLog
  readonly #lives: IncarnationMaker
  readonly #positions: PositionWaiters
  readonly #check: () => Promise<unknown>
  #watch = new AbortController()
  #complaint: string | undefined
  #stalled: { readonly since: number; readonly position: number } | undefined

  /** `check` throws when etcd does not hold this cluster. */
  constructor(
    etcd: Etcd,
    log: SharedLog,
    lives: IncarnationMaker,
    positions: PositionWaiters,
    check: () => Promise<unknown>,
  ) {
    this.#etcd = etcd
    this.#log = log
    this.#lives = lives
    this.#positions = positions
    this.#check = check
  }

  /** Until the life says that it ends. Throws what no further attempt would mend. */
  async follow(life: Incarnation): Promise<void> {
    const { signal } = life.ending
    while (!signal.aborted) {
      let wait = pause
      try {
        await this.#check()
        const revision = await this.#read(life, signal)
        if (revision === undefined) return
        await this.#watchFrom(revision, life, signal)
      } catch (error) {
        if (signal.aborted) return
        const isDamaged = error instanceof Damaged
        // A start must not wait for an operator.
        if (isFinal(error) || (isDamaged && !life.open)) throw error
        if (isDamaged) {
          this.#complain(error)
          wait = pauseIfDamaged
        }
      } finally {
        this.#positions.reached(life.store.journal.position)
      }
      await sleep(wait, undefined, { signal }).catch(() => {})
    }
  }

  /** Once for each: this daemon tries again until etcd has what natterd wrote. Meanwhile it answers reads, and is not ready. */
  #complain({ message }: Damaged): void {
    if (message !== this.#complaint) warn(message)
    this.#complaint = message
  }

  /** Gives up the connection to etcd that it watches on. */
  beginAgain(): void {
    this.#watch.abort()
  }

  /** A connection can be dead without an error: then there is more in the log, and nothing comes. */
  checkProgress({ store }: Incarnation, head: number): void {
    const { position } = store.journal
    if (position >= head) this.#stalled = undefined
    else if (this.#stalled?.position !== position) this.#stalled = { since: performance.now(), position }
    else if (performance.now() - this.#stalled.since > stalledAfter) {
      this.#stalled = undefined
      this.#etcd.moveOn()
      this.beginAgain()
    }
  }

  async #read(life: Incarnation, signal: AbortSignal): Promise<number | undefined> {
    const batches = this.#log.read(life.store.journal.position)
    for (;;) {
      const next = await batches.next()
      if (signal.aborted) return undefined
      if (next.done) {
        life.caughtUp = true
        this.#lives.openIfFounded(life)
        return next.value
      }
      this.#lives.take(life, next.value)
      // The watch that follows may stay silent for long.
      this.#positions.reached(life.store.journal.position)
    }
  }

  async #watchFrom(revision: number, life: Incarnation, signal: AbortSignal): Promise<void> {
    this.#watch = new AbortController()
    for await (const batch of this.#log.watch(revision, this.#watch.signal)) {
      if (signal.aborted) return
      this.#lives.take(life, batch)
      this.#positions.reached(life.store.journal.position)
    }
  }
}

function isFinal(error: unknown): boolean {
  return ['LogTrimmed', 'LogTooNew', 'EntryRefused', 'AnotherHistory'].includes((error as Error).name)
}
