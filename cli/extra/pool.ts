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
  readonly #headers: Record<string, string>

  private constructor(account: Account, connections: Connections, url: URL) {
    this.#site = siteOf(account)
    this.#prefix = url.pathname.replace(/\/$/, '')
    this.#connections = connections
    this.#headers = headersOf(account)
  }

  static async open(account: Account, connections: number): Promise<Pool> {
    const url = new URL(siteOf(account))
    const { Pool: Connections } = await import('undici')
    return new Pool(account, new Connections(url.origin, { connections, pipelining: 1 }), url)
  }

  /** Sends a form and takes whatever comes back. */
  async send(method: string, path: string, form: string, options: CallOptions = {}): Promise<RawReply> {
    const inQuery = method === 'GET' || method === 'HEAD'
    const query = inQuery && form !== '' ? `${path.includes('?') ? '&' : '?'}${form}` : ''
    const timeout = options.timeout ?? defaultTimeout
    try {
      const answer = await this.#connections.request({
        method: method as 'GET',
        path: `${this.#prefix}${path}${query}`,
        headers: inQuery ? this.#headers : { ...this.#headers, 'content-type': 'application/x-www-form-urlencoded' },
        body: inQuery ? null : form,
        headersTimeout: timeout,
        bodyTimeout: timeout,
      })
      const retry = Number(answer.headers['retry-after'])
      return {
        status: answer.statusCode,
        retryAfter: Number.isFinite(retry) ? retry : undefined,
        text: await answer.body.text(),
      }
    } catch (error) {
      if (/^UND_ERR_(HEADERS|BODY)_TIMEOUT$/.test(String((error as NodeJS.ErrnoException).code)))
        throw late(this.#site, timeout)
      throw unreachable(this.#site, error as NodeJS.ErrnoException)
    }
  }

  async close(): Promise<void> {
    await this.#connections.destroy()
  }
}
