// One call of the API: node:http, Basic auth, an error body becomes a Failure. Loaded lazily and without keep-alive, because
// a subcommand makes one call and exits. `fetch` and undici would take longer to start and stop than everything else.

import type { ClientRequest, IncomingMessage } from 'node:http'
import { homedir } from 'node:os'
import { isSameOrigin, resolveAddress } from '../../daemon/api/address.ts'
import type { Upload } from '../../daemon/api/define.ts'
import { idempotencyLimits, keyHeader } from '../../daemon/api/idempotency.ts'
import { pauseFor } from '../../daemon/local/durations.ts'
import { defaultDataFolder } from '../../daemon/local/folders.ts'
import { GatheredBytes } from '../../daemon/local/gathered-bytes.ts'
import { isRecord } from '../../daemon/local/json.ts'
import { refuseUpgrade } from '../../daemon/local/refuse-upgrade.ts'
import { shellWord } from '../../daemon/local/shell-word.ts'
import { exitCodes, Failure, refusal, usage } from '../base/failure.ts'
import { keyFlag } from '../base/globals.ts'
import { type FlatHeaders, headerIn, serverTime } from '../base/headers.ts'
import type { Limits } from '../base/limits.ts'
import { note } from '../base/note.ts'
import { type Account, noReadyFile, noServer, readProfiles } from '../base/profile.ts'
import { type Reply, setLastCall, setTime } from '../base/reply.ts'
import { version } from '../base/version.ts'
import type { Guard, Leaving } from './limits.ts'

export interface Request {
  readonly method: string
  /** Path from the root of the site: `/api/v1/typing`. */
  readonly path: string
  readonly fields: ReadonlyMap<string, string | Upload>
  /** Sent unchanged, instead of the fields. */
  readonly body?: { readonly type: string; readonly bytes: Uint8Array }
  /** Instead of the account's credentials. */
  readonly authorization?: string
  /** Instead of our own; null: none. */
  readonly userAgent?: string | null | undefined
  /** Makes it safe to send the request again. */
  readonly idempotencyKey?: string
}

export interface CallOptions {
  /** Milliseconds until the response must be complete. */
  readonly timeout?: number | undefined
  /** How many times to wait and retry when rate limited. */
  readonly retry?: number
}

export interface Answer {
  readonly status: number
  readonly reason: string
  readonly headers: FlatHeaders
  readonly text: string
}

/** Adds the key of --idempotency-key, if there is one. */
export function withKey(request: Request, key: unknown): Request {
  if (key === undefined) return request
  const { keyLength } = idempotencyLimits
  if (request.method === 'GET') throw usage(`--${keyFlag} is for calls that change something`)
  if (!/^[!-~]+$/.test(String(key)) || String(key).length > keyLength)
    throw usage(`--${keyFlag} must be 1 to ${keyLength} letters, digits and marks, without spaces`)
  return { ...request, idempotencyKey: String(key) }
}

export const defaultTimeout = 15_000

/** Makes a call that must succeed: returns the reply, or throws a Failure with the exit code of the error. */
export async function call(account: Account, request: Request, options: CallOptions = {}): Promise<Reply> {
  const answer = await send(account, request, options)
  const reply = setTime(readReply(answer, account.site, request), serverTime(answer.headers))
  setLastCall(request.method, request.path)
  return reply
}

/** The reply in an answer; throws if it is a refusal, or if a proxy has answered in place of the server: then no call was made. */
export function readReply(
  answer: Answer,
  site?: string,
  { method, path }: Pick<Request, 'method' | 'path'> = { method: 'GET', path: '' },
): Reply {
  const body = parseBody(answer, site)
  if (answer.status >= 400 || body.result === 'error') throw refusal(answer.status, body, answer.headers)
  const isChange = method !== 'GET' && path.startsWith('/api/v1/')
  if (answer.status >= 300 || (isChange && typeof body.result !== 'string')) throw notAChatServer(answer, site)
  return body
}

/** Sends a request, and waits and retries when rate limited. Returns the final response, whatever its status. */
export async function send(account: Account, request: Request, options: CallOptions = {}): Promise<Answer> {
  for (let left = options.retry ?? 0; ; left--) {
    const answer = await sendOnce(account, request, options.timeout ?? defaultTimeout)
    if (answer.status !== 429 || left <= 0) return answer
    const wait = pauseFor(headerIn(answer.headers, 'retry-after'))
    note(`rate limited, retrying in ${wait / 1000} s`)
    await new Promise(resolve => setTimeout(resolve, wait))
  }
}

export function parseBody(answer: Answer, site?: string): Reply {
  try {
    const body = JSON.parse(answer.text)
    // Every error of a chat server has a result; an error object without one comes from something else.
    if (isRecord(body) && (answer.status < 400 || Object.hasOwn(body, 'result'))) return body
  } catch {
    // Not JSON: reported below.
  }
  if (fromProxy.has(answer.status)) throw refusal(answer.status, {}, answer.headers)
  throw notAChatServer(answer, site)
}

/** Anything can answer with success; a chat server answers /users/me with a user. */
export function demandUser({ user_id, full_name }: Reply, site?: string): void {
  if (typeof user_id !== 'number' || typeof full_name !== 'string') throw lacking('user', site)
}

export function lacking(what: string, site?: string): Failure {
  return notAChatServer({ status: 200 }, site, `: its answer has no ${what}`)
}

function notAChatServer({ status }: Pick<Answer, 'status'>, site = 'the server', why = ''): Failure {
  return new Failure(exitCodes.refused, `${site} answered, but it is not a chat server${why}`, {
    code: 'BAD_ANSWER',
    http: status,
    hint: 'Check --site, NATTER_SITE or the profile.',
  })
}

/** What a proxy in front of a chat server can answer by itself. */
const fromProxy: ReadonlySet<number> = new Set([429, 502, 503, 504])

/** The credentials of an account as a header value. */
function basicAuth(email: string, apiKey: string): string {
  return `Basic ${Buffer.from(`${email}:${apiKey}`).toString('base64')}`
}

const guards = new WeakMap<Limits, Guard>()

/** What enforces the limits of the account; undefined if it has none. Every request passes it before it leaves. */
export async function loadGuard(account: Account): Promise<Guard | undefined> {
  const { limits, ...free } = account
  if (!limits) return undefined
  const { Guard } = await import('./limits.ts')
  const guard = guards.get(limits) ?? new Guard(limits, path => call(free, { method: 'GET', path, fields: new Map() }))
  guards.set(limits, guard)
  return guard
}

/** Fails if the limits of the account will refuse the request. */
export async function checkLimits(account: Account, request: Request): Promise<void> {
  await (await loadGuard(account))?.check(describeRequest(request))
}

function describeRequest({ method, path, fields, body }: Request): Leaving {
  const form = [...fields].filter((field): field is [string, string] => typeof field[1] === 'string')
  return { method, path, form, opaque: body !== undefined }
}

/** The address of a call. This is the only place that joins a site and a path. */
export function addressFor(site: string, path: string): URL {
  try {
    return resolveAddress(site, path)
  } catch (error) {
    throw usage((error as Error).message)
  }
}

/** The headers of a call of an account. Its key goes to its own servers only. */
export function headersFor(account: Account, url: URL): Record<string, string> {
  const { email, apiKey } = account
  const headers: Record<string, string> = { Accept: 'application/json', 'User-Agent': `natter/${version()}` }
  if (email && apiKey && requireSites(account).some(site => isSameOrigin(url, site)))
    headers.Authorization = basicAuth(email, apiKey)
  return headers
}

/** Bytes of one answer. JSON of this size takes several times as much memory. */
export const largestAnswer = 64 * 1024 * 1024

/** The whole body of an answer, which must not be longer. */
export function readText(incoming: IncomingMessage, site: string): Promise<string> {
  const body = new GatheredBytes()
  return new Promise((resolve, reject) => {
    incoming.on('data', (chunk: Buffer) => {
      if (body.size + chunk.length > largestAnswer) incoming.destroy(tooLarge(site, largestAnswer))
      else body.add(chunk)
    })
    incoming.on('error', reject)
    incoming.on('end', () => resolve(body.buffer().toString('utf8')))
  })
}

export function tooLarge(site: string, most: number): Failure {
  return new Failure(exitCodes.refused, `${site} sent more than ${most / (1024 * 1024)} MiB in one answer`, {
    code: 'ANSWER_TOO_LARGE',
    hint: 'Ask for less at once, or check that this is the server that you mean.',
  })
}

/** The server; of several daemons the first. */
export function requireSite(account: Account): string {
  return requireSites(account)[0]!
}

/** The daemons of a cluster, or the one server there is. */
export function requireSites(account: Account): readonly string[] {
  if (account.absentFile) throw noReadyFile(account.absentFile)
  if (account.site) return account.site.split(',')
  throw noServer()
}

/** Path and query; fields travel in the query of a GET and in the body of everything else. */
export function buildTarget(request: Request): string {
  if (!inQuery(request) || request.fields.size === 0) return request.path
  return `${request.path}${request.path.includes('?') ? '&' : '?'}${encodeForm(request)}`
}

export function inQuery(request: Request): boolean {
  return request.method === 'GET' || request.method === 'HEAD'
}

/** Asks the daemons of a cluster in turn. A request that may have been carried out is not made again. */
async function sendOnce(account: Account, request: Request, timeout: number): Promise<Answer> {
  const sites = requireSites(account)
  for (const [index, site] of sites.entries()) {
    const isLast = index === sites.length - 1
    try {
      const answer = await sendTo(site, account, request, timeout)
      if (isLast || answer.status !== 503 || !inQuery(request)) return answer
    } catch (error) {
      if (isLast || !(inQuery(request) || isNotSent(error))) throw error
    }
  }
  throw new Error('no site')
}

const notSent = ['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN']

/** Whether the server never got the request. */
export function isNotSent(error: unknown): boolean {
  return error instanceof Failure && notSent.includes(String((error.cause as NodeJS.ErrnoException | undefined)?.code))
}

async function sendTo(site: string, account: Account, request: Request, timeout: number): Promise<Answer> {
  const url = addressFor(site, buildTarget(request))
  await checkLimits(account, request)
  const guard = await loadGuard(account)
  const body = await bodyFor(request)
  const headers = headersFor(account, url)
  if (request.authorization) headers.Authorization = request.authorization
  if (request.userAgent === null) delete headers['User-Agent']
  // Only what a header can hold: the text may come from a file.
  else if (request.userAgent !== undefined) headers['User-Agent'] = request.userAgent.replace(/[^ -~]/g, '')
  if (request.idempotencyKey) headers[keyHeader] = request.idempotencyKey
  if (body) {
    headers['Content-Type'] = body.type
    headers['Content-Length'] = String(body.bytes.length)
  }
  const { request: open } = url.protocol === 'https:' ? await import('node:https') : await import('node:http')
  return new Promise((resolve, reject) => {
    const outgoing: ClientRequest = open(url, { method: request.method, headers, agent: false })
    const timer = setTimeout(() => outgoing.destroy(late(site, timeout)), timeout)
    const settle = (error: unknown) => {
      clearTimeout(timer)
      reject(error instanceof Failure ? error : unreachable(site, error as NodeJS.ErrnoException))
    }
    outgoing.on('error', settle)
    refuseUpgrade(outgoing, settle)
    outgoing.on('response', (incoming: IncomingMessage) => {
      const filter = (text: string) => guard?.filter(request.path, text) ?? text
      const read = readText(incoming, site).then(text => {
        clearTimeout(timer)
        return filter(text)
      })
      read.then(text => {
        const { statusCode: status = 0, statusMessage: reason = '', rawHeaders: headers } = incoming
        resolve({ status, reason, headers, text })
      }, settle)
    })
    outgoing.end(body?.bytes)
  })
}

async function bodyFor(request: Request): Promise<{ type: string; bytes: Uint8Array } | undefined> {
  if (request.body) return request.body
  if (inQuery(request)) return undefined
  for (const value of request.fields.values())
    if (typeof value !== 'string') return (await import('./multipart.ts')).multipart(request.fields)
  return { type: 'application/x-www-form-urlencoded', bytes: Buffer.from(encodeForm(request)) }
}

function encodeForm(request: Request): string {
  const form = new URLSearchParams()
  for (const [name, value] of request.fields) if (typeof value === 'string') form.append(name, value)
  return form.toString()
}

export function late(site: string, timeout: number): Failure {
  return new Failure(exitCodes.unmet, `${site} did not answer within ${timeout / 1000} s`, {
    hint: 'To wait longer, add --timeout 60s.',
  })
}

export function unreachable(site: string, error: NodeJS.ErrnoException): Failure {
  if (error.code === 'ECONNRESET' || error.code === 'EPIPE')
    return new Failure(exitCodes.unreachable, `the connection to ${site} was lost before the response arrived`, {
      hint: 'The server may have processed the request. Check before you retry.',
    })
  if (error.code === 'EPROTO' && site.startsWith('https:'))
    return new Failure(exitCodes.unreachable, `cannot reach ${site}: it does not speak TLS`, {
      cause: error,
      hint: `Try ${site.replace('https:', 'http:')}, if it is a server of your own.`,
    })
  const local = /^http:\/\/(localhost|127\.|\[::1\])/.test(site)
  const reason = error.code === 'ECONNREFUSED' ? 'nothing is listening there' : (error.code ?? error.message)
  return new Failure(exitCodes.unreachable, `cannot reach ${site}: ${reason}`, {
    cause: error,
    hint:
      hintAboutVariables(site) ??
      (local
        ? `Start it with \`natter daemon start${dataFlag(site)}\`; \`natter doctor\` looks for a daemon elsewhere.`
        : 'Check --site, NATTER_SITE or the profile.'),
  })
}

/** The store of the daemon that was at this address, if it is not the default one. */
function dataFlag(site: string): string {
  const { env } = process
  try {
    const store = Object.values(readProfiles(env).profiles).find(profile => profile.site === site)?.store
    return store === undefined || store === defaultDataFolder(env, homedir()) ? '' : ` --data ${shellWord(store)}`
  } catch {
    // A file of profiles that cannot be read matters to calls that need it, not to this hint.
    return ''
  }
}

/** Variables stay in a shell when the daemon that they name has ended, and no profile helps then. */
function hintAboutVariables(site: string): string | undefined {
  const name = ['NATTER_SITE', 'ZULIP_SITE'].find(name => process.env[name] === site)
  return (
    name &&
    `${name} names it. If that server has ended, unset the NATTER_* and ZULIP_* variables, or open another shell.`
  )
}
