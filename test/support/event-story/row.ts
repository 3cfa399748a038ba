// One row of the story of events: what is done, who hears of it, in which fields.

import type { Endpoint } from '../../../daemon/api/define.ts'
import type { Caller } from '../daemon.ts'
import { pixel } from '../images.ts'

/** Owner, amy and bob are members, gus is a guest. garden: o a g. vault, private: o a. */
export const names = ['o', 'a', 'b', 'g'] as const
export type Name = (typeof names)[number]

export const people = {} as Record<Name, Caller>
/** IDs that the story needs later. */
export const at: Record<string, number> = {}

export interface Row {
  /** `type/op`, or the type alone. */
  readonly event: string
  readonly by: Name
  readonly endpoint: Endpoint
  readonly params: () => object
  /** The users who hear of it. */
  readonly heard: string
  /** Fields besides id, type and op. */
  readonly fields: string
  /** What clients without capabilities hear, where it differs; `-` for nothing. */
  readonly plain?: string
  /** What to remember of the reply: name in `at`, field of the reply. */
  readonly keep?: readonly [string, string]
  /** Fields of an object within the event. */
  readonly inner?: readonly [path: string, fields: string]
}

export function row(
  event: string,
  by: Name,
  endpoint: Endpoint,
  params: object | (() => object),
  heard: string,
  fields: string,
  more: Partial<Row> = {},
): Row {
  return {
    event,
    by,
    endpoint,
    params: typeof params === 'function' ? (params as () => object) : () => params,
    heard,
    fields,
    ...more,
  }
}

export function picture() {
  return { filename: 'x.png', contentType: 'image/png', bytes: pixel.png }
}
