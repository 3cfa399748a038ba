// A digest of the state: a sum for each section, equal at all daemons that have applied the same entries. It covers only what facts
// determine: not event queues (each daemon drops signals that were read there), presence, and names of local files.

import { createHash } from 'node:crypto'
import type { State } from '../domain/model/state.ts'

/** By the name of the section. */
export type Sums = Readonly<Record<string, string>>

/** Two numbers of 48 bits. */
type Sum = readonly [number, number]

/** Changed by signals, which are sent outside of the log. */
const outsideTheLog = ['presence']
/** Milliseconds of work between two turns of the loop. */
const sliceTime = 4

interface Holding {
  readonly secretVerifier: string | undefined
  readonly restoreId: string | undefined
  readonly state: State
}

export class StateDigest {
  /** Sums of segments of messages. Most segments never change again, and messages are most of the state. */
  readonly #segments = new WeakMap<object, { readonly changes: number; readonly sum: Sum }>()

  /** Captures the state in the turn in which it is called, and computes the sums between requests. */
  async computeSums({ secretVerifier, restoreId, state }: Holding, signal?: AbortSignal): Promise<Sums> {
    const sections = Object.entries({
      store: [{ secretVerifier, restoreId }],
      ...state.save(false, ['messages', ...outsideTheLog]),
      lastMessage: [state.messages.lastId],
    })
    const segments = state.messages.segments()
    const slices = new Slices(signal)
    const sums: Record<string, string> = {}
    for (const [name, rows] of sections) sums[name] = textOfSum(await computeSum(rows, slices))
    let messages: Sum = [0, 0]
    for (const { segment, changes, rows } of segments) {
      const known = this.#segments.get(segment)
      const sum = known?.changes === changes ? known.sum : await computeSum(rows(), slices)
      this.#segments.set(segment, { changes, sum })
      messages = add(messages, sum)
    }
    return { ...sums, messages: textOfSum(messages) }
  }
}

/** Gives way to the traffic whenever a slice of time is used up. */
class Slices {
  readonly #signal: AbortSignal | undefined
  #since = performance.now()

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal
  }

  get isOver(): boolean {
    return performance.now() - this.#since >= sliceTime
  }

  async next(): Promise<void> {
    await new Promise(resolve => setImmediate(resolve))
    this.#signal?.throwIfAborted()
    this.#since = performance.now()
  }
}

/** The same for any order of the rows, which depends on whether a daemon has read them from a snapshot. */
async function computeSum(rows: Iterable<unknown>, slices: Slices): Promise<Sum> {
  let sum: Sum = [0, 0]
  for (const row of rows) {
    const hash = createHash('sha256').update(sortedText(row)).digest()
    sum = add(sum, [hash.readUIntBE(0, 6), hash.readUIntBE(6, 6)])
    if (slices.isOver) await slices.next()
  }
  return sum
}

function add([a, b]: Sum, [c, d]: Sum): Sum {
  return [(a + c) % 2 ** 48, (b + d) % 2 ** 48]
}

function textOfSum(sum: Sum): string {
  return sum.map(part => part.toString(16).padStart(12, '0')).join('')
}

/**
 * JSON with the fields of objects in the order of their names. The leader has rows as it made them, the others as they were
 * parsed: a field that was undefined has another place when it is set later.
 */
function sortedText(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return `[${value.map(sortedText).join()}]`
  const fields = Object.entries(value).filter(([, field]) => field !== undefined)
  fields.sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${sortedText(field)}`).join()}}`
}
