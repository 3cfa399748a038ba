// The room that files beside the store may take on the disk. The rest is for the journal and the next snapshot: a daemon that cannot
// write them ends.

import { statfs } from 'node:fs/promises'

/** Bytes that are taken before the disk is asked again. */
const step = 4 * 1024 * 1024
/** What stays free besides the room for another journal and another snapshot: a part of the disk, up to this many bytes. */
const reservedPart = 1 / 10
const mostReserved = 256 * 1024 * 1024

export class DiskRoom {
  readonly #folder: string
  readonly #storeBytes: () => number
  /** What can be taken before the disk is asked again. */
  #left = 0
  #asking: Promise<number> | undefined

  /** `storeBytes`: bytes of the journal and the snapshot. */
  constructor(folder: string, storeBytes: () => number) {
    this.#folder = folder
    this.#storeBytes = storeBytes
  }

  /** To be called before bytes are written to the folder. Throws ENOSPC when there is no room for them. */
  async take(bytes: number): Promise<void> {
    // All that ask at a time share an answer, and what it leaves. Each call ends after an answer of its own at the latest.
    while (bytes > this.#left) {
      this.#asking ??= this.#ask(bytes).finally(() => {
        this.#asking = undefined
      })
      if (bytes > (await this.#asking)) throw full()
    }
    this.#left -= bytes
  }

  async #ask(bytes: number): Promise<number> {
    const { bavail, blocks, bsize } = await statfs(this.#folder)
    const reserved = Math.min(blocks * bsize * reservedPart, mostReserved) + this.#storeBytes()
    // Some file systems do not tell their size.
    const room = blocks === 0 ? Number.POSITIVE_INFINITY : bavail * bsize - reserved
    this.#left = Math.min(room, step + bytes)
    return room
  }
}

function full(): Error {
  const message = 'ENOSPC: what is left on the disk is kept for the journal and the next snapshot'
  const error: NodeJS.ErrnoException = new Error(message)
  error.code = 'ENOSPC'
  return error
}
