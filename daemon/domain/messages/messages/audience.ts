// The audience of a message: users who have it in their history, or are subscribed and may read it.

import type { PartlyRead } from '../../model/facts/messages.ts'
import { hasRow, Reader } from '../../model/message-reader.ts'
import { packRuns } from '../../model/message-store/index.ts'
import type { Channel, State } from '../../model/state.ts'
import { hasSharedHistory, seeContent } from '../../rules/index.ts'

/** Everyone the message is something to: who has it in their history or is subscribed, and may read it. */
export function listConcerned(state: State, id: number): number[] {
  const { channelId, conversationId } = state.messages.place(id).thread
  if (conversationId !== 0) return [...state.conversations.get(conversationId)!.userIds]
  const channel = state.channels.get(channelId)!
  const subscribers = [...state.subscriptions.followers(channelId)]
  // Subscribers may read all there is, but for what was there before them in a channel with a protected history.
  const able = hasSharedHistory(channel) ? subscribers : subscribers.filter(userId => hasRow(state, userId, id))
  return [...able, ...readersBeyond(state, channel, [id])]
}

/** Users who are not subscribed to the channel, have one of these messages in their history, and may still read it. */
export function readersBeyond(state: State, channel: Channel, ids: readonly number[]): number[] {
  const { messages, subscriptions, messageFlags } = state
  const subscribers = subscriptions.followers(channel.id)
  const people = new Set<number>()
  for (const source of new Set(ids.map(id => messages.sentTo(id))))
    for (const userId of subscriptions.followers(source).everyone()) if (!subscribers.has(userId)) people.add(userId)
  for (const userId of people) {
    const reader = new Reader(state, userId)
    if (!ids.some(id => reader.received(id))) people.delete(userId)
  }
  for (const userId of messageFlags.users()) {
    const { historical, gained } = messageFlags.of(userId)
    if (!subscribers.has(userId) && ids.some(id => historical.has(id) || gained.has(id))) people.add(userId)
  }
  return [...people].filter(userId => {
    const actor = state.users.get(userId)!
    return actor.active && seeContent.allows({ state, actor }, channel)
  })
}

/** Those of the people who have not all of these messages in their history, in a channel where one reads only what one has. */
export function partlyRead(
  state: State,
  channel: Channel,
  ids: readonly number[],
  people: Iterable<number>,
): { readonly partly?: readonly PartlyRead[] } {
  if (hasSharedHistory(channel)) return {}
  const groups = new Map<string, PartlyRead & { readonly userIds: number[] }>()
  for (const userId of people) {
    const reader = new Reader(state, userId)
    const seen: number[] = []
    for (let at = 0; at < ids.length; at++) if (reader.look(ids[at]!, channel.id) !== 'none') seen.push(at)
    if (seen.length === ids.length) continue
    const positions = packRuns(seen)
    const key = positions.join()
    const group = groups.get(key)
    if (group) group.userIds.push(userId)
    else groups.set(key, { positions, userIds: [userId] })
  }
  return groups.size > 0 ? { partly: [...groups.values()] } : {}
}
