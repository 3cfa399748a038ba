// Pages that one connection asks for are answered one at a time, each in a turn of its own: node:http hands over several at
// once. Without this, all other callers would wait for all of them.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export class PageTurns {
  /** By connections that are being answered. */
  readonly #waiting = new WeakMap<Socket, (() => void)[]>()

  /** Calls `begin` now, or after the answers that the connection waits for: `Pieces` bounds how many those can be. */
  take({ socket }: IncomingMessage, response: ServerResponse, begin: () => void): void {
    const turn = () => {
      response.once('close', () => this.#next(socket))
      begin()
    }
    const waiting = this.#waiting.get(socket)
    if (waiting) waiting.push(turn)
    else {
      this.#waiting.set(socket, [])
      turn()
    }
  }

  #next(socket: Socket): void {
    const next = this.#waiting.get(socket)?.shift()
    if (next && !socket.destroyed) setImmediate(next)
    else this.#waiting.delete(socket)
  }
}
