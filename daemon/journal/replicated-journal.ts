// The journal of a daemon in a cluster: a shared log decides what has happened, and a file journal of its own keeps it.
// The file holds committed entries only: they are written to it after the log has taken them.
import type { FileJournal } from './file-journal.ts'
import { GroupCommit } from './group-commit.ts'
import type { Appended, Entry, Happened, Journal, NewEntry } from './journal.ts'
import { entryLine } from './segment-format.ts'

/** Entries that become visible together: all of them or none. */
export interface Batch {
  /** Positions of the first and the last of them. */
  readonly first: number
  readonly last: number
  /** A line for each, as the file has them. */
  readonly lines: string
}

/** Tells an entry from another one at the same position. */
export interface EntryMark {
  readonly position: number
  /** Undefined if it is not known. */
  readonly sum: string | undefined
}

/** The right to append to the shared log. */
interface Leadership {
  /** Resolves when the batch is committed. Rejects when it is not, or when that cannot be known: then the leadership has ended. */
  commit(batch: Batch): Promise<void>
}

/** Only the leader appends; the state of a daemon whose append was not committed has to be thrown away. */
export class NotLeading extends Error {
  constructor(reason = 'this daemon does not lead its cluster') {
    super(reason)
    this.name = 'NotLeading'
  }
}

/** This daemon cannot go on with its cluster. What it has answered is safe with the others. */
export class ReplicaFailed extends Error {
  override readonly name = 'ReplicaFailed'
}

export interface Taken<Fact> {
  readonly entries: readonly Entry<Fact>[]
  /** Settles when they are in the file. */
  readonly written: Promise<void>
}

export class ReplicatedJournal<Fact> implements Journal<Fact> {
  readonly #file: FileJournal<Fact>
  readonly #commits = new GroupCommit(text => this.#commit(text))
  #leadership: Leadership | undefined
  /** Of the newest entry that was appended here, committed or not yet. */
  #position: number
  #closed: Promise<void> | undefined

  constructor(file: FileJournal<Fact>) {
    this.#file = file
    this.#position = file.position
  }

  get position(): number {
    return this.#position
  }

  /** Of the newest entry that is committed and in the file. */
  get committed(): number {
    return this.#file.position
  }

  /** The newest entry that is committed, by its position and the sum of its line. */
  get newest(): EntryMark {
    return { position: this.#file.position, sum: this.#file.sum }
  }

  get failure(): Error | undefined {
    return this.#commits.failure ?? this.#file.failure
  }

  /** From now on `append` works. The journal must have everything that is committed. */
  lead(leadership: Leadership): void {
    this.#leadership = leadership
  }

  append(entry: NewEntry<Fact>): Appended {
    if (this.#closed) throw new Error('the journal is closed')
    if (!this.#leadership) throw new NotLeading()
    const line = entryLine(this.#position + 1, entry)
    this.#position++
    return { position: this.#position, bytes: Buffer.byteLength(line), durable: this.#commits.add(line) }
  }

  /**
   * Takes what another daemon has committed, up to its last entry; what is known already is left out. Returns the entries
   * that are new, in the turn in which the position changes.
   */
  take(batch: Batch): Taken<Fact> {
    if (this.#leadership) throw new Error('a leader takes no entries of others')
    const known = this.#position
    if (batch.first > known + 1)
      throw new Error(`the log goes on at position ${batch.first}, but this daemon is at ${known}`)
    if (batch.last <= known) return { entries: [], written: Promise.resolve() }
    const lines = batch.lines.split('\n').slice(known + 1 - batch.first, batch.last + 1 - batch.first)
    const entries = lines.map((line): Entry<Fact> => JSON.parse(line))
    const wrong = entries.find(({ position }, index) => position !== known + 1 + index)
    if (wrong) throw new Error(`the log has position ${wrong.position} where another one belongs`)
    const written = this.#file.appendLines(`${lines.join('\n')}\n`, batch.last)
    this.#position = batch.last
    return { entries, written }
  }

  async #commit(lines: string): Promise<void> {
    const first = this.#file.position + 1
    const last = first + countLines(lines) - 1
    await this.#leadership!.commit({ first, last, lines })
    // Before any call is answered: when this world is thrown away, the next one must not know less than was answered.
    await this.#file.appendLines(lines, last)
  }

  replay(after: number): AsyncGenerator<Entry<Fact>> {
    return this.#read(() => this.#file.replay(after))
  }

  replayFacts(after: number): AsyncGenerator<Iterable<Happened<Fact>>> {
    return this.#read(() => this.#file.replayFacts(after))
  }

  find(after: number, text: string): AsyncGenerator<Entry<Fact>> {
    return this.#read(() => this.#file.find(after, text))
  }

  /** Begins to read in the turn in which it may: what is forgotten after that was opened before. */
  async *#read<Found>(begin: () => AsyncGenerator<Found>): AsyncGenerator<Found> {
    const { reading, first } = await this.#whenCommitted(async () => {
      const reading = begin()
      return { reading, first: reading.next() }
    })
    const { done, value } = await first
    if (done) return
    yield value
    yield* reading
  }

  /** What a follower takes goes to its file at once, so the file is sealed at once: what is taken after that belongs to the next segment. */
  async seal(): Promise<number> {
    if (this.#leadership) return this.#whenCommitted(() => this.#file.seal())
    if (this.failure) throw this.failure
    return this.#file.seal()
  }

  forget(upTo: number): Promise<void> {
    return this.#commits.inOrder(() => this.#file.forget(upTo))
  }

  /** Puts the file on disk; resolves to the position up to which it is. */
  sync(): Promise<number> {
    return this.#file.sync()
  }

  lost(): Error | undefined {
    return this.#file.lost()
  }

  abandon(error: Error): void {
    this.#commits.fail(error)
  }

  close(): Promise<void> {
    this.#closed ??= this.#commits.inOrder(() => this.#file.close())
    return this.#closed
  }

  #whenCommitted<T>(job: () => Promise<T>): Promise<T> {
    return this.#commits.inOrder(async () => {
      if (this.failure) throw this.failure
      return job()
    })
  }
}

function countLines(text: string): number {
  let count = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++
  return count
}
