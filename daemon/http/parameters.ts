// Reads the parameters of a request: query string, urlencoded body or multipart body, for every method. Bytes that are not UTF-8 become
// U+FFFD and a stray `%` is text, as on the public servers: plain curl scripts depend on it.

import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import type { Upload } from '../api/define.ts'
import { inQuotes, invalid, malformed, type Refusal } from '../domain/refusal.ts'
import { isJson } from '../local/json.ts'
import { perCall } from './held-bytes.ts'
import { readMultipart } from './multipart.ts'
import type { UploadsInProgress } from './uploads-in-progress.ts'

const mostFields = 1000
export const form = 'application/x-www-form-urlencoded'

export type FieldMap = Map<string, string | Upload>

/**
 * The method that a posted form names, for programs that can send POST only. Incoming webhooks cannot name one. The form is
 * searched and not parsed, because the caller is not known yet. The path is relative to the prefix of the API.
 */
export function readMethod(method: string, path: string, headers: IncomingHttpHeaders, body: unknown): string {
  if (method !== 'POST' || !Buffer.isBuffer(body) || !body.includes(methodField)) return method
  if (!headers['content-type']?.startsWith(form) || path.startsWith('/external/')) return method
  return /(?:^|&)method=([^&]{0,20})/.exec(body.toString('latin1'))?.[1] ?? method
}

/** As bytes: a text would be encoded for every search. */
const methodField = Buffer.from('method=')

/** The body's fields, then those of the query string that the body does not have. */
export function readFields(query: string, headers: IncomingHttpHeaders, body: Buffer | undefined): FieldMap {
  const fields: FieldMap = new Map()
  if (body && body.length > 0) readBody(headers['content-type'] ?? '', body, fields)
  return withQuery(fields, query)
}

/** The same for a multipart body, as it arrives. */
export async function readParts(
  query: string,
  headers: IncomingHttpHeaders,
  body: AsyncIterable<Buffer> | Iterable<Buffer>,
  uploads: UploadsInProgress,
): Promise<FieldMap> {
  const fields: FieldMap = new Map()
  const take = (name: string, value: string | Upload) => add(fields, name, value)
  await readMultipart(headers['content-type']!, body, { most: mostFields, add: take, uploads })
  return withQuery(fields, query)
}

export function withQuery(fields: FieldMap, query: string): FieldMap {
  if (query === '') return fields
  const inQuery: FieldMap = new Map()
  readUrlencoded(Buffer.from(query, 'latin1'), inQuery)
  for (const [name, value] of inQuery) if (!fields.has(name)) fields.set(name, value)
  return fields
}

function readBody(contentType: string, body: Buffer, fields: FieldMap): void {
  const type = contentType === form ? form : contentType.split(';', 1)[0]!.trim().toLowerCase()
  if (type === form) {
    readUrlencoded(body, fields)
    return
  }
  if (type === 'application/json' && !mayBeJson(body))
    throw malformed('The body is not valid JSON.', { code: 'INVALID_JSON' })
  throw notAForm(type)
}

function notAForm(type: string): Refusal {
  return malformed(
    `Send parameters as form fields (application/x-www-form-urlencoded or multipart/form-data), not as ${inQuotes(type)}.`,
  )
}

/** What a parameter takes besides its characters. */
const perField = 128

export function measureFields(fields: FieldMap): number {
  let size = perCall
  for (const [name, value] of fields) size += perField + name.length + (typeof value === 'string' ? value.length : 0)
  return size
}

/** `curl -d '{"type": "direct"}'` declares a form. Its one field has the JSON as its name. */
export function explainMissing(
  { code, msg }: { readonly code: string; readonly msg: string },
  fields: FieldMap,
): string {
  const isJsonText = code === 'REQUEST_VARIABLE_MISSING' && [...fields.keys()].some(name => /^\s*[{[]/.test(name))
  return isJsonText
    ? `${msg}. The body is JSON, declared as ${form}: send form fields instead, such as name=value.`
    : msg
}

// Decodes escapes in place, which changes the bytes of the caller. That is several times as fast as
// decodeURIComponent, and no component keeps the whole body alive.
export function readUrlencoded(bytes: Buffer, fields: FieldMap): void {
  for (let start = 0; start < bytes.length; start++) {
    // Skips empty fields one by one: a search for each of a million ampersands would hold up other requests.
    if (bytes[start] === ampersand) continue
    let end = bytes.indexOf(ampersand, start)
    if (end === -1) end = bytes.length
    let nameEnd = start
    while (nameEnd < end && bytes[nameEnd] !== equals) nameEnd++
    add(fields, component(bytes, start, nameEnd), component(bytes, nameEnd + 1, end))
    start = end
  }
}

const ampersand = 0x26
const equals = 0x3d
const plus = 0x2b
const percent = 0x25
const space = 0x20

function component(bytes: Buffer, start: number, end: number): string {
  let to = start
  for (let from = start; from < end; from++) {
    let byte = bytes[from]!
    if (byte === percent) {
      const escaped = from + 2 < end ? (hexDigits[bytes[from + 1]!]! << 4) | hexDigits[bytes[from + 2]!]! : -1
      if (escaped >= 0) {
        byte = escaped
        from += 2
      }
    } else if (byte === plus) byte = space
    bytes[to++] = byte
  }
  return bytes.toString('utf8', start, to)
}

/** Hexadecimal digits by their bytes; -1 for other bytes. */
const hexDigits = Int8Array.from({ length: 256 }, (_, byte) =>
  '0123456789abcdef'.indexOf(String.fromCharCode(byte).toLowerCase()),
)

function add(fields: FieldMap, name: string, value: string | Upload): void {
  if (fields.has(name)) throw invalid(name, 'sent more than once')
  if (fields.size >= mostFields) throw malformed(`Too many parameters (limit: ${mostFields}).`)
  if (name.includes('\0') || !name.isWellFormed()) throw malformed('A parameter name is not valid text.')
  fields.set(name, value)
}

/** Bytes of a body that are checked for JSON, which only makes the message of the refusal better. */
const mostJson = 64 * 1024

function mayBeJson(body: Buffer): boolean {
  return body.length > mostJson || (isJson(body.toString()) && isUtf8(body))
}
