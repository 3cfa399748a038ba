// Messages from the notification bot, as facts to be added to a command's own.

import type { Fact } from './facts.ts'
import type { Surroundings } from './resource.ts'
import type { Channel } from './state.ts'

/** A direct message to each of these people. */
export function directNotice(_ctx: Surroundings, _to: readonly number[], _content: string): Fact[] {
  return []
}

/** A message in a channel; in one that has only the empty topic, the topic given is dropped. */
export function channelNotice(_ctx: Surroundings, _channel: Channel, _topic: string, _content: string): Fact[] {
  return []
}
