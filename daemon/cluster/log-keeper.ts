// Keeps the log in etcd short: the leader deletes batches that every live daemon, and at least two, have on their disks, and lets etcd delete
// values that were overwritten. A daemon that is away does not prevent it: it fetches a snapshot of another one when it is back.

import { warn } from '../local/warnings.ts'
import { EtcdUnreachable } from './etcd.ts'
import type { SharedLog, Term } from './log.ts'
import type { Membership, View } from './membership.ts'

/** Entries that stay although all daemons have them: a daemon that restarts finds what it missed. */
const keptEntries = 1000
/** Entries that a daemon may lag before the log is trimmed without waiting for it. */
const mostLag = 200_000
/**
 * Bytes in use in etcd's database, which has room for 2 GiB by default: from the first on no entries stay that all daemons have, or that a daemon
 * has that is alone, from the second on the log is trimmed without waiting for any daemon. Entries can be large, so that counting them is not enough.
 */
const [largeLog, hugeLog] = [256 * 1024 * 1024, 1024 * 1024 * 1024]
/** Milliseconds. */
const trimEvery = 5000

export interface LogSize {
  readonly batches: number
  /** Bytes of etcd's database. */
  readonly database: number
}

export class LogKeeper {
  readonly #log: SharedLog
  readonly #membership: Membership
  #at = Number.NEGATIVE_INFINITY
  /** The revision to compact at the next time: daemons that watch are past it by then. */
  #revision: number | undefined
  #trimmed = 0
  /** Bytes in use in etcd's database when it was last measured. */
  #used = 0
  #busy = false
  size: LogSize = { batches: 0, database: 0 }

  constructor(log: SharedLog, membership: Membership) {
    this.#log = log
    this.#membership = membership
  }

  /** To be called often; works every few seconds. Without a term it only measures the log. */
  keep(view: View, term: Term | undefined): void {
    if (this.#busy || performance.now() - this.#at < trimEvery) return
    this.#at = performance.now()
    this.#busy = true
    this.#keep(view, term)
      .catch(error => {
        // The daemon reports by itself that etcd does not answer, and that it answers again.
        if (!(error instanceof EtcdUnreachable))
          warn(`the log in etcd could not be trimmed or measured: ${error.message}`)
      })
      .finally(() => {
        this.#busy = false
      })
  }

  async #keep(view: View, term: Term | undefined): Promise<void> {
    if (term) {
      const upTo = positionToTrim(view, this.#used)
      if (upTo > this.#trimmed) {
        await this.#log.trim(term, upTo)
        this.#trimmed = upTo
      }
      if (this.#revision !== undefined) await this.#membership.compact(this.#revision)
      this.#revision = view.revision
    }
    const { size, used } = await this.#membership.databaseSize()
    this.#used = used
    this.size = { batches: await this.#log.size(), database: size }
  }
}

/** The position up to which the log is not needed. `used`: bytes in use in etcd's database. */
export function positionToTrim({ head, members }: Pick<View, 'head' | 'members'>, used: number): number {
  const kept = used < largeLog ? keptEntries : 0
  const lag = used < hugeLog ? mostLag : 0
  const synced = members.map(member => member.synced)
  const [newest = 0, second = 0] = synced.toSorted((a, b) => b - a)
  // What one daemon alone has on its disk would be lost with that disk. Where there is no room, one disk is enough, but not none.
  const safe = used < largeLog ? second : newest
  return Math.min(head.position - kept, safe, ...synced.filter(position => position > head.position - lag))
}
