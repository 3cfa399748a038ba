// How parameters travel: strings raw, everything else as JSON text. `encode` and `decode` are inverses.

import type { TSchema } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import type { Endpoint, Param, Upload } from './define.ts'
import type { ErrorCode } from './errors.ts'

/** Fields as they came: query string, form fields and files, already percent-decoded. Body before query. */
export type Fields = ReadonlyMap<string, string | Upload>

export interface Rejected {
  readonly code: Extract<
    ErrorCode,
    'BAD_REQUEST' | 'REQUEST_VARIABLE_MISSING' | 'REQUEST_CONFUSING_VAR' | 'INVALID_JSON'
  >
  readonly msg: string
  readonly fields?: Readonly<Record<string, string>>
}

export type Decoded =
  | { readonly params: Record<string, unknown>; readonly ignored: readonly string[] }
  | { readonly rejected: Rejected }

// JSON this deep is an attack or an accident, and some of what comes after recurses.
const deepest = 100

export function decode(endpoint: Endpoint, path: Readonly<Record<string, string>>, fields: Fields): Decoded {
  const params: Record<string, unknown> = {}
  const { entries, names, takesFile } = understoodBy(endpoint)
  for (const { name, param, reading } of entries) {
    const found = param.presence === 'path' ? path[name] : lookUp(name, param, fields)
    if (found !== undefined && typeof found === 'object' && 'code' in found) return { rejected: found }
    if (found === undefined) {
      if (param.presence === 'required' && param.shape.format === 'binary')
        return reject('BAD_REQUEST', `${name}: send exactly one file, in a multipart body`)
      if (param.presence === 'required')
        return reject('REQUEST_VARIABLE_MISSING', `Missing '${name}' argument`, { var_name: name })
      if (param.presence === 'defaulted') params[name] = copyOf(param.fallback)
      continue
    }
    const numbers = reading.naturals && typeof found === 'string' ? naturalsIn(found) : undefined
    if (numbers) {
      params[name] = numbers
      continue
    }
    const value = typeof found === 'string' ? readValue(reading, found) : found
    if (value === notJson) return reject('BAD_REQUEST', `${name} is not valid JSON`)
    const problem = problemIn(name, param.shape, value)
    if (problem) return reject('BAD_REQUEST', problem)
    params[name] = value
  }
  const ignored: string[] = []
  for (const [name, value] of fields) if (!names.has(name) && !(takesFile && isUpload(value))) ignored.push(name)
  return { params, ignored: ignored.sort() }
}

interface Understood {
  readonly entries: readonly { readonly name: string; readonly param: Param; readonly reading: Reading }[]
  /** Of fields, older spellings included. */
  readonly names: ReadonlySet<string>
  readonly takesFile: boolean
}

const understood = new WeakMap<Endpoint, Understood>()

/** Worked out at an endpoint's first call. */
function understoodBy(endpoint: Endpoint): Understood {
  let known = understood.get(endpoint)
  if (!known) {
    const entries = Object.entries(endpoint.params).map(([name, param]) => ({
      name,
      param,
      reading: readingOf(param.shape),
    }))
    // `client` names the calling program; every endpoint understands it.
    const names = new Set(['client'])
    for (const { name, param } of entries) {
      const { presence, alias } = param
      if (presence !== 'path') names.add(name)
      if (alias !== undefined) names.add(alias)
    }
    known = { entries, names, takesFile: entries.some(({ param }) => param.shape.format === 'binary') }
    understood.set(endpoint, known)
  }
  return known
}

/** A command may change what it is given. Most fallbacks cannot change, and cloning takes longer than all the rest. */
function copyOf(fallback: unknown): unknown {
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

// --- reading one value ------------------------------------------------------------------------------------------

const notJson = Symbol('not JSON')

function lookUp(name: string, param: Param, fields: Fields) {
  if (param.shape.format === 'binary') return onlyFile(fields) ?? fields.get(name)
  const found = fields.get(name)
  if (param.alias === undefined) return found
  const older = fields.get(param.alias)
  if (found !== undefined && older !== undefined)
    return {
      code: 'REQUEST_CONFUSING_VAR',
      msg: `Can't decide between '${name}' and '${param.alias}' arguments`,
      fields: { var_name1: name, var_name2: param.alias },
    } satisfies Rejected
  return found ?? older
}

/** Clients name the field of a file as they like. */
function onlyFile(fields: Fields): Upload | Rejected | undefined {
  const files = [...fields.values()].filter(isUpload)
  return files.length > 1 ? { code: 'BAD_REQUEST', msg: 'Send exactly one file' } : files[0]
}

/** What the text of a parameter may be, by its shape. */
interface Reading {
  readonly string: boolean
  readonly stringOrNull: boolean
  readonly word: boolean
  readonly naturals: boolean
  readonly fractions: boolean
  readonly text: boolean
}

function readingOf(shape: TSchema): Reading {
  return {
    string: shape.type === 'string',
    stringOrNull: isStringOrNull(shape),
    word: isChoiceOfWords(shape),
    naturals: takesNaturals(shape),
    fractions: admitsFractions(shape),
    text: admitsText(shape),
  }
}

function readValue({ string, stringOrNull, word, fractions, text }: Reading, raw: string): unknown {
  if (string) return raw
  // Strings travel raw, also those that look like numbers; null has no other way than the word.
  if (stringOrNull) return raw === 'null' || raw.startsWith('"') ? parse(raw, raw) : raw
  if (word) return raw.startsWith('"') ? parse(raw, raw) : raw
  if (tooDeep(raw)) return notJson
  return parse(fractions ? raw : quoteFractions(raw), text ? raw : notJson)
}

function takesNaturals({ type, items, anyOf }: TSchema): boolean {
  return Array.isArray(anyOf) ? anyOf.some(takesNaturals) : type === 'array' && takesNatural(items)
}

function takesNatural({ type, minimum, maximum, anyOf }: TSchema): boolean {
  if (Array.isArray(anyOf)) return anyOf.some(takesNatural)
  return type === 'integer' && minimum <= 0 && maximum === Number.MAX_SAFE_INTEGER
}

/**
 * A list of natural numbers in its shortest form, read digit by digit into an array of the right size: lists of a
 * hundred thousand IDs are nothing unusual. Whatever is not in that form is undefined here, and read as JSON.
 */
function naturalsIn(raw: string): number[] | undefined {
  if (raw.charCodeAt(0) !== openBracket || raw.charCodeAt(raw.length - 1) !== closeBracket) return undefined
  const bytes = Buffer.from(raw)
  const end = bytes.length - 1
  let count = 1
  for (let i = 1; i < end; i++) if (bytes[i] === comma) count++
  const numbers: number[] = new Array(count)
  let at = 1
  for (let k = 0; k < count; k++, at++) {
    const start = at
    let number = 0
    for (let digit = bytes[at]! ^ zero; digit < 10; digit = bytes[++at]! ^ zero) number = number * 10 + digit
    const digits = at - start
    // Up to fifteen digits are exact.
    if (digits === 0 || digits > 15 || (digits > 1 && bytes[start] === zero)) return undefined
    if (bytes[at] !== comma && at !== end) return undefined
    numbers[k] = number
  }
  texts.set(numbers, raw)
  return numbers
}

const openBracket = 0x5b
const closeBracket = 0x5d
const comma = 0x2c
const zero = 0x30

const texts = new WeakMap<readonly number[], string>()

/** A list of numbers as JSON; the text it was read from, if it was. Only for lists that are never changed. */
export function numbersText(numbers: readonly number[]): string {
  return texts.get(numbers) ?? JSON.stringify(numbers)
}

/** `12.0` and `1e3` are no integers, though JSON.parse makes them so: where only integers fit, they become text. */
function quoteFractions(json: string): string {
  if (!/\d[.eE]/.test(json)) return json
  return json.replace(/"(?:\\.|[^"\\])*"?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g, token =>
    token.startsWith('"') || /^-?\d+$/.test(token) ? token : `"${token}"`,
  )
}

function admitsFractions(shape: TSchema): boolean {
  if (Array.isArray(shape.anyOf)) return shape.anyOf.some(admitsFractions)
  if (shape.type === 'array') return admitsFractions(shape.items)
  if (shape.type === 'object')
    return Object.values<TSchema>({ ...shape.properties, ...shape.patternProperties }).some(admitsFractions)
  return shape.type === undefined ? shape.const === undefined : shape.type === 'number'
}

/** JSON begins with one of these, or is one of the three words, or is a number from beginning to end. */
const mayBeJson = /^\s*(?:["[{]|(?:true|false|null|-?\d[\d.eE+-]*)\s*$)/

function parse(raw: string, otherwise: unknown): unknown {
  // Names are sent where JSON might be; a thrown error would take longer than the rest of the request.
  if (!mayBeJson.test(raw)) return otherwise
  try {
    return JSON.parse(raw)
  } catch {
    return otherwise
  }
}

function tooDeep(raw: string): boolean {
  let depth = 0
  let inText = false
  for (let i = 0; i < raw.length; i++) {
    const code = raw.charCodeAt(i)
    if (inText) {
      if (code === 0x5c) i++
      else if (code === 0x22) inText = false
    } else if (code === 0x22) inText = true
    else if (code === 0x5b || code === 0x7b) {
      if (++depth > deepest) return true
    } else if (code === 0x5d || code === 0x7d) depth--
  }
  return false
}

function travelsRaw(shape: TSchema): boolean {
  return shape.type === 'string' || isChoiceOfWords(shape)
}

function isStringOrNull({ anyOf }: TSchema): boolean {
  return Array.isArray(anyOf) && anyOf.every(({ type }: TSchema) => type === 'string' || type === 'null')
}

function isChoiceOfWords(shape: TSchema): boolean {
  return Array.isArray(shape.anyOf) && shape.anyOf.every((part: TSchema) => typeof part.const === 'string')
}

function admitsText(shape: TSchema): boolean {
  return (
    shape.type === 'string' ||
    typeof shape.const === 'string' ||
    (Array.isArray(shape.anyOf) && shape.anyOf.some(admitsText))
  )
}

// --- checking it ------------------------------------------------------------------------------------------------

type Checker = ReturnType<typeof TypeCompiler.Compile>

// Compiled at a shape's first use: compiling them all would be most of the daemon's start.
const compiled = new WeakMap<TSchema, Checker>()

function checkerOf(shape: TSchema): Checker {
  let checker = compiled.get(shape)
  if (!checker) {
    checker = TypeCompiler.Compile(shape)
    compiled.set(shape, checker)
  }
  return checker
}

function problemIn(name: string, shape: TSchema, value: unknown): string | undefined {
  if (shape.format === 'binary')
    return isUpload(value) ? undefined : `${name} is not a file: send it as a file of a multipart body`
  if (isUpload(value)) return `${name} is a file where ${described(shape)} is wanted`
  if (shape.type !== 'string') {
    const checker = checkerOf(shape)
    if (!checker.Check(value)) {
      const { path, schema } = deepestError(checker, value)
      return `${placeIn(name, path)} is not ${described(schema)}`
    }
  }
  return unprintable(name, value)
}

/** For a union the outermost error says only that nothing fitted; the one inside it names the place. */
function deepestError(checker: Checker, value: unknown): { path: string; schema: TSchema } {
  let best: { path: string; schema: TSchema } | undefined
  const visit = (errors: Iterable<{ path: string; schema: TSchema; errors: Iterable<any>[] }>) => {
    for (const error of errors) {
      if (!best || error.path.length > best.path.length) best = error
      for (const inner of error.errors) visit(inner)
    }
  }
  visit(checker.Errors(value))
  return best as unknown as { path: string; schema: TSchema }
}

/** `/to/1/name` in `subscriptions` becomes `subscriptions[1]["name"]`. */
function placeIn(name: string, pointer: string): string {
  const steps = pointer.split('/').slice(1)
  return (
    name +
    steps
      .map(step => step.replaceAll('~1', '/').replaceAll('~0', '~'))
      .map(step => (/^\d+$/.test(step) ? `[${step}]` : `[${JSON.stringify(step)}]`))
      .join('')
  )
}

export function described(shape: TSchema): string {
  if (shape.const !== undefined) return JSON.stringify(shape.const)
  if (Array.isArray(shape.anyOf)) {
    const parts = shape.anyOf.map(described)
    return parts.length === 1 ? parts[0]! : `${parts.slice(0, -1).join(', ')} or ${parts.at(-1)}`
  }
  switch (shape.type) {
    case 'integer':
      if (shape.minimum === 0) return 'a non-negative integer'
      return shape.minimum === -1 ? 'an integer of at least -1' : 'an integer'
    case 'number':
      return 'a number'
    case 'boolean':
      return 'a boolean (true or false)'
    case 'string':
      return 'a string'
    case 'null':
      return 'null'
    case 'array':
      return 'a list'
    case 'object':
      return 'an object'
    default:
      return 'of the expected form'
  }
}

/** NUL and lone surrogates can be neither stored as text nor sent back. */
function unprintable(place: string, value: unknown): string | undefined {
  if (typeof value === 'string') {
    if (value.includes('\0')) return `${place} contains a NUL character`
    return value.isWellFormed() ? undefined : `${place} is not valid Unicode text`
  }
  if (Array.isArray(value)) return first(value.entries(), ([index, item]) => unprintable(`${place}[${index}]`, item))
  if (value !== null && typeof value === 'object')
    return first(
      Object.entries(value),
      ([key, item]) => unprintable(`${place} key`, key) ?? unprintable(`${place}[${JSON.stringify(key)}]`, item),
    )
  return undefined
}

function first<T, R>(items: Iterable<T>, find: (item: T) => R | undefined): R | undefined {
  for (const item of items) {
    const found = find(item)
    if (found !== undefined) return found
  }
  return undefined
}

export function isUpload(value: unknown): value is Upload {
  return (
    typeof value === 'object' &&
    value !== null &&
    'bytes' in value &&
    'filename' in value &&
    value.bytes instanceof Uint8Array
  )
}

function reject(code: Rejected['code'], msg: string, fields?: Rejected['fields']): Decoded {
  return { rejected: fields ? { code, msg, fields } : { code, msg } }
}
