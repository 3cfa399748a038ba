// An endpoint as it is at a level: without the params and fields that the level does not have.

import type { TSchema } from '@sinclair/typebox'
import type { Endpoint, Param } from '../define.ts'
import { Type } from '../shape-builders.ts'

interface Span {
  readonly since?: number
  readonly until?: number
}

function isAt(marked: Span | TSchema, level: number): boolean {
  const { since = 0, until = Number.POSITIVE_INFINITY } = marked as Span
  return level >= since && level < until
}

/** undefined: the level does not have it. The same object where nothing differs. */
export function endpointAt(endpoint: Endpoint, level: number): Endpoint | undefined {
  if (endpoint.access === 'control') return endpoint
  if (!isAt(endpoint, level)) return undefined
  const params = paramsAt(endpoint.params, level)
  const reply = fieldsAt(endpoint.reply, level)
  return params === endpoint.params && reply === endpoint.reply ? endpoint : { ...endpoint, params, reply }
}

function paramsAt(params: Endpoint['params'], level: number): Endpoint['params'] {
  const known = Object.entries(params)
  const kept = known.flatMap(([name, param]): [string, Param][] =>
    isAt(param, level) ? [[name, paramAt(param, level)]] : [],
  )
  return kept.length === known.length && kept.every(([name, param]) => params[name] === param)
    ? params
    : Object.fromEntries(kept)
}

function paramAt(param: Param, level: number): Param {
  const { earlier, ...rest } = param
  return earlier && level < earlier.until ? { ...rest, shape: earlier.shape } : param
}

type Fields = Readonly<Record<string, TSchema>>

function fieldsAt(fields: Fields, level: number): Fields {
  const known = Object.entries(fields)
  const kept = known.flatMap(([name, shape]) => (isAt(shape, level) ? [[name, shapeAt(shape, level)] as const] : []))
  return kept.length === known.length && kept.every(([name, shape]) => fields[name] === shape)
    ? fields
    : Object.fromEntries(kept)
}

function shapeAt(shape: TSchema, level: number): TSchema {
  if (shape.earlier && level < shape.earlier.until) return shape.earlier.shape
  if (shape.anyOf) {
    const arms = (shape.anyOf as TSchema[]).map(arm => shapeAt(arm, level))
    return arms.every((arm, i) => arm === shape.anyOf[i]) ? shape : { ...shape, anyOf: arms }
  }
  if (shape.items) {
    const items = shapeAt(shape.items, level)
    return items === shape.items ? shape : { ...shape, items }
  }
  if (shape.patternProperties) {
    const values = fieldsAt(shape.patternProperties, level)
    return values === shape.patternProperties ? shape : { ...shape, patternProperties: values }
  }
  if (!shape.properties) return shape
  const properties = fieldsAt(shape.properties, level)
  return properties === shape.properties ? shape : { ...Type.Object({ ...properties }), ...copyMarks(shape) }
}

/** What TypeBox and the catalogue keep beside the keywords of a schema, such as that a field is optional. */
function copyMarks(shape: TSchema): object {
  const { properties: _properties, required: _required, ...marks } = shape
  return marks
}

/** Paths of the fields that the catalogue has and a level does not, so that the edge has to leave them out. */
export function absentFields(fields: Fields, level: number, place: readonly string[] = []): string[] {
  return Object.entries(fields).flatMap(([name, shape]) =>
    isAt(shape, level) ? absentIn(shape, level, [...place, name]) : shape.leftOut ? [] : [[...place, name].join('.')],
  )
}

function absentIn(shape: TSchema, level: number, place: readonly string[]): string[] {
  if (shape.anyOf) return [...new Set((shape.anyOf as TSchema[]).flatMap(arm => absentIn(arm, level, place)))]
  if (shape.items) return absentIn(shape.items, level, [...place, '*'])
  if (shape.patternProperties)
    return Object.values(shape.patternProperties as Fields).flatMap(value => absentIn(value, level, [...place, '*']))
  return absentFields(shape.properties ?? {}, level, place)
}
