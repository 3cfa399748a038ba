// The short way in: a request to the API in the plain form that clients send is read off its socket and answered on it,
// which costs less than node:http does (decision 0008). Whatever is not in that form goes, with its connection, to node:http for
// good: that stays the judge of what is HTTP.

import { type IncomingHttpHeaders, type Server, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { RequestHead, Response } from './exchange.ts'
import { edgePath } from './incoming.ts'

export type Serve = (head: RequestHead, body: Buffer | undefined, response: Response) => void

export class ShortWay {
  readonly connections = new Set<Connection>()
  readonly serve: Serve
  readonly keepAliveSeconds: number
  /** Gives a connection to node:http. */
  readonly handOver: (socket: Socket) => void
  closing = false

  /** Stands before the server's own reading of its connections. */
  constructor(server: Server, serve: Serve) {
    this.serve = serve
    this.keepAliveSeconds = server.keepAliveTimeout / 1000
    const listeners = server.listeners('connection')
    this.handOver = socket => {
      for (const listener of listeners) listener.call(server, socket)
    }
    server.removeAllListeners('connection')
    server.on('connection', (socket: Socket) => this.connections.add(new Connection(this, socket)))
  }

  /** Hangs up on those who are not being answered, and from now on on everybody who has been. */
  closeIdle(): void {
    this.closing = true
    for (const connection of this.connections) connection.closeIfIdle()
  }

  closeAll(): void {
    for (const { socket } of this.connections) socket.destroy()
  }
}

class Connection {
  readonly way: ShortWay
  readonly socket: Socket
  /** Of a request whose body is still on its way, and what of it has come. */
  #head: Head | undefined
  #parts: Buffer[] = []
  #missing = 0
  /** What came while another request was being answered. */
  #unread: Buffer | undefined
  #answering: DirectResponse | undefined
  /** Of the request before: most clients send the same again and again. */
  #fields: Fields | undefined

  constructor(way: ShortWay, socket: Socket) {
    this.way = way
    this.socket = socket
    socket.setTimeout(way.keepAliveSeconds * 1000)
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

  /** The next request came before its time. */
  readonly #proceed = (): void => {
    const bytes = this.#unread
    this.socket.resume()
    if (bytes && !this.#answering) this.#read(bytes)
  }

  readonly #receive = (chunk: Buffer): void => {
    if (this.#answering) {
      // One request at a time: what else is on its way stays with the sender.
      this.#unread = this.#unread ? Buffer.concat([this.#unread, chunk]) : chunk
      this.socket.pause()
    } else if (this.#head) {
      this.#parts.push(chunk)
      this.#missing -= chunk.length
      if (this.#missing <= 0) this.#serve(this.#head, Buffer.concat(this.#parts))
    } else this.#read(chunk)
  }

  #read(bytes: Buffer): void {
    const head = this.#readHead(bytes)
    this.#unread = undefined
    if (!head) this.#handOver(bytes)
    else {
      this.#missing = head.size + head.fields.bodyLength - bytes.length
      if (this.#missing <= 0) this.#serve(head, bytes)
      else {
        this.#head = head
        this.#parts = [bytes]
      }
    }
  }

  #serve({ method, url, fields, size }: Head, bytes: Buffer): void {
    const { socket } = this
    const end = size + fields.bodyLength
    const body = end > size ? bytes.subarray(size, end) : undefined
    if (this.#head) {
      this.#head = undefined
      this.#parts = []
    }
    if (bytes.length > end) this.#unread = bytes.subarray(end)
    this.#answering = new DirectResponse(this)
    this.way.serve({ method, url, headers: fields.headers, socket }, body, this.#answering)
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

  #handOver(bytes: Buffer): void {
    const { way, socket } = this
    socket.off('data', this.#receive).off('end', this.#end).off('close', this.#close)
    socket.off('timeout', this.#timeout).off('error', ignore).setTimeout(0)
    way.connections.delete(this)
    way.handOver(socket)
    socket.emit('data', bytes)
  }

  // As node:http has it: whoever has said all they will say is not waited for.
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
/** Longer ones take so long that the way does not matter. */
const longestBody = 1024 * 1024

const requestLine = new RegExp(`^(GET|POST|PUT|PATCH|DELETE) (${edgePath.source.slice(1)}[!-"$-~]*) HTTP/1\\.1\r\n`)
const plainFields = /^(?:[\w!#$%&'*+.^`|~-]+:[\t -~]*\r\n)+$/
/** They change how the rest is to be read. */
const changing = new Set(['transfer-encoding', 'expect', 'upgrade', 'trailer'])

function readFields(text: string): Fields | undefined {
  if (!plainFields.test(text)) return undefined
  const headers: IncomingHttpHeaders = Object.create(null)
  for (let start = 0; start < text.length; ) {
    const colon = text.indexOf(':', start)
    const end = text.indexOf('\r', colon)
    const name = text.slice(start, colon).toLowerCase()
    if (name in headers || changing.has(name)) return undefined
    headers[name] = text.slice(colon + 1, end).trim()
    start = end + 2
  }
  const { connection = 'keep-alive', 'content-length': length = '0' } = headers
  if (connection.toLowerCase() !== 'keep-alive' || !/^\d{1,7}$/.test(length)) return undefined
  return Number(length) > longestBody ? undefined : { text, headers, bodyLength: Number(length) }
}

// Shared by all worlds of the process: it is the real time, and nothing else.
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
