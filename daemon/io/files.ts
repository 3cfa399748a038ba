// Files beside the store: avatars, emoji, uploads. Named by their content, so the same file is kept once.

import { createHash, randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { ReceivedFile, Upload } from '../api/define.ts'
import { renameDurably, writeFileAtomically } from '../local/atomic-file.ts'
import { GatheredBytes } from '../local/gathered-bytes.ts'
import { DiskRoom } from './disk-room.ts'

export interface Files {
  /** Whether everything is held in memory. */
  readonly inMemory: boolean
  keep(file: Uint8Array | Upload): Promise<string>
  /** Takes a file in pieces, so that a large one is never in memory as a whole. */
  receive(): Receiving
  read(name: string): Promise<Uint8Array | undefined>
  /** For large ones: to be read in pieces. */
  find(name: string): Promise<StoredFile | undefined>
  /** Everything that is kept here, files that were not finished too; not what a fork has from elsewhere. */
  list(): Promise<string[]>
  /** Synchronous, so that no command can begin to need the file meanwhile. False for a file that is held: it stays. */
  remove(name: string): boolean
  /** Holds a file until the function that it returns is called. A file is also held while it is kept, and in the turn after. */
  hold(name: string): () => void
  /** A place of its own in memory that begins with these files. */
  fork(names: ReadonlySet<string>): Files
}

export interface StoredFile {
  readonly size: number
  /** The bytes from the first up to and including the last. */
  read(first: number, last: number): Readable
}

/** A file on its way in. */
export interface Receiving extends ReceivedFile {
  write(chunk: Uint8Array): Promise<void>
  /** What has arrived, in pieces. */
  stream(): Readable
  /** It is not wanted any more. Does nothing to a file that was kept. */
  discard(): Promise<void>
}

type FilesBehind = Pick<Files, 'read' | 'find'>

/** `behind` has files that are not copied, because they are on disk. */
export function memoryFiles(begin: Iterable<[string, Uint8Array]> = [], behind?: FilesBehind): Files {
  const files = new Map(begin)
  const inHand = new InHand()
  const keep = (bytes: Uint8Array) =>
    inHand.during(hashBytes(bytes), async name => {
      files.set(name, bytes)
    })
  return {
    inMemory: true,
    keep: file => (file instanceof Uint8Array ? keep(file) : (file.received?.keep() ?? keep(file.bytes))),
    receive: () => new ReceivingInMemory(keep),
    read: async name => files.get(name) ?? behind?.read(name),
    async find(name) {
      const bytes = files.get(name)
      if (!bytes) return behind?.find(name)
      return { size: bytes.length, read: (first, last) => Readable.from([bytes.subarray(first, last + 1)]) }
    },
    list: async () => [...files.keys()],
    remove(name) {
      if (inHand.has(name)) return false
      files.delete(name)
      return true
    },
    hold: name => inHand.hold(name),
    fork: names => memoryFiles([], only(names, memoryFiles(files, behind))),
  }
}

/** Names that were not there at the beginning would show what the other place got since. */
function only(names: ReadonlySet<string>, { read, find }: FilesBehind): FilesBehind {
  return {
    read: async name => (names.has(name) ? read(name) : undefined),
    find: async name => (names.has(name) ? find(name) : undefined),
  }
}

/** `storeBytes`: bytes of the journal and the snapshot, for which files leave room on the disk. */
export function folderFiles(folder: string, storeBytes = () => 0): Files {
  const inHand = new InHand()
  const room = new DiskRoom(folder, storeBytes)
  const find = async (name: string): Promise<StoredFile | undefined> => {
    const path = join(folder, name)
    // A link in a folder that was handed over could lead to any file.
    const found = isName(name) ? await lstat(path).catch(() => undefined) : undefined
    if (!found?.isFile()) return undefined
    return { size: found.size, read: (first, last) => Readable.from(readPieces(path, first, last)) }
  }
  const read = async (name: string) => (await find(name)) && readFile(join(folder, name)).catch(() => undefined)
  const keep = (bytes: Uint8Array) =>
    inHand.during(hashBytes(bytes), async name => {
      const path = join(folder, name)
      await mkdir(folder, { recursive: true, mode: 0o700 })
      // The disk may have cut or changed what is there.
      if ((await find(name))?.size === bytes.length && (await read(name))?.equals(bytes)) return
      await room.take(bytes.length)
      await writeFileAtomically(path, bytes)
    })
  return {
    inMemory: false,
    keep: file => (file instanceof Uint8Array ? keep(file) : (file.received?.keep() ?? keep(file.bytes))),
    receive: () => new ReceivingOnDisk(folder, inHand, room),
    read,
    find,
    list: async () => (await readdir(folder).catch(() => [])).filter(isOurs),
    remove(name) {
      if (inHand.has(name.split('.', 1)[0]!)) return false
      if (isOurs(name)) rmSync(join(folder, name), { force: true })
      return true
    },
    hold: name => inHand.hold(name),
    fork: names => memoryFiles([], only(names, { read, find })),
  }
}

/** As much as each client that takes nothing costs. */
const pieceSize = 64 * 1024

/** Opened again for each piece: clients that read slowly, or not at all, hold no descriptors. The content never changes. */
async function* readPieces(path: string, first: number, last: number): AsyncGenerator<Uint8Array> {
  for (let at = first; at <= last; ) {
    const piece = await readPiece(path, at, Math.min(pieceSize, last - at + 1))
    if (piece.length === 0) throw new Error('the file is shorter than it was')
    at += piece.length
    yield piece
  }
}

async function readPiece(path: string, at: number, length: number): Promise<Buffer> {
  const file = await open(path, 'r')
  try {
    const piece = Buffer.allocUnsafe(length)
    const { bytesRead } = await file.read(piece, 0, length, at)
    return piece.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

/** Files that are kept just now, and until the caller has had the time to refer to them. */
class InHand {
  readonly #names = new Map<string, number>()

  has(name: string): boolean {
    return this.#names.has(name)
  }

  take(name: string): void {
    this.#names.set(name, (this.#names.get(name) ?? 0) + 1)
  }

  hold(name: string): () => void {
    this.take(name)
    return () => this.release(name)
  }

  async during(name: string, work: (name: string) => Promise<void>): Promise<string> {
    this.take(name)
    try {
      await work(name)
      return name
    } finally {
      // The command comes in the same turn as the answer.
      setImmediate(() => this.release(name))
    }
  }

  release(name: string): void {
    const others = this.#names.get(name)! - 1
    if (others > 0) this.#names.set(name, others)
    else this.#names.delete(name)
  }
}

class ReceivingInMemory implements Receiving {
  readonly #keep: (bytes: Uint8Array) => Promise<string>
  #received = new GatheredBytes()

  constructor(keep: (bytes: Uint8Array) => Promise<string>) {
    this.#keep = keep
  }

  get size(): number {
    return this.#received.size
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.#received.add(chunk)
  }

  stream(): Readable {
    return Readable.from([this.#received.bytes])
  }

  async read(): Promise<Uint8Array> {
    return this.#received.bytes
  }

  digest(): string {
    return createHash('sha256').update(this.#received.bytes).digest('hex')
  }

  async keep(): Promise<string> {
    return this.#keep(await this.read())
  }

  async discard(): Promise<void> {
    this.#received = new GatheredBytes()
  }
}

/** Hashes while it writes: the name is known when the last piece is there. */
class ReceivingOnDisk implements Receiving {
  readonly #folder: string
  readonly #inHand: InHand
  readonly #room: DiskRoom
  readonly #id = randomUUID()
  readonly #path: string
  readonly #hash = createHash('sha256')
  /** Since the first write, which a refused request does not wait for. */
  #file: Promise<FileHandle> | undefined
  size = 0

  constructor(folder: string, inHand: InHand, room: DiskRoom) {
    this.#folder = folder
    this.#inHand = inHand
    this.#room = room
    this.#path = join(folder, `${this.#id}.tmp`)
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.#file ??= this.#open()
    const file = await this.#file
    await this.#room.take(chunk.length)
    this.#hash.update(chunk)
    this.size += chunk.length
    await file.appendFile(chunk)
  }

  async #open(): Promise<FileHandle> {
    this.#inHand.take(this.#id)
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    return open(this.#path, 'wx+', 0o600)
  }

  stream(): Readable {
    return Readable.from(readPieces(this.#path, 0, this.size - 1))
  }

  read(): Promise<Uint8Array> {
    return readFile(this.#path)
  }

  digest(): string {
    return this.#hash.copy().digest('hex')
  }

  keep(): Promise<string> {
    return this.#inHand.during(this.digest(), async name => {
      // An empty file has had no write.
      this.#file ??= this.#open()
      await (await this.#file).datasync()
      await renameDurably(this.#path, join(this.#folder, name))
    })
  }

  async discard(): Promise<void> {
    if (!this.#file) return
    const file = await this.#file.catch(() => undefined)
    await file?.close()
    await rm(this.#path, { force: true })
    this.#inHand.release(this.#id)
  }
}

function isName(name: string): boolean {
  return /^[0-9a-f]{64}$/.test(name)
}

/** Also one that is not finished. Other files in the folder belong to the user, and a row can name anything. */
function isOurs(name: string): boolean {
  return /^([\da-f]{64}|([\da-f]{64}\.)?[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}\.tmp)$/.test(name)
}

/** `check` throws when the hash is no longer wanted. */
export async function hashFile(file: StoredFile, check = () => {}): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of file.read(0, file.size - 1)) {
    check()
    hash.update(chunk)
  }
  return hash.digest('hex')
}

function hashBytes(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
