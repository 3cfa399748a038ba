// The shared log in etcd: batches of entries, and the head that says how far they go. A batch and the move of the head
// are one transaction, which only the leader can make: it compares the head and the leader's key.

import type { Batch } from '../journal/replicated-journal.ts'
import { decodeText, type Etcd, EtcdUnreachable, encodeText, rangeEnd } from './etcd.ts'
import {
  batchHead,
  ClusterGone,
  Damaged,
  ForeignKeys,
  type Head,
  headText,
  type Keys,
  pad,
  readBatchHead,
  readHead,
} from './keys.ts'

/** The log no longer has these entries. They are in the snapshots of the daemons. */
export class LogTrimmed extends Error {
  constructor(after: number) {
    super(`the log in etcd no longer has the entries after position ${after}`)
    this.name = 'LogTrimmed'
  }
}

/** Another daemon leads by now. */
export class Deposed extends Error {
  override readonly name = 'Deposed'
}

/** Bytes of one value: with what is around it, a transaction stays below the 1.5 MiB that etcd takes. */
const valueBytes = 1024 * 1024
/** Batches that are read at once, unless that takes too long. */
const pageSize = 32

export interface Term {
  readonly number: number
  /** The head as the leader found it or left it. */
  head: Head
  /** Ends the attempts to commit: the lease is over. */
  readonly signal: AbortSignal
}

/** A key that was written, as a watch reports it. */
interface WatchedPair {
  readonly key: string
  readonly value: string
  readonly mod_revision: string
}

export class SharedLog {
  readonly #etcd: Etcd
  readonly #keys: Keys
  readonly #foreign = new ForeignKeys()

  constructor(etcd: Etcd, keys: Keys) {
    this.#etcd = etcd
    this.#keys = keys
  }

  async head(): Promise<Head> {
    const { kvs } = await this.#etcd.call('/v3/kv/range', { key: encodeText(this.#keys.head) })
    if (!kvs) throw new ClusterGone(this.#keys.namePrefix)
    return readHead(decodeText(kvs[0].value))
  }

  /**
   * The batches with what comes after the position, oldest first. Returns the revision of etcd up to which it has read:
   * everything later comes by `watch`.
   */
  async *read(after: number): AsyncGenerator<Batch, number> {
    const { log } = this.#keys
    let head = await this.head()
    // A crash may have cut a batch: the first one may begin before the position.
    const at = await this.#etcd.call('/v3/kv/range', {
      key: encodeText(log),
      range_end: encodeText(`${log}${pad(after + 2)}`),
      sort_order: 'DESCEND',
      sort_target: 'KEY',
      limit: 1,
      keys_only: true,
    })
    let from: string = at.kvs ? decodeText(at.kvs[0].key) : `${log}${pad(after + 1)}`
    let position = after
    let isFirst = true
    let limit = pageSize
    for (;;) {
      const range = { key: encodeText(from), range_end: encodeText(rangeEnd(log)) }
      let page: any
      try {
        page = await this.#etcd.call('/v3/kv/range', { ...range, sort_order: 'ASCEND', sort_target: 'KEY', limit })
      } catch (error) {
        if (!(error instanceof EtcdUnreachable) || limit === 1) throw error
        // Large batches over a slow connection. One of them is small enough.
        limit = 1
        continue
      }
      for (const { key, value } of page.kvs ?? []) {
        from = decodeText(key)
        const first = this.#positionIn(from)
        // The leader may have gone on since the head was read.
        if (first > head.position) head = await this.head()
        // Batches follow each other without a gap and end at the head.
        if (!(first <= head.position) || (first <= position && !isFirst)) {
          this.#foreign.report(from)
          continue
        }
        if (first > position + 1) throw new LogTrimmed(position)
        const batch = await this.#open(first, value, head)
        isFirst = false
        position = Math.max(position, batch.last)
        if (batch.last > after) yield batch
      }
      if (!page.more) {
        if (head.position > position) throw new LogTrimmed(position)
        return Number(page.header.revision)
      }
      from += '\0'
    }
  }

  /** The batches that begin at the position or before it, newest first, without those that natterd did not write. */
  async *readBack(position: number, head: Head): AsyncGenerator<Batch> {
    const { log } = this.#keys
    let end = `${log}${pad(position + 1)}`
    for (;;) {
      const { kvs } = await this.#etcd.call('/v3/kv/range', {
        key: encodeText(log),
        range_end: encodeText(end),
        sort_order: 'DESCEND',
        sort_target: 'KEY',
        limit: 1,
      })
      if (!kvs) return
      end = decodeText(kvs[0].key)
      try {
        yield await this.#open(this.#positionIn(end), kvs[0].value, head)
      } catch (error) {
        if (error instanceof LogTrimmed) return
        if (!(error instanceof Damaged)) throw error
      }
    }
  }

  /**
   * Batches as they are committed. Throws when the connection ends, or when etcd no longer has that revision. The head is watched too,
   * and with it the key of the leader between the two: a batch that was put there without moving the head was not committed.
   */
  async *watch(after: number, signal: AbortSignal): AsyncGenerator<Batch> {
    const { head, log } = this.#keys
    const create_request = {
      key: encodeText(head),
      range_end: encodeText(rangeEnd(log)),
      start_revision: after + 1,
      filters: ['NODELETE'],
    }
    for await (const answer of this.#etcd.stream('/v3/watch', { create_request }, signal)) {
      if (answer.canceled) throw new Error(`etcd ended the watch: ${answer.cancel_reason ?? 'compacted'}`)
      // What a transaction has changed comes in one answer.
      const heads = new Map<string, Head>()
      const pairs: WatchedPair[] = (answer.events ?? []).map((event: { kv: WatchedPair }) => event.kv)
      for (const { key, value, mod_revision } of pairs)
        if (decodeText(key) === head) heads.set(mod_revision, readHead(decodeText(value)))
      for (const { key, value, mod_revision } of pairs) {
        const name = decodeText(key)
        const moved = heads.get(mod_revision)
        if (name.startsWith(log) && moved) yield await this.#open(this.#positionIn(name), value, moved)
        else if (name.startsWith(log)) this.#foreign.report(name)
      }
    }
  }

  /** Resolves when the batch is committed. Throws when it is known that it never will be. */
  async commit(term: Term, batch: Batch): Promise<void> {
    const { head, log } = this.#keys
    const next = { position: batch.last, term: term.number }
    const value = await this.#stage(term, batch)
    const transaction = {
      compare: [this.#leads(term), { target: 'VALUE', key: encodeText(head), value: encodeText(headText(term.head)) }],
      success: [
        { request_put: { key: encodeText(`${log}${pad(batch.first)}`), value } },
        { request_put: { key: encodeText(head), value: encodeText(headText(next)) } },
      ],
      failure: [{ request_range: { key: encodeText(head) } }],
    }
    const answer = await this.#insist(term, transaction)
    const found = answer.responses?.[0]?.response_range?.kvs?.[0]?.value
    // An attempt that was not answered may have been carried out: then the head is ours.
    if (!answer.succeeded && decodeText(found) !== headText(next)) throw new Deposed('another daemon leads the cluster')
    term.head = next
  }

  /** Deletes batches that hold nothing after the position; at least the newest stays. */
  async trim(term: Term, upTo: number): Promise<void> {
    const { log, staged } = this.#keys
    const { kvs } = await this.#etcd.call('/v3/kv/range', {
      key: encodeText(log),
      range_end: encodeText(`${log}${pad(upTo + 2)}`),
      sort_order: 'DESCEND',
      sort_target: 'KEY',
      limit: 1,
      keys_only: true,
    })
    if (!kvs) return
    const first = decodeText(kvs[0].key).slice(log.length)
    const below = (prefix: string) => ({
      request_delete_range: { key: encodeText(prefix), range_end: encodeText(`${prefix}${first}`) },
    })
    await this.#etcd.call('/v3/kv/txn', { compare: [this.#leads(term)], success: [below(log), below(staged)] })
  }

  /**
   * Deletes what leaders before this one staged and never committed. An attempt that was not answered may be carried out late, when this
   * leader has staged something: its own pieces are left out.
   */
  async dropStaged(term: Term): Promise<void> {
    const { staged } = this.#keys
    const own = this.#pieces(term.head.position + 1, term.number)
    const between = (from: string, to: string) => ({
      request_delete_range: { key: encodeText(from), range_end: encodeText(to) },
    })
    const next = `${staged}${pad(term.head.position + 1)}-`
    const success = [between(next, own), between(rangeEnd(own), rangeEnd(next))]
    await this.#etcd.call('/v3/kv/txn', { compare: [this.#leads(term)], success })
  }

  /** How many batches the log holds. */
  async size(): Promise<number> {
    const { log } = this.#keys
    const { count = 0 } = await this.#etcd.call('/v3/kv/range', {
      key: encodeText(log),
      range_end: encodeText(rangeEnd(log)),
      count_only: true,
    })
    return Number(count)
  }

  #leads(term: Term): object {
    return { target: 'CREATE', key: encodeText(this.#keys.leader), create_revision: term.number }
  }

  /** The value of the batch. The lines of a large one are first put under keys of their own, which the value refers to. */
  async #stage(term: Term, batch: Batch): Promise<string> {
    const whole = Buffer.from(batchHead(batch, term.number) + batch.lines)
    if (whole.length <= valueBytes) return whole.toString('base64')
    const lines = Buffer.from(batch.lines)
    const pieces = Math.ceil(lines.length / valueBytes)
    for (let piece = 0; piece < pieces; piece++) {
      const value = lines.toString('base64', piece * valueBytes, (piece + 1) * valueBytes)
      const put = { request_put: { key: encodeText(this.#pieceKey(batch.first, term.number, piece)), value } }
      const answer = await this.#insist(term, { compare: [this.#leads(term)], success: [put] })
      if (!answer.succeeded) throw new Deposed('another daemon leads the cluster')
    }
    return encodeText(batchHead(batch, term.number, pieces))
  }

  /** The position in the key of a batch; not a number for other keys. */
  #positionIn(key: string): number {
    const name = key.slice(this.#keys.log.length)
    return /^\d{16}$/.test(name) ? Number(name) : Number.NaN
  }

  /** `at` is the position in its key. Throws if it is not what a leader of the head, or one before it, has put there. */
  async #open(at: number, value: string, head: Head): Promise<Batch> {
    const text = decodeText(value)
    const end = text.indexOf('\n') + 1
    const { first, last, term, pieces } = readBatchHead(text.slice(0, end))
    if (first !== at || last < first || last > head.position || term > head.term)
      throw new Damaged(`the entry of the log at position ${at}`)
    if (pieces === undefined) return { first, last, lines: text.slice(end) }
    const parts: Buffer[] = []
    for (let piece = 0; piece < pieces; piece++) {
      const key = encodeText(this.#pieceKey(first, term, piece))
      const { kvs } = await this.#etcd.call('/v3/kv/range', { key })
      // Trimmed meanwhile.
      if (!kvs) throw new LogTrimmed(first - 1)
      parts.push(Buffer.from(kvs[0].value, 'base64'))
    }
    return { first, last, lines: Buffer.concat(parts).toString() }
  }

  #pieceKey(first: number, term: number, piece: number): string {
    return `${this.#pieces(first, term)}${String(piece).padStart(6, '0')}`
  }

  /** The beginning of the keys of its pieces. */
  #pieces(first: number, term: number): string {
    return `${this.#keys.staged}${pad(first)}-${term}/`
  }

  /** Repeats a transaction until etcd answers. Its comparisons fail once it was carried out, so it takes effect once. */
  async #insist({ signal }: Term, transaction: Record<string, unknown>): Promise<any> {
    for (;;) {
      if (signal.aborted) throw new Deposed('the lease of this daemon has ended')
      try {
        return await this.#etcd.call('/v3/kv/txn', transaction, { signal })
      } catch (error) {
        if (!(error instanceof EtcdUnreachable)) throw error
      }
    }
  }
}
