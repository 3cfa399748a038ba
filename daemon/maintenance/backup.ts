// Makes a backup of a store while a daemon runs on it, or while none does. The daemon takes no part in it: the store is made so
// that files which are complete never change, and the journal only grows.

import { fstatSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { writeFileAtomically } from '../journal/atomic-file.ts'
import { closeFile } from '../journal/durable-files.ts'
import { readAt } from '../journal/line-blocks.ts'
import type { Segment } from '../journal/segment-reader.ts'
import { version } from '../version.ts'
import {
  type ArchivedFile,
  type ArchiveHead,
  archiveFormat,
  BackupRefused,
  headName,
  isArchivable,
  manifestName,
  manifestText,
} from './archive.ts'
import { checkSums } from './check.ts'
import { type HeldFile, StoreView } from './store-view.ts'

export interface BackupMade {
  readonly position: number
  readonly files: number
  /** Of the files, without what the archive adds. */
  readonly bytes: number
  /** Whether the backup has the secret that all API keys are derived from. */
  readonly secret: boolean
}

export interface BackupOptions {
  readonly folder: string
  /** Whether to leave out the secret: those who restore the backup get new API keys. */
  readonly withoutSecret: boolean
  readonly now: Date
}

/** Writes the file, readable by its owner alone; it appears when it is whole and on disk. */
export async function backupToFile(path: string, options: BackupOptions): Promise<BackupMade> {
  const archive = await archiveOf(options)
  await writeFileAtomically(path, archive.pieces)
  return archive.made()
}

/** Hands over the archive piece by piece. */
export async function backupToStream(
  write: (piece: Uint8Array) => Promise<void>,
  options: BackupOptions,
): Promise<BackupMade> {
  const archive = await archiveOf(options)
  for await (const piece of archive.pieces) await write(piece)
  return archive.made()
}

interface Archive {
  readonly pieces: AsyncIterable<Uint8Array>
  made(): BackupMade
}

async function archiveOf(options: BackupOptions): Promise<Archive> {
  const view = await StoreView.open(options.folder)
  try {
    await checkSums(view)
  } catch (error) {
    view.close()
    throw damaged((error as Error).message)
  }
  const { createTarPacker } = await import('modern-tar')
  const { readable, controller } = createTarPacker()
  let made: BackupMade | undefined
  const packing = pack(new Packer(controller.add, options.now), view, options).then(
    result => {
      made = result
      controller.finalize()
    },
    error => controller.error(error),
  )
  return {
    pieces: (async function* () {
      try {
        yield* readable
        await packing
      } finally {
        view.close()
      }
    })(),
    made: () => made!,
  }
}

async function pack(packer: Packer, view: StoreView, options: BackupOptions): Promise<BackupMade> {
  const { folder, withoutSecret, now } = options
  const head: ArchiveHead = { natter: 'backup', format: archiveFormat, version: version(), made: now.toISOString() }
  await packer.text(headName, `${JSON.stringify(head)}\n`)
  const secret = !withoutSecret && (await packer.looseFile(folder, 'secret'))
  if (view.state) await packer.heldFile(view.state)
  for (const file of view.sideFiles) {
    await packer.heldFile(file)
    const { bytes, sum } = packer.files.at(-1)!
    if (bytes !== file.entry.bytes || sum !== file.entry.sum)
      throw damaged(`${file.name} does not match its checksum in state.json`)
  }
  // Uploads before the end of the journal, which may name new ones; then those.
  const first = view.looseFiles()
  for (const name of first) await packer.looseFile(folder, name)
  const newest = await view.withNewEntries()
  const known = new Set(first)
  for (const name of newest.looseFiles()) if (!known.has(name)) await packer.looseFile(folder, name)
  for (const segment of newest.segments) await packer.segment(segment)
  const files = packer.files.slice(1)
  await packer.text(manifestName, manifestText({ position: newest.position, files }))
  return {
    position: newest.position,
    files: files.length,
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    secret,
  }
}

function damaged(what: string): BackupRefused {
  return new BackupRefused(`the store is damaged: ${what}. Run \`natter store check\` to see everything`)
}

const pieceSize = 1024 * 1024

type AddEntry = (header: { name: string; size: number; mode: number; mtime: Date }) => WritableStream<Uint8Array>

class Packer {
  readonly files: ArchivedFile[] = []
  readonly #add: AddEntry
  readonly #now: Date

  constructor(add: AddEntry, now: Date) {
    this.#add = add
    this.#now = now
  }

  async text(name: string, text: string): Promise<void> {
    const bytes = Buffer.from(text)
    await this.#entry(name, bytes.length, [bytes])
  }

  heldFile({ name, fd, size }: HeldFile): Promise<void> {
    return this.#entry(name, size, piecesOf(fd, size))
  }

  segment({ file, fd, size }: Segment): Promise<void> {
    return this.#entry(file, size, piecesOf(fd, size))
  }

  /** False when it is gone, or was never there. */
  async looseFile(folder: string, name: string): Promise<boolean> {
    if (!isArchivable(name)) return false
    let fd: number
    try {
      fd = openSync(join(folder, name), 'r')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
      throw error
    }
    try {
      await this.heldFile({ name, fd, size: fstatSync(fd).size })
    } finally {
      await closeFile(fd)
    }
    return true
  }

  async #entry(name: string, size: number, pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): Promise<void> {
    const writer = this.#add({ name, size, mode: 0o600, mtime: this.#now }).getWriter()
    let sum = 0
    for await (const piece of pieces) {
      sum = crc32(piece, sum)
      await writer.write(piece)
    }
    await writer.close()
    this.files.push({ name, bytes: size, sum })
  }
}

/** Exactly so many bytes, in new buffers: the archive keeps some until they are written. */
async function* piecesOf(fd: number, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < size; ) {
    const piece = Buffer.allocUnsafeSlow(Math.min(pieceSize, size - at))
    const got = await readAt(fd, piece, 0, piece.length, at)
    if (got === 0) throw new BackupRefused('a file of the store became shorter while it was read')
    at += got
    yield got === piece.length ? piece : piece.subarray(0, got)
  }
}
