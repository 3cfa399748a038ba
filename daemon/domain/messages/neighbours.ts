// What messages ask of other resources, in one place: topic visibility, muted people, alert words, attachments.

import type { Fact } from '../facts.ts'
import type { Context } from '../resource.ts'
import type { Channel, State } from '../state.ts'

/** How somebody wants to see a topic: 0 as the channel, 1 muted, 2 unmuted, 3 followed. */
export function topicPolicy(_state: State, _userId: number, _channelId: number, _topic: string): 0 | 1 | 2 | 3 {
  return 0
}

/** What sending to a topic changes of the sender's own view of it. */
export function visibilityAfterSending(
  _ctx: Context,
  _channel: Channel,
  _topic: string,
): { readonly facts: readonly Fact[]; readonly policy?: 2 | 3 } {
  return { facts: [] }
}

/** Topic visibility that goes along when all of a topic moves. */
export function visibilityAfterMoving(
  _ctx: Context,
  _from: { readonly channelId: number; readonly topic: string },
  _to: { readonly channelId: number; readonly topic: string },
): readonly Fact[] {
  return []
}

/** Whether the one has muted the other. */
export function hasMuted(_state: State, _userId: number, _otherId: number): boolean {
  return false
}

/** Those who have muted somebody, ascending. */
export function mutersOf(_state: State, _userId: number): readonly number[] {
  return []
}

/** Users one of whose alert words the text has, ascending. */
export function alertedBy(_state: State, _content: string): readonly number[] {
  return []
}

/** Whether somebody may write to somebody else at all; guests may not know everyone. */
export function mayKnow(_state: State, _userId: number, _otherId: number): boolean {
  return true
}

/** Whether the topic is not to be seen unless asked for. */
export function isMuted(state: State, userId: number, channelId: number, topic: string): boolean {
  const policy = topicPolicy(state, userId, channelId, topic)
  if (policy !== 0) return policy === 1
  return state.subscriptions.get(channelId, userId)?.muted ?? false
}
