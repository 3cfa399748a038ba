// Reads what other services post to an incoming webhook as parameters: JSON, a form, a form with JSON in it, or any text.
// The one place where a body is not a form (decision 0061).

import type { IncomingHttpHeaders } from 'node:http'
import { isUpload } from '../api/define.ts'
import { needed, type Refusal } from '../domain/refusal.ts'
import { isMultipart } from './incoming.ts'
import { type FieldMap, form, readUrlencoded, withQuery } from './parameters.ts'
import type { Found } from './routes.ts'

/** Headers in which services name the event. */
export const eventHeaders = [
  'x-github-event',
  'x-gitlab-event',
  'x-gitea-event',
  'x-forgejo-event',
  'x-gogs-event',
  'x-event-key',
  'x-event-type',
  'x-groove-event',
  'x-netlify-event',
  'x-patreon-event',
  'x-reviewboard-event',
  'x-discourse-event',
  'sentry-hook-resource',
  'linear-event',
]

export function isPosted({ route }: Found): boolean {
  return route.endpoint.access === 'key'
}

/** A multipart body is still arriving: then these are the parameters of the address alone. */
export function readPosted(found: Found, query: string, headers: IncomingHttpHeaders, body: unknown): FieldMap {
  const bytes = Buffer.isBuffer(body) && !isMultipart(headers) ? body : Buffer.alloc(0)
  const type = mediaType(headers)
  const text = bytes.toString()
  const fields: FieldMap = new Map()
  if (type === form) {
    // Reading changes the bytes, and a follower sends them on.
    readUrlencoded(Buffer.from(bytes), fields)
    return packForm(found, headers, withQuery(fields, query), text)
  }
  const { integration } = found.path
  // As on the public servers, this one reads JSON by its declared type only.
  if (text !== '' && (integration !== 'slack_incoming' || type === 'application/json')) fields.set('payload', text)
  return withEvent(withQuery(fields, query), headers)
}

/** The fields of a form. If none of them is a payload, all that are no parameters are, together. */
export function packForm(found: Found, headers: IncomingHttpHeaders, fields: FieldMap, text?: string): FieldMap {
  const { integration } = found.path
  // Reads the body as JSON, whatever it is declared as.
  if (integration === 'json' && text) return withEvent(new Map([...fields, ['payload', text]]), headers)
  if (integration === 'slack_incoming' || fields.has('payload')) return withEvent(fields, headers)
  const { params } = found.route.endpoint
  const packed: FieldMap = new Map()
  const others: Record<string, unknown> = Object.create(null)
  for (const [name, value] of fields)
    if (Object.hasOwn(params, name)) packed.set(name, value)
    else others[name] = isUpload(value) ? { filename: value.filename, content_type: value.contentType } : value
  if (Object.keys(others).length > 0) packed.set('payload', JSON.stringify(others))
  return withEvent(packed, headers)
}

/** The API key that the sender has in its address. */
export function keyIn(fields: FieldMap): string | undefined {
  const key = fields.get('api_key')
  return typeof key === 'string' ? key.trim() : undefined
}

export function missingKey(): Refusal {
  return needed('api_key', 'in the address: the API key of an incoming webhook bot', {
    code: 'REQUEST_VARIABLE_MISSING',
    fields: { var_name: 'api_key' },
  })
}

function withEvent(fields: FieldMap, headers: IncomingHttpHeaders): FieldMap {
  const name = eventHeaders.find(header => headers[header] !== undefined)
  if (name !== undefined) fields.set('event', String(headers[name]))
  return fields
}

function mediaType({ 'content-type': type = '' }: IncomingHttpHeaders): string {
  return type.split(';', 1)[0]!.trim().toLowerCase()
}
