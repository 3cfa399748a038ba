// Several connections at once, for batches: undici's pool, by its callbacks (a promise and a stream per call would cost more than
// the call).

import type { Dispatcher, Pool as UndiciPool } from 'undici'
import { isPath } from '../../daemon/api/address.ts'
import { keyHeader } from '../../daemon/api/idempotency.ts'
import { GatheredBytes } from '../../daemon/local/gathered-bytes.ts'
import { Failure } from '../base/failure.ts'
import type { Account } from '../base/profile.ts'
import {
  addressFor,
  defaultTimeout,
  headersFor,
  largestAnswer,
  late,
  loadGuard,
  requireSite,
  tooLarge,
  unreachable,
} from './client.ts'
import type { Guard } from './limits.ts'
import type { Multipart } from './multipart.ts'

export interface PoolCall {
  readonly method: string
  readonly path: string
  /** Its fields, encoded. */
  readonly form: string
  /** All fields, if one of them is a file: sent instead of the form. */
  readonly parts?: Multipart
}

export interface RawReply {
  readonly status: number
  readonly retryAfter: number | undefined
  readonly text: string
}

/** Milliseconds. The server may be about to close a connection that was idle for longer. */
const trusted = 1000

export class Pool {
  readonly #site: string
  readonly #prefix: string
  readonly #headers: Readonly<Record<string, string>>
  readonly #formHeaders: Readonly<Record<string, string>>
  readonly #pool: UndiciPool
  readonly #guard: Guard | undefined

  private constructor(account: Account, pool: UndiciPool, guard: Guard | undefined) {
    this.#site = requireSite(account)
    const url = addressFor(this.#site, '/api')
    this.#prefix = url.pathname.slice(0, -'/api'.length)
    this.#headers = headersFor(account, url)
    this.#formHeaders = { ...this.#headers, 'Content-Type': 'application/x-www-form-urlencoded' }
    this.#pool = pool
    this.#guard = guard
  }

  static async open(account: Account, most: number): Promise<Pool> {
    const { Pool: Connections } = await import('undici')
    const { origin } = addressFor(requireSite(account), '/api')
    const times = { keepAliveTimeout: trusted, keepAliveMaxTimeout: trusted }
    const connections = new Connections(origin, { connections: most, pipelining: 1, ...times })
    return new Pool(account, connections, await loadGuard(account))
  }

  /** Sends a call and takes whatever comes back. A call with a key can be repeated: it happens once. */
  async send(call: PoolCall, timeout = defaultTimeout, key?: string): Promise<RawReply> {
    const guard = this.#guard
    if (!guard) return this.#sendNow(call, timeout, key)
    const { method, path, form } = call
    await guard.check({ method, path, form: [...new URLSearchParams(form)] })
    const reply = await this.#sendNow(call, timeout, key)
    return { ...reply, text: await guard.filter(path, reply.text) }
  }

  #sendNow({ method, path, form, parts }: PoolCall, timeout: number, key?: string): Promise<RawReply> {
    const inQuery = method === 'GET' || method === 'HEAD'
    const typed = parts ? { ...this.#headers, 'Content-Type': parts.type } : this.#formHeaders
    const headers = inQuery ? this.#headers : typed
    const call: Dispatcher.DispatchOptions = {
      method: method as Dispatcher.HttpMethod,
      path: this.#written(path, inQuery ? form : ''),
      headers: key === undefined ? headers : { ...headers, [keyHeader]: key },
      body: inQuery ? null : (parts?.bytes ?? form),
      headersTimeout: timeout,
      bodyTimeout: timeout,
    }
    return new Promise((resolve, reject) => {
      let status = 0
      let retryAfter: number | undefined
      const body = new GatheredBytes()
      this.#pool.dispatch(call, {
        onRequestStart() {},
        onResponseStart(_controller, statusCode, headers) {
          status = statusCode
          if (statusCode === 429) retryAfter = Number(headers['retry-after'] ?? 1)
        },
        onResponseData: (controller, chunk) => {
          if (body.size + chunk.length > largestAnswer) controller.abort(tooLarge(this.#site, largestAnswer))
          else body.add(chunk)
        },
        onResponseEnd() {
          resolve({ status, retryAfter, text: body.buffer().toString() })
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
    // A whole address costs more than all the rest of a call.
    if (/^[\x21-\x7e]+$/.test(whole) && isPath(whole)) return `${this.#prefix}${whole}`
    const { pathname, search } = addressFor(this.#site, whole)
    return `${pathname}${search}`
  }

  #failure(error: NodeJS.ErrnoException, timeout: number): Error {
    if (error instanceof Failure) return error
    const { code = '', name } = error
    if (timeouts.has(code)) return late(this.#site, timeout)
    if (name === 'HTTPParserError') return unreachable(this.#site, new Error('it does not speak HTTP'))
    if (cut.has(code)) return unreachable(this.#site, new Error('the connection ended before the answer was complete'))
    return unreachable(this.#site, error)
  }
}

const timeouts = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'UND_ERR_CONNECT_TIMEOUT'])
const cut = new Set(['UND_ERR_SOCKET', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH'])
