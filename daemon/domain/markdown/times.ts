// Times as people write them between `<time:` and `>`.

import timeZones from '../../../data/time-zones.json' with { type: 'json' }

const abbreviations: Readonly<Record<string, number>> = timeZones.abbreviations

// Years 1 to 9999: what four digits can say.
const earliest = -62135596800000
const latest = 253402300800000

const words =
  /^(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:r(?:s(?:day)?)?)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?|am|pm|t|z)$/i

/** Milliseconds; undefined for what is no time. Without a zone it is UTC, whatever the machine thinks. */
export function parseTime(text: string): number | undefined {
  const given = text.trim()
  const ms =
    /^-?\d{1,12}(?:\.\d{1,6})?$/.test(given) && !/^\d{4}$/.test(given) ? Number(given) * 1000 : parseDate(given)
  return ms >= earliest && ms < latest ? ms : undefined
}

function parseDate(text: string): number {
  if (!/\d/.test(text) || text.length > 60) return Number.NaN
  // The built-in parser reads nearly any word as a month or skips it; only the known ones are let through.
  const zone = /[a-z]{3,4}$/i.exec(text)?.[0] ?? ''
  if (Object.hasOwn(abbreviations, zone))
    return parseDate(text.slice(0, -zone.length).trim()) - abbreviations[zone]! * 1000
  const known = (word: string) => words.test(word) || /^(?:st|nd|rd|th|at)$/i.test(word)
  if (text.match(/[a-z]+/gi)?.some(word => !known(word))) return Number.NaN
  const plain = text
    .replace(/(\d)(?:st|nd|rd|th)\b/gi, '$1')
    .replace(/(\d)([ap]m)\b/gi, '$1 $2')
    .replace(/\bat\b/gi, ' ')
  if (/^\d{4}(?:-\d\d){0,2}$/.test(plain)) return Date.parse(plain)
  if (/(?:z|[+-]\d\d:?\d\d)$/i.test(plain) && /:|\d[zZ]$|t/i.test(plain)) return Date.parse(plain)
  if (/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/.test(plain)) return Date.parse(`${plain.replace(' ', 'T')}Z`)
  return Date.parse(`${plain} UTC`)
}

const date =
  '(?:(?<y>\\d{4})-(?<mo>\\d\\d)-(?<d>\\d\\d)|(?<y2>\\d{4})(?<mo2>\\d\\d)(?<d2>\\d\\d)|(?<wy>\\d{4})(?<dash>-?)W(?<w>\\d\\d)(?:\\k<dash>(?<wd>[1-7]))?)'
const clock = '(?<h>\\d\\d)(?:(?<colon>:?)(?<mi>\\d\\d)(?:\\k<colon>(?<s>\\d\\d)(?:[.,](?<f>\\d+))?)?)?'
const offset = '(?:[zZ]|(?<sign>[+-])(?<oh>\\d\\d)(?::?(?<om>\\d\\d)(?::?(?<os>\\d\\d))?)?)'
const isoForm = new RegExp(`^${date}(?:[\\s\\S]${clock}${offset}?)?$`)

/** The same for the forms of ISO 8601 alone: a date, or a date and a time with any character between them. */
export function parseIsoTime(text: string): number | undefined {
  const { groups: part } = isoForm.exec(text) ?? {}
  if (!part) return undefined
  const day = part.w === undefined ? parseDay(part) : dayOfWeek(part)
  const { h = '00', mi = '00', s = '00', f = '', oh = '00', om = '00', os = '00' } = part
  if (Number(h) > 23 || Number(oh) > 23 || Number(om) > 59 || Number(os) > 59) return undefined
  const local = Date.parse(`${day}T${h}:${mi}:${s}.${f.slice(0, 3).padEnd(3, '0')}Z`)
  const zone = (Number(oh) * 3600 + Number(om) * 60 + Number(os)) * (part.sign === '-' ? -1000 : 1000)
  return local >= earliest && local - zone >= earliest && local - zone < latest ? local - zone : undefined
}

type Parts = Readonly<Record<string, string | undefined>>

/** Empty for a day that does not exist: the built-in parser reads 31 April as 1 May. */
function parseDay({ y, mo, d, y2, mo2, d2 }: Parts): string {
  const day = `${y ?? y2}-${mo ?? mo2}-${d ?? d2}`
  const ms = Date.parse(day)
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(day) ? day : ''
}

/** The first week of a year is the one with 4 January in it. */
function dayOfWeek({ wy, w, wd = '1' }: Parts): string {
  const fourth = new Date(`${wy}-01-04`)
  const days = (Number(w) - 1) * 7 + Number(wd) - (fourth.getUTCDay() || 7)
  const found = new Date(fourth.getTime() + days * 86_400_000)
  const year = new Date(found.getTime() + (4 - Number(wd)) * 86_400_000).getUTCFullYear()
  return year === Number(wy) && w !== '00' ? found.toISOString().slice(0, 10) : ''
}

/** `2030-05-01T08:00:00Z`; a part of a second is written with six digits. */
export function isoTime(ms: number): string {
  const [seconds, rest] = new Date(ms).toISOString().slice(0, -1).split('.')
  return rest === '000' ? `${seconds}Z` : `${seconds}.${rest}000Z`
}
