// A value that fits for every required parameter, for the curl lines of the reference.

import type { TSchema } from '@sinclair/typebox'
import type { Endpoint, Upload } from '../../daemon/api/define.ts'
import { baseOf, isUpload } from '../../daemon/api/define.ts'
import { encodeJson } from '../../daemon/api/json-wire.ts'
import { encode } from '../../daemon/api/wire.ts'

/** Path and fields of the shortest call the catalogue accepts. */
export function sampleCall(endpoint: Endpoint): ReturnType<typeof encode> {
  const needed = Object.entries(endpoint.params).filter(
    ([, { presence }]) => presence === 'required' || presence === 'path',
  )
  return encode(endpoint, Object.fromEntries(needed.map(([name, { shape }]) => [name, sample(name, shape)])))
}

export function curlLine(endpoint: Endpoint): string {
  if (endpoint.access === 'control') return controlLine(endpoint)
  const { path, fields } = sampleCall(endpoint)
  const hasFile = [...fields.values()].some(isUpload)
  const words = ['curl -sS']
  if (endpoint.access === 'user') words.push('-u "$NATTER_EMAIL:$NATTER_API_KEY"')
  if (endpoint.method === 'GET' && fields.size > 0) words.push('-G')
  if (endpoint.method !== 'GET') words.push(`-X ${endpoint.method}`)
  for (const [name, value] of fields)
    if (isUpload(value)) words.push(`-F ${quoted(`${name}=@${value.filename}`)}`)
    else words.push(`${hasFile ? '--form-string' : '--data-urlencode'} ${quoted(`${name}=${value}`)}`)
  return `${words.join(' ')} "$NATTER_SITE/api/v1${path}"`
}

function controlLine(endpoint: Endpoint): string {
  const needed = Object.entries(endpoint.params).filter(([, { presence }]) => ['required', 'path'].includes(presence))
  const values = needed.map(([name, { shape }]) => [name, shape.ref === 'duration' ? '10m' : sample(name, shape)])
  const { path, query, body } = encodeJson(endpoint, Object.fromEntries(values))
  const words = ['curl -sS', '-H "Authorization: Bearer $NATTER_CONTROL_TOKEN"']
  if (endpoint.method !== 'GET') words.push(`-X ${endpoint.method}`)
  if (body && needed.some(([, { presence }]) => presence === 'required'))
    words.push(`-d ${quoted(JSON.stringify(body))}`)
  return `${words.join(' ')} "$NATTER_SITE${baseOf(endpoint)}${path}${query}"`
}

function sample(name: string, shape: TSchema): unknown {
  if (shape.const !== undefined) return shape.const
  if (Array.isArray(shape.anyOf)) return sample(name, shape.anyOf[0])
  if (shape.format === 'binary') return file
  switch (shape.type) {
    case 'integer':
    case 'number':
      return 1
    case 'boolean':
      return true
    case 'string':
      return name.toUpperCase()
    case 'array':
      return [sample(name, shape.items)]
    case 'object':
      return Object.fromEntries(
        (shape.required ?? []).map((field: string) => [field, sample(field, shape.properties[field])]),
      )
    default:
      return null
  }
}

const file: Upload = { filename: 'FILE', contentType: 'application/octet-stream', bytes: new Uint8Array() }

function quoted(text: string): string {
  return /^[\w=@.,:/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
