// The pace of a backup. Even at a low priority, a process that copies many bytes makes those wait that write a few: their threads wait for
// a processor, and their syncs for those of the copy.

import { statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { activeName } from '../journal/segment-format.ts'

/** So that tests need not wait. */
export interface Time {
  /** Milliseconds since some moment. */
  now(): number
  sleep(ms: number): Promise<unknown>
}

/** Slows a backup down while the journal is written to, and only then. */
export class Pace {
  readonly #journal: string
  readonly #time: Time
  #journalTime: number | undefined
  #lastWrite = Number.NEGATIVE_INFINITY
  /** When the next bytes may be copied. */
  #due = Number.NEGATIVE_INFINITY

  constructor(folder: string, time: Time = { now: () => performance.now(), sleep }) {
    this.#journal = join(folder, activeName)
    this.#time = time
    this.#journalTime = this.#lastChange()
  }

  /** Waits until these bytes may be copied. */
  async keep(bytes: number): Promise<void> {
    const now = this.#time.now()
    if (!this.#isBusy(now)) return
    const start = Math.max(now, this.#due)
    this.#due = start + bytes / bytesPerMs
    if (start > now) await this.#time.sleep(start - now)
  }

  #isBusy(now: number): boolean {
    const time = this.#lastChange()
    if (time !== this.#journalTime) this.#lastWrite = now
    this.#journalTime = time
    return now - this.#lastWrite < busyMs
  }

  /** By the clock of the file system; undefined where there is no journal. */
  #lastChange(): number | undefined {
    return statSync(this.#journal, { throwIfNoEntry: false })?.mtimeMs
  }
}

/** How long after a write another one is expected. */
const busyMs = 20

/** The row of sends during a backup in the bench shows what this does: with more, sends wait. */
const bytesPerMs = 20_000
