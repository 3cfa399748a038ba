// The journal on disk: an active segment that grows in steps, and sealed ones that are deleted once a snapshot covers them. The lock of
// the store (`store-lock.ts`) makes sure that there is only one writer.

import { fstatSync, ftruncateSync, openSync, type Stats, statSync } from 'node:fs'
import { rename, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { closeFile, type Disk, type HeldFolder, holdFolder, realDisk, sync, writeAt } from '../local/durable-files.ts'
import { monotonicMs } from '../local/monotonic.ts'
import { forgetCleanStop, recordCleanStop } from './clean-stop.ts'
import { GroupCommit } from './group-commit.ts'
import { type Appended, type Entry, type Happened, type Journal, JournalDamaged, type NewEntry } from './journal.ts'
import { activeName, entryLine, lastSum, roomAfter, roomByte, sealedName, unfinishedName } from './segment-format.ts'
import { findEntries, type LinesParser, parseEntries, parseFacts, readSegment, type Segment } from './segment-reader.ts'
import { createSegment, openSegments, type Sealed, type Segments } from './segments.ts'
import { StoreGone } from './store-folder.ts'

export interface FileJournalOptions {
  readonly folder: string
  /** 'os' leaves the entries to the operating system: they survive a crash of the daemon, not one of the machine. */
  readonly durability: 'fsync' | 'os'
  /** The position after which a new journal begins: that of a snapshot without a journal. */
  readonly startAfter?: number
  readonly disk?: Disk
  /** Called for every batch that was written. */
  readonly onFlush?: ((milliseconds: number, bytes: number) => void) | undefined
}

export class FileJournal<Fact> implements Journal<Fact> {
  /** Tells the operator what was cut off at the end when it was opened. */
  readonly repair: string | undefined
  readonly #folder: string
  /** Open all the time, so that a seal does not fail half-way because the system has no descriptor left. */
  readonly #held: HeldFolder
  readonly #durability: 'fsync' | 'os'
  readonly #disk: Disk
  readonly #onFlush: FileJournalOptions['onFlush']
  readonly #sealed: Sealed[]
  readonly #commits = new GroupCommit(text => this.#write(text))
  #fd: number
  /** The inode of the active segment, to notice when its name leads to another file. */
  #file: Stats
  /** Where its last entry ends; up to its size it has room. */
  #end: number
  #size: number
  #position: number
  #sum: string | undefined
  /** Position of the newest seal that was requested. */
  #boundary: number
  /** Between the two renames of a seal there is no file under the active name. */
  #swapping = false
  #closed: Promise<void> | undefined

  /** Reads only the last few entries, and cuts off an incomplete one. All others are checked by `replay`. */
  static async open<Fact>(options: FileJournalOptions): Promise<FileJournal<Fact>> {
    const found = await openSegments(options.folder, options.startAfter ?? 0)
    try {
      forgetCleanStop(options.folder)
      return new FileJournal(options, found)
    } catch (error) {
      await closeFile(found.fd)
      throw error
    }
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
    this.#end = found.end
    this.#size = this.#file.size
    this.#boundary = found.after
    this.#position = found.position
    this.#sum = found.sum
  }

  get position(): number {
    return this.#position
  }

  /** Of the newest entry; undefined if that is in no file and an older natter has sealed the journal. */
  get sum(): string | undefined {
    return this.#sum
  }

  get failure(): Error | undefined {
    return this.#commits.failure
  }

  append(entry: NewEntry<Fact>): Appended {
    this.#mustBeOpen()
    const line = entryLine(this.#position + 1, entry)
    this.#position++
    this.#sum = lastSum(line)
    return { position: this.#position, bytes: Buffer.byteLength(line), durable: this.#commits.add(line) }
  }

  /** Appends lines that another daemon made; the last of them has the position `last`. Settles when they are written. */
  appendLines(lines: string, last: number): Promise<void> {
    this.#mustBeOpen()
    this.#position = last
    this.#sum = lastSum(lines)
    return this.#commits.add(lines)
  }

  async #write(text: string): Promise<void> {
    const begin = this.#onFlush && monotonicMs()
    const lines = Buffer.from(text)
    const end = this.#end + lines.length
    // Lines that reach beyond the room bring more of it. On a disk that is nearly full the lines alone are enough.
    const bytes = end <= this.#size ? lines : Buffer.concat([lines, Buffer.alloc(roomAfter(end), roomByte)])
    const written = await writeAt(this.#fd, bytes, this.#end, lines.length, this.#disk)
    this.#size = Math.max(this.#size, this.#end + written)
    if (this.#durability === 'fsync') await sync(this.#fd, this.#disk)
    this.#end = end
    this.#mustBeThere()
    if (begin !== undefined) this.#onFlush!(monotonicMs() - begin, lines.length)
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

  /** Checks that the file still has its name: entries in another one would be lost. Takes microseconds, much less than a sync. */
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

  /** Opens all segments at the beginning of a read, so that those sealed or deleted meanwhile stay readable. */
  #openForReading(after: number, newest: number): Segment[] {
    if (after > newest)
      throw new JournalDamaged(activeName, 1, `the journal ends at position ${newest}, before ${after}`)
    const segments: Segment[] = []
    const take = (file: string, last: number, size?: number) => {
      const fd = openSync(join(this.#folder, file), 'r')
      segments.push({ file, fd, size: size ?? fstatSync(fd).size, last })
    }
    for (const { file, last } of this.#sealed) if (last > after) take(file, last)
    take(activeName, newest, this.#end)
    return segments
  }

  async seal(): Promise<number> {
    this.#mustBeOpen()
    const last = this.#position
    // Nothing was appended since the seal before: wait for that one only.
    if (last === this.#boundary) return this.#whenWritten(() => last)
    this.#mustBeThere()
    const before = this.#boundary
    this.#boundary = last
    // Made during the flush in progress, so that appends wait for two renames only.
    const next = createSegment(this.#folder, unfinishedName(last), last, this.#sum)
    next.catch(() => {
      // The next call tries again, even if nothing is appended until then.
      if (this.#boundary === last) this.#boundary = before
    })
    await this.#whenWritten(() => this.#swap(last, next))
    return last
  }

  /** An error in making the new segment, such as a full disk, leaves the journal as it was. Any later error ends it. */
  async #swap(last: number, next: Promise<number>): Promise<void> {
    const old = this.#fd
    const active = join(this.#folder, activeName)
    const file = sealedName(last)
    const fd = await next
    try {
      this.#mustBeThere()
      this.#swapping = true
      // A snapshot begins where the sealed segment ends, so that segment must be on disk even if appends are not synced.
      await this.#finish()
      await rename(active, join(this.#folder, file))
      // Synced before the second rename, so that a crash in between leaves the entries under one of the two names.
      await this.#held.sync()
      await rename(join(this.#folder, unfinishedName(last)), active)
      await this.#held.sync()
    } catch (error) {
      this.#commits.fail(error as Error)
      throw error
    }
    this.#fd = fd
    this.#file = fstatSync(fd)
    this.#end = this.#file.size
    this.#size = this.#end
    this.#swapping = false
    this.#sealed.push({ file, last })
    await closeFile(old)
  }

  /** Syncs everything appended so far, even if appends are not synced. Resolves with its position. */
  async sync(): Promise<number> {
    this.#mustBeOpen()
    const last = this.#position
    return this.#whenWritten(async () => {
      await sync(this.#fd, this.#disk)
      return last
    })
  }

  async forget(upTo: number): Promise<void> {
    // In order with reads, so that those before it still find the segments. They are deleted later, outside of that order.
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
      // The next call begins with them again: deleting a newer segment before an older one would leave a gap.
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
      if (!this.failure) await this.#finish().catch(error => this.#commits.fail(error))
      await closeFile(this.#fd)
      // The store is good without this mark: the next start then takes an incomplete end for that of a crash.
      if (!this.failure && !this.lost()) await recordCleanStop(this.#folder, this.#position).catch(() => {})
      await this.#held.release()
    })
    return this.#closed
  }

  /** Cuts the room off the active segment, and puts it on disk. */
  async #finish(): Promise<void> {
    if (this.#end < this.#size) ftruncateSync(this.#fd, this.#end)
    await sync(this.#fd, this.#disk)
  }

  /** Runs the job when everything appended so far is written. Throws the error if that failed. */
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
