// The short way in: a small request to the API that arrives whole, in one read and with nothing after it, is answered straight on its
// socket, which costs less than node:http does (decision 0008). Anything else, more bytes included, goes to node:http with its
// connection from then on: node:http alone decides what is HTTP.

import { type IncomingHttpHeaders, type Server, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { RequestHead, Response } from './exchange.ts'
import { edgePath } from './incoming.ts'

export type Serve = (head: RequestHead, body: Buffer | undefined, response: Response) => void

export class ShortWay {
  readonly connections = new Set<Connection>()
  readonly serve: Serve
  readonly keepAliveSeconds: number
  /** Milliseconds until the first request must have arrived. */
  readonly patience: number
  /** Gives a connection to node:http. */
  readonly handOver: (socket: Socket) => void
  closing = false

  constructor(server: Server, serve: Serve, handOver: (socket: Socket) => void) {
    this.serve = serve
    this.keepAliveSeconds = server.keepAliveTimeout / 1000
    this.patience = server.headersTimeout
    this.handOver = handOver
  }

  take(socket: Socket): void {
    this.connections.add(new Connection(this, socket))
  }

  /** Closes connections without a request in progress now, and the others when they have their answer. */
  closeIdle(): void {
    this.closing = true
    for (const connection of this.connections) connection.closeIfIdle()
  }

  closeAll(): void {
    for (const { socket } of this.connections) socket.destroy()
  }
}

/** Bytes kept of what arrives during an answer. Reading on shows when the client is gone; beyond this, it waits. */
const mostUnread = 64 * 1024

class Connection {
  readonly way: ShortWay
  readonly socket: Socket
  /** What arrived while a request was being answered. It makes this connection node:http's. */
  #unread: Buffer[] | undefined
  #answering: DirectResponse | undefined
  /** Parsed from the previous request: most clients send the same again and again. */
  #fields: Fields | undefined

  constructor(way: ShortWay, socket: Socket) {
    this.way = way
    this.socket = socket
    socket.setTimeout(way.patience)
    socket.on('data', this.#receive).on('end', this.#end).on('close', this.#close)
    socket.on('timeout', this.#timeout).on('error', ignore)
  }

  closeIfIdle(): void {
    if (!this.#answering) this.socket.destroy()
  }

  answered(): void {
    this.#answering = undefined
    if (this.way.closing) this.socket.end()
    else if (this.#unread) setImmediate(this.#proceed)
  }

  /** In a turn of its own: the answer may be one of many that are being written. */
  readonly #proceed = (): void => {
    if (this.#unread && !this.socket.destroyed) this.#handOver(this.#unread)
  }

  readonly #receive = (chunk: Buffer): void => {
    if (this.#answering || this.#unread) this.#keep(chunk)
    else {
      const head = this.socket.writableLength === 0 ? this.#readHead(chunk) : undefined
      if (head && head.size + head.fields.bodyLength === chunk.length) this.#serve(head, chunk)
      else this.#handOver([chunk])
    }
  }

  #keep(chunk: Buffer): void {
    this.#unread ??= []
    this.#unread.push(chunk)
    // Bounded: at most one read goes beyond it.
    if (this.#unread.reduce((sum, { length }) => sum + length, 0) >= mostUnread) this.socket.pause()
  }

  #serve({ method, url, fields, size }: Head, bytes: Buffer): void {
    const { socket, way } = this
    if (socket.timeout !== way.keepAliveSeconds * 1000) socket.setTimeout(way.keepAliveSeconds * 1000)
    this.#answering = new DirectResponse(this)
    const body = bytes.length > size ? bytes.subarray(size) : undefined
    way.serve({ method, url, headers: fields.headers, socket }, body, this.#answering)
  }

  #readHead(bytes: Buffer): Head | undefined {
    const end = bytes.indexOf(emptyLine)
    if (end === -1 || end > longestHead) return undefined
    const text = bytes.toString('latin1', 0, end + 2)
    const line = requestLine.exec(text)
    if (!line) return undefined
    const rest = text.slice(line[0].length)
    if (this.#fields?.text !== rest) this.#fields = readFields(rest)
    return this.#fields && { method: line[1]!, url: line[2]!, fields: this.#fields, size: end + 4 }
  }

  #handOver(parts: Buffer[]): void {
    const { way, socket } = this
    socket.off('data', this.#receive).off('end', this.#end).off('close', this.#close)
    socket.off('timeout', this.#timeout).off('error', ignore).setTimeout(0)
    way.connections.delete(this)
    // What a pause left in the stream comes before what is still on the wire. Bounded by the stream's own buffer.
    if (socket.isPaused()) for (let more = socket.read(); more !== null; more = socket.read()) parts.push(more)
    way.handOver(socket)
    for (const part of parts) socket.emit('data', part)
    socket.resume()
  }

  // As node:http does: a client that has ended its side is not waited for.
  readonly #end = (): void => {
    this.socket.end()
  }

  readonly #close = (): void => {
    this.way.connections.delete(this)
    this.#answering?.close()
  }

  readonly #timeout = (): void => this.closeIfIdle()
}

/** As much of node:http's response as answers need. */
class DirectResponse implements Response {
  statusCode = 200
  headersSent = false
  date: (() => string | undefined) | undefined
  readonly #connection: Connection
  #head = ''
  #listeners: (() => void)[] | undefined

  constructor(connection: Connection) {
    this.#connection = connection
  }

  get socket(): Socket {
    return this.#connection.socket
  }

  get destroyed(): boolean {
    return this.#connection.socket.destroyed
  }

  writeHead(status: number, headers: string[]): void {
    const { closing, keepAliveSeconds } = this.#connection.way
    this.statusCode = status
    this.headersSent = true
    let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Unknown'}\r\n`
    for (let i = 0; i < headers.length; i += 2) head += `${headers[i]}: ${headers[i + 1]}\r\n`
    const after = closing ? 'close' : `keep-alive\r\nKeep-Alive: timeout=${keepAliveSeconds}`
    this.#head = `${head}Date: ${this.date?.() ?? httpDate()}\r\nConnection: ${after}\r\n\r\n`
  }

  write(chunk: Uint8Array, sent: () => void): void {
    this.#writeBytes(chunk, sent)
  }

  end(body: string | Uint8Array = ''): void {
    if (typeof body !== 'string') this.#writeBytes(body, () => {})
    else {
      const text = this.#head + body
      this.socket.write(text, Buffer.byteLength(text) === text.length ? 'latin1' : 'utf8')
    }
    this.#connection.answered()
  }

  /** Together: each write by itself would wake the reader. */
  #writeBytes(bytes: Uint8Array, sent: () => void): void {
    this.socket.cork()
    this.socket.write(this.#head, 'latin1')
    this.socket.write(bytes, () => sent())
    this.socket.uncork()
  }

  once(_event: 'close', listener: () => void): void {
    this.#listeners ??= []
    this.#listeners.push(listener)
  }

  /** The client went away before it was answered. */
  close(): void {
    for (const listener of this.#listeners ?? []) listener()
  }

  destroy(): void {
    this.socket.destroy()
  }
}

// --- the plain form ---------------------------------------------------------------------------------------------

interface Head {
  readonly method: string
  readonly url: string
  readonly fields: Fields
  /** In bytes, with the empty line. */
  readonly size: number
}

interface Fields {
  readonly text: string
  readonly headers: IncomingHttpHeaders
  readonly bodyLength: number
}

const emptyLine = Buffer.from('\r\n\r\n')
const longestHead = 8 * 1024

const requestLine = new RegExp(`^(GET|POST|PUT|PATCH|DELETE) (${edgePath.source.slice(1)}[!-"$-~]*) HTTP/1\\.1\r\n`)
const plainFields = /^(?:[\w!#$%&'*+.^`|~-]+:[\t -~]*\r\n)+$/
/** They change how the rest is read, or what becomes of the connection. */
const changing = new Set(['transfer-encoding', 'expect', 'upgrade', 'trailer', 'proxy-connection'])

function readFields(text: string): Fields | undefined {
  if (!plainFields.test(text)) return undefined
  const headers: IncomingHttpHeaders = Object.create(null)
  for (let start = 0; start < text.length; ) {
    const colon = text.indexOf(':', start)
    const end = text.indexOf('\r', colon)
    const name = text.slice(start, colon).toLowerCase()
    const value = text.slice(text[colon + 1] === ' ' ? colon + 2 : colon + 1, end)
    if (name in headers || changing.has(name) || value !== value.trim()) return undefined
    headers[name] = value
    start = end + 2
  }
  const { connection = 'keep-alive', 'content-length': length = '0' } = headers
  if (connection.toLowerCase() !== 'keep-alive' || !/^\d{1,5}$/.test(length)) return undefined
  return { text, headers, bodyLength: Number(length) }
}

// Shared by all worlds: it is the real time, and nothing else.
let second = 0
let dateText = ''

/** Made once a second. */
function httpDate(): string {
  const now = Math.floor(Date.now() / 1000)
  if (now !== second) {
    second = now
    dateText = new Date(now * 1000).toUTCString()
  }
  return dateText
}

function ignore(): void {}
