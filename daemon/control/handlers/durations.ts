// Durations as the control plane takes them: a number of seconds, or a text such as `1h30m`.

import { invalid } from '../../domain/refusal.ts'
import { parseDuration } from '../../local/durations.ts'

/** In milliseconds. */
export function readDuration(name: string, given: string | number): number {
  const ms = typeof given === 'number' ? given * 1000 : parseDuration(given)
  if (ms === undefined) throw invalid(name, 'must be a duration such as 10m or 1h30m, or a number of seconds')
  return Math.round(ms)
}
