// Recordings: every call with what was sent and what was answered, as lines of JSON, while a client reads them. Secrets are hidden.

import type { Static, Upload } from '../api/define.ts'
import { maskJson } from '../api/masking.ts'
import type { call } from '../api/shapes/control.ts'
import { Refusal } from '../domain/refusal.ts'
import { jsonOr } from '../local/json.ts'
import { maskField } from './kept.ts'

/** What the lines of a recording look like; a reader refuses others. */
const recordingFormat = 1

/** Recordings at the same time, each of which can have so much waiting. */
const mostReaders = 10

/** Characters that may wait for a slow reader. */
const mostWaiting = 64 * 1024 * 1024

type Call = Static<typeof call>

interface Reader {
  lines: string[]
  waiting: number
  calls: number
  over: boolean
  /** Whether it ended because its reader was too slow. */
  lagged: boolean
  wake: () => void
}

export class Recordings {
  readonly #readers = new Set<Reader>()
  readonly #sent = new WeakMap<Call, Readonly<Record<string, unknown>>>()

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
    this.#sent.set(call, Object.fromEntries([...sent].map(([name, value]) => [name, maskField(name, value)])))
  }

  /** A call was answered, or its client went away: then there is no body. */
  end(call: Call, body: string | undefined): void {
    if (!this.isActive) return
    const { id, time, method, path, user_agent, endpoint, user, status, duration_ms, fault, lost } = call
    const sent = this.#sent.get(call) ?? call.sent
    const about = { call: id, time, duration_ms, user, user_agent, method, path, endpoint, sent, status }
    const line = JSON.stringify({ ...about, ...(fault && { fault }), ...(lost && { lost }), answer: answerIn(body) })
    for (const reader of this.#readers) this.#add(reader, line)
  }

  /** Lines from now on, until the recording is ended or its reader goes away. */
  async *read(head: object): AsyncGenerator<string> {
    const reader: Reader = { lines: [], waiting: 0, calls: 0, over: false, lagged: false, wake: () => {} }
    this.#readers.add(reader)
    try {
      yield `${JSON.stringify({ natter_recording: recordingFormat, ...head })}\n`
      while (reader.lines.length > 0 || !reader.over) {
        const { lines } = reader
        reader.lines = []
        reader.waiting = 0
        if (lines.length > 0) yield `${lines.join('\n')}\n`
        else
          await new Promise<void>(resolve => {
            reader.wake = resolve
          })
      }
      yield `${JSON.stringify(reader.lagged ? { cut: reader.calls } : { end: reader.calls })}\n`
    } finally {
      this.#readers.delete(reader)
    }
  }

  /** Every recording gets its last line. Returns how many there were. */
  stop(): number {
    const { size } = this.#readers
    for (const reader of this.#readers) this.#finish(reader)
    return size
  }

  #add(reader: Reader, line: string): void {
    if (reader.over) return
    reader.waiting += line.length
    // It ends early, with a last line that says so, instead of filling the memory.
    if (reader.waiting > mostWaiting) {
      reader.over = true
      reader.lagged = true
    } else {
      reader.lines.push(line)
      reader.calls++
    }
    reader.wake()
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
