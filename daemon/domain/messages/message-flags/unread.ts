// The unread messages of a user, found without looking at their whole history.

import { isMentioned, Reader } from '../../model/message-reader.ts'
import type { IdList, Place, Thread } from '../../model/message-store/index.ts'
import type { Subscription } from '../../model/rows/channels.ts'
import type { State } from '../../model/state.ts'
import { isTopicMuted } from '../../model/topic-policy.ts'
import type { Context } from '../../resource.ts'

/** As many as `register` lists; older ones are only said to be there. */
const listed = 50_000

/** Unread IDs, newest first. */
export function unreadIds(state: State, userId: number, limit = Number.POSITIVE_INFINITY): number[] {
  const { read } = state.messageFlags.of(userId)
  const { lastId } = state.messages
  const lists = ownLists(state, userId)
  const inLists = countFrom(lists, 0)
  if (lastId - read.size > inLists) return findUnread(state, userId, lists, limit)
  const reader = new Reader(state, userId)
  const found: number[] = []
  const after = Math.min(...lists.map(({ ids, from }) => (from < ids.length ? ids.at(from) : lastId + 1)))
  for (let id = read.absentAtMost(lastId); id >= after && found.length < limit; id = read.absentAtMost(id - 1))
    if (state.messages.has(id) && reader.isUnread(id)) found.push(id)
  return withExceptions(state, userId, reader, found, limit)
}

/** Unread IDs of a channel, newest first. */
export function unreadIn(state: State, userId: number, channelId: number): number[] {
  const row = state.subscriptions.get(channelId, userId)
  if (!row?.active) return []
  const found = findUnread(state, userId, [channelList(state, row)], Number.POSITIVE_INFINITY)
  return found.filter(id => state.messages.place(id).thread.channelId === channelId)
}

/** How many messages of a channel `unreadIn` looks at. */
export function countLookedAt(state: State, userId: number, channelId: number): number {
  const row = state.subscriptions.get(channelId, userId)
  return row?.active ? countFrom([channelList(state, row)], 0) : 0
}

interface List {
  readonly ids: IdList
  readonly from: number
}

function findUnread(state: State, userId: number, lists: readonly List[], limit: number): number[] {
  const { read } = state.messageFlags.of(userId)
  const reader = new Reader(state, userId)
  for (let count = limit; ; count *= 2) {
    // Only the newest of the lists, as many as may do: the rest can be long.
    const least = oldestOfNewest(lists, count)
    const found: number[] = []
    let inOrder = true
    for (const { ids, from } of lists)
      for (let i = ids.length - 1; i >= from && ids.at(i) >= least; i--) {
        const id = ids.at(i)
        if (read.has(id) || !reader.isUnread(id)) continue
        if (found.length > 0 && id > found[found.length - 1]!) inOrder = false
        found.push(id)
      }
    // Most users have nearly all of it in one list. Sorting would take a fifth of a large answer.
    if (found.length >= limit || least === 0)
      return withExceptions(state, userId, reader, inOrder ? found : newestFirst(found), limit)
  }
}

function newestFirst(ids: number[]): number[] {
  const sorted = Uint32Array.from(ids).sort()
  return ids.map((_, index) => sorted[ids.length - 1 - index]!)
}

/** The first of the newest `count` IDs in the lists, or 0 if the lists have fewer. */
function oldestOfNewest(lists: readonly List[], count: number): number {
  if (countFrom(lists, 0) < count) return 0
  let low = 0
  let high = Math.max(0, ...lists.map(({ ids }) => ids.last))
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (countFrom(lists, middle) >= count) low = middle
    else high = middle - 1
  }
  return low
}

/** How many IDs the lists have that are not smaller. */
function countFrom(lists: readonly List[], id: number): number {
  return lists.reduce((sum, { ids, from }) => sum + ids.length - Math.max(from, ids.lowerBound(id)), 0)
}

/** What was found, newest first, with what was marked unread although it was not, or not lately, received. */
function withExceptions(state: State, userId: number, reader: Reader, found: number[], limit: number): number[] {
  const { unread } = state.messageFlags.of(userId)
  if (unread.size > 0) {
    const seen = new Set(found)
    for (const id of idsIn(unread)) if (!seen.has(id) && state.messages.has(id) && reader.isUnread(id)) found.push(id)
    found.sort((a, b) => b - a)
  }
  return found.length > limit ? found.slice(0, limit) : found
}

/** The lists that hold everything the user can have unread by default, each from where it begins for them. */
function ownLists(state: State, userId: number): List[] {
  const lists = state.conversations
    .where('member', userId)
    .map(({ id }) => ({ ids: state.messages.inConversation(id), from: 0 }))
  for (const row of state.subscriptions.ofUser(userId)) if (row.active) lists.push(channelList(state, row))
  return lists
}

function channelList({ messages }: State, { channelId, spans }: Subscription): List {
  const ids = messages.inChannel(channelId)
  // What was moved here from elsewhere may be older than the subscription.
  return { ids, from: ids.lowerBound(Math.min(spans.at(-1)![0] + 1, messages.oldestMoved)) }
}

function* idsIn(set: { atLeast(id: number): number }): Generator<number> {
  for (let id = set.atLeast(1); id !== Number.POSITIVE_INFINITY; id = set.atLeast(id + 1)) yield id
}

/** IDs by where they are. Gathered in an array, by the number of the place: there can be 50,000, and a map takes twice as long. */
class Groups {
  readonly #ids: number[][] = []
  readonly #places: Place[] = []

  add(place: Place, id: number): void {
    const ids = this.#ids[place.number]
    if (ids) return void ids.push(id)
    this.#ids[place.number] = [id]
    this.#places.push(place)
  }

  /** In the order of their first IDs. Spellings of one topic are places of one thread; a topic can have thousands. */
  byThread(): Map<Thread, number[]> {
    const groups = new Map<Thread, number[]>()
    const mixed = new Set<number[]>()
    for (const { thread, number } of this.#places) {
      const ids = groups.get(thread)
      if (!ids) {
        groups.set(thread, this.#ids[number]!)
        continue
      }
      for (const id of this.#ids[number]!) ids.push(id)
      mixed.add(ids)
    }
    for (const ids of mixed) ids.sort((a, b) => a - b)
    return groups
  }
}

/** `unread_msgs` of `register`. */
export function presentUnread({ state, actor }: Context, emptyTopic: (topic: string) => string) {
  const newest = unreadIds(state, actor.id, listed + 1)
  const missing = newest.length > listed
  if (missing) newest.pop()
  const groups = new Groups()
  const mentions: number[] = []
  const mine = state.messages.mentioning(actor.id)
  const anyWildcard = state.messages.channelWildcards.length > 0
  for (const id of newest.reverse()) {
    groups.add(state.messages.place(id), id)
    if ((anyWildcard || mine.length > 0) && isMentioned(state, actor.id, id)) mentions.push(id)
  }
  const pms: { other_user_id: number; sender_id: number; unread_message_ids: number[] }[] = []
  const huddles: { user_ids_string: string; unread_message_ids: number[] }[] = []
  const streams: { stream_id: number; topic: string; key: string; unread_message_ids: number[] }[] = []
  let count = 0
  for (const [{ channelId, key, conversationId }, ids] of groups.byThread()) {
    if (conversationId === 0) {
      const topic = state.messages.place(ids.at(-1)!).topic
      streams.push({ stream_id: channelId, topic: emptyTopic(topic), key, unread_message_ids: ids })
      if (!isTopicMuted(state, actor.id, channelId, topic)) count += ids.length
      continue
    }
    count += ids.length
    const { userIds } = state.conversations.get(conversationId)!
    if (userIds.length > 2) huddles.push({ user_ids_string: userIds.join(','), unread_message_ids: ids })
    else {
      const other = userIds.find(id => id !== actor.id) ?? actor.id
      pms.push({ other_user_id: other, sender_id: other, unread_message_ids: ids })
    }
  }
  return {
    count,
    pms: pms.sort((a, b) => a.other_user_id - b.other_user_id),
    streams: streams
      .sort((a, b) => a.stream_id - b.stream_id || (a.key < b.key ? -1 : 1))
      .map(({ key: _, ...stream }) => stream),
    huddles: huddles.sort((a, b) => (a.user_ids_string < b.user_ids_string ? -1 : 1)),
    // OPEN: wildcard mentions in muted places are not listed.
    mentions: mentions.filter(id => isPersonal(state, actor.id, id) || !inMutedPlace(state, actor.id, id)),
    old_unreads_missing: missing,
  }
}

function isPersonal(state: State, userId: number, id: number): boolean {
  return state.messages.details(id)?.mentioned?.includes(userId) ?? false
}

function inMutedPlace(state: State, userId: number, id: number): boolean {
  const { topic, thread } = state.messages.place(id)
  return thread.conversationId === 0 && isTopicMuted(state, userId, thread.channelId, topic)
}
