// The one way to write a whole file: under a temporary name that cannot be guessed, then renamed into place. A reader sees
// the old content or the new, never a part. A leaf: the daemon and the command line both use it.
import {
  closeSync,
  existsSync,
  fchownSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { sync, syncFolder, writeWhole } from './durable-files.ts'

/** One piece, or many that together are too large for memory. */
export type Content = string | Uint8Array | Iterable<Uint8Array> | AsyncIterable<string | Uint8Array>

/** Replaces the file, readable by its owner alone. Resolves when it is on disk under its name. */
export async function writeFileAtomically(
  path: string,
  content: Content,
  unfinished = unfinishedPath(path),
): Promise<void> {
  refuseDevice(path)
  try {
    await writeNew(unfinished, content)
    await rename(unfinished, path)
  } catch (error) {
    await rm(unfinished, { force: true })
    throw nameFile(error, path)
  }
  await syncFolder(dirname(path))
}

/** Gives a file that is already on disk its final name. */
export async function renameDurably(from: string, to: string): Promise<void> {
  await rename(from, to)
  await syncFolder(dirname(to))
}

/**
 * The same, before it returns: for small files outside the daemon's traffic. Without `durable` it does not wait for the
 * disk: enough for a file that says nothing once its process has ended. With `toOwner` it is for the owner of the folder. Without `replace`, a
 * file that exists is an error. The umask applies to `mode`.
 */
export function writeFileAtomicallySync(
  path: string,
  text: string,
  { durable = true, toOwner = false, replace = true, mode = 0o600 } = {},
): void {
  refuseDevice(path)
  const unfinished = unfinishedPath(path)
  try {
    const fd = openSync(unfinished, 'wx', mode)
    try {
      if (toOwner) giveToOwner(fd, dirname(path))
      writeFileSync(fd, text, { flush: durable })
    } finally {
      closeSync(fd)
    }
    // Takes the name: a rename replaces what has it. Not a hard link, which some disks do not have.
    if (!replace) closeSync(openSync(path, 'wx'))
    renameSync(unfinished, path)
  } catch (error) {
    rmSync(unfinished, { force: true })
    throw nameFile(error, path)
  }
  if (durable) syncFolderNow(dirname(path))
}

/**
 * What root makes in the folder of a service is given to the service, which could not open it otherwise. By descriptor: a name in that
 * folder can be exchanged for a link to another file of root.
 */
export function giveToOwner(fd: number, folder: string): void {
  if (!isOfAnother(folder)) return
  const { uid, gid } = statSync(folder)
  try {
    fchownSync(fd, uid, gid)
  } catch {
    // On disks without owners everyone can open it, and a container may not give files away.
  }
}

/** Whether root works in the folder of another user. */
export function isOfAnother(folder: string): boolean {
  return process.getuid?.() === 0 && statSync(folder).uid !== 0
}

/** For a file that is written much later: makes its folder, and throws if it could not be written now. */
export function prepareFile(path: string, what: string): void {
  try {
    makeFolderSync(dirname(path))
    if (isFolder(path)) throw new Error('it is a folder')
    refuseDevice(path)
    const unfinished = unfinishedPath(path)
    writeFileSync(unfinished, '', { mode: 0o600, flag: 'wx' })
    rmSync(unfinished)
  } catch (error) {
    throw new Error(`${what} ${path} cannot be written: ${(error as Error).message}`)
  }
}

/**
 * Call before a file is replaced: for root, a file renamed to /dev/null would take the place of the device, and one renamed to /dev/stdout
 * that of the link, whatever it leads to.
 */
export function refuseDevice(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  const target = found?.isSymbolicLink() ? statSync(path, { throwIfNoEntry: false }) : found
  const isPlain = !target || target.isFile() || target.isDirectory()
  if (isPlain && (!found || dirname(resolve(path)) !== '/dev')) return
  throw new Error(`${path} is a device, a pipe or a socket; give the name of a file`)
}

/**
 * Creates a folder, and those above it, for its owner alone unless there is another mode. By hand: `recursive` of mkdir never returns where the system
 * says that a folder inside an existing one has no parent, as it does below /proc.
 */
export function makeFolderSync(path: string, mode = 0o700): void {
  if (isFolder(path)) return
  if (!existsSync(dirname(path))) makeFolderSync(dirname(path), mode)
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    // Another process may have made it since.
    if (!isFolder(path)) throw error
  }
}

function isFolder(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory()
}

/** The error with the name of the file, which that of a write to an open file does not have. */
export function nameFile(error: unknown, path: string): unknown {
  const failed = error as NodeJS.ErrnoException
  if (failed.syscall === undefined || failed.path !== undefined) return error
  failed.message += ` '${path}'`
  failed.path = path
  return error
}

/** Removes the file or folder if the process exits before the work is done. Not for a daemon, which must end even if its disk hangs. */
export async function removedOnExit<T>(path: string, work: () => Promise<T>): Promise<T> {
  const remove = () => rmSync(path, { recursive: true, force: true })
  process.once('exit', remove)
  try {
    return await work()
  } finally {
    process.off('exit', remove)
  }
}

/** Age of what a killed process left. Long, because one that works may not write for a while. */
export const abandonedMs = 24 * 60 * 60 * 1000

/**
 * Removes what a crash or kill -9 left of earlier attempts to write this file. Only its one writer may call this; where there may be another,
 * only with an age such as `abandonedMs`.
 */
export function removeUnfinished(path: string, age = 0): void {
  const folder = dirname(path)
  const rest = /^\.[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}\.tmp$/
  for (const name of namesIn(folder))
    if (name.startsWith(basename(path)) && rest.test(name.slice(basename(path).length)))
      if (isOlder(join(folder, name), age)) rmSync(join(folder, name), { force: true })
}

/** Whether it is there, and was not written to for so many milliseconds. In both directions: the clock may have been set back. */
export function isOlder(path: string, age: number): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false })
  return found !== undefined && Math.abs(Date.now() - found.mtimeMs) >= age
}

// A name that can be guessed can be planted, for instance as a link to another user's file.
export function unfinishedPath(path: string): string {
  return `${path}.${crypto.randomUUID()}.tmp`
}

/**
 * Bytes of a file after which a sync begins. Few, because the sync of another file, such as the journal, waits for those that are on their way;
 * with fewer still, a large file takes longer. The row of sends during a backup in the bench shows the one, the row of the backup the other.
 */
const syncedTogether = 2 * 1024 * 1024

/** Each piece is written while the next is made: a piece belongs to the writer until it has asked for the one after the next. */
async function writeNew(path: string, content: Content): Promise<void> {
  const pieces = typeof content === 'string' || content instanceof Uint8Array ? [content] : content
  const fd = openSync(path, 'wx', 0o600)
  let writing = Promise.resolve()
  // What is large goes to disk while the rest is made. One sync at the end would wait for all of it, and so would every other
  // writer of this disk.
  let syncing = Promise.resolve()
  try {
    let unsynced = 0
    for await (const piece of pieces) {
      const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece
      await writing
      if (bytes.length === 0) continue
      writing = awaitedLater(writeWhole(fd, bytes))
      unsynced += bytes.length
      if (unsynced < syncedTogether) continue
      unsynced = 0
      await syncing
      syncing = awaitedLater(sync(fd))
    }
    await writing
    await syncing
    await sync(fd)
  } finally {
    await Promise.allSettled([writing, syncing])
    closeSync(fd)
  }
}

/** Its failure is thrown where it is awaited, which may be after it happened. */
function awaitedLater(work: Promise<void>): Promise<void> {
  work.catch(() => {})
  return work
}

function syncFolderNow(folder: string): void {
  if (process.platform === 'win32') return
  const fd = openSync(folder, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
