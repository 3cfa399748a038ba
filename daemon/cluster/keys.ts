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

export interface Keys {
  /** Everything of one cluster. */
  readonly all: string
  /** What the cluster is; written once. */
  readonly cluster: string
  /** The newest position, and who moved it there. */
  readonly head: string
  /** Who leads; goes with the lease of the leader. */
  readonly leader: string
  /** One key for each member that lives, with its lease. */
  readonly members: string
  /** Batches of entries, by the position of the first. */
  readonly log: string
  /** Pieces of batches that are too large for one value; nobody reads them until a batch in the log names them. */
  readonly staged: string
}

export function keysOf(name: string): Keys {
  const all = `/natter/${name}/`
  return {
    all,
    cluster: `${all}cluster`,
    head: `${all}head`,
    leader: `${all}leader`,
    members: `${all}members/`,
    log: `${all}log/`,
    staged: `${all}staged/`,
  }
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
