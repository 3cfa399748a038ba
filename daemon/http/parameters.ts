// Reads what a request carries: query string, urlencoded body, multipart body, for every method, strictly.

import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import type { Upload } from '../api/define.ts'
import { badRequest, Refusal } from '../domain/refusal.ts'

const mostFields = 1000
const form = 'application/x-www-form-urlencoded'

export type FieldMap = Map<string, string | Upload>

/** The body's fields, then those of the query string that the body does not have. */
export function readFields(
  query: string,
  headers: IncomingHttpHeaders,
  body: Buffer | undefined,
): FieldMap | Promise<FieldMap> {
  const fields: FieldMap = new Map()
  const reading = body && body.length > 0 ? readBody(headers['content-type'] ?? '', body, fields) : undefined
  return reading ? reading.then(() => withQuery(fields, query)) : withQuery(fields, query)
}

function withQuery(fields: FieldMap, query: string): FieldMap {
  if (query === '') return fields
  const inQuery: FieldMap = new Map()
  readUrlencoded(Buffer.from(query, 'latin1'), inQuery, 'query string')
  for (const [name, value] of inQuery) if (!fields.has(name)) fields.set(name, value)
  return fields
}

function readBody(contentType: string, body: Buffer, fields: FieldMap): undefined | Promise<void> {
  const type = contentType === form ? form : contentType.split(';', 1)[0]!.trim().toLowerCase()
  if (type === form) {
    readUrlencoded(body, fields, 'body')
    return undefined
  }
  if (type === 'multipart/form-data') return readMultipart(contentType, body, fields)
  if (type === 'application/json' && !isJson(body)) throw new Refusal('INVALID_JSON', 'The body is not valid JSON')
  throw notAForm(type)
}

function notAForm(type: string): Refusal {
  return badRequest(
    `Send parameters as form fields (application/x-www-form-urlencoded or multipart/form-data), not as '${type}'`,
  )
}

// Works on bytes, which are the caller's to give away: escapes are undone in place. That is several times as fast as
// decodeURIComponent, and no component keeps the whole body alive.
function readUrlencoded(bytes: Buffer, fields: FieldMap, where: string): void {
  if (!isUtf8(bytes)) throw badRequest(`The ${where} is not valid UTF-8`)
  for (let start = 0; start < bytes.length; ) {
    let end = bytes.indexOf(ampersand, start)
    if (end === -1) end = bytes.length
    if (end > start) {
      let nameEnd = start
      while (nameEnd < end && bytes[nameEnd] !== equals) nameEnd++
      const name = component(bytes, start, nameEnd, where)
      add(fields, name, component(bytes, nameEnd + 1, end, name))
    }
    start = end + 1
  }
}

const ampersand = 0x26
const equals = 0x3d
const plus = 0x2b
const percent = 0x25
const space = 0x20

function component(bytes: Buffer, start: number, end: number, where: string): string {
  let to = start
  let escaped = false
  for (let from = start; from < end; from++) {
    let byte = bytes[from]!
    if (byte === percent) {
      byte = from + 2 < end ? (hexDigits[bytes[from + 1]!]! << 4) | hexDigits[bytes[from + 2]!]! : -1
      if (byte < 0) throw badRequest(`${where} has bad percent-encoding`)
      from += 2
      escaped = true
    } else if (byte === plus) byte = space
    bytes[to++] = byte
  }
  if (escaped && !isUtf8(bytes.subarray(start, to))) throw badRequest(`${where} has bad percent-encoding`)
  return bytes.toString('utf8', start, to)
}

/** By their bytes; -1 for what is none. */
const hexDigits = Int8Array.from({ length: 256 }, (_, byte) =>
  '0123456789abcdef'.indexOf(String.fromCharCode(byte).toLowerCase()),
)

async function readMultipart(contentType: string, body: Buffer, fields: FieldMap): Promise<void> {
  const { Busboy } = await import('@fastify/busboy')
  await new Promise<void>((resolve, reject) => {
    const fail = (error: unknown) =>
      reject(error instanceof Refusal ? error : badRequest(`The multipart body cannot be read: ${reason(error)}`))
    try {
      const parser = new Busboy({
        headers: { 'content-type': contentType },
        limits: { parts: mostFields + 1, fieldSize: body.length },
      })
      const attempt = (work: () => void) => {
        try {
          work()
        } catch (error) {
          fail(error)
        }
      }
      // The parser puts U+FFFD in place of what is not UTF-8; text that was really sent stands in the body as it is.
      const utf8 = (text: string, where: string) => {
        if (text.includes('\ufffd') && !body.includes(text)) throw badRequest(`${where} is not valid UTF-8`)
        return text
      }
      parser.on('field', (name, value) => attempt(() => add(fields, utf8(name, 'A parameter name'), utf8(value, name))))
      parser.on('file', (name, stream, filename, _encoding, type) => {
        const chunks: Buffer[] = []
        stream.on('data', chunk => chunks.push(chunk))
        stream.on('end', () =>
          attempt(() =>
            add(fields, utf8(name, 'A parameter name'), {
              filename: utf8(filename, name),
              contentType: type,
              bytes: Buffer.concat(chunks),
            }),
          ),
        )
      })
      parser.on('partsLimit', () => fail(badRequest(`Too many parameters (limit: ${mostFields})`)))
      parser.on('error', fail)
      parser.on('finish', resolve)
      Readable.from([body]).on('error', fail).pipe(parser)
    } catch (error) {
      fail(error)
    }
  })
}

function add(fields: FieldMap, name: string, value: string | Upload): void {
  if (fields.has(name)) throw badRequest(`${name} was sent more than once`)
  if (fields.size >= mostFields) throw badRequest(`Too many parameters (limit: ${mostFields})`)
  if (name.includes('\0') || !name.isWellFormed()) throw badRequest('A parameter name is not valid text')
  fields.set(name, value)
}

function isJson(body: Buffer): boolean {
  try {
    JSON.parse(body.toString())
    return isUtf8(body)
  } catch {
    return false
  }
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown reason'
}
