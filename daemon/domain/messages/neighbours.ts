// What messages ask of other resources, in one place: topic visibility, muted people, alert words.

import type { Fact } from '../facts.ts'
import { alertWordsIn } from '../markdown/alert-words.ts'
import type { Context } from '../resource.ts'
import { type Channel, mutedUserKey, type State, userTopicKey } from '../state.ts'

/** How somebody wants to see a topic: 0 as the channel, 1 muted, 2 unmuted, 3 followed. */
export function topicPolicy(state: State, userId: number, channelId: number, topic: string): number {
  return state.userTopics.get(userTopicKey({ userId, channelId, topic }))?.policy ?? 0
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
export function hasMuted(state: State, userId: number, mutedId: number): boolean {
  return state.mutedUsers.has(mutedUserKey({ userId, mutedId }))
}

/** Those who have muted somebody, ascending. */
export function mutersOf(state: State, userId: number): readonly number[] {
  return state.mutedUsers
    .where('muted', userId)
    .map(row => row.userId)
    .sort((a, b) => a - b)
}

const alertWords = new WeakMap<State, { readonly version: number; readonly users: Map<string, number[]> }>()

/** Users one of whose alert words the text has, ascending. */
export function alertedBy(state: State, content: string): readonly number[] {
  let known = alertWords.get(state)
  if (known?.version !== state.alertWords.version) {
    const users = new Map<string, number[]>()
    for (const { userId, words } of state.alertWords.values())
      for (const word of words) users.set(word.toLowerCase(), [...(users.get(word.toLowerCase()) ?? []), userId])
    known = { version: state.alertWords.version, users }
    alertWords.set(state, known)
  }
  if (known.users.size === 0) return []
  const found = alertWordsIn(content, known.users.keys()).flatMap(word => known.users.get(word)!)
  return [...new Set(found)].sort((a, b) => a - b)
}

/** Whether the topic is not to be seen unless asked for. */
export function isMuted(state: State, userId: number, channelId: number, topic: string): boolean {
  const policy = topicPolicy(state, userId, channelId, topic)
  if (policy !== 0) return policy === 1
  return state.subscriptions.get(channelId, userId)?.muted ?? false
}
