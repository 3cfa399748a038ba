// Shapes for the rows of a store: records without other fields than their own, and bounded texts, IDs and times. Rows
// that come from a file are checked against such shapes.

import type { Static, TSchema } from '@sinclair/typebox'
import { defaultBounds, longestKept, withoutBounds } from '../bounds.ts'
import type { ReadonlyOf } from '../define.ts'
import { Type } from '../shape-builders.ts'
import { groupValue } from './permission-settings.ts'

/** Far above what a store reaches, and far below where tables by ID would take memory or time for a single row. */
export const highestId = 2 ** 28
/** Lower: what users follow is kept in arrays by user ID. */
export const highestUserId = 5_000_000

/** The rows that a shape describes. They never change. */
export type RowOf<S extends TSchema> = ReadonlyOf<S>

/** All the fields and no others. */
export function row<S extends Record<string, TSchema>>(fields: S) {
  return Type.Object(fields, { additionalProperties: false })
}

/** A shape under the type of the row it describes, where the type says less than the shape. */
export function typed<T>(shape: TSchema) {
  return Type.Unsafe<T>(shape)
}

export function integerFrom(minimum: number, maximum: number) {
  return Type.Integer({ minimum, maximum })
}

export function numberFrom(minimum: number, maximum: number) {
  return Type.Number({ minimum, maximum })
}

export function textLike(pattern: RegExp, maxLength = 20_000) {
  return Type.String({ pattern: pattern.source, maxLength })
}

/** An object whose keys are data of this form. */
export function keyedBy<S extends TSchema>(keys: RegExp, shape: S) {
  return typed<Record<string, Static<S>>>(
    Type.Record(Type.String({ pattern: keys.source }), shape, { additionalProperties: false }),
  )
}

/** A mark that is either there or absent. */
export function trueOnly() {
  return Type.Literal(true)
}

/** A list of exactly these. */
export function tuple<S extends TSchema[]>(...shapes: [...S]) {
  return Type.Tuple(shapes)
}

/** Each of the settings at most once, with a value that it can have. */
export function settingsOf(table: Readonly<Record<string, { readonly shape: TSchema }>>) {
  // Their sizes count code points, which a compiled shape does not.
  const fields = Object.entries(table).map(([name, { shape }]) => [name, Type.Optional(withoutBounds(shape))])
  return typed<Record<string, unknown>>(row(Object.fromEntries(fields) as Record<string, TSchema>))
}

/** Who has each of these permissions. Rows of older stores lack those that came later. */
export function permissionsOf<P extends string>(table: Readonly<Record<P, object>>) {
  const fields = Object.entries<object>(table).map(([name, setting]) => [
    name,
    'since' in setting ? Type.Optional(groupValue) : groupValue,
  ])
  return typed<Record<P, Static<typeof groupValue>>>(row(Object.fromEntries(fields) as Record<string, TSchema>))
}

export const id = integerFrom(1, highestId)
export const rowUserId = integerFrom(1, highestUserId)
export const count = integerFrom(0, 2 ** 48)
/** UNIX milliseconds, or seconds. Later ones are no dates. */
export const time = numberFrom(0, 8.64e15)
/** Versions up to 0.1.0 took any number for these, which are compared and sent, but never written as a date. */
export const anyTime = numberFrom(0, Number.MAX_VALUE)
/** Parameters are counted in code points, which are up to twice as many UTF-16 units. */
export const label = Type.String({ maxLength: 2 * defaultBounds.text })
export const longText = Type.String({ maxLength: 2 * longestKept })
/** Of an uploaded file beside the store: the hash of its content. */
export const fileName = textLike(/^[0-9a-f]{64}$/)

/** The first row of most sections. */
export const head = row({ last_id: integerFrom(0, highestId) })
