// Files beside the store: avatars, emoji, uploads. Named by their content, so the same file is kept once.

import { createHash, randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { ReceivedFile, Upload } from '../api/define.ts'
import { renameDurably, writeFileAtomically } from '../journal/atomic-file.ts'

export interface Files {
  /** Whether everything is held in memory. */
  readonly inMemory: boolean
  keep(file: Uint8Array | Upload): Promise<string>
  /** Takes a file in pieces, so that a large one is never in memory as a whole. */
  receive(): Receiving
  read(name: string): Promise<Uint8Array | undefined>
  /** Everything there is, files that were not finished too. */
  list(): Promise<string[]>
  /** Synchronous, so that no command can begin to need the file meanwhile. Leaves a file that is being kept. */
  remove(name: string): void
  /** A place of its own in memory that begins with the same files. */
  fork(): Files
}

/** A file on its way in. */
export interface Receiving extends ReceivedFile {
  write(chunk: Uint8Array): Promise<void>
  /** It is not wanted any more. Does nothing to a file that was kept. */
  discard(): Promise<void>
}

/** `behind` has files that are not copied, because they are on disk. */
export function memoryFiles(begin: Iterable<[string, Uint8Array]> = [], behind?: Pick<Files, 'read'>): Files {
  const files = new Map(begin)
  const inHand = new InHand()
  const keep = (bytes: Uint8Array) =>
    inHand.during(nameOf(bytes), async name => {
      files.set(name, bytes)
    })
  return {
    inMemory: true,
    keep: file => (file instanceof Uint8Array ? keep(file) : (file.received?.keep() ?? keep(file.bytes))),
    receive: () => new ReceivingInMemory(keep),
    read: async name => files.get(name) ?? behind?.read(name),
    list: async () => [...files.keys()],
    remove: name => {
      if (!inHand.has(name)) files.delete(name)
    },
    fork: () => memoryFiles(files, behind),
  }
}

export function folderFiles(folder: string): Files {
  const inHand = new InHand()
  const read = async (name: string) => {
    if (!/^[0-9a-f]{64}$/.test(name)) return undefined
    return readFile(join(folder, name)).catch(() => undefined)
  }
  const keep = (bytes: Uint8Array) =>
    inHand.during(nameOf(bytes), async name => {
      const path = join(folder, name)
      await mkdir(folder, { recursive: true, mode: 0o700 })
      if (!(await stat(path).catch(() => undefined))) await writeFileAtomically(path, bytes)
    })
  return {
    inMemory: false,
    keep: file => (file instanceof Uint8Array ? keep(file) : (file.received?.keep() ?? keep(file.bytes))),
    receive: () => new ReceivingOnDisk(folder, inHand),
    read,
    list: () => readdir(folder).catch(() => []),
    remove(name) {
      if (!inHand.has(name.split('.', 1)[0]!)) rmSync(join(folder, name), { force: true })
    },
    fork: () => memoryFiles([], { read }),
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
  #chunks: Uint8Array[] = []
  size = 0

  constructor(keep: (bytes: Uint8Array) => Promise<string>) {
    this.#keep = keep
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.#chunks.push(chunk)
    this.size += chunk.length
  }

  async read(): Promise<Uint8Array> {
    return Buffer.concat(this.#chunks)
  }

  async keep(): Promise<string> {
    return this.#keep(await this.read())
  }

  async discard(): Promise<void> {
    this.#chunks = []
  }
}

/** Hashes while it writes: the name is known when the last piece is there. */
class ReceivingOnDisk implements Receiving {
  readonly #folder: string
  readonly #inHand: InHand
  readonly #id = randomUUID()
  readonly #path: string
  readonly #hash = createHash('sha256')
  #file: FileHandle | undefined
  size = 0

  constructor(folder: string, inHand: InHand) {
    this.#folder = folder
    this.#inHand = inHand
    this.#path = join(folder, `${this.#id}.tmp`)
  }

  async write(chunk: Uint8Array): Promise<void> {
    if (!this.#file) {
      this.#inHand.take(this.#id)
      await mkdir(this.#folder, { recursive: true, mode: 0o700 })
      this.#file = await open(this.#path, 'wx+', 0o600)
    }
    this.#hash.update(chunk)
    this.size += chunk.length
    await this.#file.appendFile(chunk)
  }

  read(): Promise<Uint8Array> {
    return readFile(this.#path)
  }

  keep(): Promise<string> {
    return this.#inHand.during(this.#hash.copy().digest('hex'), async name => {
      await this.#file!.datasync()
      await renameDurably(this.#path, join(this.#folder, name))
    })
  }

  async discard(): Promise<void> {
    if (!this.#file) return
    await this.#file.close()
    await rm(this.#path, { force: true })
    this.#inHand.release(this.#id)
  }
}

function nameOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
