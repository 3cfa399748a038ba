// Parts of the handlers of all logs: list the newest entries that fit, wait for one, clear.

import type { ControlPlane } from '../control-plane.ts'
import { longestWatch } from '../live.ts'
import { type Numbered, type NumberedLog, type Recent, Slices } from '../recent.ts'
import { requireUser, waitFor } from '../wait.ts'
import { readDuration } from './durations.ts'
import type { ControlContext } from './handler.ts'

/** The log keeps a bounded number of entries, so going over all of them is cheap. */
export function newest<T extends Numbered>(
  log: NumberedLog<T>,
  since: number,
  limit: number,
  fits: (item: T) => boolean,
): T[] {
  const found = log.since(since).filter(fits)
  return limit === 0 ? [] : found.slice(-limit)
}

/** What the list finds, or, if that is nothing, what it finds within this time. */
export async function found<T>(plane: ControlPlane, within: string | number, list: () => T[]): Promise<T[]> {
  const wait = Math.min(readDuration('within', within), longestWatch)
  const end = performance.now() + wait
  const slices = new Slices()
  // Ends when the time is up; every turn waits for a change. A change wakes all that wait.
  for (;;) {
    const items = list()
    const left = end - performance.now()
    if (items.length > 0 || left <= 0 || plane.live.ended) return items
    await plane.live.next(left)
    await slices.take()
  }
}

export function matching(filter: Readonly<Record<string, unknown>>): (item: object) => boolean {
  const wanted = Object.entries(filter).filter(([, value]) => value !== undefined)
  return item => wanted.every(([name, value]) => (item as Record<string, unknown>)[name] === value)
}

export function clear(log: Recent<any>): Record<never, never> {
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

export async function waitForEntry({ plane }: ControlContext, { user, within, ...wanted }: WaitParams): Promise<any> {
  const reader = user === undefined ? undefined : requireUser(plane, user).id
  return waitFor(plane, { ...wanted, reader, within: readDuration('within', within) })
}
