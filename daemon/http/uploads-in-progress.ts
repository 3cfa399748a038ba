// Files of one request, from their first byte until the request is answered: small ones in memory, large ones on the disk.

import type { Readable } from 'node:stream'
import type { Upload } from '../api/define.ts'
import type { Tools } from '../domain/resource.ts'
import { GatheredBytes } from '../local/gathered-bytes.ts'
import type { FilesOfRequest, Receiver, Receiving } from './arriving-files.ts'
import { type HeldBytes, Hold } from './held-bytes.ts'

/** Bytes of a file that stay in memory. They include the part of a picture that is inspected. */
const beginning = 1024 * 1024

export class UploadsInProgress {
  readonly #files: FilesOfRequest
  readonly #held: Hold

  constructor(files: FilesOfRequest, held: HeldBytes) {
    this.#files = files
    this.#held = new Hold(held)
  }

  /** Counts bytes of the body that have arrived in memory; less than 0: that have left it. */
  count(bytes: number): void {
    this.#held.set(this.#held.bytes + bytes)
  }

  async receive(stream: Readable, file: Pick<Upload, 'filename' | 'contentType'>): Promise<Upload> {
    const inMemory = new GatheredBytes()
    let received: Receiving | undefined
    // Bounded by the limit of the body.
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      if (!received && inMemory.size + chunk.length > beginning) {
        received = this.#files.receive()
        await this.#files.write(received, inMemory.bytes)
      }
      if (received) {
        await this.#files.write(received, chunk)
        this.count(-chunk.length)
      } else inMemory.add(chunk)
    }
    return { ...file, bytes: inMemory.buffer(), ...(received && { received }) }
  }

  /** To be called when the request is answered: deletes files that were not kept. */
  async end(): Promise<void> {
    this.#held.end()
    await this.#files.end()
  }
}

/** Files that one call has kept. They stay until the call is decided, whatever is deleted meanwhile that has the same content. */
export class KeptFiles {
  readonly names: string[] = []
  readonly #keep: Tools['keepFile']
  readonly #receiver: Receiver
  readonly #releases: (() => void)[] = []

  constructor(keep: Tools['keepFile'], receiver: Receiver) {
    this.#keep = keep
    this.#receiver = receiver
  }

  readonly keep: Tools['keepFile'] = async file => {
    const name = await this.#keep(file)
    this.names.push(name)
    this.#releases.push(this.#receiver.hold(name))
    return name
  }

  release(): void {
    for (const release of this.#releases.splice(0)) release()
  }
}
