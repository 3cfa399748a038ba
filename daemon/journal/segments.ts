// The journal's files in the store folder: found, repaired after a crash, created.
import { closeSync, fstatSync, fsyncSync, ftruncateSync, openSync, readSync } from 'node:fs'
import { mkdir, readdir, rename, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { closeFile, sync, syncFolder, writeWhole } from '../local/durable-files.ts'
import { readCleanStop, refuseLostEnd } from './clean-stop.ts'
import { JournalDamaged } from './journal.ts'
import { newline } from './line-blocks.ts'
import {
  activeName,
  type Header,
  headerLine,
  isUnfinished,
  parseHeader,
  sealedLast,
  unfinishedName,
} from './segment-format.ts'
import { findTail } from './segment-reader.ts'
import { refuseHalfRestored } from './store-folder.ts'

export interface Sealed {
  readonly file: string
  readonly last: number
}

export interface Segments {
  readonly sealed: Sealed[]
  /** The active segment, open for writing. */
  readonly fd: number
  /** Where its last entry ends. */
  readonly end: number
  /** Position before its first entry. */
  readonly after: number
  /** Position of the newest entry, and its sum if that is known. */
  readonly position: number
  readonly sum?: string | undefined
  /** What was cut when it was opened, for the operator. */
  readonly repair?: string | undefined
}

export async function openSegments(folder: string, startAfter: number): Promise<Segments> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const names = await readdir(folder)
  refuseHalfRestored(folder, names)
  const sealed = findSealed(names)
  const before = sealed.at(-1)?.last ?? startAfter
  const stop = readCleanStop(folder)
  if (names.includes(activeName)) {
    const active = await openActive(folder, before, stop)
    if (active) {
      refuseGap(sealed, active.after)
      await removeUnfinished(folder, names)
      return { sealed, ...active }
    }
  }
  await refuseLostEnd(stop, before, -1, 0)
  await removeUnfinished(folder, names)
  // The first start, or a crash between the two renames of a seal.
  const fd = await createSegment(folder, unfinishedName(before), before)
  await rename(join(folder, unfinishedName(before)), join(folder, activeName))
  await syncFolder(folder)
  return { sealed, fd, end: fstatSync(fd).size, after: before, position: before }
}

/** In order. */
export function findSealed(names: readonly string[]): Sealed[] {
  return names
    .map(file => ({ file, last: sealedLast(file) }))
    .filter((found): found is Sealed => found.last !== undefined)
    .sort((a, b) => a.last - b.last)
}

/** Throws unless the active segment follows the sealed ones, also where a snapshot covers them: then a person has put files together. */
export function refuseGap(sealed: readonly Sealed[], after: number): void {
  const newest = sealed.at(-1)
  if (!newest || newest.last === after) return
  throw new JournalDamaged(
    activeName,
    1,
    `begins after position ${after}, but ${newest.file} goes before it: one of the two belongs to another store, or to an older copy. Remove that one`,
  )
}

/** To be called when the journal was accepted: until then they may be files of the user. */
async function removeUnfinished(folder: string, names: readonly string[]): Promise<void> {
  for (const name of names) if (isUnfinished(name)) await unlink(join(folder, name))
}

/** Makes a segment under the name, header on disk, and leaves it open for writing. */
export async function createSegment(folder: string, name: string, after: number, afterSum?: string): Promise<number> {
  const path = join(folder, name)
  // Whatever the file held under this name was left by a crash.
  await unlink(path).catch(() => {})
  const fd = openSync(path, 'wx+', 0o600)
  try {
    await writeWhole(fd, Buffer.from(headerLine(after, afterSum)))
    await sync(fd)
    return fd
  } catch (error) {
    await closeFile(fd)
    await unlink(path)
    throw error
  }
}

/** Opens the active segment and cuts what a crash left unfinished; undefined when not even its header was finished. */
async function openActive(
  folder: string,
  before: number,
  stop: number | undefined,
): Promise<Omit<Segments, 'sealed'> | undefined> {
  const fd = openSync(join(folder, activeName), 'r+')
  try {
    const header = readActiveHeader(fd, before)
    if (!header) {
      closeSync(fd)
      return undefined
    }
    const { after, afterSum } = header
    const size = fstatSync(fd).size
    const tail = await findTail(fd, header.end, size)
    const position = tail.position ?? after
    await refuseLostEnd(stop, position, fd, tail.end)
    if (tail.torn) {
      ftruncateSync(fd, tail.end)
      fsyncSync(fd)
    }
    const repair = tail.torn
      ? `${activeName}: the last write was not finished; cut ${size - tail.end} bytes after position ${position}`
      : undefined
    return { fd, end: tail.end, after, position, sum: tail.sum ?? afterSum, repair }
  } catch (error) {
    closeSync(fd)
    throw error
  }
}

/** Undefined when a crash left nothing of the segment, not even its header. `before`: where the sealed segments end. */
export function readActiveHeader(fd: number, before: number): (Header & { readonly end: number }) | undefined {
  const size = fstatSync(fd).size
  const start = Buffer.alloc(Math.min(size, headerRoom))
  readSync(fd, start, 0, start.length, 0)
  if (isTornHeader(start, size, before)) return undefined
  const end = start.indexOf(newline)
  if (end < 0) throw new JournalDamaged(activeName, 1, 'not the header of a journal')
  return { ...parseHeader(activeName, start.toString('utf8', 0, end)), end: end + 1 }
}

const headerRoom = 256

/** Segments get their name with the header on disk; still, a filesystem may leave an empty or half file, or zeros. */
function isTornHeader(start: Buffer, size: number, before: number): boolean {
  const header = headerLine(before)
  const text = start.toString('latin1').replace(/\0+$/, '')
  const isHalf = header.startsWith(text) || (text.startsWith(`${header.slice(0, -2)},`) && !text.endsWith('\n'))
  return isHalf && size <= headerLine(before, '00000000').length
}
