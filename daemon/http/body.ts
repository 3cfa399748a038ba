// Reads bodies, and bounds how much of them is held in memory over all connections.

import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { limits } from '../domain/limits.ts'
import { malformed, Refusal } from '../domain/refusal.ts'

/** Bytes that are held for a while, over all requests. */
export class HeldBytes {
  readonly #most: number
  readonly #whole: HeldBytes | undefined
  #held = 0

  /** With a `whole`, bytes are counted there too. */
  constructor(most: number, whole?: HeldBytes) {
    this.#most = most
    this.#whole = whole
  }

  /** Throws when this would exceed the bound. */
  take(bytes: number): void {
    if (this.#held + bytes > this.#most)
      throw new Refusal('The daemon is receiving too much at once. Try again in a moment.', { code: 'SERVER_BUSY' })
    this.#whole?.take(bytes)
    this.#held += bytes
  }

  give(bytes: number): void {
    this.#held -= bytes
    this.#whole?.give(bytes)
  }
}

/** The bounds on bodies, for all sites of the server. */
export interface Intake {
  /** Bytes of a body with a file. */
  readonly uploadBytes: number
  /** Bytes of any other body. */
  readonly bodyBytes: number
  readonly held: HeldBytes
  /** Of files, where there is no disk to put them on. */
  readonly heldFiles: HeldBytes
}

/** The refusal closes the connection, because the rest of the body is still arriving. */
export class BodyRefused extends Refusal {}

export function tooLarge(limit: number): BodyRefused {
  const MiB = 1024 * 1024
  // The limit of a body with a file has room for the form around it.
  const most = limit > limits.fileUploadMiB * MiB ? `a file of ${limits.fileUploadMiB} MiB` : `${limit / MiB} MiB`
  return closing(malformed(`The body is too large (limit: ${most}).`, { status: 413 }))
}

function endedEarly(): BodyRefused {
  return new BodyRefused('The body ended early.', { kind: 'invalid' })
}

/** The whole body, up to the limit; rejects with a refusal. */
export function readBody(raw: IncomingMessage, limit: number, held: HeldBytes): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (Number(raw.headers['content-length'] ?? 0) > limit) {
      raw.resume()
      reject(tooLarge(limit))
      return
    }
    const chunks: Buffer[] = []
    let length = 0
    const finish = (settle: () => void) => {
      raw.off('data', take).off('end', end).off('close', close)
      held.give(length)
      settle()
    }
    const refuse = (refusal: Refusal) => {
      finish(() => reject(refusal))
      raw.resume()
    }
    const take = (chunk: Buffer) => {
      if (length + chunk.length > limit) return refuse(tooLarge(limit))
      try {
        held.take(chunk.length)
      } catch (error) {
        return refuse(closing(error as Refusal))
      }
      length += chunk.length
      chunks.push(chunk)
    }
    const end = () => finish(() => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)))
    const close = () => finish(() => reject(endedEarly()))
    raw.on('data', take).on('end', end).on('close', close)
    // Not a closure: the request can wait for minutes behind a poll of the same connection, and would keep the body with it.
    raw.on('error', ignore)
  })
}

function ignore(): void {}

/** The body as it arrives, up to the limit. Ends with a refusal; the connection is left open for the answer. */
export async function* readPieces(raw: IncomingMessage, limit: number): AsyncGenerator<Buffer> {
  if (Number(raw.headers['content-length'] ?? 0) > limit) throw tooLarge(limit)
  let length = 0
  try {
    for await (const chunk of raw.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      length += chunk.length
      if (length > limit) throw tooLarge(limit)
      yield chunk
    }
  } catch (error) {
    throw error instanceof Refusal ? error : endedEarly()
  }
}

/** Milliseconds that a client has to notice that its body is refused. */
const noticeMs = 5000

/**
 * For a refusal that is answered while the body is arriving. node:http destroys the connection after the answer; the system would
 * reset it because of what arrives then, and a client that is still sending would lose the answer. So our side is closed,
 * and what arrives is read for a while.
 */
export function readOn(socket: Socket): void {
  socket.destroySoon = () => {
    socket.end()
    const timer = setTimeout(() => socket.destroy(), noticeMs)
    socket.once('close', () => clearTimeout(timer))
  }
}

/** The same refusal, for a body that is still arriving. */
export function closing({ message, code, kind, status }: Refusal): BodyRefused {
  return new BodyRefused(message, { code, kind, status })
}

const fullDisk: readonly string[] = ['ENOSPC', 'EDQUOT', 'EFBIG']
const failingDisk: readonly string[] = ['EIO', 'EROFS', 'EACCES', 'EPERM', 'ESTALE', 'EMFILE', 'ENFILE']

/** The refusal when the disk does not take an uploaded file. It is not the caller's mistake, and does not stop the daemon. */
export function diskRefusal(error: unknown): Refusal | undefined {
  const { code = '' } = error as NodeJS.ErrnoException
  if (fullDisk.includes(code)) {
    const msg = 'The server has no room left for this file. Free some space on its disk, then send the file again.'
    return new Refusal(msg, { code: 'STORAGE_FULL' })
  }
  if (!failingDisk.includes(code)) return undefined
  const msg = `The server could not store this file (${code}). Check its disk, then send the file again.`
  return new Refusal(msg, { code: 'SERVER_NOT_READY', status: 503 })
}
