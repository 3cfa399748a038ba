// Reads what a request carries: query string, urlencoded body, multipart body, for every method, strictly.

import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import type { Upload } from '../api/define.ts'
import { badRequest, Refusal } from '../domain/refusal.ts'

const mostFields = 1000

export type FieldMap = Map<string, string | Upload>

/** The body's fields, then those of the query string that the body does not have. */
export async function readFields(query: string, headers: IncomingHttpHeaders, body: Buffer | undefined) {
  const fields: FieldMap = new Map()
  if (body && body.length > 0) await readBody(headers['content-type'] ?? '', body, fields)
  if (query !== '') {
    const inQuery: FieldMap = new Map()
    readUrlencoded(Buffer.from(query, 'latin1'), inQuery, 'query string')
    for (const [name, value] of inQuery) if (!fields.has(name)) fields.set(name, value)
  }
  return fields
}

function readBody(contentType: string, body: Buffer, fields: FieldMap): void | Promise<void> {
  const type = contentType.split(';', 1)[0]!.trim().toLowerCase()
  if (type === 'application/x-www-form-urlencoded') return readUrlencoded(body, fields, 'body')
  if (type === 'multipart/form-data') return readMultipart(contentType, body, fields)
  if (type === 'application/json' && !isJson(body)) throw new Refusal('INVALID_JSON', 'The body is not valid JSON')
  throw notAForm(type)
}

export function notAForm(type: string): Refusal {
  return badRequest(
    `Send parameters as form fields (application/x-www-form-urlencoded or multipart/form-data), not as '${type}'`,
  )
}

// Works on bytes: each component becomes a string of its own that does not keep the whole body alive.
function readUrlencoded(bytes: Buffer, fields: FieldMap, where: string): void {
  if (!isUtf8(bytes)) throw badRequest(`The ${where} is not valid UTF-8`)
  let start = 0
  while (start < bytes.length) {
    let end = bytes.indexOf(0x26, start)
    if (end === -1) end = bytes.length
    if (end > start) {
      const equals = bytes.subarray(start, end).indexOf(0x3d)
      const nameEnd = equals === -1 ? end : start + equals
      const name = component(bytes.toString('utf8', start, nameEnd), where)
      add(fields, name, equals === -1 ? '' : component(bytes.toString('utf8', nameEnd + 1, end), name))
    }
    start = end + 1
  }
}

function component(raw: string, where: string): string {
  const spaced = raw.includes('+') ? raw.replaceAll('+', ' ') : raw
  if (!spaced.includes('%')) return spaced
  try {
    return decodeURIComponent(spaced)
  } catch {
    // Some clients send JSON un-encoded, where a lone % means itself; anything that is half an escape is an error.
    throw badRequest(`${where} has bad percent-encoding`)
  }
}

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
