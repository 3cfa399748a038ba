// The messages of a channel in short: its topics, its first and newest message, its recent traffic.

import type { Channel, State } from '../../model/state.ts'
import { type Asker, readTest } from '../../rules/index.ts'
import { day, seconds } from '../../values/time.ts'

export interface Topic {
  readonly name: string
  /** ID of its newest message. */
  readonly maxId: number
}

/** Topics of the channel with a message the asker may read, newest first, each in its newest spelling. */
export function listTopics(asker: Asker, channel: Channel): Topic[] {
  const { messages } = asker.state
  const isReadable = readTest(asker)
  const topics: Topic[] = []
  for (const { ids } of messages.topics(channel.id))
    for (let i = ids.length - 1; i >= 0; i--) {
      const maxId = ids.at(i)
      if (!isReadable(maxId)) continue
      topics.push({ name: messages.place(maxId).topic, maxId })
      break
    }
  return topics.sort((a, b) => b.maxId - a.maxId)
}

/** The newest message of all; 0 when there is none. */
export function lastMessageId(state: State): number {
  return state.messages.lastId
}

export function firstMessageId(state: State, channel: Channel): number | null {
  const ids = state.messages.inChannel(channel.id)
  return ids.length === 0 ? null : ids.at(0)
}

/** Whether a message is in a topic other than the empty one. */
export function hasNamedTopic(state: State, channel: Channel): boolean {
  for (const { key, ids } of state.messages.topics(channel.id)) if (key !== '' && ids.length > 0) return true
  return false
}

/** Messages of the last 28 days. */
export function recentTraffic(state: State, channel: Channel, now: number): number {
  const ids = state.messages.inChannel(channel.id)
  return ids.length - firstSince(state, ids, seconds(now) - 28 * day)
}

/** IDs grow with time, so the first one sent since can be found by halving. */
function firstSince(state: State, ids: { length: number; at(index: number): number }, time: number): number {
  let low = 0
  let high = ids.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (state.messages.time(ids.at(middle)) < time) low = middle + 1
    else high = middle
  }
  return low
}
