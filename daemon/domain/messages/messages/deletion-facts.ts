// The facts that messages are deleted, by their author, an administrator or the retention policy.

import type { Fact } from '../../facts.ts'
import { filesOf } from '../../files/attachments.ts'
import type { MessagesDeleted } from '../../model/facts/messages.ts'
import type { Channel, State } from '../../model/state.ts'
import type { Surroundings } from '../../resource.ts'
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

/** As many as one request deletes. */
const batch = 100

/** Deletes the messages of a topic, newest first; what is left over is not complete. */
export function topicDeletion(
  { state, actor }: Surroundings & { readonly actor?: { readonly id: number } },
  channel: Channel,
  topic: string,
): { readonly facts: readonly Fact[]; readonly complete: boolean } {
  const ids = state.messages.inTopic(channel.id, topic)
  if (ids.length === 0) return { facts: [], complete: true }
  const gone = ids.slice(Math.max(0, ids.length - batch))
  return { facts: [deletion(state, gone, actor?.id ?? null)], complete: ids.length <= batch }
}
