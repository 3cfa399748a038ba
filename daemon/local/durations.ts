// Durations as people write them; the command line and the control plane accept the same.

const units: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
}

/** `15s`, `1h30m`, `500ms`; a bare number means seconds. In milliseconds, or undefined. */
export function parseDuration(text: string): number | undefined {
  const trimmed = text.trim()
  if (/^\d+(\.\d+)?$/.test(trimmed)) return Number(trimmed) * 1000
  if (!/^(\d+(\.\d+)?(ms|[smhdw]))+$/.test(trimmed)) return undefined
  let total = 0
  for (const [, amount, unit] of trimmed.matchAll(/(\d+(?:\.\d+)?)(ms|[smhdw])/g))
    total += Number(amount) * units[unit!]!
  return total
}

/** Seconds that a server can make a client wait; without the shortest, it could be asked all the time. */
const [shortestRetry, longestRetry] = [0.1, 3600]

/** Milliseconds to wait, by the Retry-After of an answer. One that is absent or no number of seconds counts as 1. */
export function pauseFor(retryAfter: string | number | null | undefined): number {
  const seconds = Number(retryAfter ?? 1)
  return (seconds >= 0 ? Math.min(Math.max(seconds, shortestRetry), longestRetry) : 1) * 1000
}
