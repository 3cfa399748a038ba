// The keys and values that a cluster keeps in etcd.

import type { Batch } from '../journal/replicated-journal.ts'
import { harmless } from '../local/harmless.ts'
import { jsonOr } from '../local/json.ts'
import { warn } from '../local/warnings.ts'

/** Increased when the form of entries changes or new kinds of facts are added: an older daemon must not read them. */
export const logFormat = 2

export class LogTooNew extends Error {
  constructor(format: unknown) {
    super(
      `the log has entries of format ${format}, this natterd knows ${logFormat}: a newer natterd leads the cluster. ` +
        'Upgrade this one and start it again',
    )
    this.name = 'LogTooNew'
  }
}

/** etcd no longer has the cluster. Nothing is written to it meanwhile. */
export class ClusterGone extends Error {
  constructor(all: string) {
    super(
      `etcd no longer has the cluster (${all}): its data was deleted, or it is another etcd. This daemon answers reads and refuses ` +
        'writes. Restore the data of etcd, or see "When etcd is lost" in docs/cluster.md',
    )
    this.name = 'ClusterGone'
  }
}

/** The log in etcd is not the one that this daemon has followed so far. */
export class AnotherHistory extends Error {
  constructor(
    what: string,
    advice = 'This daemon keeps what it has and stops. See "When etcd is lost" in docs/cluster.md',
  ) {
    super(`${what}. ${advice}`)
    this.name = 'AnotherHistory'
  }
}

/** A value in etcd that natterd did not write. */
export class Damaged extends Error {
  constructor(what: string) {
    super(`${what} in etcd is damaged: natterd did not write it. See "When etcd is lost" in docs/cluster.md`)
    this.name = 'Damaged'
  }
}

/** Keys below those of the cluster that natterd did not write. Each is reported once and ignored. */
export class ForeignKeys {
  readonly #reported = new Set<string>()

  report(key: string): void {
    if (this.#reported.has(key) || this.#reported.size === mostReported) return
    this.#reported.add(key)
    warn(
      `etcd has a key that natterd did not write: ${JSON.stringify(harmless(key.slice(0, 200)))}. It is ignored. Find out which program ` +
        'wrote it, and delete it with etcdctl del',
    )
  }
}

const mostReported = 100

/**
 * The format in the record of a cluster that was restored from a backup, whose other keys are below its ID. An older daemon,
 * which would look for them elsewhere, refuses it.
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
   * Uses the keys of this record from now on. A restored cluster has other keys than the one before it, so that daemons
   * of the old one cannot read or write them.
   */
  use({ id, previous }: ClusterRecord): void {
    this.#below = previous ? `${this.#all}${id}/` : this.#all
  }

  /** The prefix of all keys of this name. */
  get all(): string {
    return this.#all
  }

  /** The record of the cluster. Written when it begins, and when it is restored. */
  get cluster(): string {
    return `${this.#all}cluster`
  }

  /** The newest position, and the term of the leader that committed it. */
  get head(): string {
    return `${this.#below}head`
  }

  /** The leader; deleted when its lease ends. */
  get leader(): string {
    return `${this.#below}leader`
  }

  /** One key for each running member; deleted when its lease ends. */
  get members(): string {
    return `${this.#below}members/`
  }

  /** Batches of entries, by the position of the first. */
  get log(): string {
    return `${this.#below}log/`
  }

  /** Pieces of batches that are too large for one value; they are not read until a batch in the log names them. */
  get staged(): string {
    return `${this.#below}staged/`
  }
}

export function createKeys(name: string, record?: ClusterRecord): Keys {
  const keys = new Keys(name)
  if (record) keys.use(record)
  return keys
}

/** Keys in the order of their text are then in the order of their positions. */
export function pad(position: number): string {
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
  const { position, term } = parseObject(text)
  if (!isCount(position) || !isCount(term)) throw new Damaged('the head of the log')
  return { position, term }
}

/** An empty object for text that is not an object: its fields are then missing. */
function parseObject(text: string): Record<string, unknown> {
  return Object(jsonOr(text))
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

interface BatchHead {
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
  const { natter, format, first, last, term, pieces } = parseObject(text)
  if (natter !== 'log') throw new Damaged('an entry of the log')
  if (!(isCount(format) && format <= logFormat)) throw new LogTooNew(format)
  if (!isCount(first) || !isCount(last) || !isCount(term) || !(pieces === undefined || isCount(pieces)))
    throw new Damaged('an entry of the log')
  return { first, last, term, ...(pieces !== undefined && { pieces }) }
}

/** What the key `cluster` holds. */
export interface ClusterRecord {
  readonly id: string
  readonly format: number
  /** Shows whether a secret is the same, without helping to guess it. */
  readonly secretVerifier: string
  /** Set when it was restored from a backup: the IDs of what it was before, oldest first. Their folders are out of date. */
  readonly previous?: readonly string[]
}

/** Undefined for what natterd did not write. */
export function readRecord(text: string): ClusterRecord | undefined {
  const { id, format, secretVerifier, previous } = parseObject(text)
  if (typeof id !== 'string' || !isCount(format)) return undefined
  return { id, format, secretVerifier: String(secretVerifier), ...(Array.isArray(previous) && { previous }) }
}

/** What the key of a member holds. */
export interface Member {
  readonly id: string
  /** Its name in the status of the cluster. */
  readonly url: string
  /** Where the other daemons reach it; undefined in versions that had no address for that. */
  readonly peer: string | undefined
  readonly version: string
  /** The newest position it has applied, and the newest one on its disk. */
  readonly position: number
  readonly synced: number
  /** When it wrote this, in milliseconds since the epoch by its own clock. */
  readonly time: number
  /** Of its state at the last comparison; undefined before the first, and in versions that do not compare. */
  readonly digest?: Digest | undefined
}

/** A sum for each section of the state, as of a position. */
export interface Digest {
  readonly position: number
  readonly sums: Readonly<Record<string, string>>
}

export interface Leader {
  readonly id: string
  readonly url: string
  readonly peer: string | undefined
}

/** Undefined for what natterd did not write. */
export function readMember(text: string): Member | undefined {
  const { id, url, peer, version, position, synced, time, digest } = parseObject(text)
  if (
    !isNamed(id, url, peer) ||
    typeof version !== 'string' ||
    !isCount(position) ||
    !isCount(synced) ||
    !isCount(time)
  )
    return undefined
  const member = {
    id: id as string,
    url: url as string,
    peer: peer as string | undefined,
    version,
    position,
    synced,
    time,
  }
  return { ...member, digest: readDigest(digest) }
}

function readDigest(value: unknown): Digest | undefined {
  const { position, sums } = Object(value)
  return isCount(position) && typeof sums === 'object' && sums !== null ? { position, sums } : undefined
}

export function readLeader(text: string): Leader {
  const { id, url, peer } = parseObject(text)
  if (!isNamed(id, url, peer)) throw new Damaged('the leader of the cluster')
  return { id: id as string, url: url as string, peer: peer as string | undefined }
}

function isNamed(id: unknown, url: unknown, peer: unknown): boolean {
  const isAddress = typeof peer === 'string' && URL.canParse(peer) && /^https?:$/.test(new URL(peer).protocol)
  return typeof id === 'string' && typeof url === 'string' && (peer === undefined || isAddress)
}
