// Time as the API writes it.

export function seconds(ms: number): number {
  return Math.floor(ms / 1000)
}

/** `2025-08-12T09:30+00:00`: minutes are as fine as joining dates get. */
export function minuteIso(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16)}+00:00`
}
