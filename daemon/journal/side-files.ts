// Files beside the snapshot: each is written once, durably, under a name of its own, before a snapshot names it.
import { closeSync, fstatSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { writeFileAtomically } from '../local/atomic-file.ts'
import { syncFolder } from '../local/durable-files.ts'
import { openPlainSync } from '../local/plain-files.ts'
import { type FileEntry, SnapshotDamaged } from './state-file.ts'

export interface SideFile {
  readonly name: string
  /** Its bytes; absent when it is on disk already. */
  readonly pieces?: () => Iterable<Uint8Array>
  /** Called when a snapshot that needs it is on disk. */
  readonly kept?: () => void
}

export class SideFiles {
  readonly #store: string
  readonly #folder: string
  readonly #known = new Map<string, FileEntry>()

  constructor(store: string) {
    this.#store = store
    this.#folder = join(store, 'messages')
  }

  know(entries: readonly FileEntry[]): void {
    for (const entry of entries) this.#known.set(entry.name, entry)
  }

  /** Reads one that a snapshot names; refuses one that is not as it was written. */
  read(name: string): Buffer {
    const entry = this.#known.get(name)
    const damaged = (reason: string) => new SnapshotDamaged(join('messages', name), 1, reason)
    if (!entry) throw damaged('the snapshot does not know this file')
    let fd: number | undefined
    try {
      fd = openPlainSync(join(this.#folder, name))
      const { size } = fstatSync(fd)
      if (size !== entry.bytes) throw damaged(`${entry.bytes} bytes were written, ${size} are there`)
      const bytes = readFileSync(fd)
      if (crc32(bytes) !== entry.sum) throw damaged('its checksum does not fit')
      return bytes
    } catch (error) {
      if (error instanceof SnapshotDamaged) throw error
      throw damaged(`the snapshot needs this file: ${(error as NodeJS.ErrnoException).code}`)
    } finally {
      if (fd !== undefined) closeSync(fd)
    }
  }

  /** Writes those that are new. Returns the entries of all files for the snapshot. */
  async write(files: readonly SideFile[]): Promise<FileEntry[]> {
    const entries: FileEntry[] = []
    let written = 0
    for (const { name, pieces } of files) {
      const known = this.#known.get(name)
      if (!pieces && !known) throw new Error(`the file ${name} was never written`)
      if (pieces && written++ === 0) await mkdir(this.#folder, { recursive: true, mode: 0o700 })
      entries.push(pieces ? await this.#writeOne(name, pieces()) : known!)
    }
    // The first of them may have made the folder.
    if (written > 0) await syncFolder(this.#store)
    return entries
  }

  /** The snapshot that needs these is on disk: the others can go, except those that are still in use. */
  async prune(entries: readonly FileEntry[], inUse: ReadonlySet<string>): Promise<void> {
    const before = new Set(this.#known.keys())
    const used = [...this.#known.values()].filter(({ name }) => inUse.has(name))
    this.#known.clear()
    this.know(used)
    this.know(entries)
    for (const name of this.#names())
      if (!this.#known.has(name) && (before.has(name) || isOurs(name)))
        await rm(join(this.#folder, name), { force: true })
  }

  async #writeOne(name: string, pieces: Iterable<Uint8Array>): Promise<FileEntry> {
    let bytes = 0
    let sum = 0
    const counted = function* () {
      for (const piece of pieces) {
        sum = crc32(piece, sum)
        bytes += piece.length
        yield piece
      }
    }
    await writeFileAtomically(join(this.#folder, name), counted())
    return { name, bytes, sum }
  }

  #names(): string[] {
    try {
      return readdirSync(this.#folder)
    } catch {
      return []
    }
  }
}

/** What a crash may have left of a segment. Other files in the folder belong to the user. */
function isOurs(name: string): boolean {
  return /^\d{6,}\.\d+\.segment(\.[\da-f-]{36}\.tmp)?$/.test(name)
}
