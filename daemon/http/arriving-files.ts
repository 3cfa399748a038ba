// Files that are arriving, over all requests: how many bytes of them one account can have at a time, and all together. They count in the
// quota of the organization before they are whole, since a client can let one arrive for an hour.

import type { Readable } from 'node:stream'
import type { ReceivedFile } from '../api/define.ts'
import { checkQuota } from '../domain/files/attachments.ts'
import type { User } from '../domain/model/state.ts'
import type { ServerFacts } from '../domain/resource.ts'
import type { Engine } from '../engine.ts'
import type { Intake } from './body.ts'
import { HeldBytes, Hold } from './held-bytes.ts'

/** Where large files go. */
export interface Receiver {
  readonly inMemory: boolean
  receive(): Receiving
  /** The file is not deleted until the function that it returns is called. */
  hold(name: string): () => void
}

export interface Receiving extends ReceivedFile {
  write(chunk: Uint8Array): Promise<void>
  /** What has arrived, in pieces. */
  stream(): Readable
  discard(): Promise<void>
}

interface ArrivingFilesParts {
  readonly engine: Pick<Engine, 'state'>
  readonly server: ServerFacts
  readonly files: Pick<Receiver, 'inMemory' | 'receive'>
}

/** Bytes for one account and its bots. */
const mostOfAccount = 2 * 1024 * 1024 * 1024
/** In the quota: a body that is sent on to the leader has the form around its file. */
const formBytes = 1024 * 1024

export class ArrivingFiles {
  readonly #parts: ArrivingFilesParts
  readonly #all: HeldBytes
  /** Bytes that a file counts as at least, since it takes a descriptor. */
  readonly #least: number
  readonly #accounts = new Map<number, { readonly held: HeldBytes; requests: number }>()
  /** Of this world. */
  #bytes = 0

  constructor(parts: ArrivingFilesParts, { heldFiles, storedFiles, leastOfFile }: Intake) {
    const { inMemory } = parts.files
    this.#parts = parts
    this.#all = inMemory ? heldFiles : storedFiles
    this.#least = inMemory ? 0 : leastOfFile
  }

  /** For the files of a request. */
  begin(actor: User | undefined): FilesOfRequest {
    // Without an account, callers cannot send more than stays in memory.
    const account = actor?.bot?.ownerId ?? actor?.id ?? 0
    const own = this.#accounts.get(account) ?? { held: new HeldBytes(mostOfAccount, this.#all), requests: 0 }
    own.requests++
    this.#accounts.set(account, own)
    return new FilesOfRequest({
      receive: () => this.#parts.files.receive(),
      least: this.#least,
      hold: new Hold(own.held),
      count: bytes => this.#count(bytes),
      end: () => {
        if (--own.requests === 0) this.#accounts.delete(account)
      },
    })
  }

  #count(bytes: number): void {
    const { engine, server } = this.#parts
    if (bytes > 0) checkQuota(engine.state, server, this.#bytes + bytes - formBytes)
    this.#bytes += bytes
  }
}

interface FilesOfRequestParts {
  receive(): Receiving
  readonly least: number
  readonly hold: Hold
  /** Throws when the quota has no room for this many bytes more. */
  count(bytes: number): void
  end(): void
}

/** Files that arrive with one request. */
export class FilesOfRequest {
  readonly #parts: FilesOfRequestParts
  readonly #files: Receiving[] = []
  #bytes = 0

  constructor(parts: FilesOfRequestParts) {
    this.#parts = parts
  }

  receive(): Receiving {
    this.#hold(this.#parts.least)
    const file = this.#parts.receive()
    this.#files.push(file)
    return file
  }

  async write(file: Receiving, chunk: Uint8Array): Promise<void> {
    const { least, count } = this.#parts
    count(chunk.length)
    this.#bytes += chunk.length
    this.#hold(Math.min(chunk.length, Math.max(0, file.size + chunk.length - least)))
    await file.write(chunk)
  }

  /** To be called when the request is answered: deletes files that were not kept. */
  async end(): Promise<void> {
    try {
      for (const file of this.#files) await file.discard()
    } finally {
      this.#parts.hold.end()
      this.#parts.count(-this.#bytes)
      this.#parts.end()
    }
  }

  #hold(bytes: number): void {
    const { hold } = this.#parts
    hold.set(hold.bytes + bytes)
  }
}
