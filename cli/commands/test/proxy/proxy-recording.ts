// The recording of a proxy, in the format of natter record: one line for each call of the API, with secrets hidden.

import { once } from 'node:events'
import { createWriteStream, existsSync, truncateSync, type WriteStream } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { finished } from 'node:stream/promises'
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib'
import { catalogue } from '../../../../daemon/api/index.ts'
import { hidden, isSecretName, maskJson, maskTokens } from '../../../../daemon/api/masking.ts'
import { jsonOr } from '../../../../daemon/local/json.ts'
import { tooDeep } from '../../../../daemon/local/nesting.ts'
import { exitCodes, Failure } from '../../../base/failure.ts'
import { readGiven, refuseExisting } from '../../../base/files.ts'
import { note } from '../../../base/note.ts'
import { version } from '../../../base/version.ts'
import { findRoute, loadRoutes } from '../../../transport/routes.ts'
import type { Exchange } from './forward.ts'

type Routes = Awaited<ReturnType<typeof loadRoutes>>

/** Bytes of an answer once it is unpacked. */
const mostUnpacked = 64 * 1024 * 1024
/** Bytes that wait to be written. */
const mostWaiting = 256 * 1024 * 1024

export class ProxyRecording {
  static async open(file: string, append: boolean): Promise<ProxyRecording> {
    if (!append) refuseExisting(file, 'Choose another name, or add --append to continue it.')
    const before = existsSync(file) ? reopen(file) : undefined
    const output = createWriteStream(file, { mode: 0o600, flags: before ? 'a' : 'w' })
    try {
      await once(output, 'open')
    } catch (error) {
      throw new Failure(exitCodes.refused, `cannot write ${file}: ${(error as NodeJS.ErrnoException).code}`)
    }
    return new ProxyRecording(file, output, await loadRoutes(Object.values(catalogue)), before)
  }

  readonly #file: string

  readonly #output: WriteStream
  readonly #routes: Routes
  readonly #last: number
  calls: number
  /** Why the rest is not recorded. */
  #failure: Failure | undefined

  private constructor(file: string, output: WriteStream, routes: Routes, before: Before | undefined) {
    this.#file = file
    this.#output = output
    output.on('error', error => this.#fail((error as NodeJS.ErrnoException).code))
    this.#routes = routes
    this.calls = before?.calls ?? 0
    this.#last = before?.last ?? 0
    if (!before) this.#write({ natter_recording: 1, version: version() })
  }

  /** Files and pages are passed on, but not recorded. */
  add({ number, time, milliseconds, method, url, headers, body, status, answerHeaders, answer }: Exchange): void {
    const [path, query = ''] = url.split('?', 2) as [string, string?]
    if (!path.startsWith('/api/v1/') || this.#failure) return
    const endpoint = findRoute(this.#routes, method, path)?.endpoint
    this.calls++
    this.#write({
      call: this.#last + number,
      time,
      duration_ms: milliseconds,
      user: readUser(headers),
      user_agent: headers['user-agent'] ?? null,
      method,
      path: maskTokens(path),
      endpoint: endpoint?.id ?? null,
      sent: sentIn(query, headers, body, endpoint?.access === 'key'),
      status,
      ...(status === null && { lost: true }),
      answer: status === null ? null : answerIn(answerHeaders, answer),
    })
  }

  /** With the line that says that the recording is complete. Throws if it is not. */
  async end(): Promise<void> {
    this.#write({ end: this.calls })
    this.#output.end()
    await finished(this.#output).catch(() => {})
    if (this.#failure) throw this.#failure
  }

  #write(line: object): void {
    if (this.#failure) return
    this.#output.write(`${JSON.stringify(line)}\n`)
    if (this.#output.writableLength > mostWaiting) this.#fail('the disk is too slow')
  }

  /** Clients go on: they need the server more than the recording. */
  #fail(reason: string | undefined): void {
    if (this.#failure) return
    this.#failure = new Failure(exitCodes.refused, `cannot write ${this.#file}: ${reason}`, {
      hint: 'The recording is not complete.',
    })
    note(`cannot write ${this.#file}: ${reason}; calls are passed on, but no longer recorded`)
  }
}

// --- an earlier recording -----------------------------------------------------------------------------------------

interface Before {
  readonly calls: number
  readonly last: number
}

/** Cuts off the last line, if it marks the recording as complete or is incomplete itself. Undefined if not even the first is complete. */
function reopen(file: string): Before | undefined {
  const lines = readGiven(file).toString('latin1').split('\n')
  if (!lines[0]?.startsWith('{"natter_recording":1,'))
    throw new Failure(exitCodes.usage, `${file} is not a recording`, { hint: 'Choose another name.' })
  lines.pop()
  while (lines.at(-1)?.startsWith('{"end":')) lines.pop()
  truncateSync(
    file,
    lines.reduce((sum, line) => sum + line.length + 1, 0),
  )
  const calls = lines.map(line => Number(/^\{"call":(\d+),/.exec(line)?.[1] ?? Number.NaN)).filter(Number.isFinite)
  const last = calls.reduce((most, number) => Math.max(most, number), 0)
  return lines.length === 0 ? undefined : { calls: calls.length, last }
}

// --- what was sent and answered -----------------------------------------------------------------------------------

function readUser({ authorization = '' }: IncomingHttpHeaders): string | null {
  const [, credentials] = /^basic\s+(\S+)/i.exec(authorization) ?? []
  const decoded = Buffer.from(credentials ?? '', 'base64').toString()
  const colon = decoded.lastIndexOf(':')
  return colon < 1 ? null : decoded.slice(0, colon)
}

/** A body that is no form is kept only where the server takes it for a payload: elsewhere it may have a password in a form that cannot be read. */
function sentIn(
  query: string,
  headers: IncomingHttpHeaders,
  body: Buffer | undefined,
  isPosted: boolean,
): Record<string, unknown> {
  const sent: Record<string, unknown> = {}
  const take = (fields: URLSearchParams) => {
    for (const [name, value] of fields) sent[name] = isSecretName(name) ? hidden : maskJson(value)
  }
  take(new URLSearchParams(query))
  const type = (headers['content-type'] ?? '').split(';', 1)[0]!.trim().toLowerCase()
  if (type === 'application/x-www-form-urlencoded' && body) take(new URLSearchParams(body.toString()))
  else if (body?.length === 0) return sent
  else if (isPosted && type !== 'multipart/form-data' && body) sent.payload = maskJson(body.toString())
  else sent.file = { size: Number(headers['content-length'] ?? body?.length ?? 0) }
  return sent
}

/** JSON where it is JSON; null where it was too long to keep, or is nested too deeply for `natter replay`, which reads it inside its line. */
function answerIn(headers: IncomingHttpHeaders, answer: Buffer | undefined): unknown {
  if (answer === undefined) return null
  let text: string
  try {
    text = maskJson(unpack(headers['content-encoding'], answer).toString())
  } catch {
    return null
  }
  return tooDeep(`[${text}]`) ? null : jsonOr(text, text)
}

function unpack(encoding: string | undefined, bytes: Buffer): Buffer {
  const bound = { maxOutputLength: mostUnpacked }
  if (encoding === 'gzip') return gunzipSync(bytes, bound)
  if (encoding === 'br') return brotliDecompressSync(bytes, bound)
  return encoding === 'deflate' ? inflateSync(bytes, bound) : bytes
}
