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
  constructor(prefix: string) {
    super(
      `etcd no longer has the cluster (${prefix}): its data was deleted, or it is another etcd. This daemon answers reads and refuses ` +
        'writes. Restore the data of etcd, or see "When etcd is lost" in docs/cluster.md',
    )
    this.name = 'ClusterGone'
  }
}

/** Said by a daemon that cannot know whether others have the cluster: etcd may have been emptied. */
export function foundsEmpty(name: string): string {
  return (
    `etcd had no cluster '${name}', so this daemon founds it with an empty organization. If there was one, stop this daemon: ` +
    'see "When etcd is lost" in docs/cluster.md'
  )
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

/** Keys under the prefix of the cluster that natterd did not write. Each is reported once and ignored. */
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

/** The keys of one cluster. */
export class Keys {
  /** Of all clusters that have had this name. */
  readonly namePrefix: string
  #clusterPrefix: string

  constructor(name: string, record?: ClusterRecord) {
    this.namePrefix = `/natter/${name}/`
    this.#clusterPrefix = this.namePrefix
    if (record) this.use(record)
  }

  /**
   * Uses the keys of this record from now on. A restored cluster has other keys than the one before it, so that daemons
   * of the old one cannot read or write them.
   */
  use({ id, previous }: ClusterRecord): void {
    this.#clusterPrefix = previous ? `${this.namePrefix}${id}/` : this.namePrefix
  }

  /** The record of the cluster. Written when it begins, and when it is restored. */
  get cluster(): string {
    return `${this.namePrefix}cluster`
  }

  /** The newest position, and the term of the leader that committed it. */
  get head(): string {
    return `${this.#clusterPrefix}head`
  }

  /** The leader; deleted when its lease ends. */
  get leader(): string {
    return `${this.#clusterPrefix}leader`
  }

  /** One key for each running member; deleted when its lease ends. */
  get members(): string {
    return `${this.#clusterPrefix}members/`
  }

  /** Batches of entries, by the position of the first. */
  get log(): string {
    return `${this.#clusterPrefix}log/`
  }

  /** Pieces of batches that are too large for one value; they are not read until a batch in the log names them. */
  get staged(): string {
    return `${this.#clusterPrefix}staged/`
  }
}

/** Padded, so that keys sorted as text are sorted by position. */
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
  /** Set when it was restored from a backup: IDs of the clusters that it replaced, oldest first. Folders with these IDs are out of date. */
  readonly previous?: readonly string[]
}

/** Undefined for what natterd did not write. */
export function readRecord(text: string): ClusterRecord | undefined {
  const { id, format, secretVerifier, previous } = parseObject(text)
  if (typeof id !== 'string' || !isCount(format)) return undefined
  return { id, format, secretVerifier: String(secretVerifier), ...(Array.isArray(previous) && { previous }) }
}

/** What the key of the leader holds. */
export interface Leader {
  readonly id: string
  /** Its name in the status of the cluster. */
  readonly url: string
  /** Where the other daemons reach it; undefined in versions that had no address for that. */
  readonly peer: string | undefined
}

/** What the key of a member holds. */
export interface Member extends Leader {
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

/** Undefined for what natterd did not write. */
export function readMember(text: string): Member | undefined {
  const parsed = parseObject(text)
  const { version, position, synced, time, digest } = parsed
  const addresses = readAddresses(parsed)
  if (!addresses || typeof version !== 'string' || !isCount(position) || !isCount(synced) || !isCount(time))
    return undefined
  return { ...addresses, version, position, synced, time, digest: readDigest(digest) }
}

function readDigest(value: unknown): Digest | undefined {
  const { position, sums } = Object(value)
  return isCount(position) && typeof sums === 'object' && sums !== null ? { position, sums } : undefined
}

export function readLeader(text: string): Leader {
  const leader = readAddresses(parseObject(text))
  if (!leader) throw new Damaged('the leader of the cluster')
  return leader
}

function readAddresses({ id, url, peer }: Record<string, unknown>): Leader | undefined {
  if (typeof id !== 'string' || typeof url !== 'string') return undefined
  if (peer === undefined) return { id, url, peer }
  return typeof peer === 'string' && URL.canParse(peer) && /^https?:$/.test(new URL(peer).protocol)
    ? { id, url, peer }
    : undefined
}
