// Recipients as one word: `#general>lunch`, `#general`, `amy@example.com,bob@example.com`.

import { readLink } from '../../daemon/api/links.ts'

export interface Place {
  readonly channel: string
  /** Absent if nothing follows the channel. */
  readonly topic?: string
}

/** A channel and optionally a topic; undefined for anything else, such as users. */
export function placeIn(text: string): Place | undefined {
  if (!text.startsWith('#')) return undefined
  const at = text.indexOf('>')
  if (at < 0) return { channel: text.slice(1).trim() }
  return { channel: text.slice(1, at).trim(), topic: text.slice(at + 1).trim() }
}

/** Whether a word alone is clearly a recipient and not a text to send. */
export function isPlace(text: string): boolean {
  return /^#\S/.test(text) || isPeople(text) || readLink(text) !== undefined
}

function isPeople(text: string): boolean {
  return text.split(',').every(name => /^\s*((id:)?\d+|[^\s@]+@[^\s@]+)\s*$/.test(name))
}
