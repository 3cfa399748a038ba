// Reads bodies, within bounds.

import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { limits } from '../domain/limits.ts'
import { malformed, Refusal } from '../domain/refusal.ts'
import { GatheredBytes } from '../local/gathered-bytes.ts'
import { type HeldBytes, Hold } from './held-bytes.ts'

/** The bounds on bodies, for all sites of the server. */
export interface Intake {
  /** Bytes of a body with a file. */
  readonly uploadBytes: number
  /** Bytes of any other body. */
  readonly bodyBytes: number
  readonly held: HeldBytes
  /** Of files, where there is no disk to put them on. */
  readonly heldFiles: HeldBytes
  /** Of files on the disk that are arriving. */
  readonly storedFiles: HeldBytes
  /** Bytes that each of them counts as at least, because it has a descriptor. */
  readonly leastOfFile: number
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
    if (raw.destroyed) {
      reject(endedEarly())
      return
    }
    const body = new GatheredBytes()
    const hold = new Hold(held)
    const finish = (settle: () => void) => {
      raw.off('data', take).off('end', end).off('close', close)
      hold.end()
      settle()
    }
    const refuse = (refusal: Refusal) => {
      finish(() => reject(refusal))
      raw.resume()
    }
    const take = (chunk: Buffer) => {
      const size = body.size + chunk.length
      if (size > limit) return refuse(tooLarge(limit))
      try {
        hold.set(size)
      } catch (error) {
        return refuse(closing(error as Refusal))
      }
      body.add(chunk)
    }
    const end = () => finish(() => resolve(body.buffer()))
    const close = () => finish(() => reject(endedEarly()))
    raw.on('data', take).on('end', end).on('close', close)
    // Not a closure: the request can wait for minutes behind a poll of the same connection, and would keep the body with it.
    raw.on('error', ignore)
  })
}

function ignore(): void {}

/** What is taken from the socket before someone has read it. */
const mostUnread = 64 * 1024

/** The body as it arrives, up to the limit. Ends with a refusal; the connection is left open for the answer. */
export async function* readPieces(raw: IncomingMessage, limit: number): AsyncGenerator<Buffer> {
  if (Number(raw.headers['content-length'] ?? 0) > limit) throw tooLarge(limit)
  let length = 0
  let unread = new GatheredBytes()
  // The client can be gone before this begins, and then no event comes.
  let state: 'arriving' | 'whole' | 'cut' = raw.destroyed ? 'cut' : 'arriving'
  let wake = () => {}
  // Not the iterator of the stream: that keeps each chunk as it came until all are read, and a chunk can be one byte.
  const take = (chunk: Buffer) => {
    unread.add(chunk)
    if (unread.size >= mostUnread) raw.pause()
    wake()
  }
  const end = () => {
    state = 'whole'
    wake()
  }
  const close = () => {
    if (state === 'arriving') state = 'cut'
    wake()
  }
  raw.on('data', take).on('end', end).on('close', close).on('error', ignore)
  try {
    for (;;) {
      const piece = unread.buffer()
      if (piece.length > 0) {
        length += piece.length
        if (length > limit) throw tooLarge(limit)
        unread = new GatheredBytes()
        raw.resume()
        yield piece
      } else if (state === 'arriving') {
        await new Promise<void>(resolve => {
          wake = resolve
        })
        // With all that came from the socket at the same time.
        await turn()
      } else if (state === 'cut') throw endedEarly()
      else return
    }
  } finally {
    raw.off('data', take).off('end', end).off('close', close)
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
