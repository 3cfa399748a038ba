// Values of flags: counts, whole numbers and durations. A wrong one is refused with the name of its flag.

import { usage } from './failure.ts'
import { parseDuration } from './times.ts'

/** Milliseconds. Longer timers would fire immediately. */
const longestTimeout = 2 ** 31 - 1

export function readCount(flag: string, given: unknown, most = 999_999_999): number {
  const count = /^\d{1,9}$/.test(String(given)) ? Number(given) : 0
  if (count >= 1 && count <= most) return count
  throw usage(`--${flag} takes a number from 1 to ${most}, not "${given}"`)
}

export function readWholeNumber(flag: string, given: unknown): number {
  if (!/^\d{1,9}$/.test(String(given))) throw usage(`--${flag}: "${given}" is not a whole number, 0 or more`)
  return Number(given)
}

/** In milliseconds. */
export function readDuration(flag: string, given: unknown): number {
  const ms = parseDuration(String(given))
  if (!ms) throw usage(`--${flag}: "${given}" is not a duration such as 15s or 2m`)
  if (ms > longestTimeout) throw usage(`--${flag}: ${given} is too long`, 'The maximum is 24d.')
  return ms
}
