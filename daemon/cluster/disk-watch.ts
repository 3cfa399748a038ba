// Notices a disk that no longer answers: a daemon whose writes hang keeps its lease, and if it leads, all writes of the cluster wait for it.

import { setTimeout as sleep } from 'node:timers/promises'

/** Milliseconds. Far above what a busy disk takes. */
const hangsAfter = 30_000

/** Milliseconds that a report waits for the disk. */
const patience = 500

/** It is looked at this often until then, so that a process that was stopped meanwhile still gives the disk most of that time. */
const looks = 10

/** Settles as the work does, and calls `onHang` when that takes too long. */
export async function watchDisk<T>(work: Promise<T>, onHang: (error: Error) => void, ms = hangsAfter): Promise<T> {
  let left = looks
  const look = () => {
    if (--left === 0) onHang(new Error(`the disk of the store has not answered for ${ms / 1000} seconds`))
  }
  const timer = setInterval(look, ms / looks).unref()
  try {
    return await work
  } finally {
    clearInterval(timer)
  }
}

/** Puts the journal on the disk for the reports of a daemon. They go on while the disk hangs, as the daemon does until `onHang` ends it. */
export class DiskWatch {
  readonly #onHang: (error: Error) => void
  #syncing: Promise<number> | undefined
  #synced: number | undefined

  constructor(onHang: (error: Error) => void) {
    this.#onHang = onHang
  }

  /** The position up to which the journal is on the disk; if the disk takes long, that of the call before. */
  async sync(journal: { sync(): Promise<number> }): Promise<number> {
    this.#syncing ??= watchDisk(journal.sync(), this.#onHang).finally(() => {
      this.#syncing = undefined
    })
    const late = this.#synced === undefined ? [] : [sleep(patience, this.#synced)]
    this.#synced = await Promise.race([this.#syncing, ...late])
    return this.#synced
  }
}
