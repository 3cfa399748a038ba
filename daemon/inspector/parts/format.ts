// Times, sizes and names as people read them.

import { accounts } from '../session.ts'

const clockTime = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
})
const shortTime = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
const day = new Intl.DateTimeFormat(undefined, { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' })
const dayAndTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' })

/** `14:05:09.123` */
export function timeOfDay(ms: number): string {
  return `${clockTime.format(ms)}.${String(Math.floor(ms) % 1000).padStart(3, '0')}`
}

export function hourAndMinute(ms: number): string {
  return shortTime.format(ms)
}

export function formatDay(ms: number): string {
  return day.format(ms)
}

export function fullTime(ms: number): string {
  return dayAndTime.format(ms)
}

/** `in 3 min`, `5 s ago` */
export function fromNow(ms: number, now: number): string {
  const seconds = Math.round((ms - now) / 1000)
  const size = Math.abs(seconds)
  if (size < 1) return 'now'
  const [count, unit] =
    size < 60
      ? [size, 's']
      : size < 3600
        ? [Math.round(size / 60), 'min']
        : size < 172_800
          ? [Math.round(size / 3600), 'h']
          : [Math.round(size / 86_400), 'days']
  return seconds > 0 ? `in ${count} ${unit}` : `${count} ${unit} ago`
}

export function duration(ms: number | null): string {
  if (ms === null) return '…'
  if (ms < 10) return `${ms.toFixed(1)} ms`
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`
}

export function bytes(count: number): string {
  if (count < 1024) return `${count} B`
  const steps = ['KiB', 'MiB', 'GiB', 'TiB']
  const step = Math.min(steps.length, Math.floor(Math.log2(count) / 10))
  return `${(count / 1024 ** step).toFixed(1)} ${steps[step - 1]}`
}

/** The short name of an account: the part of the address before the @. */
export function shortName(userId: number): string {
  const found = accounts.value.find(({ user_id }) => user_id === userId)
  return found ? localPart(found.email) : `user ${userId}`
}

export function localPart(email: string): string {
  return email.split('@', 1)[0]!
}

export function initials(name: string): string {
  const words = name.trim().split(/\s+/)
  return [words[0], words.length > 1 ? words.at(-1) : '']
    .map(word => [...(word ?? '')][0] ?? '')
    .join('')
    .toUpperCase()
}

const hues = [212, 12, 150, 275, 45, 190, 330, 95]

/** The colour of an avatar, in degrees. */
export function hueOf(id: number): number {
  return hues[(id * 7) % hues.length]!
}
