// One call of the API over fetch, without the catalogue: an error body becomes a NatterError. Small enough for a browser.

import { resolveAddress, siteAddress } from '../api/address.ts'
import type { Upload } from '../api/define.ts'
import { guessKind, kindHeader, parameterHeader, type RefusalKind, refusalKinds } from '../api/errors.ts'
import { keyHeader } from '../api/idempotency.ts'
import { pauseFor } from '../local/durations.ts'
import { GatheredBytes } from '../local/gathered-bytes.ts'
import { harmless } from '../local/harmless.ts'
import { jsonOr } from '../local/json.ts'

export interface ClientOptions {
  /** Where the server is: `http://127.0.0.1:9991`. Several daemons of a cluster have commas between them. */
  readonly site: string
  readonly email?: string
  readonly apiKey?: string
  /** What the server calls this program. */
  readonly client?: string
  /** How often a rate-limited call waits as the server asks and tries again; the default is 3. */
  readonly retries?: number
  /** Used instead of the global `fetch`. */
  readonly fetch?: typeof fetch
}

/** The server refused a call, or did not answer it. */
export class NatterError extends Error {
  /** natter/client, natter/testing and the thread of a bot each have a copy of this class; an error is one for all of them. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof Error && value.name === 'NatterError'
  }

  /** Such as `BAD_REQUEST`; `HTTP_502` when the answer was none of the API's; `UNREACHABLE` when there was none. */
  readonly code: string
  /** Such as `not-found` or `forbidden`; guessed from status and code where the server does not send it. */
  readonly kind: RefusalKind
  /** The parameter or header that was refused, where the server names one. */
  readonly parameter: string | undefined
  /** 0 when there was no answer. */
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>

  /** `call`: what was asked, such as `POST /messages`. */
  constructor(
    status: number,
    body: Readonly<Record<string, unknown>>,
    kind?: string | null,
    call?: string,
    caller?: Caller,
    parameter?: string | null,
  ) {
    // For an uncaught error, Node prints the source line where it was made: here, a line of this library.
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(typeof body.msg === 'string' ? harmless(body.msg) : `the server answered ${status}`)
    Error.stackTraceLimit = stackTraceLimit
    this.name = 'NatterError'
    this.status = status
    this.code = typeof body.code === 'string' ? body.code : `HTTP_${status}`
    this.kind = kind && Object.hasOwn(refusalKinds, kind) ? (kind as RefusalKind) : guessKind(status, this.code)
    this.body = body
    this.parameter = parameter ?? undefined
    const head = [`${this.name}: ${this.message}`, ...(call ? [`  asked: ${call}`] : [])]
    const places = caller?.stack?.split('\n').filter(line => /^\s+at /.test(line)) ?? []
    const answered = status === 0 ? 'nothing' : `${status} ${harmless(this.code)}`
    const stack = [...head, `  answered: ${answered}`, ...places].join('\n')
    Object.defineProperty(this, 'stack', { value: stack, writable: true, configurable: true })
    // Node prints fields as well, and these are in the text already.
    for (const field of ['name', 'status', 'code', 'kind', 'parameter', 'body'])
      Object.defineProperty(this, field, { enumerable: false })
  }
}

/** A place in the program that uses this library. */
export interface Caller {
  readonly stack?: string
}

/** The place that called this function of the library. To be called before anything is awaited. */
export function captureCaller(library: (...args: never[]) => unknown): Caller {
  const caller: Caller = {}
  // Only V8 has it. Elsewhere the error names no place.
  ;(Error as { captureStackTrace?(holder: object, above: unknown): void }).captureStackTrace?.(caller, library)
  return caller
}

export type Reply = Record<string, unknown>
export type Fields = ReadonlyMap<string, string | Upload>

export interface SendOptions {
  readonly signal?: AbortSignal | undefined
  readonly caller?: Caller | undefined
  /** With a key, the call can be made again and happens once. */
  readonly key?: string | undefined
  /** Instead of those of the client. */
  readonly retries?: number
  /** Seconds until an answer must be complete. The wait before a rate-limited call is made again does not count. */
  readonly within?: number
}

/** Sends what is already in the form in which it travels. */
export class Sender {
  readonly #options: ClientOptions
  readonly #sites: readonly string[]
  readonly #ending: AbortSignal | undefined
  /** Index of the site that is asked now. */
  #at = 0

  /** `ending`: from then on, a call without a signal of its own does not wait for a server that limits it, and is refused instead. */
  constructor(options: ClientOptions, ending?: AbortSignal) {
    this.#options = options
    this.#ending = ending
    this.#sites = options.site.split(',').map(site => siteAddress(site.trim()))
  }

  /** A path below /api/v1. */
  async send(method: string, path: string, fields: Fields, options: SendOptions = {}): Promise<Reply> {
    const { signal, caller, key, retries = this.#options.retries ?? 3, within } = options
    for (let left = retries; ; left--) {
      const { response, body } = await limitTime(within, signal, async limited => {
        const response = await this.#ask(method, path, fields, limited, key)
        return { response, body: await readBody(response) }
      })
      if (response.ok && body.result === 'success') return body
      const refused = buildError(response, body, `${method} ${path}`, caller)
      if (response.status !== 429 || left <= 0) throw refused
      await pause(pauseFor(response.headers.get('retry-after')), signal ?? this.#ending).catch(reason => {
        throw signal ? reason : refused
      })
    }
  }

  /** Asks the daemons of a cluster in turn. A call that may have been carried out is not made again. */
  async #ask(method: string, path: string, fields: Fields, signal?: AbortSignal, key?: string): Promise<Response> {
    for (let left = this.#sites.length - 1; ; left--)
      try {
        const response = await this.#fetch(method, path, fields, signal, key)
        if (response.status !== 503) return response
        // The next call goes to another daemon.
        this.#at = (this.#at + 1) % this.#sites.length
        if (left <= 0 || method !== 'GET') return response
      } catch (error) {
        if (signal?.aborted) throw error
        this.#at = (this.#at + 1) % this.#sites.length
        if (left <= 0 || !(method === 'GET' || isNotSent(error))) throw error
      }
  }

  #fetch(method: string, path: string, fields: Fields, signal?: AbortSignal, key?: string): Promise<Response> {
    const { email, apiKey, client = 'natter-client', fetch: chosen = fetch } = this.#options
    const inQuery = method === 'GET'
    const form = encodeForm(fields)
    const query = inQuery && fields.size > 0 ? `?${form}` : ''
    const headers: Record<string, string> = { 'User-Agent': client }
    if (email !== undefined && apiKey !== undefined) headers.Authorization = `Basic ${base64(`${email}:${apiKey}`)}`
    if (key !== undefined) headers[keyHeader] = key
    return chosen(resolveAddress(this.#sites[this.#at]!, `/api/v1${path}${query}`), {
      method,
      headers,
      // To follow one would send the call, and perhaps the key, to another place.
      redirect: 'manual',
      ...(!inQuery && { body: form }),
      ...(signal && { signal }),
    })
  }
}

function buildError({ status, headers }: Response, body: Reply, call: string, caller: Caller | undefined): NatterError {
  return new NatterError(status, body, headers.get(kindHeader), call, caller, headers.get(parameterHeader))
}

/** Whether the server never got the request; browsers do not say. */
function isNotSent(error: unknown): boolean {
  const { cause } = error as { cause?: { code?: string; errors?: readonly { code?: string }[] } }
  const code = cause?.code ?? cause?.errors?.[0]?.code ?? ''
  return ['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'UND_ERR_CONNECT_TIMEOUT'].includes(code)
}

/** Refuses a path that would lead to an address that no server has. */
export function demandPath(path: unknown): void {
  if (typeof path === 'string' && /^\/(?!\/|api\/v1(?:\/|$))/.test(path)) return
  const given = JSON.stringify(path)
  throw new TypeError(`path: write "/users/me", with a slash at the beginning and without /api/v1, not ${given}`)
}

/** Texts travel as they are, everything else as JSON. */
export function encodeFields(params: Readonly<Record<string, unknown>>): Map<string, string> {
  const given = Object.entries(params).filter(([, value]) => value !== undefined)
  return new Map(given.map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]))
}

export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer)
      reject(signal!.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end)
      resolve()
    }, ms)
    if (signal?.aborted) end()
    else signal?.addEventListener('abort', end, { once: true })
  })
}

/** Does the work with a signal that is also aborted after so many seconds. */
async function limitTime<T>(
  seconds: number | undefined,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal | undefined) => Promise<T>,
): Promise<T> {
  if (seconds === undefined) return work(signal)
  const limit = new AbortController()
  // AbortSignal.timeout would not do: what AbortSignal.any made of it never fires once garbage was collected.
  const timer = setTimeout(() => limit.abort(new Error(`no whole answer within ${seconds} s`)), seconds * 1000)
  try {
    return await work(signal ? AbortSignal.any([signal, limit.signal]) : limit.signal)
  } finally {
    clearTimeout(timer)
  }
}

/** The body of a proxy in trouble is a page, not an answer. */
export async function readBody(response: Response): Promise<Reply> {
  const body = jsonOr(await readText(response))
  return typeof body === 'object' && body !== null ? body : {}
}

/** Bytes of one answer. */
export const largestAnswer = 64 * 1024 * 1024

/** The body of an answer. Throws a NatterError if it is too large, or compressed more than once. */
export async function readText(response: Response): Promise<string> {
  if (response.headers.get('content-encoding')?.includes(',')) {
    // What is unpacked on the way to the last coding would not count.
    await response.body?.cancel()
    const msg = 'the server sent an answer that is compressed more than once'
    throw new NatterError(response.status, { msg, code: 'BAD_ANSWER' })
  }
  // A declared length holds, unless the content is compressed.
  const length = response.headers.get('content-length')
  if (length !== null && Number(length) <= largestAnswer && !response.headers.has('content-encoding'))
    return response.text()
  const body = new GatheredBytes()
  const reader = response.body?.getReader()
  for (let piece = await reader?.read(); piece && !piece.done; piece = await reader!.read()) {
    if (body.size + piece.value.length > largestAnswer) {
      await reader!.cancel()
      const msg = `the server sent more than ${largestAnswer / 1024 / 1024} MiB in one answer`
      throw new NatterError(response.status, { msg, code: 'ANSWER_TOO_LARGE' })
    }
    body.add(piece.value)
  }
  return new TextDecoder().decode(body.bytes)
}

function encodeForm(fields: Fields): URLSearchParams | FormData {
  if (![...fields.values()].some(value => typeof value === 'object'))
    return new URLSearchParams([...fields] as [string, string][])
  const form = new FormData()
  for (const [name, value] of fields)
    if (typeof value === 'string') form.append(name, value)
    else form.append(name, new Blob([value.bytes as never], { type: value.contentType }), value.filename)
  return form
}

function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)))
}
