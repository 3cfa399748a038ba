// What channels need to know of their messages. Filled in by the resource of messages.

import type { Fact } from './facts.ts'
import type { Asker } from './permissions.ts'
import type { Surroundings } from './resource.ts'
import type { Channel, State } from './state.ts'

export interface Topic {
  readonly name: string
  /** ID of its newest message. */
  readonly maxId: number
}

/** Topics of the channel with a message the asker may read, newest first, each in its newest spelling. */
export function topicsOf(_asker: Asker, _channel: Channel): Topic[] {
  return []
}

/** The newest message of all; 0 when there is none. */
export function lastMessageId(_state: State): number {
  return 0
}

export function firstMessageId(_state: State, _channel: Channel): number | null {
  return null
}

/** Whether a message stands in a topic other than the empty one. */
export function hasNamedTopic(_state: State, _channel: Channel): boolean {
  return false
}

/** Messages of the last 28 days. */
export function recentTraffic(_state: State, _channel: Channel, _now: number): number {
  return 0
}

/** A message within 180 days; new channels count as active. */
export function isRecentlyActive(_state: State, _channel: Channel): boolean {
  return true
}

/** Deletes the messages of a topic, newest first; what is left over is not complete. */
export function topicDeletion(
  _ctx: Surroundings,
  _channel: Channel,
  _topic: string,
): { readonly facts: readonly Fact[]; readonly complete: boolean } {
  return { facts: [], complete: true }
}
