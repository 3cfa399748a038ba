// Following the log: reads the batches that are there, then watches for new ones, and begins again when the connection to etcd ends.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Batch } from '../journal/replicated-journal.ts'
import { warn } from '../local/warnings.ts'
import type { Etcd } from './etcd.ts'
import { checkHistory } from './history.ts'
import { AnotherHistory, Damaged, LogTooNew } from './keys.ts'
import { LogTrimmed, type SharedLog } from './log.ts'
import type { View } from './membership.ts'
import type { PositionWaiters } from './position-waiters.ts'
import { EntryRefused, type WorldInstance, type WorldInstances } from './world-instance.ts'

/** Milliseconds between two attempts. */
const pause = 100
/** The same if the log is damaged: an operator has to repair it. */
const pauseIfDamaged = 1000
/** Milliseconds behind the head without progress after which the connection is given up. */
const stalledAfter = 2000

export class Following {
  readonly #etcd: Etcd
  readonly #log: SharedLog
  readonly #instances: WorldInstances
  readonly #positions: PositionWaiters
  readonly #view: () => Promise<View>
  #watch = new AbortController()
  /** The damage that was warned of last. */
  #warnedOf: string | undefined
  #stalled: { readonly since: number; readonly position: number } | undefined

  /** `view` throws when etcd does not hold this cluster. */
  constructor(
    etcd: Etcd,
    log: SharedLog,
    instances: WorldInstances,
    positions: PositionWaiters,
    view: () => Promise<View>,
  ) {
    this.#etcd = etcd
    this.#log = log
    this.#instances = instances
    this.#positions = positions
    this.#view = view
  }

  /** Runs until the instance ends. Throws errors that a new attempt cannot cure. */
  async follow(instance: WorldInstance): Promise<void> {
    const { signal } = instance.ending
    while (!signal.aborted) {
      let wait = pause
      try {
        const { newest } = instance.store.journal
        await checkHistory(this.#log, newest, (await this.#view()).head)
        const revision = await this.#read(instance, signal)
        if (revision === undefined) return
        await this.#watchFrom(revision, instance, signal)
      } catch (error) {
        if (signal.aborted) return
        const isDamaged = error instanceof Damaged
        // During a start, damage is an error: an operator would not see that the daemon waits.
        if (isFinal(error) || (isDamaged && !instance.open)) throw error
        if (isDamaged) {
          this.#warnOnce(error)
          wait = pauseIfDamaged
        }
      }
      await sleep(wait, undefined, { signal }).catch(() => {})
    }
  }

  /** This daemon tries again until the value in etcd is repaired. Meanwhile it answers reads, and is not ready. */
  #warnOnce({ message }: Damaged): void {
    if (message !== this.#warnedOf) warn(message)
    this.#warnedOf = message
  }

  /** Closes the connection to etcd that it watches on. Unless the instance ends, another attempt follows. */
  endWatch(): void {
    this.#watch.abort()
  }

  /** A connection can be dead without an error: then the head moves on and no batch arrives. */
  checkProgress({ store }: WorldInstance, head: number): void {
    const { position } = store.journal
    if (position >= head) this.#stalled = undefined
    else if (this.#stalled?.position !== position) this.#stalled = { since: performance.now(), position }
    else if (performance.now() - this.#stalled.since > stalledAfter) {
      this.#stalled = undefined
      this.#etcd.useNextMember()
      this.endWatch()
    }
  }

  async #read(instance: WorldInstance, signal: AbortSignal): Promise<number | undefined> {
    const batches = this.#log.read(instance.store.journal.position)
    for (;;) {
      const next = await batches.next()
      if (signal.aborted) return undefined
      if (next.done) {
        instance.caughtUp = true
        this.#instances.openIfFounded(instance)
        // A snapshot may have brought it here, without a batch.
        this.#positions.reached(instance.store.journal.position)
        return next.value
      }
      this.#take(instance, next.value)
    }
  }

  async #watchFrom(revision: number, instance: WorldInstance, signal: AbortSignal): Promise<void> {
    this.#watch = new AbortController()
    if (signal.aborted) return
    for await (const batch of this.#log.watch(revision, this.#watch.signal)) {
      if (signal.aborted) return
      this.#take(instance, batch)
    }
  }

  #take(instance: WorldInstance, batch: Batch): void {
    this.#instances.take(instance, batch)
    this.#positions.reached(instance.store.journal.position)
  }
}

function isFinal(error: unknown): boolean {
  return [LogTrimmed, LogTooNew, EntryRefused, AnotherHistory].some(kind => error instanceof kind)
}
