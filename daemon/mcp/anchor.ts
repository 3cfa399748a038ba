// The beginning of a range of messages: at an end, at a message that is given by its ID or link, or at a date.

import type { Chat } from './chat.ts'
import { fetchMessages, type Range } from './messages.ts'
import { messageIdIn } from './names.ts'
import { ToolError } from './tool-error.ts'

type Direction = 'before' | 'after' | 'around'

interface WantedRange {
  readonly anchor: string | number
  /** If absent, towards the messages: before the newest, after the oldest and after a date, around anything else. */
  readonly direction: Direction | undefined
  readonly limit: number
}

export async function rangeAt(
  chat: Chat,
  narrow: readonly unknown[],
  { anchor, direction, limit }: WantedRange,
  signal: AbortSignal,
): Promise<Range> {
  if (anchor === 'newest') return { narrow, anchor, ...sides(direction ?? 'before', limit) }
  if (anchor === 'oldest') return { narrow, anchor, ...sides(direction ?? 'after', limit) }
  if (anchor === 'first_unread') return { narrow, anchor, ...sides(direction ?? 'around', limit) }
  const since = typeof anchor === 'string' ? secondsIn(anchor) : undefined
  if (since === undefined)
    return { narrow, anchor: messageIdIn(chat, anchor), ...sides(direction ?? 'around', limit - 1) }
  const first = await firstSince(chat, narrow, since, signal)
  // Before a date means without the first message after it.
  if (direction === 'before') return { narrow, anchor: first, ...sides('before', limit), includeAnchor: false }
  return { narrow, anchor: first, ...sides(direction ?? 'after', limit - 1) }
}

function sides(direction: Direction, count: number): { readonly before: number; readonly after: number } {
  const before = direction === 'before' ? count : direction === 'after' ? 0 : Math.floor(count / 2)
  return { before, after: count - before }
}

/** UNIX seconds of a date; undefined for any other text. */
function secondsIn(text: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\d/.test(text)) return undefined
  const time = Date.parse(text)
  if (Number.isNaN(time)) throw new ToolError(`${JSON.stringify(text)} is not an ISO 8601 date, such as 2030-01-31.`)
  return time / 1000
}

/** IDs are below 2 ** 53. */
const mostHalvings = 53

/**
 * The ID of the first message since a time, or one past the newest. IDs grow with time, so it is found by halving: every server of the family
 * answers what comes after an ID.
 */
async function firstSince(chat: Chat, narrow: readonly unknown[], since: number, signal: AbortSignal): Promise<number> {
  const [oldest] = (await fetchMessages(chat, { narrow, anchor: 'oldest', before: 0, after: 1 }, signal)).list
  const newest = (await fetchMessages(chat, { narrow, anchor: 'newest', before: 1, after: 0 }, signal)).list.at(-1)
  if (!oldest || !newest) return 0
  if (Number(newest.timestamp) < since) return Number(newest.id) + 1
  let low = Number(oldest.id)
  let high = Number(newest.id)
  // Bounded: numbers of a server that are no IDs need not come closer.
  for (let halving = 0; low < high && halving < mostHalvings; halving++) {
    const middle = Math.floor((low + high) / 2)
    const [found] = (await fetchMessages(chat, { narrow, anchor: middle, before: 0, after: 1 }, signal)).list
    if (found && Number(found.timestamp) >= since) high = middle
    else low = middle + 1
  }
  return low
}
