// Times and durations as people write them. Pure: the current time is passed in; the time zone is the machine's.

import { parseDuration } from '../../daemon/local/durations.ts'

export { parseDuration }

const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']

/** Where a time lies that names neither a date nor a sign: `2h`, `9:00`, `friday`. */
type Side = 'future' | 'past'

/** UNIX seconds, ISO 8601, `2h`, `+2h`, `-10m`, `now`, `9:00`, `tomorrow 9:00`, `friday 17:30`. In UNIX seconds, or undefined. */
export function parseTime(text: string, now: Date, side: Side = 'future'): number | undefined {
  const trimmed = text.trim().toLowerCase()
  if (trimmed === '') return undefined
  if (/^\d+$/.test(trimmed)) return safe(Number(trimmed))
  if (trimmed === 'now') return seconds(now)
  if (/^[+-]/.test(trimmed)) {
    const distance = parseDuration(trimmed.slice(1))
    if (distance === undefined) return undefined
    return seconds(new Date(now.getTime() + (trimmed.startsWith('-') ? -distance : distance)))
  }
  return iso(text.trim()) ?? byDay(trimmed, now, side) ?? byDistance(trimmed, now, side)
}

/** The current time, by the clock that a relative time refers to. */
export type ReadNow = () => Promise<Date>

/** The same, where `now` may have to be asked for: only a relative time needs it. */
export async function readTime(text: string, now: ReadNow, side?: Side): Promise<number | undefined> {
  return parseTime(text, isRelative(text) ? await now() : new Date(0), side)
}

/** A point in the past: `10m` is ten minutes ago, `friday` the last one. */
export function readPast(text: string, now: ReadNow): Promise<number | undefined> {
  return readTime(text, now, 'past')
}

function isRelative(text: string): boolean {
  const [now, later] = [new Date(2001, 1, 1), new Date(2002, 2, 3, 4, 5, 6)]
  return parseTime(text, now) !== parseTime(text, later)
}

/** `2h`, `1h30m`, `5 minutes`, `in 5 minutes`. */
function byDistance(text: string, now: Date, side: Side): number | undefined {
  const plain = text
    .replace(/^in\s+/, '')
    .replace(/(\d)\s*(second|minute|hour|day|week)s?\b/g, (_, digit, unit) => `${digit}${unit[0]}`)
    .replace(/(\d)\s*(sec|min)s?\b/g, (_, digit, unit) => `${digit}${unit[0]}`)
    .replaceAll(/\s+(and\s+)?/g, '')
  const distance = parseDuration(plain)
  if (distance === undefined) return undefined
  const isAhead = side === 'future' || text.startsWith('in ')
  return seconds(new Date(now.getTime() + (isAhead ? distance : -distance)))
}

/** For people: local time, to the minute or to the second, the same width always. */
export function showTime(unixSeconds: number, precision: 'minute' | 'second' = 'minute'): string {
  const at = new Date(unixSeconds * 1000)
  if (Number.isNaN(at.getTime())) return String(unixSeconds)
  const two = (part: number) => String(part).padStart(2, '0')
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
  const minute = `${day} ${two(at.getHours())}:${two(at.getMinutes())}`
  return precision === 'minute' ? minute : `${minute}:${two(at.getSeconds())}`
}

/** The same, with the day only if it is not today. */
export function showClock(unixSeconds: number, now: Date, precision: 'minute' | 'second' = 'minute'): string {
  const shown = showTime(unixSeconds, precision)
  return isSameDay(new Date(unixSeconds * 1000), now) ? shown.slice(11) : shown
}

function isSameDay(one: Date, other: Date): boolean {
  return (
    one.getDate() === other.getDate() &&
    one.getMonth() === other.getMonth() &&
    one.getFullYear() === other.getFullYear()
  )
}

/** From now: `3 min ago`, `in 2 h`. */
export function showDistance(unixSeconds: number, now: number): string {
  const distance = Math.abs(unixSeconds - now)
  if (distance < 45) return unixSeconds > now ? 'in a moment' : 'just now'
  const [size, name] = steps.find(([, , limit]) => distance < limit) ?? steps.at(-1)!
  const text = `${Math.max(1, Math.round(distance / size))} ${name}`
  return unixSeconds > now ? `in ${text}` : `${text} ago`
}

/** Seconds, name, and up to how many seconds it is used. */
const steps: readonly (readonly [number, string, number])[] = [
  [60, 'min', 5400],
  [3600, 'h', 129_600],
  [86_400, 'd', 5_184_000],
  [2_629_800, 'months', 63_115_200],
  [31_557_600, 'years', Number.POSITIVE_INFINITY],
]

function iso(text: string): number | undefined {
  const found = /^(\d{4}-\d{2}-\d{2})(?:[Tt ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)([Zz]|[+-]\d{2}:?\d{2})?)?$/.exec(text)
  if (!found) return undefined
  const [, day, time = '00:00', zone = ''] = found
  // `new Date('2026-02-31')` rolls over to March; a date that does not exist is a mistake.
  const [year, month, date] = day!.split('-').map(Number)
  if (new Date(year!, month! - 1, date!).getDate() !== date) return undefined
  return seconds(new Date(`${day}T${time}${zone.toUpperCase().replace(/^([+-]\d{2})(\d{2})$/, '$1:$2')}`))
}

function byDay(text: string, now: Date, side: Side): number | undefined {
  const [first, ...rest] = text.split(/\s+(?:at\s+)?/)
  const days = daysUntil(first!, now, side)
  const clock = days === undefined ? text : rest.join(' ')
  const time = clock === '' ? { hours: 0, minutes: 0 } : parseClock(clock)
  if (!time) return undefined
  const at = new Date(now)
  at.setDate(at.getDate() + (days ?? 0))
  at.setHours(time.hours, time.minutes, 0, 0)
  // A clock time alone means its next occurrence, or its last one.
  if (days === undefined && side === 'future' && at <= now) at.setDate(at.getDate() + 1)
  if (days === undefined && side === 'past' && at > now) at.setDate(at.getDate() - 1)
  return seconds(at)
}

function daysUntil(word: string, now: Date, side: Side): number | undefined {
  if (word === 'today') return 0
  if (word === 'tomorrow') return 1
  if (word === 'yesterday') return -1
  const day = weekdays.findIndex(name => name === word || name.slice(0, 3) === word)
  if (day < 0) return undefined
  const ahead = (day - now.getDay() + 7) % 7
  return side === 'future' ? ahead || 7 : ahead - 7
}

function parseClock(text: string): { hours: number; minutes: number } | undefined {
  const found = /^(\d{1,2})(?::(\d{2}))?\s*(am|pm)?$/.exec(text)
  if (!found || (found[2] === undefined && found[3] === undefined)) return undefined
  let hours = Number(found[1])
  const minutes = Number(found[2] ?? 0)
  if (found[3]) {
    if (hours < 1 || hours > 12) return undefined
    hours = (hours % 12) + (found[3] === 'pm' ? 12 : 0)
  }
  return hours < 24 && minutes < 60 ? { hours, minutes } : undefined
}

function seconds(at: Date): number | undefined {
  const time = at.getTime()
  return Number.isNaN(time) || time < 0 ? undefined : Math.floor(time / 1000)
}

function safe(value: number): number | undefined {
  return Number.isSafeInteger(value) ? value : undefined
}
