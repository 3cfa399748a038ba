// The journal on disk: an active segment that grows, sealed ones that wait to be forgotten. One writer: store-lock.ts.
import { fstatSync, openSync, type Stats, statSync } from 'node:fs'
import { rename, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import {
  closeFile,
  type Disk,
  type HeldFolder,
  holdFolder,
  realDisk,
  sync,
  writeWhole,
} from '../local/durable-files.ts'
import { forgetCleanStop, recordCleanStop } from './clean-stop.ts'
import { GroupCommit } from './group-commit.ts'
import { type Appended, type Entry, type Happened, type Journal, JournalDamaged, type NewEntry } from './journal.ts'
import { activeName, entryLine, sealedName, unfinishedName } from './segment-format.ts'
import { findEntries, type LinesParser, parseEntries, parseFacts, readSegment, type Segment } from './segment-reader.ts'
import { createSegment, openSegments, type Sealed, type Segments } from './segments.ts'
import { StoreGone } from './store-folder.ts'

export interface FileJournalOptions {
  readonly folder: string
  /** 'os' leaves the entries to the operating system: they survive a crash of the daemon, not one of the machine. */
  readonly durability: 'fsync' | 'os'
  /** Where a journal that does not exist yet begins: the position of a snapshot that came without one. */
  readonly startAfter?: number
  readonly disk?: Disk
  /** Hears of every batch that was written: how long it took, and its bytes. */
  readonly onFlush?: ((milliseconds: number, bytes: number) => void) | undefined
}

export class FileJournal<Fact> implements Journal<Fact> {
  /** What was cut when it was opened, for the operator. */
  readonly repair: string | undefined
  readonly #folder: string
  /** Open from the beginning, so that a seal half-way through needs no descriptor that the system might refuse. */
  readonly #held: HeldFolder
  readonly #durability: 'fsync' | 'os'
  readonly #disk: Disk
  readonly #onFlush: FileJournalOptions['onFlush']
  readonly #sealed: Sealed[]
  readonly #commits = new GroupCommit(text => this.#write(text))
  #fd: number
  /** The active segment as a file of the disk, whatever its name leads to. */
  #file: Stats
  #position: number
  /** Position of the newest seal asked for. */
  #boundary: number
  /** Between the two names of a seal, when the active name leads nowhere. */
  #swapping = false
  #closed: Promise<void> | undefined

  /** Opens at the cost of the last few entries; a torn end is cut here, everything else is checked by `replay`. */
  static async open<Fact>(options: FileJournalOptions): Promise<FileJournal<Fact>> {
    const found = await openSegments(options.folder, options.startAfter ?? 0)
    forgetCleanStop(options.folder)
    return new FileJournal(options, found)
  }

  private constructor(options: FileJournalOptions, found: Segments) {
    this.repair = found.repair
    this.#folder = options.folder
    this.#held = holdFolder(options.folder)
    this.#durability = options.durability
    this.#disk = options.disk ?? realDisk
    this.#onFlush = options.onFlush
    this.#sealed = found.sealed
    this.#fd = found.fd
    this.#file = fstatSync(found.fd)
    this.#boundary = found.after
    this.#position = found.position
  }

  get position(): number {
    return this.#position
  }

  get failure(): Error | undefined {
    return this.#commits.failure
  }

  append(entry: NewEntry<Fact>): Appended {
    this.#mustBeOpen()
    const line = entryLine(this.#position + 1, entry)
    this.#position++
    return { position: this.#position, durable: this.#commits.add(line) }
  }

  /** Takes lines that were made elsewhere and end with the entry at the position. Settles when they are written. */
  appendLines(lines: string, last: number): Promise<void> {
    this.#mustBeOpen()
    this.#position = last
    return this.#commits.add(lines)
  }

  async #write(text: string): Promise<void> {
    const begin = this.#onFlush && performance.now()
    const bytes = Buffer.from(text)
    await writeWhole(this.#fd, bytes, this.#disk)
    if (this.#durability === 'fsync') await sync(this.#fd, this.#disk)
    this.#mustBeThere()
    if (begin !== undefined) this.#onFlush!(performance.now() - begin, bytes.length)
  }

  lost(): Error | undefined {
    if (this.#swapping) return undefined
    try {
      const named = statSync(join(this.#folder, activeName), { throwIfNoEntry: false })
      const isOurs = named?.ino === this.#file.ino && named.dev === this.#file.dev
      return isOurs ? undefined : new StoreGone(this.#folder)
    } catch (error) {
      return error as Error
    }
  }

  /** Checks that the file still has its name, so that nothing is acknowledged that would be lost. Costs microseconds beside a sync. */
  #mustBeThere(): void {
    const error = this.lost()
    if (error) throw error
  }

  async *replay(after: number): AsyncGenerator<Entry<Fact>> {
    for await (const entries of this.#read(after, parseEntries<Fact>)) yield* entries
  }

  replayFacts(after: number): AsyncGenerator<Iterable<Happened<Fact>>> {
    return this.#read(after, parseFacts<Fact>)
  }

  async *#read<Found>(after: number, parse: LinesParser<Found>): AsyncGenerator<Iterable<Found>> {
    this.#mustBeOpen()
    const last = this.#position
    const segments = await this.#whenWritten(() => this.#openForReading(after, last))
    try {
      let previous: number | undefined
      for (const segment of segments) {
        yield* readSegment(segment, after, previous, parse)
        previous = segment.last
      }
    } finally {
      for (const segment of segments) await closeFile(segment.fd)
    }
  }

  async *find(after: number, text: string): AsyncGenerator<Entry<Fact>> {
    this.#mustBeOpen()
    const last = this.#position
    const segments = await this.#whenWritten(() => this.#openForReading(after, last))
    try {
      for (const segment of segments)
        for await (const entry of findEntries<Fact>(segment, text)) if (entry.position > after) yield entry
    } finally {
      for (const segment of segments) await closeFile(segment.fd)
    }
  }

  /** Own descriptors, opened at once: a segment that is sealed or deleted during a read stays readable. */
  #openForReading(after: number, newest: number): Segment[] {
    if (after > newest)
      throw new JournalDamaged(activeName, 1, `the journal ends at position ${newest}, before ${after}`)
    const segments: Segment[] = []
    const take = (file: string, last: number) => {
      const fd = openSync(join(this.#folder, file), 'r')
      segments.push({ file, fd, size: fstatSync(fd).size, last })
    }
    for (const { file, last } of this.#sealed) if (last > after) take(file, last)
    take(activeName, newest)
    return segments
  }

  async seal(): Promise<number> {
    this.#mustBeOpen()
    const last = this.#position
    // Nothing since the seal before: only wait for that one.
    if (last === this.#boundary) return this.#whenWritten(() => last)
    this.#mustBeThere()
    this.#boundary = last
    // Made beside the flush in flight, so that the appends wait for two renames only.
    const next = createSegment(this.#folder, unfinishedName(last), last)
    next.catch(() => {})
    await this.#whenWritten(() => this.#swap(last, next))
    return last
  }

  /** Fails without harm while the new segment is made (there a full disk shows); after that a failure is final. */
  async #swap(last: number, next: Promise<number>): Promise<void> {
    const old = this.#fd
    const active = join(this.#folder, activeName)
    const file = sealedName(last)
    const fd = await next
    try {
      this.#mustBeThere()
      this.#swapping = true
      // A snapshot will rely on the sealed segment, so it must be on disk even where appends are not synced.
      await sync(old, this.#disk)
      await rename(active, join(this.#folder, file))
      // The old name is synced first, then the new one, so that a crash in between leaves the entries under one of them.
      await this.#held.sync()
      await rename(join(this.#folder, unfinishedName(last)), active)
      await this.#held.sync()
    } catch (error) {
      this.#commits.fail(error as Error)
      throw error
    }
    this.#fd = fd
    this.#file = fstatSync(fd)
    this.#swapping = false
    this.#sealed.push({ file, last })
    await closeFile(old)
  }

  /** Puts everything appended so far on disk, also where appends are not synced. Resolves to its position. */
  async sync(): Promise<number> {
    const last = this.#position
    return this.#whenWritten(async () => {
      await sync(this.#fd, this.#disk)
      return last
    })
  }

  async forget(upTo: number): Promise<void> {
    // In order with the reads: earlier reads still get it. The unlinking itself is not waited for.
    const gone = await this.#commits.inOrder(async () => {
      const count = this.#sealed.filter(({ last }) => last <= upTo).length
      return this.#sealed.splice(0, count)
    })
    if (gone.length === 0) return
    try {
      this.#mustBeThere()
      // Oldest first, so that a crash leaves no gap.
      for (; gone.length > 0; gone.shift()) await unlink(join(this.#folder, gone[0]!.file))
    } catch (error) {
      // The next call begins with them again: to delete a newer segment before an older one leaves a gap, too.
      this.#sealed.unshift(...gone)
      throw error
    }
    await this.#held.sync()
  }

  abandon(error: Error): void {
    this.#commits.fail(error)
  }

  close(): Promise<void> {
    this.#closed ??= this.#commits.inOrder(async () => {
      if (!this.failure) await sync(this.#fd, this.#disk).catch(error => this.#commits.fail(error))
      await closeFile(this.#fd)
      // A disk that refuses this file still has the journal.
      if (!this.failure && !this.lost()) await recordCleanStop(this.#folder, this.#position).catch(() => {})
      await this.#held.release()
    })
    return this.#closed
  }

  /** Runs when everything appended so far is written, or throws what kept it from being written. */
  #whenWritten<T>(job: () => T | Promise<T>): Promise<T> {
    return this.#commits.inOrder(async () => {
      if (this.failure) throw this.failure
      return job()
    })
  }

  #mustBeOpen(): void {
    if (this.#closed) throw new Error('the journal is closed')
  }
}
