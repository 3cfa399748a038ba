// The facts that messages are deleted, by their author, an administrator or the retention policy.

import type { Fact } from '../../facts.ts'
import { findAttachments } from '../../files/attachments.ts'
import type { MessagesDeleted } from '../../model/facts/messages.ts'
import type { State } from '../../model/state.ts'
import { partlyRead, readersBeyond } from './audience.ts'

/** Of messages of one topic or conversation, ascending. */
export function deletion(state: State, ids: readonly number[], userId: number | null): MessagesDeleted {
  const { topic, thread } = state.messages.place(ids.at(-1)!)
  const { channelId, conversationId } = thread
  const files = findAttachments(state, ids)
  const links = files.length > 0 && { files }
  if (conversationId !== 0) return { type: 'messages.deleted', ids, place: { conversationId }, userId, ...links }
  const channel = state.channels.get(channelId)!
  const also = readersBeyond(state, channel, ids)
  const people = new Set([...state.subscriptions.followers(channelId), ...also, ...(userId === null ? [] : [userId])])
  return {
    type: 'messages.deleted',
    ids,
    place: { channelId, topic },
    userId,
    ...(also.length > 0 && { also }),
    ...partlyRead(state, channel, ids, people),
    ...links,
  }
}

/** Of messages anywhere, ascending. `isSeen`: whether the user can read a message. */
export function deleteByPlace(
  state: State,
  ids: readonly number[],
  userId: number | null,
  isSeen?: (id: number) => boolean,
): MessagesDeleted[] {
  const places = new Map<object, number[]>()
  for (const id of ids) {
    const { thread } = state.messages.place(id)
    const there = places.get(thread)
    if (there) there.push(id)
    else places.set(thread, [id])
  }
  const facts: MessagesDeleted[] = []
  for (const there of places.values())
    for (let at = 0; at < there.length; at += batch) {
      const some = there.slice(at, at + batch)
      const seen = isSeen ? some.filter(isSeen) : some
      facts.push({ ...deletion(state, some, userId), ...(seen.length < some.length && { seen }) })
    }
  return facts
}

/** As many as one event names. */
const batch = 100
// OPEN: a request that deletes a topic deletes messages for up to 50 seconds on the public server; here it deletes at most 5,000 messages,
// and says whether more are left.
const mostBatches = 50

/** Deletes messages of one topic, newest first; what is left over is not complete. */
export function bulkDeletion(
  state: State,
  ids: readonly number[],
  userId: number | null,
): { readonly facts: readonly Fact[]; readonly complete: boolean } {
  const facts: Fact[] = []
  let end = ids.length
  for (; end > 0 && facts.length < mostBatches; end -= batch)
    facts.push(deletion(state, ids.slice(Math.max(0, end - batch), end), userId))
  return { facts, complete: end <= 0 }
}
