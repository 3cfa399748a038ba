// A hold on a store: while a backup has one, the daemon deletes no upload. It is a small file that its owner touches every second; no
// process IDs and no clocks are compared, since the two can run in different containers.

import { existsSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { monotonicMs } from '../local/monotonic.ts'
import { runningFileName } from '../local/ready-file.ts'

/** How often the owner touches the file. */
const touchMs = 1000
/** A file that was not touched for so long was left by a process that was killed. */
const stalledMs = 30_000

export class StoreHold {
  readonly #path: string
  readonly #touching: NodeJS.Timeout
  readonly #remove = () => rmSync(this.#path, { force: true })

  /** Undefined where the folder cannot be written to. */
  static take(folder: string): StoreHold | undefined {
    const path = join(folder, `hold-${crypto.randomUUID()}`)
    try {
      // Empty, because a text would not fit on a full disk.
      writeFileSync(path, '', { flag: 'wx', mode: 0o600 })
    } catch {
      return undefined
    }
    return new StoreHold(path)
  }

  /** For reading alone: nothing is written to a folder that no daemon uses. */
  static takeBesideDaemon(folder: string): StoreHold | undefined {
    return existsSync(join(folder, runningFileName)) ? StoreHold.take(folder) : undefined
  }

  private constructor(path: string) {
    this.#path = path
    this.#touching = setInterval(() => this.#touch(), touchMs).unref()
    // A signal that ends a backup ends its process, too. Where no daemon runs, nothing else would remove the file.
    process.once('exit', this.#remove)
  }

  /** False when the daemon took its owner for dead: the process was stopped, or its machine was. */
  get lasts(): boolean {
    return existsSync(this.#path)
  }

  release(): void {
    clearInterval(this.#touching)
    process.off('exit', this.#remove)
    this.#remove()
  }

  #touch(): void {
    try {
      const now = new Date()
      utimesSync(this.#path, now, now)
    } catch {
      // It is gone, which `lasts` tells, or the disk is in trouble, which whatever reads it notices.
    }
  }
}

/** The holds on the folder of a daemon. */
export class StoreHolds {
  readonly #folder: string
  readonly #now: () => number
  /** When each was last touched, and since when this has been known. */
  readonly #known = new Map<string, { readonly touched: number; readonly since: number }>()

  constructor(folder: string, now = () => monotonicMs()) {
    this.#folder = folder
    this.#now = now
  }

  /** Whether a backup holds the store. A hold that was not touched for a while between two calls is removed: its owner was killed. */
  any(): boolean {
    const names = readdirSync(this.#folder).filter(name => /^hold-[0-9a-f-]{36}$/.test(name))
    for (const name of this.#known.keys()) if (!names.includes(name)) this.#known.delete(name)
    // Not some(): every hold must be looked at.
    return names.filter(name => this.#isLive(name)).length > 0
  }

  #isLive(name: string): boolean {
    const path = join(this.#folder, name)
    const touched = statSync(path, { throwIfNoEntry: false })?.mtimeMs
    if (touched === undefined) return false
    const known = this.#known.get(name)
    if (known?.touched !== touched) this.#known.set(name, { touched, since: this.#now() })
    else if (this.#now() - known.since > stalledMs) {
      rmSync(path, { force: true })
      return false
    }
    return true
  }
}
