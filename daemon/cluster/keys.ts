// What a cluster keeps in etcd, under which key, and in which form.

import type { Batch } from '../journal/replicated-journal.ts'

/** Grows when entries of the log change, new kinds of facts included: an older daemon must not guess what they mean. */
export const logFormat = 1

export class LogTooNew extends Error {
  constructor(format: unknown) {
    super(
      `the log has entries of format ${format}, this natterd knows ${logFormat}: a newer natterd leads the cluster. ` +
        'Upgrade this one and start it again',
    )
    this.name = 'LogTooNew'
  }
}

/**
 * What the record of a cluster may say: 2 for one that was restored from a backup, whose other keys are below its ID. An older
 * daemon, which would look for them elsewhere, refuses it.
 */
export const restoredFormat = 2

/** The keys of one cluster. */
export class Keys {
  readonly #all: string
  #below: string

  constructor(name: string) {
    this.#all = `/natter/${name}/`
    this.#below = this.#all
  }

  /**
   * The keys are those of this record from now on. Those of a cluster that was restored are apart from those of before, so that
   * no daemon of before can read or write them, whatever it believes.
   */
  use({ id, previous }: ClusterRecord): void {
    this.#below = previous ? `${this.#all}${id}/` : this.#all
  }

  /** What the cluster is. Written when it begins, and when it is restored. */
  get cluster(): string {
    return `${this.#all}cluster`
  }

  /** The newest position, and who moved it there. */
  get head(): string {
    return `${this.#below}head`
  }

  /** Who leads; goes with the lease of the leader. */
  get leader(): string {
    return `${this.#below}leader`
  }

  /** One key for each member that lives, with its lease. */
  get members(): string {
    return `${this.#below}members/`
  }

  /** Batches of entries, by the position of the first. */
  get log(): string {
    return `${this.#below}log/`
  }

  /** Pieces of batches that are too large for one value; nobody reads them until a batch in the log names them. */
  get staged(): string {
    return `${this.#below}staged/`
  }
}

export function keysOf(name: string, record?: ClusterRecord): Keys {
  const keys = new Keys(name)
  if (record) keys.use(record)
  return keys
}

/** So that keys have the order of their positions. */
export function padded(position: number): string {
  return String(position).padStart(16, '0')
}

export interface Head {
  readonly position: number
  /** The revision at which its leader was elected: two leaders never have the same. */
  readonly term: number
}

export function headText({ position, term }: Head): string {
  return `{"position":${position},"term":${term}}`
}

export function readHead(text: string): Head {
  const { position, term } = Object(JSON.parse(text))
  if (!Number.isSafeInteger(position) || !Number.isSafeInteger(term)) throw new Error('the head of the log is damaged')
  return { position, term }
}

export interface BatchHead {
  readonly first: number
  readonly last: number
  readonly term: number
  /** How many pieces it was cut into; absent: its lines follow. */
  readonly pieces?: number
}

export function batchHead(batch: Batch, term: number, pieces?: number): string {
  const more = pieces === undefined ? '' : `,"pieces":${pieces}`
  return `{"natter":"log","format":${logFormat},"first":${batch.first},"last":${batch.last},"term":${term}${more}}\n`
}

export function readBatchHead(text: string): BatchHead {
  const { natter, format, first, last, term, pieces } = Object(JSON.parse(text))
  if (natter !== 'log') throw new Error('the log in etcd holds something that natterd did not write')
  // Older ones are read as they are, so that daemons can be upgraded one after the other.
  if (!(format <= logFormat)) throw new LogTooNew(format)
  return { first, last, term, ...(pieces !== undefined && { pieces }) }
}

/** What the key `cluster` holds. */
export interface ClusterRecord {
  readonly id: string
  readonly format: number
  /** Enough to notice another secret, not enough to guess one. */
  readonly secretVerifier: string
  /** Set when it was restored from a backup: the IDs of what it was before, oldest first. Their folders are out of date. */
  readonly previous?: readonly string[]
}

/** What the key of a member holds. */
export interface Member {
  readonly id: string
  /** Where the other daemons reach it. */
  readonly url: string
  readonly version: string
  /** The newest position it has applied, and the newest one on its disk. */
  readonly position: number
  readonly synced: number
  /** Milliseconds since the epoch by its clock, when it said so. */
  readonly time: number
}

export interface Leader {
  readonly id: string
  readonly url: string
}
