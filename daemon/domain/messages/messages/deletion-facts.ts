// The facts that messages are deleted, by their author, an administrator or the retention policy.

import type { Fact } from '../../facts.ts'
import { filesOf } from '../../files/attachments.ts'
import type { MessagesDeleted } from '../../model/facts/messages.ts'
import type { State } from '../../model/state.ts'
import { readersBeyond } from './audience.ts'

/** Of messages of one topic or conversation, ascending. */
export function deletion(state: State, ids: readonly number[], userId: number | null): MessagesDeleted {
  const { topic, thread } = state.messages.place(ids.at(-1)!)
  const { channelId, conversationId } = thread
  const files = filesOf(state, ids)
  const links = files.length > 0 && { files }
  if (conversationId !== 0) return { type: 'messages.deleted', ids, place: { conversationId }, userId, ...links }
  const also = readersBeyond(state, state.channels.get(channelId)!, ids)
  const place = { channelId, topic }
  return { type: 'messages.deleted', ids, place, userId, ...(also.length > 0 && { also }), ...links }
}

/** As many as one event names. */
const batch = 100
// OPEN: the public server deletes for 50 seconds; here one request deletes at most 5,000 messages of a topic, and says whether more are left.
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
