// A connection that lives longer than one call: undici with keep-alive, for following events and for batches.

import type { Pool } from 'undici'
import { basicAuth, bodyOf, defaultTimeout, late, type Reply, siteOf, unreachable } from './client.ts'
import { Failure, refusal } from './failure.ts'
import type { Account } from './profile.ts'
import { version } from './version.ts'

export interface CallOptions {
  /** Milliseconds until the answer must be complete. */
  readonly timeout?: number | undefined
  readonly signal?: AbortSignal
}

export interface RawReply {
  readonly status: number
  readonly retryAfter: number | undefined
  readonly text: string
}

export class Connection {
  readonly account: Account
  readonly #site: string
  readonly #prefix: string
  readonly #pool: Pool
  readonly #headers: Record<string, string>

  private constructor(account: Account, pool: Pool, url: URL) {
    this.account = account
    this.#site = siteOf(account)
    this.#prefix = url.pathname.replace(/\/$/, '')
    this.#pool = pool
    this.#headers = { accept: 'application/json', 'user-agent': `natter/${version()}` }
    if (account.email && account.apiKey) this.#headers.authorization = basicAuth(account.email, account.apiKey)
  }

  static async open(account: Account, connections = 1): Promise<Connection> {
    const url = new URL(siteOf(account))
    const { Pool } = await import('undici')
    const pool = new Pool(url.origin, { connections, pipelining: 1 })
    return new Connection(account, pool, url)
  }

  /** Calls and wants success; fields that are no text travel as JSON. */
  async call(
    method: string,
    path: string,
    fields: Readonly<Record<string, unknown>> = {},
    options: CallOptions = {},
  ): Promise<Reply> {
    const form = new URLSearchParams()
    for (const [name, value] of Object.entries(fields))
      if (value !== undefined) form.append(name, typeof value === 'string' ? value : JSON.stringify(value))
    const { status, text, retryAfter } = await this.send(method, `/api/v1${path}`, form.toString(), options)
    const body = bodyOf({ status, text, reason: '', headers: [] })
    if (status >= 400 || body.result === 'error') throw new Refused(refusal(status, body), retryAfter)
    return body
  }

  /** Sends a form and takes whatever comes back. */
  async send(method: string, path: string, form: string, options: CallOptions = {}): Promise<RawReply> {
    const inQuery = method === 'GET' || method === 'HEAD'
    const query = inQuery && form !== '' ? `${path.includes('?') ? '&' : '?'}${form}` : ''
    const timeout = options.timeout ?? defaultTimeout
    try {
      const answer = await this.#pool.request({
        method: method as 'GET',
        path: `${this.#prefix}${path}${query}`,
        headers: inQuery ? this.#headers : { ...this.#headers, 'content-type': 'application/x-www-form-urlencoded' },
        body: inQuery ? null : form,
        headersTimeout: timeout,
        bodyTimeout: timeout,
        ...(options.signal && { signal: options.signal }),
      })
      const retry = Number(answer.headers['retry-after'])
      return {
        status: answer.statusCode,
        retryAfter: Number.isFinite(retry) ? retry : undefined,
        text: await answer.body.text(),
      }
    } catch (error) {
      if (options.signal?.aborted) throw options.signal.reason
      if (/^UND_ERR_(HEADERS|BODY)_TIMEOUT$/.test(String((error as NodeJS.ErrnoException).code)))
        throw late(this.#site, timeout)
      throw unreachable(this.#site, error as NodeJS.ErrnoException)
    }
  }

  async close(): Promise<void> {
    await this.#pool.destroy()
  }
}

/** A refusal, with the pause that the server asked for. */
export class Refused extends Failure {
  readonly retryAfter: number | undefined

  constructor({ exit, message, code, http, hint }: Failure, retryAfter: number | undefined) {
    super(exit, message, { code, ...(http !== null && { http }), hint })
    this.retryAfter = retryAfter
  }
}
