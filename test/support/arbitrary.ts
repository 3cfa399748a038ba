// From a shape of the catalogue to random values that fit it.

import type { TSchema } from '@sinclair/typebox'
import fc, { type Arbitrary } from 'fast-check'
import type { Endpoint, Param, Upload } from '../../daemon/api/define.ts'

/** Any character. fast-check's own for this makes a table of all of them first, which takes a second in each process. */
export const character: Arbitrary<string> = fc
  .oneof(
    { weight: 4, arbitrary: fc.integer({ min: 0, max: 0x7f }) },
    { weight: 1, arbitrary: fc.integer({ min: 0x80, max: 0xd7ff }) },
    { weight: 1, arbitrary: fc.integer({ min: 0xe000, max: 0x10ffff }) },
  )
  .map(code => String.fromCodePoint(code))

/** What the service takes as text: no NUL, no lone surrogates. */
export const someText: Arbitrary<string> = fc.string({ unit: character }).map(text => text.replaceAll('\0', ''))

function arbitraryOf(shape: TSchema): Arbitrary<unknown> {
  if (shape.const !== undefined) return fc.constant(shape.const)
  if (Array.isArray(shape.anyOf)) return fc.oneof(...shape.anyOf.map(arbitraryOf))
  if (shape.format === 'binary') return upload
  switch (shape.type) {
    case 'string':
      return someText
    case 'integer':
      return integer(shape.minimum ?? Number.MIN_SAFE_INTEGER, shape.maximum ?? Number.MAX_SAFE_INTEGER)
    case 'number':
      return fc.double({ noNaN: true, noDefaultInfinity: true }).map(withoutMinusZero)
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array':
      return fc.array(arbitraryOf(shape.items), {
        minLength: shape.minItems ?? 0,
        maxLength: Math.min(shape.maxItems ?? 5, 5),
      })
    case 'object':
      return shape.patternProperties
        ? fc.dictionary(someText, arbitraryOf(Object.values<TSchema>(shape.patternProperties)[0]!), {
            maxKeys: 4,
            noNullPrototype: true,
          })
        : object(shape)
    default:
      return someJson
  }
}

/** Parameters as a caller would pass them: required ones always, the others now and then. */
export function paramsOf(endpoint: Endpoint): Arbitrary<Record<string, unknown>> {
  const fields = Object.fromEntries(Object.entries(endpoint.params).map(([name, param]) => [name, paramOf(param)]))
  const requiredKeys = Object.entries(endpoint.params)
    .filter(([, { presence }]) => presence === 'required' || presence === 'path')
    .map(([name]) => name)
  return fc.record(fields, { requiredKeys, noNullPrototype: true })
}

function paramOf({ shape, presence }: Param): Arbitrary<unknown> {
  if (presence !== 'path') return arbitraryOf(shape)
  // Paths take IDs of up to fifteen digits, and text that is not empty; `/users/me` and `/users/7` are other endpoints than
  // `/users/{email}`.
  if (shape.type === 'integer') return integer(0, 999_999_999_999_999)
  return arbitraryOf(shape).filter(value => typeof value !== 'string' || !/^([./]*|me|\d+)$/.test(value))
}

function integer(min: number, max: number): Arbitrary<number> {
  return fc.oneof(fc.integer({ min: Math.max(min, -9), max: Math.min(max, 99) }), fc.integer({ min, max }))
}

function object(shape: TSchema): Arbitrary<unknown> {
  const properties = Object.entries<TSchema>(shape.properties ?? {})
  const model = Object.fromEntries(properties.map(([name, property]) => [name, arbitraryOf(property)]))
  return fc.record(model, { requiredKeys: shape.required ?? [], noNullPrototype: true })
}

const upload: Arbitrary<Upload> = fc.record(
  {
    filename: fc.stringMatching(/^[a-z]{1,9}\.[a-z]{3}$/),
    contentType: fc.constantFrom('text/plain', 'image/png', 'application/octet-stream'),
    bytes: fc.uint8Array({ maxLength: 200 }).map(bytes => Buffer.from(bytes)),
  },
  { noNullPrototype: true },
)

const someJson = fc.json().map(text => JSON.parse(text.replaceAll('-0', '0')))

function withoutMinusZero(value: number): number {
  return value === 0 ? 0 : value
}
