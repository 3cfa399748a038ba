// Checks the gaps of a tar file, which readers pass over: the bytes between the entries, and around the checksums of the headers. In a backup they must be
// as they were written, so that no byte of it can change unnoticed.

import { BackupRefused, headName, notABackup } from './backup-format.ts'

const blockSize = 512
/** Where a header has its checksum, its size and its type. */
const checksum = { start: 148, end: 156 }
const size = { start: 124, end: 136 }
const typeAt = 156
/** Blocks of zeros after the last file; tar writes 2, and programs that fill tapes some more. */
const mostZeros = 2048

/** Passes the tar file on, and throws at the first byte that is neither content nor checked nor zero. */
export async function* checkGaps(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const gaps = new Gaps()
  for await (const piece of source) {
    for (let at = 0; at < piece.length; ) at += gaps.take(piece, at)
    yield piece
  }
}

class Gaps {
  readonly #header = Buffer.alloc(blockSize)
  #inHeader = 0
  #isBackup = false
  /** Bytes of the entry that are still to come, and of the padding after it. */
  #content = 0
  #padding = 0
  /** The content of a header that continues another one. */
  #extension: Buffer[] | undefined
  #extendedSize: number | undefined
  #zeros = 0

  /** Looks at some bytes of the piece; returns how many. */
  take(piece: Uint8Array, at: number): number {
    if (this.#content > 0) return this.#takeContent(piece, at)
    if (this.#padding > 0) return this.#takePadding(piece, at)
    const length = Math.min(blockSize - this.#inHeader, piece.length - at)
    this.#header.set(piece.subarray(at, at + length), this.#inHeader)
    this.#inHeader += length
    if (this.#inHeader === blockSize) this.#beginEntry()
    return length
  }

  #takeContent(piece: Uint8Array, at: number): number {
    const length = Math.min(this.#content, piece.length - at)
    this.#extension?.push(Buffer.from(piece.subarray(at, at + length)))
    this.#content -= length
    if (this.#content === 0) this.#endContent()
    return length
  }

  #endContent(): void {
    if (!this.#extension) return
    const found = /^\d+ size=(\d+)$/m.exec(Buffer.concat(this.#extension).toString())
    this.#extendedSize = found ? Number(found[1]) : undefined
    this.#extension = undefined
  }

  #takePadding(piece: Uint8Array, at: number): number {
    const length = Math.min(this.#padding, piece.length - at)
    for (let i = at; i < at + length; i++)
      if (piece[i] !== 0) throw this.#damaged('bytes between two files are not zero')
    this.#padding -= length
    return length
  }

  #beginEntry(): void {
    this.#inHeader = 0
    // The end of the archive; what follows it is the reader's to refuse.
    if (this.#header.every(byte => byte === 0)) {
      if (++this.#zeros > mostZeros) throw this.#damaged('it does not end after its last file')
      return
    }
    if (this.#header.toString('latin1', checksum.start, checksum.end) !== `${this.#sum()}\0 `)
      throw this.#damaged('a header does not match its checksum')
    this.#isBackup ||= this.#header.toString('latin1', 0, headName.length) === headName
    const isExtension = this.#header[typeAt] === 'x'.charCodeAt(0)
    const own = Number.parseInt(this.#header.toString('latin1', size.start, size.end), 8) || 0
    this.#content = isExtension ? own : (this.#extendedSize ?? own)
    this.#padding = -this.#content & (blockSize - 1)
    this.#extendedSize = undefined
    if (isExtension) this.#extension = []
  }

  #damaged(what: string): BackupRefused {
    return this.#isBackup ? new BackupRefused(`the backup is damaged: ${what}`) : notABackup()
  }

  /** Six octal digits. */
  #sum(): string {
    let sum = (checksum.end - checksum.start) * ' '.charCodeAt(0)
    for (const [at, byte] of this.#header.entries()) if (at < checksum.start || at >= checksum.end) sum += byte
    return sum.toString(8).padStart(6, '0')
  }
}
