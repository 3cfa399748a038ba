// Calls to etcd over its JSON gateway (/v3/…). Every call has a deadline, and is repeated at the next member when one does not
// answer, so it may arrive twice: callers only make calls that have no effect the second time.

import type { IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { readPem } from '../http/certificate.ts'
import { jsonOr } from '../local/json.ts'
import { warn } from '../local/warnings.ts'
import { Connections } from './connections.ts'

export interface EtcdOptions {
  readonly urls: readonly string[]
  readonly user?: string | undefined
  readonly password?: string | undefined
  /** Paths of PEM files. */
  readonly ca?: string | undefined
  readonly cert?: string | undefined
  readonly key?: string | undefined
  /** Milliseconds that one member has for an answer. */
  readonly attemptMs?: number
}

/** No member gave a usable answer in time. Whether the call was carried out is not known. */
export class EtcdUnreachable extends Error {
  override readonly cause: Error

  constructor(urls: readonly string[], cause: Error & { code?: string }) {
    const reason = cause.message || cause.code || cause.name
    super(`etcd cannot be ${cause instanceof NotEtcd ? 'used' : 'reached'} at ${urls.join(', ')}: ${reason}`)
    this.name = 'EtcdUnreachable'
    this.cause = cause
  }
}

/** A member took the call and did not answer in time. */
class NoAnswer extends Error {
  constructor() {
    super('no answer in time')
  }
}

/** The answer comes from a proxy, from another program, or from an etcd that is broken. */
class NotEtcd extends Error {
  constructor(shown: string) {
    super(`the answer is not that of an etcd (${shown}). Check --cluster, and what is between natterd and etcd`)
  }
}

/** etcd answered that it will not do this. Nothing has changed. */
export class EtcdRefused extends Error {
  override readonly name = 'EtcdRefused'
}

/** For what is tried again later. */
export function ignoreUnreachable(error: Error): undefined {
  if (!(error instanceof EtcdUnreachable)) throw error
}

/** Warns of each kind of error once, until a call succeeds again. */
export class EtcdWarnings {
  readonly #kinds = new Set<string>()

  report(error: Error): void {
    // No answer and the answer of another program are two kinds: the operator has to know of both.
    const kind = error instanceof EtcdUnreachable && error.cause instanceof NotEtcd ? 'NotEtcd' : error.name
    if (!this.#kinds.has(kind)) warn(error.message)
    this.#kinds.add(kind)
  }

  clear(): void {
    if (this.#kinds.size > 0) warn('etcd answers again')
    this.#kinds.clear()
  }
}

type Json = Record<string, unknown>

interface CallOptions {
  /** Milliseconds for all attempts together. */
  readonly deadlineMs?: number
  readonly signal?: AbortSignal | undefined
}

/** Bytes of an answer, and of a line of a watch. The largest answer that is asked for, a page of the log, has 43 MiB. */
const largestAnswer = 64 * 1024 * 1024
const tooLarge = `it has more than ${largestAnswer / 1024 / 1024} MiB`
const defaultAttempt = 1500
const defaultDeadline = 5000
/** A pause after every member was asked once without success. */
const pauseMs = 50
/** Milliseconds that a step of the start is repeated. */
const startMs = 30_000

/** Repeats a step of the start while etcd takes calls and does not answer them: it may be starting too, or be busy. */
export async function retryWhileSilent<T>(step: () => Promise<T>): Promise<T> {
  const end = performance.now() + startMs
  for (let tried = 1; ; tried++)
    try {
      return await step()
    } catch (error) {
      const isSilent = error instanceof EtcdUnreachable && error.cause instanceof NoAnswer
      if (!isSilent || performance.now() > end) throw error
      if (tried === 1) warn(`${error.message}; trying again for up to ${startMs / 1000} seconds`)
    }
}

export class Etcd {
  readonly #options: EtcdOptions
  readonly #connections: Connections
  /** The member that answered last. */
  #current = 0
  #closed = false
  #token: Promise<string> | undefined

  constructor(options: EtcdOptions) {
    this.#options = options
    const { ca, cert, key } = options
    this.#connections = new Connections({
      most: 16,
      connectMs: options.attemptMs ?? defaultAttempt,
      ...(ca && { ca: readPem('--cluster-ca', ca) }),
      ...(cert && { cert: readPem('--cluster-cert', cert) }),
      ...(key && { key: readPem('--cluster-key', key) }),
    })
  }

  get urls(): readonly string[] {
    return this.#options.urls
  }

  /** Answers, or throws EtcdRefused or EtcdUnreachable. Members are tried in turn until the deadline. */
  async call(path: string, body: Json, { deadlineMs = defaultDeadline, signal }: CallOptions = {}): Promise<any> {
    const end = performance.now() + deadlineMs
    const { urls, attemptMs = defaultAttempt } = this.#options
    let cause: Error = new NoAnswer()
    for (let tried = 1; ; tried++) {
      const left = end - performance.now()
      if (left <= 0 || signal?.aborted || this.#closed) throw new EtcdUnreachable(urls, cause)
      const member = this.#current
      try {
        return await this.#attempt(member, path, body, Math.min(left, attemptMs), signal)
      } catch (error) {
        if (error instanceof EtcdRefused) throw error
        // The last attempt has little time left, or is ended by the caller: the error of an earlier one says more.
        const newer = causeOf(error as Error)
        if (!(newer instanceof NoAnswer) && !signal?.aborted) cause = newer
        this.useNextMember(member)
        if (tried % urls.length === 0) await sleep(pauseMs)
      }
    }
  }

  /** The answers of one member to a `watch`, as they arrive. Ends or throws with the connection; `signal` ends it. */
  async *stream(path: string, body: Json, signal: AbortSignal): AsyncGenerator<any> {
    const member = this.#current
    const response = await this.#request(member, path, body, signal, 0).catch(error => {
      this.useNextMember(member)
      throw error
    })
    // Of the line that is not complete. Joined once: a commit of many megabytes comes in one line.
    let pieces: string[] = []
    let length = 0
    const decoder = new TextDecoder()
    for await (const bytes of response) {
      const [end, ...lines] = decoder.decode(bytes, { stream: true }).split('\n')
      pieces.push(end!)
      length += end!.length
      for (const next of lines) {
        const line = pieces.join('')
        pieces = [next]
        length = next.length
        if (line !== '') yield readAnswer(path, line)
      }
      // So many changes at once can be real: then the log is read page by page, and watched from there on.
      if (length > largestAnswer) throw new NotEtcd(tooLarge)
    }
  }

  /** Sends the next call to another member than this one, unless another call has moved on already. */
  useNextMember(member = this.#current): void {
    if (this.#current === member) this.#current = (member + 1) % this.#options.urls.length
  }

  /** Calls that are being tried fail. */
  close(): void {
    this.#closed = true
    this.#connections.close()
  }

  async #attempt(member: number, path: string, body: Json, ms: number, signal?: AbortSignal): Promise<any> {
    const limit = new AbortController()
    const timer = setTimeout(() => limit.abort(new NoAnswer()), ms)
    const stop = () => limit.abort(signal!.reason)
    signal?.addEventListener('abort', stop, { once: true })
    try {
      const response = await this.#request(member, path, body, limit.signal, ms)
      return readAnswer(path, await readText(response))
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', stop)
    }
  }

  /** `ms` is the time left; 0 for an answer without an end. */
  async #request(member: number, path: string, body: Json, signal: AbortSignal, ms: number): Promise<IncomingMessage> {
    const { user } = this.#options
    const token =
      user === undefined || path === authenticatePath ? undefined : await this.#authenticate(ms || defaultDeadline)
    const response = await this.#connections.send(new URL(`${this.#options.urls[member]}${path}`), {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(token && { authorization: token }) },
      body: JSON.stringify(body),
      signal,
    })
    if (response.statusCode === 200) return response
    throw this.#readError(response.statusCode!, await readText(response))
  }

  /** Tokens end after some minutes, and with the member that gave them: then the next attempt fetches a new one. */
  #authenticate(deadlineMs: number): Promise<string> {
    const { user: name, password } = this.#options
    this.#token ??= this.call(authenticatePath, { name, password }, { deadlineMs }).then(({ token }) => token)
    this.#token.catch(() => {
      this.#token = undefined
    })
    return this.#token
  }

  #readError(status: number, text: string): Error {
    // Empty where a proxy answers, or something else that is not etcd.
    const body: { error?: unknown; message?: unknown; code?: unknown } = Object(jsonOr(text))
    const said = [body.message, body.error].find(part => typeof part === 'string')
    const message = said ?? `status ${status}`
    if (/invalid auth token|revision of auth store is old/.test(message)) {
      this.#token = undefined
      return new Error(message)
    }
    if (/requested lease not found/.test(message)) return new EtcdRefused(leaseEnded)
    if (status === 404) return new EtcdRefused('there is no etcd 3.4 or newer at this address')
    // etcd would otherwise take the name in the certificate for the user.
    if (status === 400 && text.startsWith('CommonName'))
      return new EtcdRefused(
        'etcd has users, so it refuses a certificate with a common name. Give --cluster-cert one that has none',
      )
    const passing =
      said === undefined ||
      typeof body.code !== 'number' ||
      [unavailable, unknown, deadlineExceeded, canceled].includes(body.code) ||
      /leader changed|no leader|timed out|too many requests/.test(message)
    return passing ? new Error(message) : new EtcdRefused(describeRefusal(message))
  }
}

/** The message of etcd, with advice on what to do about it. */
function describeRefusal(message: string): string {
  if (/space exceeded/.test(message)) return databaseFull
  const advice = Object.entries(advices).find(([words]) => message.includes(words))?.[1]
  return `etcd refuses this: ${message}${advice ? `. ${advice}` : ''}`
}

export const databaseFull =
  'the database of etcd is full, and it takes no writes. ' +
  'Compact and defragment it, then disarm the alarm: etcdctl alarm disarm (see docs/cluster.md)'

const advices: Readonly<Record<string, string>> = {
  'invalid user ID or password': 'Check --cluster-user and --cluster-password-file',
  'authentication is not enabled': 'This etcd has no users: leave out --cluster-user and --cluster-password-file',
  'user name is empty': 'Give --cluster-user and --cluster-password-file',
  'permission denied': 'The user (--cluster-user) needs read and write access to the keys of the cluster',
}

const leaseEnded = 'the lease of this daemon has ended in etcd; it asks for another one'

const authenticatePath = '/v3/auth/authenticate'

// Codes of gRPC.
const canceled = 1
const unknown = 2
const deadlineExceeded = 4
const unavailable = 14

async function readText(body: AsyncIterable<Buffer>): Promise<string> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of body) {
    size += piece.length
    if (size > largestAnswer) throw new NotEtcd(tooLarge)
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString()
}

function readAnswer(path: string, text: string): any {
  const answer = jsonOr(text)
  if (answer?.error) throw new Error(String(answer.error.message ?? answer.error))
  const result = Object(answer?.result ?? answer)
  if (answer === undefined || !isWellFormed(path, result))
    throw new NotEtcd(text === '' ? 'it is empty' : JSON.stringify(text.slice(0, 80)))
  return result
}

function isWellFormed(path: string, { header, kvs, responses, ID, TTL }: Record<string, any>): boolean {
  if (path === '/v3/lease/grant') return isNumber(ID) && isNumber(TTL)
  // Without a TTL the lease has ended.
  if (path === '/v3/lease/keepalive') return isNumber(ID)
  if (!path.startsWith('/v3/kv/')) return true
  if (!isNumber(header?.revision) || !isRange(kvs)) return false
  const isPart = (part: any) => Object(part) === part && isRange(Object(part.response_range).kvs)
  return responses === undefined || (Array.isArray(responses) && responses.every(isPart))
}

/** etcd writes 64-bit numbers as texts. */
function isNumber(value: unknown): boolean {
  return typeof value === 'string' && /^-?\d+$/.test(value)
}

function isRange(kvs: unknown): boolean {
  const isPair = (pair: any) => typeof pair?.key === 'string' && ['string', 'undefined'].includes(typeof pair.value)
  return kvs === undefined || (Array.isArray(kvs) && kvs.length > 0 && kvs.every(isPair))
}

function causeOf(error: Error): Error {
  // The call for a token, inside another one.
  if (error instanceof EtcdUnreachable) return error.cause
  return error instanceof AggregateError ? error.errors[0] : error
}

// --- values on the wire -----------------------------------------------------------------------------------------

export function encodeText(text: string): string {
  return Buffer.from(text).toString('base64')
}

export function decodeText(base64: string | undefined): string {
  return Buffer.from(base64 ?? '', 'base64').toString()
}

/** The end of the range of all keys that begin with the prefix, which ends in an ASCII character. */
export function rangeEnd(prefix: string): string {
  return `${prefix.slice(0, -1)}${String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1)}`
}
