// What the handlers of all logs do: list the newest entries that fit, wait for one, clear.

import type { Log, Numbered, Recent } from '../recent.ts'
import { userOf, waitFor } from '../wait.ts'
import { readDuration } from './durations.ts'
import type { ControlContext } from './handler.ts'

/** The log keeps a bounded number of entries, so going over all of them is cheap. */
export function newest<T extends Numbered>(log: Log<T>, since: number, limit: number, fits: (item: T) => boolean): T[] {
  const found = log.since(since).filter(fits)
  return limit === 0 ? [] : found.slice(-limit)
}

export function matching(filter: Readonly<Record<string, unknown>>): (item: object) => boolean {
  const wanted = Object.entries(filter).filter(([, value]) => value !== undefined)
  return item => wanted.every(([name, value]) => (item as Record<string, unknown>)[name] === value)
}

export function cleared(log: Recent<any>): Record<never, never> {
  log.clear()
  return {}
}

interface WaitParams {
  readonly event?: object
  readonly call?: object
  readonly webhook?: object
  readonly user?: string | number
  readonly since: number
  readonly within: string | number
}

export async function waited({ plane }: ControlContext, { user, within, ...wanted }: WaitParams): Promise<any> {
  const reader = user === undefined ? undefined : userOf(plane, user).id
  return waitFor(plane, { ...wanted, reader, within: readDuration('within', within) })
}
