// The journal without a disk, for `--memory` and for tests: what is taken counts as written.
import { type Appended, type Entry, type Journal, JournalDamaged, type NewEntry } from './journal.ts'
import { entryLine } from './segment-format.ts'

const alreadyDurable = Promise.resolve()

export class MemoryJournal<Fact> implements Journal<Fact> {
  readonly failure = undefined
  readonly forgets: boolean
  /** Lines, not objects: a replay must not see later changes of the objects that were appended. */
  #lines: string[] = []
  #position = 0
  /** Entries up to here are gone. */
  #forgotten = 0
  readonly #sealed: number[] = []
  #closed = false

  /** Without `keep` every entry is forgotten at once, and only its position remains. */
  constructor(options: { readonly keep?: boolean } = {}) {
    this.forgets = !options.keep
  }

  get position(): number {
    return this.#position
  }

  append(entry: NewEntry<Fact>): Appended {
    this.#mustBeOpen()
    // Also when nothing is kept: refuses what a file would refuse, and flattens strings (see segment-format.ts).
    const line = entryLine(this.#position + 1, entry)
    this.#position++
    if (this.forgets) this.#forgotten = this.#position
    else this.#lines.push(line)
    return { position: this.#position, bytes: Buffer.byteLength(line), durable: alreadyDurable }
  }

  async *replay(after: number): AsyncGenerator<Entry<Fact>> {
    this.#mustBeOpen()
    if (after > this.#position)
      throw new JournalDamaged('memory', 1, `the journal ends at position ${this.#position}, before ${after}`)
    if (after < this.#forgotten)
      throw new JournalDamaged('memory', 1, `begins after position ${this.#forgotten}, but ${after} was asked for`)
    for (const line of this.#lines.slice(after - this.#forgotten)) {
      const { sum: _, ...entry } = JSON.parse(line)
      yield entry
    }
  }

  async *replayFacts(after: number): AsyncGenerator<Entry<Fact>[]> {
    for await (const entry of this.replay(after)) yield [entry]
  }

  async *find(after: number, text: string): AsyncGenerator<Entry<Fact>> {
    for await (const entry of this.replay(after)) if (JSON.stringify(entry).includes(text)) yield entry
  }

  async seal(): Promise<number> {
    this.#mustBeOpen()
    this.#sealed.push(this.#position)
    return this.#position
  }

  async forget(upTo: number): Promise<void> {
    while (this.#sealed[0] !== undefined && this.#sealed[0] <= upTo) {
      const last = this.#sealed.shift()!
      this.#lines.splice(0, last - this.#forgotten)
      this.#forgotten = Math.max(this.#forgotten, last)
    }
  }

  lost(): undefined {}

  abandon(): void {}

  async close(): Promise<void> {
    this.#closed = true
  }

  #mustBeOpen(): void {
    if (this.#closed) throw new Error('the journal is closed')
  }
}
