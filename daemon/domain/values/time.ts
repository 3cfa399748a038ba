// Time as the API writes it.

import { invalid } from '../refusal.ts'

/** Seconds. */
export const day = 86_400

export function seconds(ms: number): number {
  return Math.floor(ms / 1000)
}

/** `2025-08-12T09:30+00:00`: minutes are as fine as joining dates get. */
export function minuteIso(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16)}+00:00`
}

/** Milliseconds: the end of the year 9999, the last that ISO 8601 writes with four digits. A store with a later time cannot be restored. */
export const latestTime = 253_402_300_799_999

/** The same in seconds. */
export const endOfTime = seconds(latestTime)

/** `scheduled_delivery_timestamp`: UNIX seconds that are still to come. */
export function futureTime(now: number, given: number): number {
  if (given * 1000 <= now) throw invalid('scheduled_delivery_timestamp', 'must be in the future')
  if (given > endOfTime) throw invalid('scheduled_delivery_timestamp', 'must be before the year 10000')
  return given
}
