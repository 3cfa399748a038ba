// Encodes and decodes parameters: strings raw, everything else as JSON text. `encode` and `decode` are inverses.

import { cutText } from '../local/text-parts.ts'
import { largest } from './bounds.ts'
import { problemIn } from './checking.ts'
import { type Endpoint, isUpload, type Param, type Upload } from './define.ts'
import type { ErrorCode } from './errors.ts'
import { naturalsIn, notJson, planReading, type Reading, readValue, travelsRaw } from './reading.ts'

/** Fields as received: query string, form fields and files, percent-decoded. Body before query. */
export type Fields = ReadonlyMap<string, string | Upload>

interface Rejected {
  readonly code: Extract<
    ErrorCode,
    'BAD_REQUEST' | 'REQUEST_VARIABLE_MISSING' | 'REQUEST_CONFUSING_VAR' | 'INVALID_JSON'
  >
  readonly msg: string
  readonly parameter?: string
  readonly fields?: Readonly<Record<string, string>>
}

export type Decoded =
  | {
      readonly params: Record<string, unknown>
      /** Names that mean nothing here. Few and short ones: a poll keeps them for as long as it waits. */
      readonly ignored: readonly string[]
      /** Characters of the parameters. */
      readonly size: number
    }
  | { readonly rejected: Rejected }

/** `asPublicServers`: what those require is required. */
export function decode(
  endpoint: Endpoint,
  path: Readonly<Record<string, string>>,
  fields: Fields,
  asPublicServers = false,
): Decoded {
  const params: Record<string, unknown> = {}
  const ignored: string[] = []
  let size = 0
  const { entries, names, takesFile } = understoodBy(endpoint)
  for (const entry of entries) {
    const { name, param, presence, reading, maxItems } = entry
    const found = presence === 'path' ? path[name] : lookUp(entry, fields)
    if (found === undefined) {
      if (presence === 'required' && entry.isFile)
        return reject('BAD_REQUEST', name, 'required: send exactly one file in a multipart body')
      if (presence === 'required' || (asPublicServers && param.requiredByPublicServers))
        return reject('REQUEST_VARIABLE_MISSING', name, 'required', { var_name: name })
      if (presence === 'defaulted') params[name] = copyFallback(param.fallback)
      continue
    }
    if (typeof found === 'object' && 'code' in found) return { rejected: found }
    if (typeof found === 'string') size += found.length
    const numbers = reading.naturals && typeof found === 'string' ? naturalsIn(found) : undefined
    if (numbers && numbers.length <= maxItems) {
      params[name] = numbers
      continue
    }
    const value = typeof found === 'string' ? readValue(reading, found) : found
    if (value === notJson) return reject('BAD_REQUEST', name, 'must be valid JSON')
    const problem = problemIn(name, param.shape, value)
    if (problem) return { rejected: { code: 'BAD_REQUEST', msg: problem, parameter: name } }
    params[name] = value
  }
  for (const [name, value] of fields) if (!names.has(name) && !(takesFile && isUpload(value))) ignored.push(name)
  return { params, ignored: ignored.length === 0 ? ignored : shorten(ignored), size }
}

/** Names of ignored parameters that a reply lists, and the characters of each. */
const [mostIgnored, longestIgnored] = [20, 100]

function shorten(names: string[]): string[] {
  const first = names.sort().slice(0, mostIgnored)
  return first.map(name => cutText(name, longestIgnored))
}

/** What is wrong with parameters that another daemon has decoded; undefined if they fit. */
export function problemInParams(endpoint: Endpoint, params: Readonly<Record<string, unknown>>): string | undefined {
  for (const [name, { shape, presence }] of Object.entries(endpoint.params)) {
    const value = params[name]
    const mayLack = presence === 'optional' || presence === 'defaulted'
    const problem = value === undefined && mayLack ? undefined : problemIn(name, shape, value)
    if (problem !== undefined) return problem
  }
  return undefined
}

/** What every call asks of a parameter, in one form: the descriptions have many. */
interface Entry {
  readonly name: string
  readonly param: Param
  readonly presence: Param['presence']
  readonly alias: string | undefined
  readonly isFile: boolean
  readonly reading: Reading
  readonly maxItems: number
}

interface Understood {
  readonly entries: readonly Entry[]
  /** Of fields, older spellings included. */
  readonly names: ReadonlySet<string>
  readonly takesFile: boolean
}

const understood = new WeakMap<Endpoint, Understood>()

/** Computed at an endpoint's first call. */
function understoodBy(endpoint: Endpoint): Understood {
  let known = understood.get(endpoint)
  if (!known) {
    const entries = Object.entries(endpoint.params).map(([name, param]) => ({
      name,
      param,
      presence: param.presence,
      alias: param.alias,
      isFile: param.shape.format === 'binary',
      reading: planReading(param.shape),
      maxItems: largest(param.shape, 'maxItems') ?? 0,
    }))
    // `client` names the calling program; every endpoint accepts it.
    const names = new Set(['client'])
    for (const { name, presence, alias } of entries) {
      if (presence !== 'path') names.add(name)
      if (alias !== undefined) names.add(alias)
    }
    known = { entries, names, takesFile: entries.some(({ isFile }) => isFile) }
    understood.set(endpoint, known)
  }
  return known
}

/** A command can modify its parameters. Most fallbacks are immutable, and cloning costs more than everything else here. */
function copyFallback(fallback: unknown): unknown {
  return typeof fallback === 'object' ? structuredClone(fallback) : fallback
}

/** Form fields for a call; the path is filled in, files stay files. */
export function encode(
  endpoint: Endpoint,
  params: Readonly<Record<string, unknown>>,
): { path: string; fields: Map<string, string | Upload> } {
  const fields = new Map<string, string | Upload>()
  let path = endpoint.path
  for (const [name, value] of Object.entries(params)) {
    if (value === undefined) continue
    const param = Object.hasOwn(endpoint.params, name) ? endpoint.params[name] : undefined
    if (param?.presence === 'path') {
      path = path
        .replace(`{${name}...}`, () => String(value).split('/').map(encodeURIComponent).join('/'))
        .replace(`{${name}}`, () => encodeURIComponent(String(value)))
    } else if (isUpload(value)) fields.set(name, value)
    else fields.set(name, param && travelsRaw(param.shape) ? String(value) : JSON.stringify(value))
  }
  return { path, fields }
}

function lookUp({ name, alias, isFile }: Entry, fields: Fields) {
  if (isFile) return onlyFile(fields) ?? fields.get(name)
  const found = fields.get(name)
  if (alias === undefined) return found
  const older = fields.get(alias)
  if (found !== undefined && older !== undefined)
    return {
      code: 'REQUEST_CONFUSING_VAR',
      msg: `Give only one of ${name} and ${alias}: they mean the same.`,
      parameter: name,
      fields: { var_name1: name, var_name2: alias },
    } satisfies Rejected
  return found ?? older
}

/** Clients choose the field name of a file freely. */
function onlyFile(fields: Fields): Upload | Rejected | undefined {
  const files = [...fields.values()].filter(isUpload)
  return files.length > 1 ? { code: 'BAD_REQUEST', msg: 'Send exactly one file.' } : files[0]
}

function reject(code: Rejected['code'], parameter: string, why: string, fields?: Rejected['fields']): Decoded {
  const msg = `${parameter}: ${why}`
  return { rejected: fields ? { code, msg, parameter, fields } : { code, msg, parameter } }
}
