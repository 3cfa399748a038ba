// Marking messages as read, for other resources.

import type { Fact } from '../../facts.ts'
import { Reader } from '../../model/message-reader.ts'
import { packRuns } from '../../model/message-store/index.ts'
import type { State } from '../../model/state.ts'
import { unreadIds, unreadIn } from './unread.ts'

/** Marks everything that one person sent and another has not read as read. */
export function readMessagesFrom(state: State, readerId: number, senderId: number): Fact[] {
  return markRead(
    readerId,
    unreadIds(state, readerId).filter(id => state.messages.sender(id) === senderId),
  )
}

/** Marks a channel as read for a user who is about to leave it: only subscribers can have unread messages. */
export function readChannel(state: State, readerId: number, channelId: number): Fact[] {
  return markRead(readerId, unreadIn(state, readerId, channelId))
}

/**
 * Runs of what was sent to a channel, is now in another, and is unread there for a person who leaves the first: what is
 * unread by default while the subscription lasts must be said to be unread afterwards.
 */
export function unreadElsewhere(state: State, readerId: number, channelId: number): number[] {
  const moved = state.messages.movedFrom(channelId)
  if (moved.length === 0) return []
  const reader = new Reader(state, readerId)
  return packRuns(moved.slice().filter(id => reader.isUnread(id)))
}

/** Newest first. */
function markRead(userId: number, ids: readonly number[]): Fact[] {
  if (ids.length === 0) return []
  return [{ type: 'message-flags.changed', userId, op: 'add', flag: 'read', runs: packRuns(ids.toReversed()) }]
}
