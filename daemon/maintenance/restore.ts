// Puts a backup back. It is unpacked beside what the folder holds, checked as a whole, and only then moved into place.

import {
  createReadStream,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  realpathSync,
  rmdirSync,
  rmSync,
  statSync,
} from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import { newRestoreId } from '../api/queue-ids.ts'
import type { Fact } from '../domain/facts.ts'
import { readWhole, TarDamaged, type TarEntry, unpackTar } from '../io/tar.ts'
import { FileJournal } from '../journal/file-journal.ts'
import {
  isRestoring,
  isUnpacking,
  prepareFolder,
  removeEmpty,
  restoringName,
  unpackingName,
} from '../journal/store-folder.ts'
import { StoreHolds } from '../journal/store-hold.ts'
import { lockStore } from '../journal/store-lock.ts'
import { moveParts, partsIn, replacedFolder } from '../journal/store-parts.ts'
import {
  abandonedMs,
  isOfAnother,
  isOlder,
  makeFolderSync,
  nameFile,
  removedOnExit,
  renameDurably,
} from '../local/atomic-file.ts'
import { closeFile, sync, syncFolder, writeWhole } from '../local/durable-files.ts'
import { clusterFileName } from '../local/ready-file.ts'
import {
  type BackedUpFile,
  BackupRefused,
  headName,
  isBackedUp,
  longestHead,
  longestManifest,
  type Manifest,
  manifestName,
  notABackup,
  readHead,
  readManifest,
} from './backup-format.ts'
import { checkStore, type StoreReport } from './check.ts'
import { changeNote, noteReplaced, readNote } from './replaced-store.ts'
import { NoStore } from './store-view.ts'
import { checkGaps } from './tar-gaps.ts'

export interface Restored {
  readonly position: number
  readonly files: number
  readonly bytes: number
  /** When the backup was made, and by which version. */
  readonly made: string
  readonly version: string
  readonly notes: readonly string[]
  /** Uploads that the store needs and that are missing or damaged, each with the reason. */
  readonly missing: readonly string[]
  /** Where the store went that was in the folder before. */
  readonly replaced: string | null
}

interface RestoreOptions {
  readonly folder: string
  /** Whether to move a store that the folder has out of the way. */
  readonly replace: boolean
  /** Whether to restore a backup that lacks uploads. */
  readonly incomplete?: boolean
  readonly now: Date
  /** For the folder of a daemon of a cluster, which is refused otherwise. */
  readonly cluster?: {
    /** Of all its daemons. */
    readonly secret: string
    /** Called when the backup is good and before anything is moved. What it throws leaves the folder as it was. */
    move(unpacked: string, position: number): Promise<void>
  }
}

type Source = AsyncIterable<Uint8Array>

/** Opened now, before a folder is made for what is in it. */
export function openBackup(path: string): Source {
  return createReadStream('', { fd: openSync(path, 'r'), highWaterMark: 1024 * 1024 })
}

/** Reads the whole backup and everything in it; leaves nothing behind, and removes what one that was killed left. */
export async function checkBackup(source: Source): Promise<Restored> {
  for (const path of readdirSync(tmpdir()).map(name => join(tmpdir(), name)))
    if (isScratch(path) && isOlder(path, abandonedMs)) rmSync(path, { recursive: true, force: true })
  const scratch = mkdtempSync(join(tmpdir(), scratchPrefix))
  return removedOnExit(scratch, async () => {
    try {
      return { ...(await unpackChecked(source, scratch)), replaced: null }
    } finally {
      rmSync(scratch, { recursive: true, force: true })
    }
  })
}

const scratchPrefix = 'natter-restore-check-'

/** The temporary folder is for all users of the machine. */
function isScratch(path: string): boolean {
  const name = basename(path)
  const { uid } = userInfo()
  // Another check may just have removed its own.
  const isOwn = () => lstatSync(path, { throwIfNoEntry: false })?.uid === uid
  return name.startsWith(scratchPrefix) && /^\w{6}$/.test(name.slice(scratchPrefix.length)) && isOwn()
}

/** Refuses a folder that a daemon uses, one of a cluster, and one that has a store unless that is to be replaced. */
export async function restoreBackup(source: Source, options: RestoreOptions): Promise<Restored> {
  const made = await prepareFolder(options.folder)
  const lock = await lockStore(options.folder)
  try {
    return await unpackInto(source, options)
  } catch (error) {
    removeMade(made)
    throw error
  } finally {
    await lock.release()
  }
}

/** A folder that root made would be in the way of a service. */
function removeMade([folder, ...above]: readonly string[]): void {
  if (folder === undefined || !existsSync(folder) || readdirSync(folder).some(name => name !== 'lock')) return
  rmSync(join(folder, 'lock'), { force: true })
  removeEmpty([folder, ...above])
}

async function unpackInto(source: Source, options: RestoreOptions): Promise<Restored> {
  const { folder, replace, now, cluster } = options
  if (!cluster) refuseMember(folder)
  const there = partsIn(folder)
  if (there.length > 0 && !replace)
    throw new BackupRefused(
      `${folder} has a store; add --replace to move it to a folder inside it, or choose another with --data`,
    )
  refuseMounts(folder, there)
  const names = readdirSync(folder)
  // What a killed process was unpacking. The lock shows that no other process is at work.
  for (const name of names.filter(isUnpacking)) rmSync(join(folder, name), { recursive: true, force: true })
  // Of an earlier attempt that was interrupted while parts were moved: they go when there is something to put in their place, and until
  // then no daemon starts here.
  const leftovers = names.filter(isRestoring)
  const begun = leftovers.map(name => readNote(join(folder, name))).find(note => note !== undefined)
  const isWhole = begun?.isWhole ?? false
  const replaced = begun?.folder ?? (there.length > 0 ? replacedFolder(folder, now) : null)
  const unpacking = join(folder, unpackingName())
  const unpacked = join(folder, restoringName())
  const restored = await removedOnExit(unpacking, async () => {
    try {
      mkdirSync(unpacking, { mode: 0o700 })
      const restored = await unpackChecked(source, unpacking, cluster?.secret)
      if (!options.incomplete) refuseIncomplete(restored.missing)
      const position = await endQueues(unpacking, now)
      if (replaced) noteReplaced(unpacking, { folder: replaced, isWhole })
      // From here on a daemon refuses to start until everything is in its place: the folder `unpacked` marks the store as incomplete.
      await renameDurably(unpacking, unpacked)
      await waitForBackups(folder)
      await cluster?.move(unpacked, position)
      return restored
    } catch (error) {
      for (const path of [unpacking, unpacked]) rmSync(path, { recursive: true, force: true })
      throw error
    }
  })
  for (const name of leftovers) rmSync(join(folder, name), { recursive: true, force: true })
  try {
    // Of the backup: the interrupted attempt had put them in their place.
    if (isWhole) for (const name of there) rmSync(join(folder, name), { recursive: true, force: true })
    else if (replaced) {
      await moveParts(folder, replaced)
      changeNote(unpacked, true)
    }
    await moveParts(unpacked, folder).catch(async error => {
      if (replaced) {
        changeNote(unpacked, false)
        await moveParts(replaced, folder)
      }
      throw error
    })
  } catch (error) {
    const isAsBefore = (!replaced || removeWithoutParts(replaced)) && partsIn(folder).join() === there.join()
    // The rest of a cluster is restored already: there the folder stays marked as incomplete.
    if (isAsBefore && !cluster) rmSync(unpacked, { recursive: true, force: true })
    throw error
  }
  rmSync(unpacked, { recursive: true, force: true })
  await syncFolder(folder)
  return { ...restored, notes: [...restored.notes, ...ownerNote(folder)], replaced }
}

/** A backup that began before the folder was marked as incomplete reads the old store. */
async function waitForBackups(folder: string): Promise<void> {
  const holds = new StoreHolds(folder)
  while (holds.any()) await sleep(100)
}

/** Removes the folder if it is empty. Returns whether no part of a store is in it. */
function removeWithoutParts(folder: string): boolean {
  if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return true
  if (readdirSync(folder).length > 0) return partsIn(folder).length === 0
  rmdirSync(folder)
  return true
}

/** Before the store takes its place, so that no daemon ever starts on it with the queues. Returns the position after it. */
async function endQueues(folder: string, now: Date): Promise<number> {
  const journal = await FileJournal.open<Fact>({ folder, durability: 'fsync' })
  try {
    const facts: Fact[] = [{ type: 'store.put-back', restoreId: newRestoreId() }]
    const { position, durable } = journal.append({ time: now.getTime(), actor: null, op: 'restore', facts })
    await durable
    return position
  } finally {
    await journal.close()
  }
}

/** Of a restore by root into the folder of a service, which cannot read files of root. */
function ownerNote(folder: string): string[] {
  if (!isOfAnother(folder)) return []
  const { uid, gid } = statSync(folder)
  // For a service with DynamicUser the folder is a link, and chown -R does not follow links.
  const place = realpathSync(folder)
  return [
    `the restored files belong to root and ${folder} to user ${uid}: run chown -R ${uid}:${gid} ${place} before you start the daemon`,
  ]
}

/** What is mounted in the folder cannot be renamed. */
function refuseMounts(folder: string, parts: readonly string[]): void {
  const { dev } = statSync(folder)
  const mounted = parts.map(name => join(folder, name)).find(path => lstatSync(path).dev !== dev)
  if (mounted)
    throw new BackupRefused(
      `${mounted} is a mount, which cannot be replaced; restore to another folder with --data, or unmount it first`,
    )
}

/** The other daemons and etcd would go on with what the cluster had, and take this store for it. */
function refuseMember(folder: string): void {
  const file = join(folder, clusterFileName)
  if (existsSync(file))
    throw new BackupRefused(
      `${folder} belongs to a cluster, whose daemons must be restored together: stop all of them and use \`natter cluster restore\`. ` +
        `To restore a single daemon instead, choose another folder with --data, or delete ${file}`,
    )
}

async function unpackChecked(source: Source, folder: string, secret?: string): Promise<Omit<Restored, 'replaced'>> {
  const { head, manifest, found } = await unpack(source, folder)
  compare(manifest.files, found)
  const report = await checkStore(folder, { secret }).catch(error => {
    if (!(error instanceof NoStore)) throw error
    throw new BackupRefused('the backup is damaged: it has neither a snapshot nor a journal')
  })
  refuseProblems(report, manifest)
  const bytes = found.reduce((sum, file) => sum + file.bytes, 0)
  const { made, version } = head
  const { position, notes } = report
  const missing = report.problems.map(({ message }) => message)
  return { position, files: found.length, bytes, made, version, notes, missing }
}

interface Unpacked {
  readonly head: ReturnType<typeof readHead>
  readonly manifest: Manifest
  readonly found: readonly BackedUpFile[]
}

async function unpack(source: Source, folder: string): Promise<Unpacked> {
  let head: Unpacked['head'] | undefined
  let headSum: number | undefined
  let manifest: Manifest | undefined
  const found: BackedUpFile[] = []
  const names = new Set<string>()
  try {
    for await (const entry of unpackTar(checkGaps(source))) {
      const { name, type } = entry
      if (names.has(name))
        throw new BackupRefused(`the backup is damaged: it holds ${JSON.stringify(name)} more than once`)
      names.add(name)
      if (!head) {
        if (name !== headName) throw notABackup()
        const text = await readText(entry, longestHead)
        headSum = crc32(text)
        head = readHead(text)
      } else if (name === manifestName) manifest = readManifest(await readText(entry, longestManifest))
      else if (type !== 'file' || !isBackedUp(name))
        throw new BackupRefused(`the backup is damaged: it holds ${JSON.stringify(name)}, which no store has`)
      else found.push(await writeFile(folder, entry))
    }
  } catch (error) {
    if (!(error instanceof TarDamaged)) throw error
    if (!head) throw notABackup()
    throw new BackupRefused(`the backup is damaged or was cut short: ${error.message}`)
  }
  if (!head) throw notABackup()
  if (!manifest) throw new BackupRefused('the backup was cut short: its list of files is missing')
  if (manifest.head !== undefined && manifest.head !== headSum)
    throw new BackupRefused(`the backup is damaged: ${headName} does not match its checksum`)
  return { head, manifest, found }
}

async function readText(entry: TarEntry, longest: number): Promise<string> {
  const bytes = await readWhole(entry, longest)
  if (!bytes) throw notABackup()
  return bytes.toString()
}

async function writeFile(folder: string, { name, chunks }: TarEntry): Promise<BackedUpFile> {
  const path = join(folder, name)
  // At once: one that is on its way when the process exits would make the folder again.
  makeFolderSync(dirname(path))
  const fd = openSync(path, 'wx', 0o600)
  let bytes = 0
  let sum = 0
  try {
    for await (const piece of chunks) {
      sum = crc32(piece, sum)
      bytes += piece.length
      if (piece.length > 0) await writeWhole(fd, piece)
    }
    await sync(fd)
  } catch (error) {
    throw nameFile(error, path)
  } finally {
    await closeFile(fd)
  }
  return { name, bytes, sum }
}

function compare(wanted: readonly BackedUpFile[], found: readonly BackedUpFile[]): void {
  const byName = new Map(found.map(file => [file.name, file]))
  for (const { name, bytes, sum } of wanted) {
    const file = byName.get(name)
    if (!file) throw new BackupRefused(`the backup is damaged: ${name} is missing`)
    if (file.bytes !== bytes || file.sum !== sum)
      throw new BackupRefused(`the backup is damaged: ${name} does not match its checksum`)
  }
  if (found.length !== wanted.length)
    throw new BackupRefused('the backup is damaged: it holds files that it does not list')
}

function refuseIncomplete(missing: readonly string[]): void {
  if (missing.length === 0) return
  const some = missing.slice(0, 3).join('; ')
  throw new BackupRefused(
    `the backup is not complete: ${some}${missing.length > 3 ? `; and ${missing.length - 3} more` : ''}. ` +
      'Use another backup, or restore this one without these files: add --incomplete',
  )
}

/** The daemon that starts on it must not be the one to find out. An upload that is missing or damaged does not stop it. */
function refuseProblems({ problems, position }: StoreReport, manifest: Manifest): void {
  const [problem] = problems.filter(({ file }) => !file.startsWith('files/'))
  if (problem) throw new BackupRefused(`the store in the backup cannot be used: ${problem.message}`)
  if (position !== manifest.position)
    throw new BackupRefused(`the backup is damaged: its journal ends at ${position}, not at ${manifest.position}`)
}
