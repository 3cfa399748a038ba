// Several connections at once, for batches: undici, which is slow to start and fast from then on.

import type { Pool as Connections } from 'undici'
import { defaultTimeout, headersOf, late, siteOf, unreachable } from '../client.ts'
import type { CallOptions } from '../connection.ts'
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
    const { Pool: Connections } = await import('undici')
    return new Pool(account, new Connections(url.origin, { connections, pipelining: 1 }), url)
  }

  /** Sends a form and takes whatever comes back. */
  send(method: string, path: string, form: string, options: CallOptions = {}): Promise<RawReply> {
    const inQuery = method === 'GET' || method === 'HEAD'
    const query = inQuery && form !== '' ? `${path.includes('?') ? '&' : '?'}${form}` : ''
    const timeout = options.timeout ?? defaultTimeout
    // Not `request`, which makes a stream of every answer: much of the work in a batch of small ones.
    return new Promise((resolve, reject) => {
      let status = 0
      let retryAfter: number | undefined
      let first: Buffer | undefined
      let more: Buffer[] | undefined
      this.#connections.dispatch(
        {
          method: method as 'GET',
          path: `${this.#prefix}${path}${query}`,
          headers: inQuery ? this.#headers : this.#formHeaders,
          body: inQuery ? null : form,
          headersTimeout: timeout,
          bodyTimeout: timeout,
        },
        {
          onRequestStart() {},
          onResponseStart(_, code, headers) {
            status = code
            const retry = Number(headers['retry-after'])
            if (Number.isFinite(retry)) retryAfter = retry
          },
          onResponseData(_, chunk) {
            if (!first) first = chunk
            else more = [...(more ?? [first]), chunk]
          },
          onResponseEnd() {
            const text = (more ? Buffer.concat(more) : (first ?? Buffer.alloc(0))).toString('utf8')
            resolve({ status, retryAfter, text })
          },
          onResponseError: (_, error) => reject(this.#trouble(error, timeout)),
        },
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
