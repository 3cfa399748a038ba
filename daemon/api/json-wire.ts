// Encodes and decodes the parameters of the control plane: in the query string as text, in the body as the fields of a JSON object.
// `encodeJson` and `decodeJson` are inverses.

import { didYouMean } from '../local/did-you-mean.ts'
import { problemIn } from './checking.ts'
import type { Endpoint, Param } from './define.ts'
import { notJson, planReading, readValue, travelsRaw } from './reading.ts'

type Values = Readonly<Record<string, unknown>>

interface SentJson {
  readonly path: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  readonly body: Values
}

/** What is wrong, and with which parameter. */
interface JsonProblem {
  readonly parameter: string
  readonly why: string
}

export function decodeJson(
  endpoint: Endpoint,
  { path, query, body }: SentJson,
): { readonly params: Record<string, unknown> } | { readonly problem: JsonProblem } {
  const unknown = [...Object.keys(query), ...Object.keys(body)].find(name => !Object.hasOwn(endpoint.params, name))
  // Not ignored: a misspelt filter would make a test pass that should fail.
  if (unknown !== undefined) {
    const meant = didYouMean(unknown, Object.keys(endpoint.params))
    return problem(unknown, meant ? `unknown parameter. ${meant}` : 'unknown parameter')
  }
  const params: Record<string, unknown> = {}
  for (const [name, param] of Object.entries(endpoint.params)) {
    const sent = Object.hasOwn(body, name) ? body[name] : read(param, path[name] ?? query[name])
    if (sent === undefined) {
      if (param.presence === 'required' || param.presence === 'path') return problem(name, describeRequired(param))
      if (param.presence === 'defaulted') params[name] = param.fallback
      continue
    }
    const why = findProblem(name, param, sent)
    if (why !== undefined) return problem(name, why)
    params[name] = sent
  }
  return { params }
}

/** A path, a query string and a body; the body is undefined where the method has none. */
export function encodeJson(endpoint: Endpoint, params: Values): { path: string; query: string; body?: Values } {
  let { path } = endpoint
  const rest: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(params)) {
    if (value === undefined) continue
    if (endpoint.params[name]?.presence === 'path')
      path = path.replace(`{${name}}`, () => encodeURIComponent(String(value)))
    else rest[name] = value
  }
  if (endpoint.method !== 'GET' && endpoint.method !== 'DELETE') return { path, query: '', body: rest }
  const texts = Object.entries(rest).map(([name, value]) => [
    name,
    travelsRaw(endpoint.params[name]!.shape) || typeof value === 'string' ? String(value) : JSON.stringify(value),
  ])
  const query = String(new URLSearchParams(texts as [string, string][]))
  return { path, query: query === '' ? '' : `?${query}` }
}

function read({ shape }: Param, text: string | undefined): unknown {
  if (text === undefined) return undefined
  const value = readValue(planReading(shape), text)
  // The text itself, to be refused with what it should be.
  return value === notJson ? text : value
}

function describeRequired({ shape }: Param): string {
  const words: unknown[] = shape.anyOf?.map((arm: { const?: unknown }) => arm.const) ?? []
  return words.length > 0 && !words.includes(undefined) ? `required: one of ${words.join(', ')}` : 'required'
}

function findProblem(name: string, { shape }: Param, value: unknown): string | undefined {
  if (shape.type === 'string') {
    if (typeof value !== 'string') return 'must be a string'
    if (value.length > shape.maxLength) return `must be at most ${shape.maxLength} characters`
  }
  // It names the parameter, or a place in it, first.
  const found = problemIn(name, shape, value)
  return found?.startsWith(`${name}: `) ? found.slice(name.length + 2) : found
}

function problem(parameter: string, why: string): { problem: JsonProblem } {
  return { problem: { parameter, why } }
}
