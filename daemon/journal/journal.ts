// The interface of the journal. It is generic in the fact, because nothing here knows what a fact means.

export interface Entry<Fact> {
  /** Number of the entry, from 1, without gaps. */
  readonly position: number
  /** Milliseconds since the epoch, by the daemon's clock. */
  readonly time: number
  /** User ID of who asked; null for the system. */
  readonly actor: number | null
  /** The endpoint's operation ID, or the name of the system's own work. */
  readonly op: string
  readonly facts: readonly Fact[]
}

export type Happened<Fact> = Pick<Entry<Fact>, 'position' | 'facts'>

export type NewEntry<Fact> = Omit<Entry<Fact>, 'position'>

export interface Appended {
  readonly position: number
  /** The size of its line. */
  readonly bytes: number
  /** Settles when the entry is on disk. All entries of one flush share one promise. */
  readonly durable: Promise<void>
}

export interface Journal<Fact> {
  /** Position of the newest entry, on disk or not yet; 0 when there is none. */
  readonly position: number
  /** Whether no entry can be read again. */
  readonly forgets?: boolean
  /** The first error of the disk. From then on nothing is written. */
  readonly failure: Error | undefined
  /**
   * Takes the entry immediately and writes it together with others.
   * After one failure every append fails: memory is then ahead of the disk and only a restart may go on.
   * An entry that cannot be written as JSON throws, and nothing has changed.
   */
  append(entry: NewEntry<Fact>): Appended
  /**
   * Entries after the position, oldest first, up to the newest when reading begins. This is where the log is checked:
   * throws JournalDamaged when it cannot be trusted, or does not reach back to the position, or ends before it.
   */
  replay(after: number): AsyncIterable<Entry<Fact>>
  /**
   * The same for callers that need only the facts: blocks of positions with their facts, to be walked to the end
   * before the next is asked for. A promise for each entry, and parsing its time, actor and op, would be a third of a start.
   */
  replayFacts(after: number): AsyncIterable<Iterable<Happened<Fact>>>
  /**
   * Entries after the position whose line holds the text, oldest first, at the cost of reading the others without parsing
   * them. Checks nothing and leaves out what is damaged: that is for `replay` to refuse.
   */
  find(after: number, text: string): AsyncIterable<Entry<Fact>>
  /**
   * Begins a new segment, so that everything up to the returned position can be forgotten once it is in a snapshot.
   * That is the position at the call, whatever is appended meanwhile: a state captured in the same turn belongs to it.
   * It is on disk when the promise settles, also where appends are not synced.
   */
  seal(): Promise<number>
  /** Drops sealed segments that hold nothing after the position. */
  forget(upTo: number): Promise<void>
  /**
   * The error if its folder was deleted or replaced; undefined otherwise. Checked before an entry
   * counts as written; to be called now and then while nothing is written.
   */
  lost(): Error | undefined
  /** Writes nothing more, because the state is in doubt. A restart continues from what is on disk. */
  abandon(error: Error): void
  /** Flushes and closes. Does not throw when the flush fails: the entries' own promises and `failure` say so. */
  close(): Promise<void>
}

export class JournalDamaged extends Error {
  readonly file: string
  readonly line: number
  constructor(file: string, line: number, reason: string) {
    super(`${file}, line ${line}: ${reason}`)
    this.name = 'JournalDamaged'
    this.file = file
    this.line = line
  }
}

/** The op of an entry without facts that asks the daemons of a cluster to compare their states. Older ones do nothing. */
export const compareOp = 'compare'
