// The folder of a store, made ready before anything else: what is wrong with it is said here, in a sentence.
import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync, rmdirSync, statSync } from 'node:fs'
import { chmod, mkdir, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { whyNotPlain } from '../local/plain-files.ts'
import { readyFileName, runningFileName } from '../local/ready-file.ts'
import { activeName, sealedLast } from './segment-format.ts'

export class StoreUnusable extends Error {
  readonly folder: string
  constructor(folder: string, reason: string, cause: unknown) {
    super(`${folder} cannot hold the store: ${reason}`, { cause })
    this.name = 'StoreUnusable'
    this.folder = folder
  }
}

/** The folder, or the journal in it, is no longer the one that was opened. Whatever is written now is lost. */
export class StoreGone extends Error {
  constructor(folder: string) {
    super(`${folder} was deleted, moved or replaced while natterd was using it`)
    this.name = 'StoreGone'
  }
}

/** For what a backup is unpacked into, inside the folder, while it is read and checked. No folder of the user has such a name. */
export function unpackingName(): string {
  return `unpacking-${randomUUID()}`
}

/** Its name from the moment at which parts of the store are moved until it has become the store. */
export function restoringName(): string {
  return `restoring-${randomUUID()}`
}

export function isUnpacking(name: string): boolean {
  return hasForm(name, 'unpacking')
}

export function isRestoring(name: string): boolean {
  return hasForm(name, 'restoring')
}

function hasForm(name: string, word: string): boolean {
  return name.startsWith(`${word}-`) && /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(name.slice(word.length + 1))
}

/** Throws when a restore was interrupted: the folder may hold parts of two stores, or none. */
export function refuseHalfRestored(folder: string, names: readonly string[]): void {
  const unpacked = names.find(isRestoring)
  if (!unpacked) return
  const isMember = [folder, join(folder, unpacked)].some(place => existsSync(join(place, 'cluster.json')))
  const command = isMember ? '`natter cluster restore` again' : '`natter restore` again, with --replace'
  const reason = `a restore into it was interrupted, or has not ended; if it was interrupted, run ${command}`
  throw new StoreUnusable(folder, reason, undefined)
}

/** Throws when a folder has parts of a store and no whole one: a new store would begin by deleting or replacing what it does not know. */
export function refuseFilesAlone(folder: string): void {
  const names = readdirSync(folder)
  refuseHalfRestored(folder, names)
  if (names.some(name => name === activeName || sealedLast(name) !== undefined)) return
  for (const part of ['state.json', 'files', 'messages', 'outbox', runningFileName, readyFileName]) {
    const path = join(folder, part)
    if (!names.includes(part) || (statSync(path).isDirectory() && readdirSync(path).length === 0)) continue
    const reason = `it has "${part}" but no journal; choose another folder, or restore a backup`
    throw new StoreUnusable(folder, reason, undefined)
  }
}

/** Throws when something in the folder is neither a file nor a folder. The folder itself may be a link: the user has named it. */
export function refuseLinks(folder: string): void {
  const reason = whyNotPlain(folder)
  if (reason) throw new StoreUnusable(folder, reason, undefined)
}

/**
 * Makes the folder if need be, for its owner alone, and makes sure that it can be written to and leads nowhere else. Returns the folders
 * that it made.
 */
export async function prepareFolder(path: string): Promise<readonly string[]> {
  const missing = findMissing(path)
  // A name that can be guessed can be planted.
  const probe = join(path, `.probe-${randomUUID()}`)
  try {
    // A folder that was there keeps the rights its owner gave it.
    if (await makeFolder(path)) await chmod(path, 0o700)
    // Asking for permission says nothing about a full or read-only disk; writing does.
    await writeFile(probe, 'natter', { flag: 'wx', mode: 0o600 })
    // Also those of starts that were killed: two starts may remove the same one.
    for (const name of readdirSync(path).filter(name => hasForm(name, '.probe')))
      await rm(join(path, name), { force: true })
  } catch (error) {
    await rm(probe, { force: true }).catch(() => {})
    removeEmpty(missing)
    throw new StoreUnusable(path, advice(error as NodeJS.ErrnoException), error)
  }
  refuseLinks(path)
  return missing
}

/** The folder and those above it that are not there, the deepest first. */
function findMissing(path: string): string[] {
  // A drive of Windows that is not there has no folder above it.
  return existsSync(path) || dirname(path) === path ? [] : [path, ...findMissing(dirname(path))]
}

/** Up to the first that has something in it, or is not there. */
export function removeEmpty(folders: readonly string[]): void {
  try {
    for (const folder of folders) rmdirSync(folder)
  } catch {
    // It stays with what is in it.
  }
}

/** With its parents; false when it was there. Node's own recursive mkdir never returns in places such as /proc. */
export async function makeFolder(path: string): Promise<boolean> {
  try {
    await mkdir(path, { mode: 0o700 })
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' && (await stat(path)).isDirectory()) return false
    if (code !== 'ENOENT' || dirname(path) === path || existsSync(dirname(path))) throw error
    await makeFolder(dirname(path))
    await mkdir(path, { mode: 0o700 })
    return true
  }
}

function advice(error: NodeJS.ErrnoException): string {
  switch (error.code) {
    case 'EEXIST':
    case 'ENOTDIR':
      return 'it is, or lies under, a file and not a folder; choose another path'
    case 'EROFS':
      return 'the disk is mounted read-only; choose a path on a writable one, or run with --memory'
    case 'EACCES':
    case 'EPERM':
      return 'no permission to write there; change its owner or mode, or choose another path'
    case 'ENOSPC':
    case 'EDQUOT':
      return 'no space is left on the disk; free some, or choose another path'
    default:
      return error.message
  }
}
