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

/** The end of the year 9999. A later time is a mistake, and cannot be written as a date; a store with one cannot be restored. */
export const endOfTime = 253_402_300_799

/** `scheduled_delivery_timestamp`: UNIX seconds that are still to come. */
export function futureTime(now: number, given: number): number {
  if (given * 1000 <= now) throw invalid('scheduled_delivery_timestamp', 'must be in the future')
  if (given > endOfTime) throw invalid('scheduled_delivery_timestamp', 'must be before the year 10000')
  return given
}
