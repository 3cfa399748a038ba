// Rules that every piece of user-given text shares.

import { trimText } from '../../local/text-parts.ts'
import { invalid } from '../refusal.ts'

/** Trimmed and within the limit, which counts code points: what a person would call characters, nearly. */
export function clean(name: string, value: string, limit: number): string {
  const trimmed = trimText(value)
  // A code point takes one or two code units, so only what lies between needs counting.
  if (trimmed.length > limit && (trimmed.length > 2 * limit || [...trimmed].length > limit))
    throw invalid(name, `must be at most ${limit} characters`)
  return trimmed
}

/**
 * Control characters, halves of characters, and what Unicode keeps for itself. The pattern is made with the first use: classes of Unicode
 * take a millisecond.
 */
export function hasUnprintable(text: string): boolean {
  return /[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}]/u.test(text)
}

/** A fence of backticks that nothing in the text can close. */
export function fenceAround(text: string, least = 3): string {
  let longest = least - 1
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length)
  return '`'.repeat(longest + 1)
}

/** Cut to the limit, mark included: messages and topics are shortened rather than refused. */
export function truncate(value: string, limit: number, mark: string): string {
  if (value.length <= limit) return value
  // A code point takes at most two code units: no more than that is looked at.
  const points = [...value.slice(0, 2 * limit + 2)]
  return points.length <= limit ? value : points.slice(0, limit - mark.length).join('') + mark
}

/** An address that can be followed without running anything. It may hold places to be filled in, but not in its scheme. */
export function isWebUrl(text: string): boolean {
  return /^https?:\/\/[^\s/\\]/i.test(text) && !hasUnprintable(text) && URL.canParse(text.replace(/[{}%]/g, ''))
}
