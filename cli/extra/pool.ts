// Several connections at once, for batches: undici, which is slow to start and fast from then on.

import type { Pool as Connections } from 'undici'
import { defaultTimeout, headersOf, late, siteOf, unreachable } from '../client.ts'
import type { Account } from '../profile.ts'

export interface RawReply {
  readonly status: number
  readonly retryAfter: number | undefined
  readonly text: string
}

export class Pool {
  readonly #site: string
  readonly #prefix: string
  readonly #connections: Connections
  /** Names and values in turns, as they are sent: without a body, and with one. */
  readonly #headers: string[]
  readonly #formHeaders: string[]

  private constructor(account: Account, connections: Connections, url: URL) {
    this.#site = siteOf(account)
    this.#prefix = url.pathname.replace(/\/$/, '')
    this.#connections = connections
    this.#headers = Object.entries(headersOf(account)).flat()
    this.#formHeaders = [...this.#headers, 'content-type', 'application/x-www-form-urlencoded']
  }

  static async open(account: Account, connections: number): Promise<Pool> {
    const url = new URL(siteOf(account))
    // This part alone: all of undici takes three times as long to load.
    const { default: Connections } = await import('undici/lib/dispatcher/pool.js')
    return new Pool(account, new Connections(url.origin, { connections, pipelining: 1 }), url)
  }

  /** Sends a form and takes whatever comes back. */
  send(method: string, path: string, form: string, timeout = defaultTimeout): Promise<RawReply> {
    const inQuery = method === 'GET' || method === 'HEAD'
    const query = inQuery && form !== '' ? `${path.includes('?') ? '&' : '?'}${form}` : ''
    // Not `request`, which makes a stream of every answer: much of the work in a batch of small ones.
    return new Promise((resolve, reject) => {
      this.#connections.dispatch(
        {
          method: method as 'GET',
          path: `${this.#prefix}${path}${query}`,
          headers: inQuery ? this.#headers : this.#formHeaders,
          body: inQuery ? null : form,
          headersTimeout: timeout,
          bodyTimeout: timeout,
        },
        new Exchange(resolve, error => reject(this.#trouble(error, timeout))),
      )
    })
  }

  #trouble(error: NodeJS.ErrnoException, timeout: number): Error {
    const timedOut = error.code === 'UND_ERR_HEADERS_TIMEOUT' || error.code === 'UND_ERR_BODY_TIMEOUT'
    return timedOut ? late(this.#site, timeout) : unreachable(this.#site, error)
  }

  async close(): Promise<void> {
    await this.#connections.destroy()
  }
}

/** Takes one answer. */
class Exchange {
  readonly #done: (reply: RawReply) => void
  readonly #failed: (error: Error) => void
  #status = 0
  #retryAfter: number | undefined
  readonly #chunks: Buffer[] = []

  constructor(done: (reply: RawReply) => void, failed: (error: Error) => void) {
    this.#done = done
    this.#failed = failed
  }

  onRequestStart(): void {}

  onResponseStart(_: unknown, status: number, headers: Readonly<Record<string, unknown>>): void {
    this.#status = status
    const retry = Number(headers['retry-after'])
    if (Number.isFinite(retry)) this.#retryAfter = retry
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    this.#chunks.push(chunk)
  }

  onResponseEnd(): void {
    const body = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks)
    this.#done({ status: this.#status, retryAfter: this.#retryAfter, text: body.toString('utf8') })
  }

  onResponseError(_: unknown, error: Error): void {
    this.#failed(error)
  }
}
