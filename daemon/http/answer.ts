// Writes answers, with flat lists of headers, which cost least: an event is sent to thousands of polls from here.

import { kindHeader, parameterHeader } from '../api/errors.ts'
import type { Dialect } from '../domain/model/rows/queues.ts'
import { inQuotes, inWords, malformed, Refusal } from '../domain/refusal.ts'
import { Written } from '../domain/written.ts'
import { speak } from './dialect.ts'
import type { Answering, Response, WatchedCall } from './exchange.ts'
import type { ObservedCall } from './observed-call.ts'

export function createAnswering(
  request: { readonly method: string; readonly id: string },
  raw: Response,
  dialect: Dialect = 'spec',
  watched?: WatchedCall | undefined,
  observed?: ObservedCall | undefined,
): Answering {
  return {
    raw,
    head: request.method === 'HEAD',
    headers: ['X-Request-Id', request.id],
    dialect,
    watched,
    observed,
  }
}

export function success(to: Answering, reply: object, ignored: readonly string[]): void {
  const more = ignored.length > 0 ? `"ignored_parameters_unsupported":${JSON.stringify(ignored)},` : ''
  const msg = 'msg' in reply ? JSON.stringify(reply.msg ?? '') : '""'
  const opening = `{"result":"success",${more}"msg":${msg}`
  const isShared = reply instanceof Written && more === '' && to.dialect !== 'zulip' && !to.watched
  if (isShared) {
    sendShared(to, reply, opening)
    return
  }
  const text =
    reply instanceof Written ? reply.json : JSON.stringify('msg' in reply ? { ...reply, msg: undefined } : reply)
  send(to, 200, text === '{}' ? `${opening}}` : `${opening},${text.slice(1)}`)
}

const bodies = new WeakMap<Written, Buffer>()

/** An answer to many readers is encoded once: for 10,000 users, encoding takes longer than sending. */
function sendShared(to: Answering, written: Written, opening: string): void {
  const { raw } = to
  if (raw.headersSent || raw.destroyed) return
  const body = bodies.get(written) ?? Buffer.from(`${opening},${written.json.slice(1)}`)
  bodies.set(written, body)
  to.observed?.answered(200)
  raw.writeHead(200, headersFor(to, body.length))
  raw.end(to.head ? undefined : body)
}

export function refusalHeaders({ kind, parameter, fields, retryAfter }: Refusal): Record<string, string> {
  // Some names come from the caller, so only those that a parameter can have go into a header.
  const named = parameter && /^[\w-]{1,100}$/.test(parameter)
  const wait = retryAfter ?? fields['retry-after']
  return {
    [kindHeader]: kind,
    ...(named && { [parameterHeader]: parameter }),
    ...(wait !== undefined && { 'Retry-After': String(Math.ceil(Number(wait))) }),
  }
}

export function refuse(to: Answering, refusal: Refusal): void {
  to.watched?.refused(refusal)
  if (refusal.status === 401) to.headers.push('WWW-Authenticate', 'Basic realm="natter"')
  for (const [name, value] of Object.entries(refusalHeaders(refusal))) to.headers.push(name, value)
  const body = refusal.body ?? { result: 'error', msg: refusal.message, code: refusal.code, ...refusal.fields }
  send(to, refusal.status, JSON.stringify(body))
}

export function send(to: Answering, status: number, json: string): void {
  const { raw } = to
  if (raw.headersSent || raw.destroyed) return
  const body = speak(to.dialect, json)
  to.observed?.answered(status)
  if (to.watched?.answer(to, status, body)) return
  raw.writeHead(status, headersFor(to, Buffer.byteLength(body)))
  raw.end(to.head ? undefined : body)
}

export function headersFor(
  { headers }: Pick<Answering, 'headers'>,
  length: number,
  type = 'application/json',
): string[] {
  return ['Content-Type', type, 'Content-Length', String(length), ...notStored, ...headers]
}

/** For every answer of the API: many have keys, and each is for one reader. */
export const notStored = ['Cache-Control', 'max-age=0, no-cache, no-store, must-revalidate, private']

/** A defect: the caller learns no details. */
export function admitDefect(to: Answering, requestId: string): void {
  refuse(to, new Refusal(`Internal error (request ${requestId})`, { code: 'INTERNAL_ERROR' }))
}

export function missingPath(path: string): Refusal {
  return new Refusal(`There is no endpoint at ${path}.`, { kind: 'not-found', status: 404 })
}

/** For a path below /spaces; undefined for any other. */
export function missingSpace(path: string): Refusal | undefined {
  const name = /^\/spaces\/([^/]+)/.exec(path)?.[1]
  if (name === undefined) return undefined
  const msg = `There is no space ${inQuotes(name)}. It was deleted, it expired, or it never existed.`
  return new Refusal(msg, { kind: 'not-found', status: 404 })
}

/** Redirects to the same address with a slash at the end, because the links in a page are relative to it. */
export function sendToFolder(url: string, raw: Response): void {
  const [path, query] = url.split('?', 2) as [string, string?]
  const folder = `${path.slice(path.lastIndexOf('/') + 1)}/`
  const location = query === undefined ? folder : `${folder}?${query}`
  raw.writeHead(302, ['Location', location, 'Content-Length', '0', ...notStored])
  raw.end()
}

export function wrongMethod(method: string, allowed: readonly string[]): Refusal {
  return malformed(`This path does not take ${method}; use ${inWords(allowed, 'or')}.`, {
    status: 405,
    fields: { allowed_methods: allowed },
  })
}
