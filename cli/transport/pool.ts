// Several connections at once, for batches: undici's pool, by its callbacks (a promise and a stream per call would cost more than
// the call).

import type { Dispatcher, Pool as UndiciPool } from 'undici'
import { keyHeader } from '../../daemon/api/idempotency.ts'
import type { Account } from '../base/profile.ts'
import { defaultTimeout, headersOf, late, siteOf, unreachable } from './client.ts'

export interface RawReply {
  readonly status: number
  readonly retryAfter: number | undefined
  readonly text: string
}

/** Milliseconds. The server may be about to close a connection that was idle for longer. */
const trusted = 1000

export class Pool {
  readonly #site: string
  readonly #origin: string
  readonly #prefix: string
  readonly #headers: Readonly<Record<string, string>>
  readonly #formHeaders: Readonly<Record<string, string>>
  readonly #pool: UndiciPool

  private constructor(account: Account, pool: UndiciPool) {
    const { origin, pathname } = new URL(siteOf(account))
    this.#site = siteOf(account)
    this.#origin = origin
    this.#prefix = pathname.replace(/\/$/, '')
    this.#headers = headersOf(account)
    this.#formHeaders = { ...this.#headers, 'Content-Type': 'application/x-www-form-urlencoded' }
    this.#pool = pool
  }

  static async open(account: Account, most: number): Promise<Pool> {
    const { Pool: Connections } = await import('undici')
    const { origin } = new URL(siteOf(account))
    const times = { keepAliveTimeout: trusted, keepAliveMaxTimeout: trusted }
    return new Pool(account, new Connections(origin, { connections: most, pipelining: 1, ...times }))
  }

  /** Sends a form and takes whatever comes back. A call with a key can be repeated: it happens once. */
  send(method: string, path: string, form: string, timeout = defaultTimeout, key?: string): Promise<RawReply> {
    const inQuery = method === 'GET' || method === 'HEAD'
    const headers = inQuery ? this.#headers : this.#formHeaders
    const call: Dispatcher.DispatchOptions = {
      method: method as Dispatcher.HttpMethod,
      path: this.#written(`${this.#prefix}${path}`, inQuery ? form : ''),
      headers: key === undefined ? headers : { ...headers, [keyHeader]: key },
      body: inQuery ? null : form,
      headersTimeout: timeout,
      bodyTimeout: timeout,
    }
    return new Promise((resolve, reject) => {
      let status = 0
      let retryAfter: number | undefined
      const chunks: Buffer[] = []
      this.#pool.dispatch(call, {
        onRequestStart() {},
        onResponseStart(_controller, statusCode, headers) {
          status = statusCode
          if (statusCode === 429) retryAfter = Number(headers['retry-after'] ?? 1)
        },
        onResponseData(_controller, chunk) {
          chunks.push(chunk)
        },
        onResponseEnd() {
          const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
          resolve({ status, retryAfter, text: bytes.toString() })
        },
        onResponseError: (_controller, error) => reject(this.#failure(error, timeout)),
      })
    })
  }

  close(): void {
    // Calls in progress are of no more use.
    void this.#pool.destroy()
  }

  #written(path: string, query: string): string {
    const whole = query === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${query}`
    if (/^\/[\x21-\x7e]*$/.test(whole)) return whole
    const { pathname, search } = new URL(whole, this.#origin)
    return `${pathname}${search}`
  }

  #failure(error: NodeJS.ErrnoException, timeout: number): Error {
    const { code = '', name } = error
    if (timeouts.has(code)) return late(this.#site, timeout)
    if (name === 'HTTPParserError') return unreachable(this.#site, new Error('it does not speak HTTP'))
    if (cut.has(code)) return unreachable(this.#site, new Error('the connection ended before the answer was complete'))
    return unreachable(this.#site, error)
  }
}

const timeouts = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'UND_ERR_CONNECT_TIMEOUT'])
const cut = new Set(['UND_ERR_SOCKET', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH'])
