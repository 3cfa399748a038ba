// Bytes that arrive in pieces, joined as they arrive. A client or server decides how large its pieces are, and one byte takes 400 as a piece
// of its own.

export class GatheredBytes {
  #bytes: Uint8Array = new Uint8Array(0)
  #size = 0

  get size(): number {
    return this.#size
  }

  /** The first piece is not copied, because most often it is the only one. */
  add(piece: Uint8Array): void {
    const end = this.#size + piece.length
    if (this.#size === 0) this.#bytes = piece
    else {
      if (end > this.#bytes.length) {
        const wider = new Uint8Array(Math.max(end, 2 * this.#bytes.length))
        wider.set(this.#bytes)
        this.#bytes = wider
      }
      this.#bytes.set(piece, this.#size)
    }
    this.#size = end
  }

  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#size)
  }

  buffer(): Buffer {
    return Buffer.from(this.#bytes.buffer, this.#bytes.byteOffset, this.#size)
  }
}
