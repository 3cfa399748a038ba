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

/** `2030-05-01T08:00:00Z` */
export function isoSeconds(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`
}
