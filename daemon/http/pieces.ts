// Gives node:http the bytes of a connection in small pieces. One read can have more than a thousand requests in it, and node:http takes
// them all at once: a few hundred such connections would keep everything else waiting for seconds, and fill the memory.

import type { Socket } from 'node:net'
import { monotonicMs } from '../local/monotonic.ts'

/** Bytes. The smallest request has 18. */
const pieceSize = 1024
/** Of a body, which costs less. */
const bodyPieceSize = 16 * 1024
/** Requests of a connection without an answer, beyond which it is not read. */
const mostOpen = 25
/** Milliseconds for the pieces of all connections, between which other work is done. */
const mostTime = 20

/** The requests of a connection that have no answer yet. */
export interface Open {
  count(socket: Socket): number
  /** Whether the body of the newest has not arrived whole. */
  isInBody(socket: Socket): boolean
}

export class Pieces {
  readonly #open: Open
  /** Connections that go on in the next turn. */
  readonly #next = new Set<Socket>()
  /** Connections that go on when one of their requests is answered. */
  readonly #full = new Set<Socket>()
  #spent = 0
  #turn: NodeJS.Immediate | undefined

  constructor(open: Open) {
    this.#open = open
  }

  /** Comes between the connection and node:http, which listens to it already. */
  take(socket: Socket): void {
    const [parse] = socket.listeners('data') as [(bytes: Buffer) => void]
    socket.off('data', parse)
    socket.on('data', bytes => this.#give(socket, bytes, parse))
    socket.once('close', () => {
      this.#next.delete(socket)
      this.#full.delete(socket)
    })
  }

  answered(socket: Socket): void {
    if (!this.#full.delete(socket)) return
    this.#next.add(socket)
    this.#turn ??= setImmediate(this.#take)
  }

  #give(socket: Socket, bytes: Buffer, parse: (bytes: Buffer) => void): void {
    // node:http resumes a connection when a body is read, even while it waits here.
    this.#next.delete(socket)
    this.#full.delete(socket)
    let given = 0
    while (given < bytes.length && this.#mayGoOn(socket, given === 0)) {
      const began = monotonicMs()
      const end = given + (this.#open.isInBody(socket) ? bodyPieceSize : pieceSize)
      parse(bytes.subarray(given, end))
      given = end
      this.#spent += monotonicMs() - began
    }
    this.#turn ??= setImmediate(this.#take)
    if (given >= bytes.length || socket.destroyed) return
    // Paused by node:http, because the client does not take its answers: then node:http resumes it.
    if (!socket.isPaused()) {
      socket.pause()
      const waiting = this.#open.count(socket) < mostOpen ? this.#next : this.#full
      waiting.add(socket)
    }
    socket.unshift(bytes.subarray(given))
  }

  /** With several requests at a time, a connection gives other work its turn after each piece. */
  #mayGoOn(socket: Socket, isFirst: boolean): boolean {
    if (this.#spent >= mostTime) return false
    const count = this.#open.count(socket)
    return isFirst ? count < mostOpen : count <= 1 && !socket.isPaused() && !socket.destroyed
  }

  readonly #take = (): void => {
    this.#turn = undefined
    this.#spent = 0
    for (const socket of this.#next) {
      if (this.#spent >= mostTime) break
      this.#next.delete(socket)
      socket.resume()
      // Now, not in a later tick, so that the time counts.
      socket.read()
    }
    // What waited leaves as much time to what is sent now.
    this.#spent = 0
    if (this.#next.size > 0) this.#turn ??= setImmediate(this.#take)
  }
}
