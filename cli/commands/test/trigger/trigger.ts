// What makes one kind of event happen: a call of the API, and who makes it. The tables of kinds are written in these words.

import type { Endpoint } from '../../../../daemon/api/define.ts'
import type { Role } from './role.ts'
import type { Stage } from './stage.ts'

export interface Trigger {
  readonly about: string
  readonly by: Role
  readonly endpoint: Endpoint
  /** A function prepares what the value refers to, and is not called if the value is overridden. */
  readonly params: Readonly<Record<string, unknown>>
  /** The type of the event, and its op if it has one; the kind itself if absent. */
  readonly event?: string
  /** Who hears of it, if that is not `me`. */
  readonly to?: Role
  /** Only clients that declare no capabilities hear of it. */
  readonly older?: true
  /** Puts back what would be in the way of other kinds. */
  readonly after?: (stage: Stage) => Promise<unknown>
}

export function trigger(
  about: string,
  by: Role,
  endpoint: Endpoint,
  params: Readonly<Record<string, unknown>>,
  more: Pick<Trigger, 'event' | 'to' | 'older' | 'after'> = {},
): Trigger {
  return { about, by, endpoint, params, ...more }
}

export type Triggers = Readonly<Record<string, Trigger>>
