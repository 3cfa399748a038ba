// Makes a backup of a store while a daemon runs on it, or while none does. The daemon takes no part in it, except that it deletes no
// upload while the backup holds the store: files that are complete never change, and the journal only grows. A bundle of its own: it
// needs neither domain nor API, except where there are uploads, to know which of them the state names.

import { createHash, type Hash } from 'node:crypto'
import { existsSync, fstatSync, read } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { crc32 } from 'node:zlib'
import { checkSecret, noSecret, storedSecret } from '../io/secret.ts'
import { packTar, type TarFile } from '../io/tar.ts'
import { lineBlocks } from '../journal/line-blocks.ts'
import type { Segment } from '../journal/segment-reader.ts'
import { StoreHold } from '../journal/store-hold.ts'
import {
  abandonedMs,
  removedOnExit,
  removeUnfinished,
  unfinishedPath,
  writeFileAtomically,
} from '../local/atomic-file.ts'
import { readText, smallFile } from '../local/bounded-file.ts'
import { closeFile } from '../local/durable-files.ts'
import { openPlainSync } from '../local/plain-files.ts'
import { isAlive } from '../local/processes.ts'
import { clusterFileName, type Running, runningFileName } from '../local/ready-file.ts'
import { version } from '../local/version.ts'
import {
  type BackedUpFile,
  type BackupHead,
  BackupRefused,
  backupFormat,
  headName,
  manifestName,
  manifestText,
} from './backup-format.ts'
import { isReady } from './member-readiness.ts'
import { Pace } from './pace.ts'
import { type HeldFile, StoreView } from './store-view.ts'
import { checkSums } from './sums.ts'

interface BackupMade {
  readonly position: number
  readonly files: number
  /** Of the files, without what the archive adds. */
  readonly bytes: number
  /** Whether the backup has the secret that all API keys are derived from. */
  readonly secret: boolean
  /** What a restore of it would note, unless it was asked for. */
  readonly notes: readonly string[]
}

interface BackupOptions {
  readonly folder: string
  /** Whether to leave out the secret: a restored store then has new API keys. */
  readonly withoutSecret: boolean
  /** Whether to go on when uploads are missing or damaged, or when a daemon of a cluster is behind the others. */
  readonly incomplete?: boolean
  readonly now: Date
}

/** Writes the file, readable by its owner alone; it appears when it is whole and on disk. What is unfinished goes when the process exits. */
export async function backupToFile(path: string, options: BackupOptions): Promise<BackupMade> {
  const buffers = new ReusedBuffers()
  const backup = new Backup(options, () => buffers.take())
  removeUnfinished(path, abandonedMs)
  const unfinished = unfinishedPath(path)
  await removedOnExit(unfinished, () => writeFileAtomically(path, buffers.reclaim(backup.pieces()), unfinished))
  return backup.made
}

/** Hands over the backup piece by piece. */
export async function backupToStream(
  write: (piece: Uint8Array) => Promise<void>,
  options: BackupOptions,
): Promise<BackupMade> {
  const backup = new Backup(options, async () => Buffer.allocUnsafeSlow(pieceSize))
  for await (const piece of backup.pieces()) await write(piece)
  return backup.made
}

/** The daemon goes first: a backup can wait, senders of messages cannot. */
export function giveWay(): void {
  try {
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // Not allowed on every system. The backup works without it.
  }
}

class Backup {
  readonly #options: BackupOptions
  readonly #newBuffer: () => Promise<Buffer>
  readonly #pace: Pace
  readonly #files: BackedUpFile[] = []
  #made: BackupMade | undefined

  constructor(options: BackupOptions, newBuffer: () => Promise<Buffer>) {
    this.#options = options
    this.#newBuffer = newBuffer
    this.#pace = new Pace(options.folder)
  }

  /** Known when all pieces were read. */
  get made(): BackupMade {
    return this.#made!
  }

  async *pieces(): AsyncGenerator<Uint8Array> {
    const { folder, now } = this.#options
    await refuseBehind(this.#options)
    // Before the store is read: files that its state names stay until the end.
    const hold = StoreHold.take(folder)
    try {
      const { view, loose } = hold ? await openHeld(folder) : await openUnheld(folder)
      try {
        try {
          await checkSums(view)
        } catch (error) {
          throw refuseDamaged((error as Error).message)
        }
        await refuseUnfit(this.#options, view, loose)
        yield* packTar(now, tar => this.#fill(tar, view, loose, hold))
      } finally {
        view.close()
      }
    } finally {
      hold?.release()
    }
  }

  async #fill(tar: TarFile, view: StoreView, loose: readonly string[], hold: StoreHold | undefined): Promise<void> {
    const { withoutSecret, now } = this.#options
    const head: BackupHead = { natter: 'backup', format: backupFormat, version: version(), made: now.toISOString() }
    const headText = `${JSON.stringify(head)}\n`
    await addText(tar, headName, headText)
    const secret = !withoutSecret && (await this.#looseFile(tar, 'secret'))
    if (view.state) await this.#heldFile(tar, view.state)
    for (const file of view.sideFiles) {
      const { bytes, sum } = await this.#heldFile(tar, file)
      if (bytes !== file.entry.bytes || sum !== file.entry.sum)
        throw refuseDamaged(`${file.name} does not match its checksum in state.json`)
    }
    for (const name of loose)
      if (!(await this.#looseFile(tar, name)) && name.startsWith('files/'))
        throw new BackupRefused(`${name} was deleted while the backup was made; run it again`)
    for (const segment of view.segments) await this.#segment(tar, segment)
    if (hold && !hold.lasts)
      throw new BackupRefused('the backup was stopped for so long that natterd no longer waited for it; run it again')
    const { position } = view
    await addText(tar, manifestName, manifestText({ position, head: crc32(headText), files: this.#files }))
    const bytes = this.#files.reduce((sum, file) => sum + file.bytes, 0)
    this.#made = {
      position,
      files: this.#files.length,
      bytes,
      secret,
      notes: secret || withoutSecret ? [] : [noSecret],
    }
  }

  async #heldFile(tar: TarFile, { name, fd, size }: HeldFile, hash?: Hash): Promise<BackedUpFile> {
    let sum = 0
    await tar.add(name, size, this.#read(fd, size), piece => {
      sum = crc32(piece, sum)
      hash?.update(piece)
    })
    const file = { name, bytes: size, sum }
    this.#files.push(file)
    return file
  }

  /** The first `size` bytes of the file; fewer are an error. Each piece is read while those before it are summed and written. */
  async *#read(fd: number, size: number): AsyncGenerator<Uint8Array> {
    let at = 0
    const readPiece = async () => {
      const buffer = await this.#newBuffer()
      const length = Math.min(buffer.length, size - at)
      await this.#pace.keep(length)
      const { bytesRead } = await readFrom(fd, buffer, 0, length, at)
      if (bytesRead === 0) throw new BackupRefused('a file of the store became shorter while it was read')
      at += bytesRead
      return buffer.subarray(0, bytesRead)
    }
    const readAhead = () => {
      const piece = at < size ? readPiece() : undefined
      // Thrown where it is awaited.
      piece?.catch(() => {})
      return piece
    }
    let next = readAhead()
    try {
      while (next) {
        const piece = await next
        next = readAhead()
        yield piece
      }
    } finally {
      // The caller closes the file after this.
      await next?.catch(() => {})
    }
  }

  async #segment(tar: TarFile, { file, fd, size }: Segment): Promise<void> {
    await this.#heldFile(tar, { name: file, fd, size })
  }

  /** False when it is gone, or was never there. */
  async #looseFile(tar: TarFile, name: string): Promise<boolean> {
    let fd: number
    try {
      fd = openPlainSync(join(this.#options.folder, name))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
      throw error
    }
    const hash = name.startsWith('files/') ? createHash('sha256') : undefined
    try {
      await this.#heldFile(tar, { name, fd, size: fstatSync(fd).size }, hash)
    } finally {
      await closeFile(fd)
    }
    if (hash && !this.#options.incomplete && name !== `files/${hash.digest('hex')}`)
      throw refuseDamaged(`${name} does not have the content that its name says`)
    return true
  }
}

async function addText(tar: TarFile, name: string, text: string): Promise<void> {
  const bytes = Buffer.from(text)
  await tar.add(name, bytes.length, [bytes])
}

function refuseDamaged(what: string): BackupRefused {
  return new BackupRefused(`the store is damaged: ${what}. Run \`natter store check\` to see everything`)
}

/**
 * Rebuilds the state, which takes many times as long as the copy. Where a daemon runs, it has read the journal itself: there only for a store
 * that names uploads. A daemon of a cluster gets uploads that others took later than their rows.
 */
async function refuseUnfit(
  { folder, withoutSecret, incomplete }: BackupOptions,
  view: StoreView,
  packed: readonly string[],
): Promise<void> {
  const runs = runningDaemon(folder) !== undefined
  const { namesUploads, secretVerifier } = await look(view)
  if (!withoutSecret) refuseOtherSecret(folder, secretVerifier)
  if (runs && (incomplete || !namesUploads)) return
  const { findNeeded } = await import('./index.ts')
  const needed = await findNeeded(view, !runs).catch(error => {
    throw refuseDamaged((error as Error).message)
  })
  const have = new Set(packed)
  const missing = needed.filter(file => !have.has(file))
  if (incomplete || missing.length === 0) return
  throw new BackupRefused(
    existsSync(join(folder, clusterFileName))
      ? `the daemon has not fetched ${missing.length} uploads of its cluster yet; run it later, back up another daemon, or add --incomplete`
      : `the store lacks files that it needs (${missing.length}), such as ${missing[0]}; put them back, or add --incomplete`,
  )
}

/** A daemon that runs has the right one in its memory, and does not notice what became of the file. */
function refuseOtherSecret(folder: string, verifier: string | undefined): void {
  if (!existsSync(join(folder, 'secret'))) return
  try {
    checkSecret(storedSecret(folder, false), verifier, true)
  } catch {
    throw new BackupRefused(
      "the file 'secret' is not the one that the store is used with; put that one there, or add --without-secret",
    )
  }
}

interface Seen {
  /** Whether a row or a fact has the field that all names of uploads are in. */
  readonly namesUploads: boolean
  /** Of the secret that the store was last used with. */
  readonly secretVerifier: string | undefined
}

/** Looks for fields in the bytes, without parsing them. Texts have none: their quotes are escaped. */
async function look({ state, segments }: StoreView): Promise<Seen> {
  let namesUploads = false
  let secretVerifier: string | undefined
  for (const { fd, size } of state ? [state, ...segments] : segments)
    for await (const block of lineBlocks(fd, size)) {
      namesUploads ||= block.includes('"file"')
      const at = Math.max(...verifierFields.map(field => block.lastIndexOf(field)))
      if (at >= 0) secretVerifier = /:\s*"([\da-f]+)"/.exec(block.toString('latin1', at, at + 100))?.[1]
    }
  return { namesUploads, secretVerifier }
}

/** In a snapshot, and in a fact after its type. */
const verifierFields = ['"secretVerifier"', '"store.secret-changed"']

/** A backup has everything that was answered before it began, whichever daemon of a cluster has answered. */
async function refuseBehind({ folder, incomplete }: BackupOptions): Promise<void> {
  if (incomplete || !existsSync(join(folder, clusterFileName))) return
  const running = runningDaemon(folder)
  if (running && (await isReady(running.url))) return
  const state = running ? `the daemon at ${running.url} is not ready` : `no daemon runs with ${folder}`
  const then = running ? 'run it later, back up another daemon' : 'back up a daemon that runs, or start this one'
  throw new BackupRefused(
    `${state}: it may lack what other daemons of its cluster have answered; ${then}, or add --incomplete`,
  )
}

/** A daemon that was killed leaves its file. */
function runningDaemon(folder: string): Running | undefined {
  try {
    const running: Running = JSON.parse(readText(join(folder, runningFileName), smallFile))
    return isAlive(running.pid) ? running : undefined
  } catch {
    return undefined
  }
}

interface Opened {
  readonly view: StoreView
  /** Uploads that the state of the view names, and others; mails. */
  readonly loose: readonly string[]
}

async function openHeld(folder: string): Promise<Opened> {
  const view = await StoreView.open(folder)
  return { view, loose: view.looseFiles() }
}

/** Where nothing can be written, a daemon does not know of the backup: files belong to the view if nothing happened meanwhile. */
async function openUnheld(folder: string): Promise<Opened> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const opened = await openHeld(folder)
    const later = await StoreView.open(folder)
    later.close()
    if (later.position === opened.view.position) return opened
    opened.view.close()
  }
  throw new BackupRefused(`${folder} is in use and cannot be written to; run the backup as the user of the daemon`)
}

/** Of reading a store that is written to. */
const attempts = 20

/** Small enough to stay in the cache of a processor from reading over its checksum to writing. */
const pieceSize = 512 * 1024

const readFrom = promisify(read)

/** A few buffers for all pieces: one is read, one is summed, one is written. */
class ReusedBuffers {
  readonly #all = Array.from({ length: 4 }, () => Buffer.allocUnsafeSlow(pieceSize))
  readonly #free = [...this.#all]
  #onFree = () => {}

  /** For one caller at a time. */
  async take(): Promise<Buffer> {
    if (this.#free.length === 0)
      await new Promise<void>(resolve => {
        this.#onFree = resolve
      })
    return this.#free.pop()!
  }

  /** For a reader that is finished with a piece when it asks for the one after the next, as the writer of a file is. */
  async *reclaim(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const held: Uint8Array[] = []
    for await (const piece of pieces) {
      held.push(piece)
      let kept = 0
      try {
        yield piece
        kept = 1
      } finally {
        // All of them when the reader gives up: a read may be waiting for a buffer.
        while (held.length > kept) this.#release(held.shift()!)
      }
    }
  }

  #release(piece: Uint8Array): void {
    const buffer = this.#all.find(({ buffer }) => buffer === piece.buffer)
    // What the archive adds has memory of its own.
    if (!buffer) return
    this.#free.push(buffer)
    this.#onFree()
  }
}
