// The files of a store as they are at one moment, held open for reading. A daemon may append, compact and delete meanwhile:
// what is open stays readable, and what changed while it was being opened is opened again.

import { closeSync, fstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readCleanStop, refuseLostEnd } from '../journal/clean-stop.ts'
import { JournalDamaged } from '../journal/journal.ts'
import { newline, readAt } from '../journal/line-blocks.ts'
import { activeName, parseHeader } from '../journal/segment-format.ts'
import { findTail, type Segment } from '../journal/segment-reader.ts'
import { findSealed, readActiveHeader, refuseGap, type Sealed } from '../journal/segments.ts'
import { type FileEntry, readStateHead } from '../journal/state-file.ts'
import { refuseHalfRestored, refuseLinks, StoreUnusable } from '../journal/store-folder.ts'
import { openPlainSync } from '../local/plain-files.ts'
import { isBackedUp } from './backup-format.ts'

export interface HeldFile {
  /** Its path in the folder, with slashes. */
  readonly name: string
  readonly fd: number
  readonly size: number
}

/** A file that the snapshot names, and what it says of it. */
export type SideFile = HeldFile & { readonly entry: FileEntry }

export class NoStore extends Error {
  constructor(folder: string) {
    super(`${folder} has no store; name the folder of one with --data`)
    this.name = 'NoStore'
  }
}

export class StoreView {
  readonly folder: string
  /** The snapshot; undefined before the first compaction. */
  readonly state: HeldFile | undefined
  /** Position of the snapshot, and when it was made; 0 without one. */
  readonly snapshot: { readonly position: number; readonly time: number }
  readonly sideFiles: readonly SideFile[]
  /** Of the journal, in order; the last one may grow. */
  readonly segments: readonly Segment[]
  /** Position of the clean stop, if the daemon that used it last recorded one. */
  readonly cleanStop: number | undefined

  constructor(parts: Pick<StoreView, 'folder' | 'state' | 'snapshot' | 'sideFiles' | 'segments' | 'cleanStop'>) {
    this.folder = parts.folder
    this.state = parts.state
    this.snapshot = parts.snapshot
    this.sideFiles = parts.sideFiles
    this.segments = parts.segments
    this.cleanStop = parts.cleanStop
  }

  /** Of the newest entry. */
  get position(): number {
    return this.segments.at(-1)?.last ?? this.snapshot.position
  }

  /** Opens everything that is needed for one consistent state. Close it when done. */
  static async open(folder: string): Promise<StoreView> {
    // Bounded: a compaction takes away files once; what is still wrong after a few attempts is damage.
    for (let attempt = 1; ; attempt++) {
      const opened = new Opened(folder)
      try {
        return await openOnce(folder, opened)
      } catch (error) {
        opened.close()
        if (error instanceof NoStore || error instanceof StoreUnusable) throw error
        if (attempt === attempts)
          throw isMissing(error) ? new JournalDamaged(opened.last, 1, 'the file is missing') : error
        await sleep(pauseMs)
      }
    }
  }

  /** Files beside the store: uploads and mails. Each may be deleted at any time. */
  looseFiles(): string[] {
    return ['files', 'outbox'].flatMap(below =>
      namesIn(join(this.folder, below))
        .map(name => `${below}/${name}`)
        .filter(name => isBackedUp(name) && !name.endsWith('.tmp')),
    )
  }

  close(): void {
    for (const { fd } of [...(this.state ? [this.state] : []), ...this.sideFiles, ...this.segments]) closeSync(fd)
  }
}

const attempts = 20
const pauseMs = 25

/** Descriptors of an attempt, to be closed if it fails. */
class Opened {
  readonly #folder: string
  readonly #fds: number[] = []

  constructor(folder: string) {
    this.#folder = folder
  }

  /** The name of the newest one, whether it could be opened or not. */
  last = ''

  file(name: string): HeldFile {
    this.last = name
    const fd = openPlainSync(join(this.#folder, name))
    this.#fds.push(fd)
    return { name, fd, size: fstatSync(fd).size }
  }

  closeLast(): void {
    closeSync(this.#fds.pop()!)
  }

  close(): void {
    for (const fd of this.#fds) closeSync(fd)
  }
}

async function openOnce(folder: string, opened: Opened): Promise<StoreView> {
  const names = namesIn(folder)
  refuseHalfRestored(folder, names)
  const hasActive = names.includes(activeName)
  if (!names.includes('state.json') && !hasActive && findSealed(names).length === 0) throw new NoStore(folder)
  refuseLinks(folder)
  // Before the journal: what a daemon adds meanwhile does no harm, what it records when it stops would.
  const cleanStop = readCleanStop(folder)
  // The snapshot first: the journal that it needs is not forgotten before the next snapshot is there.
  const state = names.includes('state.json') ? opened.file('state.json') : undefined
  const head = state && (await readStateHead(state.fd, state.name))
  const sideFiles = (head?.files ?? []).map(entry => ({ ...opened.file(`messages/${entry.name}`), entry }))
  const snapshot = { position: head?.position ?? 0, time: head?.time ?? 0 }
  const segments = await openJournal(folder, opened, snapshot, hasActive)
  const { file, last, ...end } = segments.at(-1)!
  const { fd, size } = file === activeName ? end : { fd: -1, size: 0 }
  await refuseLostEnd(cleanStop, last, fd, size)
  return new StoreView({ folder, state, snapshot, sideFiles, segments, cleanStop })
}

async function openJournal(
  folder: string,
  opened: Opened,
  snapshot: { position: number },
  hasActive: boolean,
): Promise<Segment[]> {
  const sealed = findSealed(namesIn(folder))
  const segments = sealed
    .filter(({ last }) => last > snapshot.position)
    .map(({ file, last }) => {
      const { fd, size } = opened.file(file)
      return { file, fd, size, last }
    })
  // As for a start: between the two renames of a seal, also where a crash ended it, the journal ends with the sealed segments. They were
  // listed after the active one was missed, so that none of them is missed, too.
  const active = hasActive ? await openActive(opened, sealed) : undefined
  if (active) segments.push(active)
  if (segments.length === 0) throw new JournalDamaged(activeName, 1, 'the file is missing')
  let before = snapshot.position
  for (const [index, { file, fd, last }] of segments.entries()) {
    const { after } = await readHeader(file, fd)
    // Segments meet exactly; the first one may reach back before the snapshot.
    if (index === 0 ? after > before : after !== before)
      throw new JournalDamaged(file, 1, `begins after position ${after}, but the entries after ${before} are needed`)
    before = last
  }
  if (before < snapshot.position)
    throw new JournalDamaged(activeName, 1, `the journal ends at position ${before}, before ${snapshot.position}`)
  return segments
}

/** The active segment up to its last whole entry: a write may be in progress. Undefined if a crash left nothing of it. */
async function openActive(opened: Opened, sealed: readonly Sealed[]): Promise<Segment | undefined> {
  const { fd } = opened.file(activeName)
  const header = readActiveHeader(fd, sealed.at(-1)?.last ?? 0)
  if (!header) {
    opened.closeLast()
    return undefined
  }
  refuseGap(sealed, header.after)
  const { size } = fstatSync(fd)
  const tail = await findTail(fd, header.end, size)
  const unfinished = tail.torn ? size - tail.end : 0
  return { file: activeName, fd, size: tail.end, last: tail.position ?? header.after, unfinished }
}

const headerRoom = 256

/** The line of the entry at a position. */
export async function findLine({ file, fd }: Segment, position: number): Promise<number> {
  const { after } = await readHeader(file, fd)
  return position - after + 1
}

async function readHeader(file: string, fd: number): Promise<{ after: number; end: number }> {
  const bytes = Buffer.alloc(headerRoom)
  const got = await readAt(fd, bytes, 0, headerRoom, 0)
  const end = bytes.subarray(0, got).indexOf(newline)
  if (end < 0) throw new JournalDamaged(file, 1, 'not the header of a journal')
  return { after: parseHeader(file, bytes.toString('utf8', 0, end)).after, end: end + 1 }
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT'
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort()
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code!)) return []
    throw error
  }
}
