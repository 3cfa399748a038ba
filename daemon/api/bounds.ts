// The largest size of parameters. Every text, list and object that a caller sends has a largest size in its shape: the one
// its page gives, or one of the defaults here. Sizes are checked before anything else looks at a value.

import type { TSchema } from '@sinclair/typebox'

/**
 * For what has no bound of its own. Texts are counted in Unicode code points.
 * OPEN: the public server bounds few parameters and no counts; here each has a bound, above what clients send, so that no request can fill
 * the memory or keep others waiting.
 */
export const defaultBounds = { text: 10_000, items: 10_000, entries: 1000, key: 1000, depth: 16 } as const

/** No text of a parameter that is kept has more characters. */
export const longestKept = 1_000_000

/** By what a shape refers to. */
const boundsByRef: Readonly<Record<string, number>> = {
  // Longer content is cut to 10,000 characters and longer topics to 60, as the API says, so more than that is accepted.
  markdown: longestKept,
  topic: 10_000,
  secret: 16_384,
  terms: 100,
}

const known = new WeakMap<TSchema, TSchema>()

/** The same shape with a largest size for every text, list and object in it. */
export function addBounds<S extends TSchema>(shape: S): S {
  let found = known.get(shape)
  if (!found) {
    const bound = defaultsFor(shape)
    found = withParts(bound ? ({ ...bound, ...shape } as TSchema) : shape, addBounds)
    known.set(shape, found)
  }
  return found as S
}

/** For a checker that would count in another way. */
export function withoutBounds(shape: TSchema): TSchema {
  const { maxLength, maxItems, maxProperties, ...rest } = shape
  return withParts(rest as TSchema, withoutBounds)
}

function defaultsFor({ type, format, ref, const: only }: TSchema): object | undefined {
  if (only !== undefined || format === 'binary') return undefined
  if (type === 'string') return { maxLength: boundsByRef[ref] ?? defaultBounds.text }
  if (type === 'array') return { maxItems: boundsByRef[ref] ?? defaultBounds.items }
  return type === 'object' ? { maxProperties: defaultBounds.entries } : undefined
}

/** The same shape with other parts; the shape itself if it has none. */
function withParts(shape: TSchema, change: (part: TSchema) => TSchema): TSchema {
  const { anyOf, items, properties, patternProperties } = shape
  if (!anyOf && !items && !properties && !patternProperties) return shape
  const changed = (parts: Record<string, TSchema>) => {
    const copy = { ...parts }
    for (const [name, part] of Object.entries(parts)) copy[name] = change(part)
    return copy
  }
  return {
    ...shape,
    ...(anyOf && { anyOf: anyOf.map(change) }),
    ...(items && { items: change(items) }),
    ...(properties && { properties: changed(properties) }),
    ...(patternProperties && { patternProperties: changed(patternProperties) }),
  } as TSchema
}

/** What is too large in the value, if anything. Visits no more than the bounds allow, and each part once. */
export function tooLarge(place: string, shape: TSchema | undefined, value: unknown, depth = 0): string | undefined {
  if (typeof value === 'string') return longText(place, value, longestText(shape))
  if (typeof value !== 'object' || value === null) return undefined
  if (depth === defaultBounds.depth) return `${place}: must be nested at most ${depth} levels deep`
  return Array.isArray(value) ? longList(place, shape, value, depth) : largeObject(place, shape, value, depth)
}

const textBounds = new WeakMap<TSchema, number>()

/** Asked for every text of every request, so it is worked out once. */
function longestText(shape: TSchema | undefined): number {
  if (!shape) return defaultBounds.text
  let most = shape.type === 'string' ? (shape.maxLength as number | undefined) : textBounds.get(shape)
  if (most === undefined) {
    most = largest(shape, 'maxLength') ?? defaultBounds.text
    textBounds.set(shape, most)
  }
  return most
}

function longText(place: string, value: string, most: number): string | undefined {
  // A code point takes one or two code units: only what is in between has to be counted.
  if (value.length <= most || (value.length <= 2 * most && [...value].length <= most)) return undefined
  return `${place}: must have at most ${most} characters`
}

function longList(place: string, shape: TSchema | undefined, value: unknown[], depth: number): string | undefined {
  const most = largest(shape, 'maxItems') ?? defaultBounds.items
  if (value.length > most) return `${place}: must have at most ${most} items`
  const inner = arms(shape).flatMap(arm => (arm.items ? [arm.items as TSchema] : []))
  return firstProblem(value.entries(), ([index, item]) => tooLarge(`${place}[${index}]`, join(inner), item, depth + 1))
}

function largeObject(place: string, shape: TSchema | undefined, value: object, depth: number): string | undefined {
  const most = largest(shape, 'maxProperties') ?? defaultBounds.entries
  const entries = Object.entries(value)
  if (entries.length > most) return `${place}: must have at most ${most} entries`
  const parts = arms(shape)
  return firstProblem(entries, ([key, item]) => {
    const inner = parts.flatMap(arm => {
      const named = Object.hasOwn(arm.properties ?? {}, key) ? [arm.properties[key] as TSchema] : []
      return [...named, ...Object.values<TSchema>(arm.patternProperties ?? {})]
    })
    return (
      longText(`${place} key`, key, defaultBounds.key) ??
      tooLarge(`${place}[${JSON.stringify(key)}]`, join(inner), item, depth + 1)
    )
  })
}

/** The largest bound of this kind among the forms a value can have. */
export function largest(
  shape: TSchema | undefined,
  kind: 'maxLength' | 'maxItems' | 'maxProperties',
): number | undefined {
  const found = arms(shape).flatMap(arm => (arm[kind] === undefined ? [] : [arm[kind] as number]))
  return found.length > 0 ? Math.max(...found) : undefined
}

function arms(shape: TSchema | undefined): readonly TSchema[] {
  if (!shape) return []
  return Array.isArray(shape.anyOf) ? shape.anyOf.flatMap(arms) : [shape]
}

function join(shapes: readonly TSchema[]): TSchema | undefined {
  return shapes.length > 1 ? ({ anyOf: shapes } as unknown as TSchema) : shapes[0]
}

function firstProblem<T>(items: Iterable<T>, find: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const found = find(item)
    if (found !== undefined) return found
  }
  return undefined
}
