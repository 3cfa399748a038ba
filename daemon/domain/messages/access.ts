// Who received a message, who may read it, and what it is to them.

import { marks } from '../message-store/index.ts'
import { type Asker, seeContent } from '../permissions.ts'
import { badRequest } from '../refusal.ts'
import type { State } from '../state.ts'
import type { Subscription } from '../subscription-table.ts'

/** Whether it reached the user when it was sent. */
export function received(state: State, userId: number, id: number): boolean {
  const { conversationId } = state.messages.place(id).thread
  if (conversationId !== 0) return takesPart(state, userId, conversationId)
  const subscription = state.subscriptions.get(state.messages.sentTo(id), userId)
  return subscription !== undefined && spanOf(subscription, id) !== 'none'
}

/** In the user's own history: received, or taken into it later. */
export function hasRow(state: State, userId: number, id: number): boolean {
  return received(state, userId, id) || state.messageFlags.of(userId).historical.has(id)
}

export function takesPart(state: State, userId: number, conversationId: number): boolean {
  return state.conversations.get(conversationId)?.userIds.includes(userId) ?? false
}

/** Whether the user may read it now. */
export function maySee(asker: Asker, id: number): boolean {
  const { state, actor } = asker
  if (!state.messages.has(id)) return false
  const { channelId, conversationId } = state.messages.place(id).thread
  if (conversationId !== 0) return takesPart(state, actor.id, conversationId)
  const channel = state.channels.get(channelId)
  if (!channel || !seeContent.allows(asker, channel)) return false
  return channel.historyPublic || !channel.inviteOnly || hasRow(state, actor.id, id)
}

/** One answer for all that cannot be read: what there is must not be found out by trying. */
export function visible(asker: Asker, id: number, name = 'message_id'): number {
  if (!maySee(asker, id)) throw badRequest(`${name}: no such message`)
  return id
}

/** Where the ID stands in the user's subscription: in its present stretch, in a former one, or outside. */
export function spanOf({ spans }: Subscription, id: number): 'present' | 'former' | 'none' {
  for (const [after, upTo] of spans) {
    if (id <= after) continue
    if (upTo === undefined) return 'present'
    if (id <= upTo) return 'former'
  }
  return 'none'
}

export function isUnread(state: State, userId: number, id: number): boolean {
  const { channelId, conversationId } = state.messages.place(id).thread
  const flags = state.messageFlags.of(userId)
  if (conversationId !== 0) return takesPart(state, userId, conversationId) && !flags.read.has(id)
  // All unread messages are in channels the user is subscribed to.
  if (!state.subscriptions.isActive(channelId, userId)) return false
  return isUnreadByDefault(state, userId, id) ? !flags.read.has(id) : flags.unread.has(id)
}

/** Whether it is unread unless marked; otherwise it is read unless marked. */
export function isUnreadByDefault(state: State, userId: number, id: number): boolean {
  if (state.messages.place(id).thread.conversationId !== 0) return true
  const subscription = state.subscriptions.get(state.messages.sentTo(id), userId)
  return subscription !== undefined && spanOf(subscription, id) === 'present'
}

/** The user's flags of a message they may read, in the order the API lists them. */
export function flagsOf(state: State, userId: number, id: number): string[] {
  if (!hasRow(state, userId, id)) return ['read', 'historical']
  const sets = state.messageFlags.of(userId)
  const flags: string[] = []
  if (!isUnread(state, userId, id)) flags.push('read')
  if (sets.starred.has(id)) flags.push('starred')
  if (sets.collapsed.has(id)) flags.push('collapsed')
  flags.push(...mentionFlags(state, userId, id))
  if (!received(state, userId, id)) flags.push('historical')
  return flags
}

/** Flags that follow from the content. */
export function mentionFlags(state: State, userId: number, id: number): string[] {
  const flags: string[] = []
  const details = state.messages.details(id)
  const inChannel = (state.messages.marks(id) & marks.channelWildcard) !== 0
  const inTopic = details?.topicMentioned?.includes(userId) ?? false
  if (details?.mentioned?.includes(userId)) flags.push('mentioned')
  if (inChannel) flags.push('stream_wildcard_mentioned')
  if (inTopic) flags.push('topic_wildcard_mentioned')
  if (inChannel || inTopic) flags.push('wildcard_mentioned')
  if (details?.alerted?.includes(userId)) flags.push('has_alert_word')
  return flags
}

export function isMentioned(state: State, userId: number, id: number): boolean {
  if ((state.messages.marks(id) & marks.channelWildcard) !== 0) return true
  const details = state.messages.details(id)
  return (details?.mentioned?.includes(userId) || details?.topicMentioned?.includes(userId)) ?? false
}
