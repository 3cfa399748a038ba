// The facts that messages are deleted, by their author, an administrator or the retention policy.

import { countLinks, findAttachments } from '../../files/attachments.ts'
import type { MessagesDeleted } from '../../model/facts/messages.ts'
import type { State } from '../../model/state.ts'
import { partlyRead, readersBeyond } from './audience.ts'

/** Of messages of one topic or conversation, ascending. */
export function deletion(state: State, ids: readonly number[], userId: number | null): MessagesDeleted {
  return withLinks(state, [part(state, ids, userId)])[0]!
}

function part(state: State, ids: readonly number[], userId: number | null): MessagesDeleted {
  const { topic, thread } = state.messages.place(ids.at(-1)!)
  const { channelId, conversationId } = thread
  if (conversationId !== 0) return { type: 'messages.deleted', ids, place: { conversationId }, userId }
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
  }
}

/** What is deleted together: its first fact has the links of all, so that each file changes, and is told of, once. */
function withLinks(state: State, parts: MessagesDeleted[]): MessagesDeleted[] {
  const unlinked = parts.flatMap(({ ids }) => ids.filter(id => countLinks(state, id) > 0))
  if (unlinked.length === 0) return parts
  const links = { unlinked, files: findAttachments(state, unlinked) }
  return parts.map((fact, at) => (at === 0 ? { ...fact, ...links } : fact))
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
      facts.push({ ...part(state, some, userId), ...(seen.length < some.length && { seen }) })
    }
  return withLinks(state, facts)
}

/** As many as one event names. */
const batch = 100
// OPEN: a request that deletes a topic deletes messages for up to 50 seconds on the public server; here it deletes at most 5,000 messages,
// fewer if they link files more than 20,000 times, and says whether more are left.
const mostBatches = 50
const mostLinks = 20_000

/** Deletes messages of one topic, newest first; what is left over is not complete. */
export function bulkDeletion(
  state: State,
  ids: readonly number[],
  userId: number | null,
): { readonly facts: readonly MessagesDeleted[]; readonly complete: boolean } {
  const facts: MessagesDeleted[] = []
  let end = ids.length
  let links = 0
  for (; end > 0 && facts.length < mostBatches && links < mostLinks; end -= batch) {
    const some = ids.slice(Math.max(0, end - batch), end)
    for (const id of some) links += countLinks(state, id)
    facts.push(part(state, some, userId))
  }
  return { facts: withLinks(state, facts), complete: end <= 0 }
}
