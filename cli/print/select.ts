// Parts of a reply: `--fields id,title`, and dotted paths such as `message.content`.

import type { Param } from '../../daemon/api/define.ts'
import { didYouMean } from '../../daemon/local/did-you-mean.ts'
import { usage } from '../base/failure.ts'

type Shape = Param['shape']

/** A name that is neither in the value nor in its shape is a mistake. */
export function pickFields(value: unknown, fields: readonly string[], shape?: Shape): unknown {
  for (const field of fields) demand(field.split('.', 1)[0]!, value, shape)
  return pick(value, fields)
}

function pick(value: unknown, fields: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map(item => pick(item, fields))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(fields.map(path => [path, at(value, path)]).filter(([, found]) => found !== undefined))
}

function demand(field: string, value: unknown, shape: Shape | undefined): void {
  const items = (Array.isArray(value) ? value : [value]).filter(item => typeof item === 'object' && item !== null)
  const properties: object | undefined = shape?.items?.properties ?? shape?.properties
  if (items.length === 0 || items.some(item => Object.hasOwn(item, field))) return
  if (properties && Object.hasOwn(properties, field)) return
  const there = [...new Set([...items.flatMap(item => Object.keys(item)), ...Object.keys(properties ?? {})])]
  const other = otherNames[field]
  if (other !== undefined && there.includes(other))
    throw usage(`--fields: there is no field "${field}"`, `Did you mean ${other}?`)
  throw usage(`--fields: there is no field "${field}"`, didYouMean(field, there) ?? `Fields: ${there.join(', ')}.`)
}

/** Fields of messages, whose names in the API are older than the things that they hold. */
const otherNames: Readonly<Record<string, string>> = { topic: 'subject', channel: 'display_recipient' }

function at(value: unknown, path: string): unknown {
  let found: unknown = value
  for (const step of path.split('.'))
    found =
      typeof found === 'object' && found !== null && Object.hasOwn(found, step) ? (found as never)[step] : undefined
  return found
}
