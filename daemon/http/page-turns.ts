// Pages that one connection asks for are answered one at a time, each in a turn of its own: node:http hands over all requests of a
// packet at once, and there is room for a thousand in one. Without this, all other callers would wait for all of them.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Refusal } from '../domain/refusal.ts'

/** Requests of one connection that may wait. */
export const mostWaiting = 100

export function tooManyWaiting(): Refusal {
  return new Refusal('Too many of your requests wait. Wait for their answers.', {
    code: 'SERVER_BUSY',
  })
}

export class PageTurns {
  /** By connections that are being answered. */
  readonly #waiting = new WeakMap<Socket, (() => void)[]>()

  /** Calls `begin` now, or after the answers that the connection waits for. False: it waits for too many. */
  take({ socket }: IncomingMessage, response: ServerResponse, begin: () => void): boolean {
    const turn = () => {
      response.once('close', () => this.#next(socket))
      begin()
    }
    const waiting = this.#waiting.get(socket)
    if (!waiting) {
      this.#waiting.set(socket, [])
      turn()
    } else if (waiting.length < mostWaiting) waiting.push(turn)
    else return false
    return true
  }

  #next(socket: Socket): void {
    const next = this.#waiting.get(socket)?.shift()
    if (next && !socket.destroyed) setImmediate(next)
    else this.#waiting.delete(socket)
  }
}
