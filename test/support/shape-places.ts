// The parts of a shape, and values for them.

import type { TSchema } from '@sinclair/typebox'

/** A part of a parameter, and how to make the parameter around a value of it. */
export interface Place {
  readonly path: string
  readonly shape: TSchema
  readonly around: (value: unknown) => unknown
}

/** Every part, with the whole first. `base` is a value that the other parts are taken from, as far as it has them. */
export function placesIn(
  path: string,
  shape: TSchema,
  base?: unknown,
  around: Place['around'] = value => value,
): Place[] {
  if (Array.isArray(shape.anyOf)) return shape.anyOf.flatMap((arm: TSchema) => placesIn(path, arm, base, around))
  const places: Place[] = [{ path, shape, around }]
  if (shape.items) {
    const others = Array.from({ length: (shape.minItems ?? 1) - 1 }, () => sample(shape.items))
    const item = Array.isArray(base) ? base[0] : undefined
    places.push(...placesIn(`${path}[]`, shape.items, item, value => around([value, ...others])))
  }
  const known = base !== null && typeof base === 'object' && !Array.isArray(base) ? base : {}
  const fields = () => ({ ...(sample(shape) as object), ...known })
  for (const [name, part] of Object.entries<TSchema>(shape.properties ?? {}))
    places.push(
      ...placesIn(`${path}.${name}`, part, (known as Record<string, unknown>)[name], value =>
        around({ ...fields(), [name]: value }),
      ),
    )
  for (const part of Object.values<TSchema>(shape.patternProperties ?? {}))
    places.push(...placesIn(`${path}.*`, part, undefined, value => around({ key: value })))
  return places
}

/** A small value of the shape. */
export function sample(shape: TSchema): unknown {
  if (shape.const !== undefined) return shape.const
  if (Array.isArray(shape.anyOf)) return sample(shape.anyOf[0])
  switch (shape.type) {
    case 'string':
      return 'x'
    case 'integer':
    case 'number':
      return Math.max(1, shape.minimum ?? 1)
    case 'boolean':
      return true
    case 'null':
      return null
    case 'array':
      return Array.from({ length: shape.minItems ?? 0 }, () => sample(shape.items))
    case 'object':
      return Object.fromEntries((shape.required ?? []).map((name: string) => [name, sample(shape.properties[name])]))
    default:
      return 1
  }
}
