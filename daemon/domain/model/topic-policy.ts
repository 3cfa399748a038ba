// Visibility policies of topics, as the API numbers them.

import { userTopicKey } from './keys.ts'
import type { State } from './state.ts'

/** As the API numbers them; nothing set is 0. */
export const visibility = { none: 0, muted: 1, unmuted: 2, followed: 3 } as const

export function topicPolicy(state: State, userId: number, channelId: number, topic: string): number {
  return state.userTopics.get(userTopicKey({ userId, channelId, topic }))?.policy ?? visibility.none
}

/** Whether the topic is hidden unless the person asks for it. */
export function isTopicMuted(state: State, userId: number, channelId: number, topic: string): boolean {
  const policy = topicPolicy(state, userId, channelId, topic)
  if (policy !== visibility.none) return policy === visibility.muted
  return state.subscriptions.get(channelId, userId)?.muted ?? false
}
