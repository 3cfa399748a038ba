// The curl lines of the reference: a value for every required parameter, and those without which the call does nothing.

import type { TSchema } from '@sinclair/typebox'
import { Check } from '@sinclair/typebox/value'
import type { Endpoint, Upload } from '../../daemon/api/define.ts'
import { baseOf, isUpload } from '../../daemon/api/define.ts'
import { encodeJson } from '../../daemon/api/json-wire.ts'
import { defaultLevel } from '../../daemon/api/levels/releases.ts'
import { encode } from '../../daemon/api/wire.ts'
import { byName, byRoute, made, type Sample } from './sample-values.ts'

/** Path and fields of the shortest call the catalogue accepts. */
export function sampleCall(endpoint: Endpoint): ReturnType<typeof encode> {
  return encode(endpoint, sampleParams(endpoint))
}

/** What the line of an endpoint needs besides, if anything. */
export function sampleOf({ method, path, since, access }: Endpoint): Sample {
  const sample = byRoute[`${method} ${path}`] ?? {}
  const isNewer = access !== 'control' && since > defaultLevel
  return isNewer && !sample.needs ? { ...sample, needs: `a daemon with \`--level ${since}\` or higher` } : sample
}

function sampleParams(endpoint: Endpoint): Record<string, unknown> {
  const chosen = sampleOf(endpoint).with ?? {}
  const ofPath = Object.entries(made).find(([path]) => endpoint.path.startsWith(path))?.[1]
  const wanted = Object.entries(endpoint.params).filter(
    ([name, { presence }]) => presence === 'required' || presence === 'path' || Object.hasOwn(chosen, name),
  )
  return Object.fromEntries(
    wanted.map(([name, { shape, presence }]) => {
      if (Object.hasOwn(chosen, name)) return [name, chosen[name]]
      if (presence === 'path' && ofPath) return [name, ofPath]
      return [name, Object.hasOwn(byName, name) && fits(shape, byName[name]) ? byName[name] : sample(name, shape)]
    }),
  )
}

/** The lines that a reader copies: those of the routes that have to be called before, then that of the endpoint. */
export function curlLines(endpoint: Endpoint, all: readonly Endpoint[]): string[] {
  const before = (sampleOf(endpoint).first ?? []).map(route => {
    const found = all.find(({ method, path }) => `${method} ${path}` === route)
    if (!found) throw new Error(`the sample of ${endpoint.path} names ${route}, which does not exist`)
    return found
  })
  return [...before.flatMap(first => curlLines(first, all)), curlLine(endpoint)]
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
  const values = sampleParams(endpoint)
  const { path, query, body } = encodeJson(endpoint, values)
  const words = ['curl -sS', '-H "Authorization: Bearer $NATTER_CONTROL_TOKEN"']
  if (endpoint.method !== 'GET') words.push(`-X ${endpoint.method}`)
  if (body && Object.keys(values).some(name => endpoint.params[name]!.presence !== 'path'))
    words.push(`-d ${quoted(JSON.stringify(body))}`)
  return `${words.join(' ')} "$NATTER_SITE${baseOf(endpoint)}${path}${query}"`
}

/** A name means different things at different routes: a topic, a list of them. */
function fits(shape: TSchema, value: unknown): boolean {
  return Check(shape, value)
}

function sample(name: string, shape: TSchema): unknown {
  if (shape.ref === 'duration') return '10m'
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

const file: Upload = { filename: 'report.txt', contentType: 'application/octet-stream', bytes: new Uint8Array() }

function quoted(text: string): string {
  return /^[\w=@.,:/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
