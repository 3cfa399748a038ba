// What messages ask of other resources, in one place: topic visibility, muted people, alert words.

import { topicPolicy } from '../channels/topic-visibility.ts'
import { alertWordsIn } from '../markdown/alert-words.ts'
import { mutedUserKey } from '../model/personal-records.ts'
import type { State } from '../model/state.ts'

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
