// Answers a small request to the API that arrives whole, in one read and with nothing after it, straight on its socket, which costs
// less than node:http does (decision 0008). At anything else it hands the connection over to node:http for good, so that only
// node:http decides what is HTTP.

import { type IncomingHttpHeaders, type Server, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { RequestHead, Response } from './exchange.ts'
import { edgePath } from './incoming.ts'

export type Serve = (head: RequestHead, body: Buffer | undefined, response: Response) => void

export class DirectServer {
  readonly connections = new Set<Connection>()
  readonly serve: Serve
  readonly keepAliveSeconds: number
  /** Milliseconds until the first request must have arrived. */
  readonly firstRequestTimeout: number
  /** Gives a connection to node:http. */
  readonly handOver: (socket: Socket) => void
  closing = false

  constructor(server: Server, serve: Serve, handOver: (socket: Socket) => void) {
    this.serve = serve
    this.keepAliveSeconds = server.keepAliveTimeout / 1000
    this.firstRequestTimeout = server.headersTimeout
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

/**
 * Bytes kept that arrive during an answer; then reading pauses. It goes on until then because only a connection that is read
 * shows that the client has closed it.
 */
const mostUnread = 64 * 1024

class Connection {
  readonly server: DirectServer
  readonly socket: Socket
  /** Bytes that arrived while a request was being answered. They go to node:http after the answer. */
  #unread: Buffer[] | undefined
  #answering: DirectResponse | undefined
  /** Parsed from the previous request: most clients send the same headers with every request. */
  #fields: Fields | undefined

  constructor(server: DirectServer, socket: Socket) {
    this.server = server
    this.socket = socket
    socket.setTimeout(server.firstRequestTimeout)
    socket.on('data', this.#receive).on('end', this.#end).on('close', this.#close)
    socket.on('timeout', this.#timeout).on('error', ignore)
  }

  closeIfIdle(): void {
    if (!this.#answering) this.socket.destroy()
  }

  answered(): void {
    this.#answering = undefined
    if (this.server.closing) this.socket.end()
    else if (this.#unread) setImmediate(this.#proceed)
  }

  /** Runs in a turn of its own: the answer may be one of many that are being written. */
  readonly #proceed = (): void => {
    if (this.#unread && !this.socket.destroyed && !this.socket.readableEnded) this.#handOver(this.#unread)
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
    const { socket, server } = this
    if (socket.timeout !== server.keepAliveSeconds * 1000) socket.setTimeout(server.keepAliveSeconds * 1000)
    this.#answering = new DirectResponse(this)
    const body = bytes.length > size ? bytes.subarray(size) : undefined
    server.serve({ method, url, headers: fields.headers, socket }, body, this.#answering)
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
    const { server, socket } = this
    socket.off('data', this.#receive).off('end', this.#end).off('close', this.#close)
    socket.off('timeout', this.#timeout).off('error', ignore).setTimeout(0)
    server.connections.delete(this)
    server.handOver(socket)
    // Before the bytes, for which node:http may pause the connection again.
    socket.resume()
    // In front of what a paused stream has read since.
    socket.unshift(Buffer.concat(parts))
  }

  // As node:http does it: the connection of a client that has ended its side is closed.
  readonly #end = (): void => {
    this.socket.end()
  }

  readonly #close = (): void => {
    this.server.connections.delete(this)
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
    const { closing, keepAliveSeconds } = this.#connection.server
    this.statusCode = status
    this.headersSent = true
    const date = this.date?.()
    let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Unknown'}\r\n`
    // Where node:http puts it. Which of the two answers an upload depends on the pieces in which it arrives.
    if (date !== undefined) head += `Date: ${date}\r\n`
    for (let i = 0; i < headers.length; i += 2) head += `${headers[i]}: ${headers[i + 1]}\r\n`
    const after = closing ? 'close' : `keep-alive\r\nKeep-Alive: timeout=${keepAliveSeconds}`
    if (date === undefined) head += `Date: ${httpDate()}\r\n`
    this.#head = `${head}Connection: ${after}\r\n\r\n`
  }

  /** Head and bytes in one packet: two would wake the reader twice. */
  write(bytes: Uint8Array, sent: () => void): void {
    this.socket.cork()
    this.socket.write(this.#head, 'latin1')
    this.socket.write(bytes, sent)
    this.socket.uncork()
  }

  end(body: string | Uint8Array = ''): void {
    if (typeof body !== 'string') this.write(body, ignore)
    else {
      const text = this.#head + body
      this.socket.write(text, Buffer.byteLength(text) === text.length ? 'latin1' : 'utf8')
    }
    this.#connection.answered()
  }

  once(_event: 'close', listener: () => void): void {
    this.#listeners ??= []
    this.#listeners.push(listener)
  }

  /** The client closed the connection before it was answered. */
  close(): void {
    for (const listener of this.#listeners ?? []) listener()
  }

  destroy(): void {
    this.socket.destroy()
  }
}

// --- reading the head -------------------------------------------------------------------------------------------

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
/** Headers that change how the rest is read, or what becomes of the connection. */
const changingHeaders = new Set(['transfer-encoding', 'expect', 'upgrade', 'trailer', 'proxy-connection'])

function readFields(text: string): Fields | undefined {
  if (!plainFields.test(text)) return undefined
  const headers: IncomingHttpHeaders = Object.create(null)
  for (let start = 0; start < text.length; ) {
    const colon = text.indexOf(':', start)
    const end = text.indexOf('\r', colon)
    const name = text.slice(start, colon).toLowerCase()
    const value = text.slice(text[colon + 1] === ' ' ? colon + 2 : colon + 1, end)
    if (name in headers || changingHeaders.has(name) || value !== value.trim()) return undefined
    headers[name] = value
    start = end + 2
  }
  const { connection = 'keep-alive', 'content-length': length = '0' } = headers
  if (connection.toLowerCase() !== 'keep-alive' || !/^\d{1,5}$/.test(length)) return undefined
  return { text, headers, bodyLength: Number(length) }
}

// Shared by all worlds: the real time is the same for all of them.
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
