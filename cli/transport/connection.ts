// A connection for more than one call: node:http with keep-alive, for following events. (undici does not read faster
// here, and takes longer to start and stop than printing ten thousand events.)

import type { Agent, IncomingMessage } from 'node:http'
import { keyHeader } from '../../daemon/api/idempotency.ts'
import { refuseUpgrade } from '../../daemon/local/refuse-upgrade.ts'
import { Failure, refusal } from '../base/failure.ts'
import type { FlatHeaders } from '../base/headers.ts'
import type { Account } from '../base/profile.ts'
import { type Reply, setLastCall } from '../base/reply.ts'
import {
  addressFor,
  defaultTimeout,
  headersFor,
  isNotSent,
  largestAnswer,
  late,
  loadGuard,
  parseBody,
  readReply,
  requireSite,
  requireSites,
  tooLarge,
  unreachable,
} from './client.ts'
import type { Guard } from './limits.ts'

export interface CallOptions {
  /** Milliseconds until the answer must be complete; for a stream, of silence before giving up. */
  readonly timeout?: number | undefined
  readonly signal?: AbortSignal
  /** Makes it safe to send the call again. */
  readonly idempotencyKey?: string
}

type Fields = Readonly<Record<string, unknown>>

interface Answered {
  readonly status: number
  readonly headers: FlatHeaders
  readonly chunks: AsyncIterable<string>
}

export class Connection {
  readonly account: Account
  readonly #sites: readonly string[]
  readonly #agent: Agent
  readonly #open: typeof import('node:http').request
  #at = 0

  private constructor(account: Account, agent: Agent, open: typeof import('node:http').request) {
    this.account = account
    this.#sites = requireSites(account)
    this.#agent = agent
    this.#open = open
  }

  /** The daemon of a cluster that answered last. */
  get #site(): string {
    return this.#sites[this.#at % this.#sites.length]!
  }

  static async open(account: Account): Promise<Connection> {
    const secure = requireSite(account).startsWith('https:')
    const { Agent, request } = secure ? await import('node:https') : await import('node:http')
    return new Connection(account, new Agent({ keepAlive: true }), request)
  }

  /** Makes a call that must succeed; fields that are not strings are sent as JSON. */
  async call(method: string, path: string, fields: Fields = {}, options: CallOptions = {}): Promise<Reply> {
    const { status, headers, chunks } = await this.#send(method, path, fields, options, true)
    const guard = await loadGuard(this.account)
    const received = await this.#readText(chunks)
    const text = guard ? await guard.filter(`/api/v1${path}`, received) : received
    const request = { method, path: `/api/v1${path}` }
    const reply = readReply({ status, text, reason: '', headers }, undefined, request)
    setLastCall(request.method, request.path)
    return reply
  }

  /** The body of a successful call, piece by piece as it arrives. */
  async stream(path: string, fields: Fields, options: CallOptions = {}): Promise<AsyncIterable<string>> {
    const { status, headers, chunks } = await this.#send('GET', path, fields, options)
    const guard = await loadGuard(this.account)
    if (status < 400) {
      setLastCall('GET', `/api/v1${path}`)
      return guard ? this.#filtered(guard, path, chunks) : chunks
    }
    const body = parseBody({ status, text: await this.#readText(chunks), reason: '', headers })
    throw refusal(status, body, headers)
  }

  close(): void {
    this.#agent.destroy()
  }

  async *#filtered(guard: Guard, path: string, chunks: AsyncIterable<string>): AsyncGenerator<string> {
    yield await guard.filter(`/api/v1${path}`, await this.#readText(chunks))
  }

  /** At another daemon of the cluster, if this one cannot be reached. Bounded by the number of daemons. */
  async #send(method: string, path: string, fields: Fields, options: CallOptions, whole = false): Promise<Answered> {
    const guard = await loadGuard(this.account)
    await guard?.check({ method, path: `/api/v1${path}`, form: [...encodeFields(fields)] })
    for (let left = this.#sites.length - 1; ; left--)
      try {
        return await this.#sendOnce(method, path, fields, options, whole)
      } catch (error) {
        if (left <= 0 || options.signal?.aborted || !isNotSent(error)) throw error
      }
  }

  /** `whole`: the time is for all of the answer. A server that sends a byte now and then is never silent. */
  #sendOnce(
    method: string,
    path: string,
    fields: Fields,
    { timeout = defaultTimeout, signal, idempotencyKey }: CallOptions,
    whole: boolean,
  ): Promise<Answered> {
    const text = new URLSearchParams([...encodeFields(fields)]).toString()
    const inQuery = method === 'GET'
    const query = inQuery && text !== '' ? `?${text}` : ''
    return new Promise((resolve, reject) => {
      const url = addressFor(this.#site, `/api/v1${path}${query}`)
      const own = headersFor(this.account, url)
      const headers = inQuery
        ? own
        : {
            ...own,
            'content-type': 'application/x-www-form-urlencoded',
            // node:http adds it only for some methods, and sends a body without a length for the others.
            'content-length': String(text.length),
            ...(idempotencyKey !== undefined && { [keyHeader]: idempotencyKey }),
          }
      const outgoing = this.#open(url, { method, headers, agent: this.#agent })
      // node's `signal` option would stay attached to the socket, which other calls use after this one.
      let answer: IncomingMessage | undefined
      const stop = () => {
        if (!answer?.complete) (answer ?? outgoing).destroy(new Error('stopped'))
      }
      if (signal?.aborted) stop()
      signal?.addEventListener('abort', stop)
      outgoing.once('close', () => signal?.removeEventListener('abort', stop))
      const timer = setTimeout(() => (answer ?? outgoing).destroy(late(this.#site, timeout)), timeout)
      const fail = (error: Error) => {
        clearTimeout(timer)
        reject(this.#trouble(error, signal))
      }
      outgoing.on('error', fail)
      refuseUpgrade(outgoing, fail)
      outgoing.on('response', incoming => {
        if (!whole) clearTimeout(timer)
        answer = incoming.on('error', () => {}).once('close', () => clearTimeout(timer))
        if (incoming.statusCode === 503) this.#at++
        resolve({
          status: incoming.statusCode ?? 0,
          headers: incoming.rawHeaders,
          chunks: this.#readChunks(incoming, timeout, signal),
        })
      })
      outgoing.end(inQuery ? undefined : text)
    })
  }

  /** The timer is paused while the reader is busy: only the server's silence counts. */
  async *#readChunks(
    incoming: IncomingMessage,
    timeout: number,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<string> {
    const chunks = incoming.setEncoding('utf8')[Symbol.asyncIterator]()
    try {
      for (;;) {
        const timer = setTimeout(() => incoming.destroy(late(this.#site, timeout)), timeout)
        const { done, value } = await chunks.next().finally(() => clearTimeout(timer))
        if (done) return
        yield value
      }
    } catch (error) {
      throw this.#trouble(error, signal)
    } finally {
      // If the reader stops early, the rest is not needed.
      if (!incoming.complete) incoming.destroy()
    }
  }

  async #readText(chunks: AsyncIterable<string>): Promise<string> {
    let text = ''
    for await (const chunk of chunks) {
      text += chunk
      if (text.length > largestAnswer) throw tooLarge(this.#site, largestAnswer)
    }
    return text
  }

  #trouble(error: unknown, signal: AbortSignal | undefined): unknown {
    if (signal?.aborted) return signal.reason
    const trouble = error instanceof Failure ? error : unreachable(this.#site, error as NodeJS.ErrnoException)
    // A repeated call may reach another daemon of the cluster.
    this.#at++
    return trouble
  }
}

/** Encodes fields: values that are not strings as JSON; undefined ones are left out. */
export function encodeFields(fields: Fields): Map<string, string> {
  const texts = new Map<string, string>()
  for (const [name, value] of Object.entries(fields))
    if (value !== undefined) texts.set(name, typeof value === 'string' ? value : JSON.stringify(value))
  return texts
}
