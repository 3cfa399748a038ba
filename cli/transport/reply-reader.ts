// Reads one answer of HTTP/1.1 as its bytes come: a head, and a body that ends by its length, in chunks, or with the
// connection.

export interface RawReply {
  readonly status: number
  readonly retryAfter: number | undefined
  readonly text: string
}

/** What ended too early, or is not HTTP. */
export class BrokenReply extends Error {}

const longestHead = 64 * 1024

export class ReplyReader {
  readonly #toHead: boolean
  /** Of a head that is not complete. */
  #begun: Buffer | undefined
  #head = ''
  #status = 0
  #body: Body | undefined

  constructor(method: string) {
    this.#toHead = method === 'HEAD'
  }

  /** Whether another answer can come after this one. */
  get reusable(): boolean {
    if (this.#body instanceof UntilEnd || this.#head.startsWith('HTTP/1.0')) return false
    return !/\r\nconnection:[ \t]*close/i.test(this.#head)
  }

  /** The answer, as soon as it is complete. */
  push(bytes: Buffer): RawReply | undefined {
    const rest = this.#body ? bytes : this.#readHead(bytes)
    return rest && this.#body!.take(rest) ? this.#reply() : undefined
  }

  /** The connection ended. */
  end(): RawReply {
    if (this.#body instanceof UntilEnd) return this.#reply()
    throw new BrokenReply('the connection ended before the answer was complete')
  }

  /** What comes after the head, when it is complete. */
  #readHead(bytes: Buffer): Buffer | undefined {
    const all = this.#begun ? Buffer.concat([this.#begun, bytes]) : bytes
    const end = all.indexOf('\r\n\r\n')
    if (end < 0) {
      if (all.length > longestHead) throw new BrokenReply('what answers does not speak HTTP')
      this.#begun = all
      return undefined
    }
    this.#begun = undefined
    this.#head = all.toString('latin1', 0, end + 2)
    this.#status = Number(/^HTTP\/1\.[01] (\d{3})[ \r]/.exec(this.#head)?.[1])
    if (Number.isNaN(this.#status)) throw new BrokenReply('what answers does not speak HTTP')
    const rest = all.subarray(end + 4)
    // It only says that more will come.
    if (this.#status < 200) return rest.length > 0 ? this.#readHead(rest) : undefined
    this.#body = this.#bodyToCome()
    return rest
  }

  #bodyToCome(): Body {
    if (this.#toHead || this.#status === 204 || this.#status === 304) return new Sized(0)
    if (/\r\ntransfer-encoding:[^\r]*chunked/i.test(this.#head)) return new Chunked()
    const length = /\r\ncontent-length:[ \t]*(\d+)[ \t]*\r/i.exec(this.#head)
    return length ? new Sized(Number(length[1])) : new UntilEnd()
  }

  #reply(): RawReply {
    const { chunks } = this.#body!
    const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
    const retry = this.#status === 429 ? /\r\nretry-after:[ \t]*([\d.]+)/i.exec(this.#head) : null
    return { status: this.#status, retryAfter: retry ? Number(retry[1]) : undefined, text: bytes.toString('utf8') }
  }
}

interface Body {
  readonly chunks: readonly Buffer[]
  /** Whether it is complete now. */
  take(bytes: Buffer): boolean
}

class Sized implements Body {
  readonly chunks: Buffer[] = []
  #left: number

  constructor(length: number) {
    this.#left = length
  }

  take(bytes: Buffer): boolean {
    this.#left -= bytes.length
    if (this.#left < 0) throw new BrokenReply('the answer is longer than it says')
    this.chunks.push(bytes)
    return this.#left === 0
  }
}

class UntilEnd implements Body {
  readonly chunks: Buffer[] = []

  take(bytes: Buffer): boolean {
    this.chunks.push(bytes)
    return false
  }
}

class Chunked implements Body {
  readonly chunks: Buffer[] = []
  /** Of a line that is not complete. */
  #line = ''
  /** Of the chunk. */
  #left = 0
  #awaits: 'size' | 'end of chunk' | 'end' = 'size'

  take(bytes: Buffer): boolean {
    for (let at = 0; at < bytes.length; ) {
      if (this.#left > 0) {
        const piece = bytes.subarray(at, at + this.#left)
        this.chunks.push(piece)
        this.#left -= piece.length
        at += piece.length
        continue
      }
      const end = bytes.indexOf(10, at)
      this.#line += bytes.toString('latin1', at, end < 0 ? bytes.length : end)
      if (end < 0) return false
      at = end + 1
      if (this.#takeLine(this.#line.trimEnd())) return true
      this.#line = ''
    }
    return false
  }

  #takeLine(line: string): boolean {
    if (this.#awaits === 'end') return line === ''
    if (this.#awaits === 'end of chunk') {
      this.#awaits = 'size'
      return false
    }
    const size = /^[\da-f]{1,8}(?=[ \t]*(;|$))/i.exec(line)
    if (!size) throw new BrokenReply('a chunk of the answer has no length')
    this.#left = Number.parseInt(size[0], 16)
    this.#awaits = this.#left === 0 ? 'end' : 'end of chunk'
    return false
  }
}
