// Open connections. Beyond the bound a new one is refused with an error body, and a client that does not read its answers is cut off.

import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { kindHeader } from '../api/errors.ts'
import { Refusal } from '../domain/refusal.ts'
import { type Bounds, refusedBeside } from './bounds.ts'

interface Progress {
  /** Bytes the client had taken when they last grew. */
  taken: number
  since: number
}

const lingerMs = 1000
const sweepMs = 500

export class Connections {
  readonly #bounds: Bounds
  readonly #behind: (socket: Socket) => number
  readonly #sockets = new Set<Socket>()
  /** Connections whose clients have not read everything that was written to them. */
  readonly #progress = new Map<Socket, Progress>()
  #refusing = 0
  #sweeping: NodeJS.Timeout | undefined

  /** `behind`: bytes of answers that wait until an earlier request of their connection is answered. */
  constructor(bounds: Bounds, behind: (socket: Socket) => number = () => 0) {
    this.#bounds = bounds
    this.#behind = behind
  }

  /** Whether the connection may stay. If not, it has been refused and closed. */
  admit(socket: Socket): boolean {
    if (this.#sockets.size >= this.#bounds.connections) {
      this.#refuse(socket)
      return false
    }
    this.#sockets.add(socket)
    socket.once('close', () => {
      this.#sockets.delete(socket)
      this.#progress.delete(socket)
    })
    this.#sweeping ??= setInterval(() => this.sweep(Date.now()), sweepMs).unref()
    return true
  }

  stop(): void {
    clearInterval(this.#sweeping)
  }

  #refuse(socket: Socket): void {
    socket.on('error', () => {})
    // Beyond that, connections are closed without an answer.
    if (this.#refusing >= refusedBeside(this.#bounds.connections)) {
      socket.destroy()
      return
    }
    this.#refusing++
    socket.once('close', () => this.#refusing--)
    const linger = setTimeout(() => socket.destroy(), lingerMs)
    socket.once('close', () => clearTimeout(linger))
    // Reads what the client still sends: otherwise the system resets the connection, and the refusal is lost.
    socket.resume()
    const busy = new Refusal('The daemon has too many connections. Try again in a moment.', { code: 'SERVER_BUSY' })
    refuseOnSocket(socket, busy, 'Retry-After: 1\r\n')
  }

  /** Cuts off clients that take nothing, and those with the most to take when it is too much in all. */
  sweep(now: number): void {
    const unsent: { readonly socket: Socket; readonly bytes: number }[] = []
    for (const socket of this.#sockets) {
      const waiting = socket.writableLength
      if (waiting === 0) {
        if (this.#progress.size > 0) this.#progress.delete(socket)
      } else if (this.#isStalled(socket, waiting, now)) {
        socket.destroy()
        continue
      }
      const bytes = waiting + this.#behind(socket)
      if (bytes > 0) unsent.push({ socket, bytes })
    }
    let left = unsent.reduce((sum, { bytes }) => sum + bytes, 0)
    if (left <= this.#bounds.unsentBytes) return
    for (const { socket, bytes } of unsent.sort((a, b) => b.bytes - a.bytes)) {
      if (left <= this.#bounds.unsentBytes) break
      left -= bytes
      socket.destroy()
    }
  }

  #isStalled(socket: Socket, waiting: number, now: number): boolean {
    const taken = socket.bytesWritten - waiting
    const progress = this.#progress.get(socket)
    if (progress && progress.taken === taken) return now - progress.since > this.#bounds.stalledMs
    this.#progress.set(socket, { taken, since: now })
    return false
  }
}

/** Writes a refusal to a socket that has no request to answer. */
export function refuseOnSocket(socket: Socket, { code, kind, message, status }: Refusal, headers = ''): void {
  const body = JSON.stringify({ result: 'error', msg: message, code })
  const form = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${kindHeader}: ${kind}\r\n`
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${form}${headers}Connection: close\r\n\r\n${body}`)
}
