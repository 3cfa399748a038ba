// The port: node:http with its deadlines, the direct server before it, and the bounds of all connections.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type Https from 'node:https'
import type { Server as SecureServer } from 'node:https'
import type { Socket } from 'node:net'
import { malformed } from '../domain/refusal.ts'
import { monotonicMs } from '../local/monotonic.ts'
import { createAnswering, refuse } from './answer.ts'
import type { Bounds } from './bounds.ts'
import type { Certificate } from './certificate.ts'
import { Connections, refuseOnSocket } from './connections.ts'
import { DirectServer, type Serve } from './direct.ts'
import { hasBody } from './incoming.ts'
import { type Open, Pieces } from './pieces.ts'

interface ListenerParts {
  readonly bounds: Bounds
  /** Largest body of all, in bytes. */
  readonly bodyLimit: number
  /** For HTTPS. */
  readonly certificate?: Certificate | undefined
  readonly newId: () => string
  /** Takes a request that node:http has read as far as its body. */
  readonly take: (request: IncomingMessage, response: ServerResponse) => void
  /** Takes a request that the direct server has read whole; undefined: node:http reads every request. */
  readonly serve?: Serve | undefined
}

export interface Listener {
  readonly server: Server
  /** Closes connections without a request in progress. */
  closeIdle(): void
  closeAll(): void
  /** From the next connection on. */
  replaceCertificate(certificate: Certificate): void
}

const keepAliveMs = 120_000

export function createListener(parts: ListenerParts): Listener {
  const { bounds, take, serve, certificate } = parts
  const options = {
    keepAliveTimeout: keepAliveMs,
    headersTimeout: bounds.receiveMs,
    // For requests that wait behind another one. Bodies have an earlier deadline, see `limitTime`.
    requestTimeout: timeFor(parts.bodyLimit, bounds),
    connectionsCheckingInterval: Math.min(5000, bounds.receiveMs / 2),
    // The edge refuses requests without a Host header, with a message in the form of all its errors.
    requireHostHeader: false,
  }
  const exchanges = new Exchanges()
  const pieces = new Pieces(exchanges)
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    exchanges.add(request, response)
    response.once('close', () => pieces.answered(request.socket))
    if (hasBody(request)) limitTime(request, response, parts)
    take(request, response)
  }
  const secure = certificate && createSecureServer({ ...options, ...certificate, ...secureOptions(bounds) }, handle)
  const server: Server = secure ?? createServer(options, handle)
  // Connections that have not finished their handshake are not counted below.
  if (secure) server.maxConnections = bounds.connections
  server.on('clientError', (error: Error & { code?: string }, socket: Socket) => {
    exchanges.whenAnswered(socket, () => {
      // The request that the bad bytes cut off is not answered twice.
      if (exchanges.isLastAnswered(socket)) socket.destroySoon()
      else refuseBadBytes(error, socket)
    })
  })
  const connections = new Connections(bounds, socket => exchanges.countBehind(socket))
  const arrival = secure ? 'secureConnection' : 'connection'
  const listeners = server.listeners(arrival)
  const handOver = (socket: Socket) => {
    for (const listener of listeners) listener.call(server, socket)
    pieces.take(socket)
  }
  // Its proof (`test/proof/http.ts`) covers connections without TLS only.
  const direct = serve && !secure ? new DirectServer(server, serve, handOver) : undefined
  server.removeAllListeners(arrival)
  server.on(arrival, (socket: Socket) => {
    if (!connections.admit(socket)) return
    if (direct) direct.take(socket)
    else handOver(socket)
  })
  server.on('close', () => connections.stop())
  return {
    server,
    closeIdle() {
      server.closeIdleConnections()
      direct?.closeIdle()
    },
    closeAll() {
      server.closeAllConnections()
      direct?.closeAll()
    },
    replaceCertificate: ({ cert, key }) => secure?.setSecureContext({ cert, key, minVersion: oldestTls }),
  }
}

const oldestTls = 'TLSv1.2'

function secureOptions({ receiveMs }: Bounds): { minVersion: typeof oldestTls; handshakeTimeout: number } {
  return { minVersion: oldestTls, handshakeTimeout: receiveMs }
}

/** node:https is loaded only for daemons that have a certificate. */
function createSecureServer(...args: Parameters<typeof Https.createServer>): SecureServer {
  const { createServer } = process.getBuiltinModule('node:https')
  return createServer(...args)
}

/** Requests that are being answered, by their connection: bytes after them that are not HTTP are refused after their answers. */
class Exchanges implements Open {
  readonly #open = new WeakMap<Socket, Map<IncomingMessage, ServerResponse>>()
  readonly #last = new WeakMap<Socket, readonly [IncomingMessage, ServerResponse]>()
  readonly #refused = new WeakSet<Socket>()

  add(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request
    let open = this.#open.get(socket)
    if (!open) {
      open = new Map()
      this.#open.set(socket, open)
    }
    open.set(request, response)
    this.#last.set(socket, [request, response])
    response.once('close', () => open.delete(request))
  }

  count(socket: Socket): number {
    return this.#open.get(socket)?.size ?? 0
  }

  /** Bytes of answers that node:http holds until those before them are complete. */
  countBehind(socket: Socket): number {
    let bytes = 0
    for (const response of this.#open.get(socket)?.values() ?? [])
      if (!response.socket) bytes += response.writableLength
    return bytes
  }

  isInBody(socket: Socket): boolean {
    return this.#last.get(socket)?.[0].complete === false
  }

  /** Whether the newest request was answered before all of its body arrived. */
  isLastAnswered(socket: Socket): boolean {
    const [request, response] = this.#last.get(socket) ?? []
    return request?.complete === false && response!.writableEnded
  }

  /**
   * Calls `next` once for each connection, after the answers to its requests. A request that the bad bytes cut off is not waited
   * for, unless its answer is being sent.
   */
  whenAnswered(socket: Socket, next: () => void): void {
    if (this.#refused.has(socket)) return
    this.#refused.add(socket)
    const open = this.#open.get(socket) ?? []
    const answered = [...open].filter(([request, response]) => request.complete || response.writableEnded)
    let left = answered.length
    if (left === 0) next()
    for (const [, response] of answered)
      response.once('close', () => {
        if (--left === 0) next()
      })
  }
}

/** Refuses a body that does not arrive in time, and closes its connection: there is a bound on how many can be open. */
function limitTime(request: IncomingMessage, response: ServerResponse, { bounds, newId }: ListenerParts): void {
  const { socket } = request
  const begin = monotonicMs()
  const before = socket.bytesRead
  const refuseLate = () => {
    const to = createAnswering({ method: request.method!, id: newId() }, response)
    to.headers.push('Connection', 'close')
    refuse(to, malformed('The body did not arrive in time. Send it faster, or send less.', { status: 408 }))
    // Without waiting for the rest of the body, or for a client that does not read.
    socket.destroySoon()
  }
  const check = () => {
    const left = timeFor(socket.bytesRead - before, bounds) - (monotonicMs() - begin)
    if (left > 0) timer = setTimeout(check, left).unref()
    else if (!request.complete) refuseLate()
  }
  let timer = setTimeout(check, bounds.receiveMs).unref()
  const done = () => clearTimeout(timer)
  request.once('end', done).once('close', done)
}

/** Milliseconds for a body of which this many bytes have arrived. */
function timeFor(bytes: number, { receiveMs, uploadPace }: Bounds): number {
  return receiveMs + Math.ceil((bytes / uploadPace) * 1000)
}

/** Refuses bytes that are not HTTP. */
function refuseBadBytes({ code }: Error & { code?: string }, socket: Socket): void {
  if (!socket.writable) return
  if (code === 'HPE_HEADER_OVERFLOW') refuseOnSocket(socket, headTooLarge)
  else if (code === 'ERR_HTTP_REQUEST_TIMEOUT') refuseOnSocket(socket, tooSlow)
  else refuseOnSocket(socket, malformed('The request is not valid HTTP.'))
}

const headTooLarge = malformed('Path, query and headers are too large. Send parameters in the body.', { status: 431 })
const tooSlow = malformed('The request did not arrive in time. Send it faster.', { status: 408 })
