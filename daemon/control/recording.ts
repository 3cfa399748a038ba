// Recordings: every call with what was sent and what was answered, as lines of JSON, while a client reads them. Secrets are hidden.

import type { Static, Upload } from '../api/define.ts'
import { maskJson } from '../api/masking.ts'
import type { call } from '../api/shapes/control.ts'
import { Refusal } from '../domain/refusal.ts'
import { jsonOr } from '../local/json.ts'
import { maskField } from './kept.ts'

/** What the lines of a recording look like; a reader refuses others. */
const recordingFormat = 1

/** Recordings at the same time. */
const mostReaders = 10

/** Bytes that may wait for slow readers, in all recordings together; and characters of calls in progress. */
const mostWaiting = 64 * 1024 * 1024

/** Bytes that are given to a reader at once: what is on its way is held as well. */
const pieceSize = 256 * 1024

type Call = Static<typeof call>

interface Sent {
  readonly fields: Readonly<Record<string, unknown>>
  readonly size: number
}

interface Reader {
  /** In UTF-8: a text with one wide character takes two bytes for each. */
  readonly lines: Buffer[]
  /** Bytes of the lines. */
  waiting: number
  calls: number
  over: boolean
  /** Whether it ended because its reader was too slow. */
  lagged: boolean
  wake: () => void
}

export class Recordings {
  readonly #readers = new Set<Reader>()
  readonly #sent = new WeakMap<Call, Sent>()
  #waiting = 0
  #sentSize = 0
  #hasEnded = false

  get isActive(): boolean {
    return this.#readers.size > 0
  }

  mustHaveRoom(): void {
    if (this.#readers.size < mostReaders) return
    const msg = `There are already ${mostReaders} recordings. End them with natter recording end.`
    throw new Refusal(msg, { kind: 'conflict' })
  }

  /** A call has arrived. */
  know(call: Call, sent: Iterable<readonly [string, string | Upload]>): void {
    if (!this.isActive) return
    let size = 0
    const masked: [string, unknown][] = []
    for (const [name, value] of sent) {
      size += name.length + (typeof value === 'string' ? value.length : 0)
      masked.push([name, maskField(name, value)])
    }
    // The recording gets what the log of calls has, which is cut.
    if (this.#sentSize + size > mostWaiting) return
    this.#sentSize += size
    this.#sent.set(call, { fields: Object.fromEntries(masked), size })
  }

  /** A call was answered, or its client went away: then there is no body. */
  end(call: Call, body: string | undefined): void {
    const sent = this.#takeSent(call)
    if (!this.isActive) return
    const { id, time, method, path, user_agent, endpoint, user, status, duration_ms, fault, lost } = call
    const about = { call: id, time, duration_ms, user, user_agent, method, path, endpoint, sent, status }
    const line = JSON.stringify({ ...about, ...(fault && { fault }), ...(lost && { lost }), answer: answerIn(body) })
    const bytes = Buffer.from(`${line}\n`)
    for (const reader of this.#readers) this.#add(reader, bytes)
    this.#cut()
  }

  /** Lines from now on, until the recording is ended or its reader goes away. */
  async *read(head: object): AsyncGenerator<string | Buffer> {
    // A call can wait for its turn until its world has ended.
    const reader: Reader = { lines: [], waiting: 0, calls: 0, over: this.#hasEnded, lagged: false, wake: () => {} }
    this.#readers.add(reader)
    try {
      yield `${JSON.stringify({ natter_recording: recordingFormat, ...head })}\n`
      while (reader.lines.length > 0 || !reader.over) {
        const bytes = this.#takeLines(reader)
        for (let at = 0; at < bytes.length; at += pieceSize) yield bytes.subarray(at, at + pieceSize)
        if (bytes.length === 0 && !reader.over)
          await new Promise<void>(resolve => {
            reader.wake = resolve
          })
      }
      yield `${JSON.stringify(reader.lagged ? { cut: reader.calls } : { end: reader.calls })}\n`
    } finally {
      this.#readers.delete(reader)
      this.#waiting -= reader.waiting
    }
  }

  /** Every recording gets its last line. Returns how many there were. */
  stop(): number {
    const { size } = this.#readers
    for (const reader of this.#readers) this.#finish(reader)
    return size
  }

  /** The same for those that begin later: the world ends. */
  close(): void {
    this.#hasEnded = true
    this.stop()
  }

  /** As the call was sent, and forgets it: the log keeps the call for long. */
  #takeSent(call: Call): Call['sent'] {
    const sent = this.#sent.get(call)
    if (!sent) return call.sent
    this.#sent.delete(call)
    this.#sentSize -= sent.size
    return sent.fields
  }

  #add(reader: Reader, line: Buffer): void {
    if (reader.over) return
    reader.lines.push(line)
    reader.calls++
    this.#count(reader, line.length)
    reader.wake()
  }

  /** The slowest reader ends early, with a last line that says so, instead of filling the memory. */
  #cut(): void {
    while (this.#waiting > mostWaiting) {
      const slowest = [...this.#readers].reduce((one, other) => (other.waiting > one.waiting ? other : one))
      this.#count(slowest, -slowest.lines.pop()!.length)
      slowest.calls--
      slowest.lagged = true
      this.#finish(slowest)
    }
  }

  /** As many as make a piece, but at least one. */
  #takeLines(reader: Reader): Buffer {
    let count = 0
    let size = 0
    while (count < reader.lines.length && size < pieceSize) size += reader.lines[count++]!.length
    this.#count(reader, -size)
    return Buffer.concat(reader.lines.splice(0, count))
  }

  #count(reader: Reader, bytes: number): void {
    reader.waiting += bytes
    this.#waiting += bytes
  }

  #finish(reader: Reader): void {
    reader.over = true
    reader.wake()
  }
}

/** JSON where it is JSON, so that a recording can be read and compared. */
function answerIn(body: string | undefined): unknown {
  if (body === undefined) return null
  const text = maskJson(body)
  return jsonOr(text, text)
}
