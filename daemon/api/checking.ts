// Checks a value against its shape; if it does not fit, says where and what is expected.

import type { TSchema } from '@sinclair/typebox'
import { TypeCompiler, type ValueError, ValueErrorType } from '@sinclair/typebox/compiler'
import { tooLarge, withoutBounds } from './bounds.ts'
import { isUpload } from './define.ts'

type Checker = ReturnType<typeof TypeCompiler.Compile>

// Compiled at a shape's first use: compiling all of them would dominate the daemon's start.
const compiled = new WeakMap<TSchema, Checker>()
const compiledRows = new WeakMap<TSchema, Checker>()

function compileChecker(shape: TSchema): Checker {
  let checker = compiled.get(shape)
  if (!checker) {
    checker = TypeCompiler.Compile(withoutBounds(shape))
    compiled.set(shape, checker)
  }
  return checker
}

export function problemIn(name: string, shape: TSchema, value: unknown): string | undefined {
  if (shape.format === 'binary') return isUpload(value) ? undefined : `${name}: must be a file in a multipart body`
  if (isUpload(value)) return `${name}: must be ${describe(shape)}, not a file`
  const large = tooLarge(name, shape, value)
  if (large !== undefined) return large
  if (shape.type !== 'string') {
    const checker = compileChecker(shape)
    if (!checker.Check(value)) {
      const { path, schema } = deepestError(checker, value)
      return `${placeIn(name, path)}: must be ${describe(schema)}`
    }
  }
  return unprintable(name, value)
}

/** Where a value does not fit its shape, as `people[3]["email"]`; undefined if it fits. For values that are not of this API's callers. */
export function misfitIn(name: string, shape: TSchema, value: unknown): string | undefined {
  const checker = compileChecker(shape)
  return checker.Check(value) ? undefined : placeIn(name, deepestError(checker, value).path)
}

/**
 * The same for a row of a file. Its shape is strict: sizes count in UTF-16 units, and fields that it does not have are refused.
 */
export function problemInRow(name: string, shape: TSchema, value: unknown): string | undefined {
  let checker = compiledRows.get(shape)
  if (!checker) {
    checker = TypeCompiler.Compile(shape)
    compiledRows.set(shape, checker)
  }
  if (checker.Check(value)) return undefined
  const { path, schema, type, value: found } = deepestError(checker, value)
  const place = placeIn(name, path)
  if (type === ValueErrorType.ObjectAdditionalProperties) return `${place}: is not a field of such a row`
  if (type === ValueErrorType.StringPattern) return `${place}: must be a text that matches ${schema.pattern}`
  const most = typeof found === 'string' ? schema.maxLength : Array.isArray(found) ? schema.maxItems : undefined
  const parts = typeof found === 'string' ? 'characters' : 'items'
  return most === undefined || (found as string).length <= most
    ? `${place}: must be ${describe(schema)}`
    : `${place}: must have at most ${most} ${parts}`
}

/** Errors of a value that are looked at: a row of a file can have a list with a million mistakes. */
const mostErrors = 1000

/** For a union the outermost error says only that nothing matched; the inner one names the place. */
function deepestError(checker: Checker, value: unknown): ValueError {
  let best: ValueError | undefined
  let seen = 0
  const visit = (errors: Iterable<ValueError>) => {
    for (const error of errors) {
      if (++seen > mostErrors) return
      if (!best || error.path.length > best.path.length) best = error
      for (const inner of error.errors) visit(inner)
    }
  }
  visit(checker.Errors(value))
  return best!
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

function describe(shape: TSchema): string {
  if (shape.const !== undefined) return JSON.stringify(shape.const)
  if (Array.isArray(shape.anyOf)) {
    const parts = shape.anyOf.map(describe)
    return parts.length === 1 ? parts[0]! : `${parts.slice(0, -1).join(', ')} or ${parts.at(-1)}`
  }
  switch (shape.type) {
    case 'integer':
      if (isNarrow(shape)) return `an integer from ${shape.minimum} to ${shape.maximum}`
      if (shape.minimum === 0) return 'a non-negative integer'
      return shape.minimum === -1 ? 'an integer, at least -1' : 'an integer'
    case 'number':
      return isNarrow(shape) ? `a number from ${shape.minimum} to ${shape.maximum}` : 'a number'
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
      return 'a value of the documented form'
  }
}

/** Bounds of its own, beside those of what JSON can carry. */
function isNarrow({ minimum, maximum }: TSchema): boolean {
  return minimum !== undefined && maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER
}

/** NUL and lone surrogates can be neither stored as text nor sent back. */
function unprintable(place: string, value: unknown): string | undefined {
  if (typeof value === 'string') {
    if (value.includes('\0')) return `${place}: cannot contain a NUL character`
    return value.isWellFormed() ? undefined : `${place}: must be valid Unicode text`
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
