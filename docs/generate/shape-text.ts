// Shapes in words: what a reader of the reference sees in place of a JSON Schema.

import type { TSchema } from '@sinclair/typebox'
import { defaultBounds } from '../../daemon/api/bounds.ts'
import { keyedBy } from '../../daemon/api/openapi.ts'
import { code } from './markdown.ts'

/** In the singular: `list of user ID`, `start or stop`, `integer or null`. */
export function shapeText(shape: TSchema): string {
  if (shape.const !== undefined) return code(String(shape.const))
  if (typeof shape.ref === 'string' && Object.hasOwn(named, shape.ref)) return named[shape.ref]!
  if (Array.isArray(shape.anyOf)) return choice(shape.anyOf.map(shapeText))
  if (shape.format === 'binary') return 'file'
  switch (shape.type) {
    case 'integer':
      return shape.ref === undefined ? 'integer' : shape.ref === 'time' ? 'UNIX time in seconds' : `${shape.ref} ID`
    case 'string':
      return (shape.ref === 'markdown' ? 'Markdown' : shape.ref === 'topic' ? 'topic' : 'text') + most(shape.maxLength)
    case 'array':
      return `list${most(shape.maxItems)} of ${shapeText(shape.items)}`
    case 'object':
      return keyedBy(shape) ? `object of ${shapeText(keyedBy(shape)!)} by key` : 'object'
    case undefined:
      return 'anything'
    default:
      return String(shape.type)
  }
}

/** Shapes of the control plane that take more than one form. */
const named: Readonly<Record<string, string>> = {
  account: 'account: email address, name before the @, or ID',
  duration: 'duration: `10m` or seconds',
  moment: 'time: ISO 8601 or UNIX seconds',
  milliseconds: 'UNIX time in milliseconds',
}

/** Bounds that differ from the defaults, which the reference states once. */
function most(bound: number | undefined): string {
  return bound === undefined || bound === defaultBounds.text ? '' : ` (max. ${bound.toLocaleString('en')})`
}

export interface Field {
  /** `saved_snippets[].id` */
  readonly path: string
  readonly shape: TSchema
  readonly optional: boolean
}

/** Named fields, and those inside them, each by the path that leads to it. */
export function fieldsOf(
  fields: Readonly<Record<string, TSchema>>,
  required?: readonly string[],
  prefix = '',
): Field[] {
  return Object.entries(fields).flatMap(([name, shape]) => {
    const path = `${prefix}${name}`
    const optional = required !== undefined && !required.includes(name)
    return [{ path, shape, optional }, ...inside(shape, path)]
  })
}

function inside(shape: TSchema, path: string): Field[] {
  if (Array.isArray(shape.anyOf)) return shape.anyOf.flatMap(part => inside(part, path))
  if (shape.type === 'array') return inside(shape.items, `${path}[]`)
  const values = keyedBy(shape)
  if (values) return inside(values, `${path}{}`)
  return shape.type === 'object' && shape.properties ? fieldsOf(shape.properties, shape.required ?? [], `${path}.`) : []
}

function choice(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join() : `${parts.slice(0, -1).join(', ')} or ${parts.at(-1)}`
}
