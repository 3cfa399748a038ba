// Tar files, written and read entry by entry: exports and backups are both made of them. What the entries mean is not known here.

import type { TarHeader } from 'modern-tar'

type Chunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

/** A tar file that is being written. Entries are added one after the other. */
export interface TarFile {
  /** The chunks must have `size` bytes together. `look` sees each before it is written, for checksums. */
  add(name: string, size: number, chunks: Chunks, look?: (chunk: Uint8Array) => void): Promise<void>
}

/** Makes a tar file while its pieces are read: `fill` adds the entries, and waits where the reader is slower. */
export async function* packTar(mtime: Date, fill: (tar: TarFile) => Promise<void>): AsyncGenerator<Uint8Array> {
  const { createTarPacker } = await import('modern-tar')
  const { readable, controller } = createTarPacker()
  const add: TarFile['add'] = async (name, size, chunks, look) => {
    const entry = controller.add({ name, size, type: 'file', mode: 0o600, mtime }).getWriter()
    for await (const chunk of chunks) {
      look?.(chunk)
      await entry.write(chunk)
    }
    await entry.close()
  }
  const filling = fill({ add }).then(
    () => controller.finalize(),
    error => controller.error(error),
  )
  try {
    yield* readable
  } finally {
    // Whatever `fill` has open is closed when this ends, also if the reader stopped early.
    await filling
  }
}

export interface TarEntry {
  readonly name: string
  readonly size: number
  readonly type: TarHeader['type']
  readonly chunks: AsyncIterable<Uint8Array>
}

/** The bytes are not those of a tar file, or end too early. */
export class TarDamaged extends Error {
  readonly isCutShort: boolean

  constructor(cause: Error) {
    super(cause.message, { cause })
    this.name = 'TarDamaged'
    this.isCutShort = /truncated/i.test(cause.message)
  }
}

/**
 * The entries in their order. Each must be read to its end before the next. What is wrong with the bytes is a `TarDamaged`; errors of
 * the source are passed on as they are.
 */
export async function* unpackTar(source: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry> {
  const { createTarDecoder } = await import('modern-tar')
  const { readable, writable } = createTarDecoder({ strict: true })
  const feeding = new Feeding(source, writable)
  try {
    for await (const { header, body } of feeding.explain(readable))
      yield { name: header.name, size: header.size, type: header.type, chunks: feeding.explain(body) }
    await feeding.end()
  } finally {
    await feeding.stop()
  }
}

/** Reads an entry that must fit in memory; undefined if it is longer than `longest`. */
export async function readWhole({ chunks }: TarEntry, longest: number): Promise<Buffer | undefined> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const chunk of chunks) {
    size += chunk.length
    if (size > longest) return undefined
    pieces.push(chunk)
  }
  return Buffer.concat(pieces)
}

/** Hands the source to a decoder, and tells the errors of the one from those of the other. */
class Feeding {
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>
  readonly #feeding: Promise<void>
  #sourceError: { readonly error: unknown } | undefined

  constructor(source: AsyncIterable<Uint8Array>, into: WritableStream<Uint8Array>) {
    this.#writer = into.getWriter()
    this.#feeding = this.#feed(source)
    // Errors come out of what is read, and out of `end`.
    this.#writer.closed.catch(() => {})
    this.#feeding.catch(() => {})
  }

  /** The same items, and errors that say where they come from. */
  async *explain<T>(items: AsyncIterable<T>): AsyncGenerator<T> {
    try {
      yield* items
    } catch (error) {
      throw this.#explained(error)
    }
  }

  async end(): Promise<void> {
    await this.#feeding.catch(error => {
      throw this.#explained(error)
    })
  }

  /** Reads no further. */
  async stop(): Promise<void> {
    await this.#writer.abort().catch(() => {})
  }

  async #feed(source: AsyncIterable<Uint8Array>): Promise<void> {
    try {
      for await (const piece of this.#watched(source)) await this.#writer.write(piece)
      await this.#writer.close()
    } catch (error) {
      await this.#writer.abort(error).catch(() => {})
      throw error
    }
  }

  async *#watched<T>(source: AsyncIterable<T>): AsyncGenerator<T> {
    try {
      yield* source
    } catch (error) {
      this.#sourceError = { error }
      throw error
    }
  }

  #explained(error: unknown): unknown {
    return this.#sourceError ? this.#sourceError.error : new TarDamaged(error as Error)
  }
}
