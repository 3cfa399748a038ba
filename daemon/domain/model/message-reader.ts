// Messages as one user has them: received or not, read or unread, with which flags.

import type { FlagsOfUser } from './message-flags-table.ts'
import { marks } from './message-store/index.ts'
import type { Subscription } from './rows/channels.ts'
import type { State } from './state.ts'

type Following = Pick<Subscription, 'active' | 'spans'>

const nothing: Following = { active: false, spans: [] }

/** What messages are to one user; made for many questions in a row, between which nothing changes. */
export class Reader {
  readonly #state: State
  readonly #userId: number
  readonly #flags: FlagsOfUser
  readonly #channels = new Map<number, Following>()
  #lastId = 0
  #last: Following = nothing
  #presentAfter = Number.POSITIVE_INFINITY
  readonly #oldestMoved: number
  readonly #conversations = new Map<number, boolean>()

  constructor(state: State, userId: number) {
    this.#state = state
    this.#userId = userId
    this.#flags = state.messageFlags.of(userId)
    const { gained, lost } = this.#flags
    this.#oldestMoved = Math.min(state.messages.oldestMoved, gained.atLeast(1), lost.atLeast(1))
  }

  /** Whether it reached the user when it was sent. */
  received(id: number): boolean {
    return this.#stretch(id) !== 'none'
  }

  /** In the user's own history: received, or taken into it later. */
  hasRow(id: number): boolean {
    return this.#stretch(id) !== 'none' || this.#flags.historical.has(id)
  }

  isUnread(id: number): boolean {
    return this.look(id) === 'unread'
  }

  /** Not in the user's history, or read, or unread. */
  look(id: number, channelId = this.#state.messages.channelOf(id)): 'none' | 'read' | 'unread' {
    if (this.#isPresent(id, channelId)) return this.#flags.read.has(id) ? 'read' : 'unread'
    const stretch = this.#stretch(id)
    if (stretch === 'none' && !this.#flags.historical.has(id)) return 'none'
    // All unread messages are in channels the user is subscribed to.
    if (channelId !== 0 && !this.#channel(channelId).active) return 'read'
    const unread = stretch === 'present' ? !this.#flags.read.has(id) : this.#flags.unread.has(id)
    return unread ? 'unread' : 'read'
  }

  /** Whether it is unread unless marked; otherwise it is read unless marked. */
  isUnreadByDefault(id: number): boolean {
    return this.#isPresent(id, this.#state.messages.channelOf(id)) || this.#stretch(id) === 'present'
  }

  /** Most questions in a row are about one channel, what was said there since the user came, and what was never moved. */
  #isPresent(id: number, channelId: number): boolean {
    return channelId === this.#lastId && id > this.#presentAfter && id < this.#oldestMoved
  }

  /** Where the ID is in the user's subscription: in its present stretch, in a former one, or outside. */
  #stretch(id: number): 'present' | 'former' | 'none' {
    const { messages } = this.#state
    const { channelId, conversationId } = messages.place(id).thread
    if (conversationId !== 0) return this.#takesPart(conversationId) ? 'present' : 'none'
    const mayHaveMoved = id >= this.#oldestMoved
    if (mayHaveMoved && this.#flags.lost.has(id)) return 'none'
    if (mayHaveMoved && this.#flags.gained.has(id)) return 'former'
    const sentTo = mayHaveMoved ? messages.sentTo(id) : channelId
    const span = lastSpanBefore(id, this.#channel(sentTo).spans)
    if (span === undefined) return 'none'
    const upTo = span[1]
    if (upTo === undefined) return 'present'
    return id < upTo ? 'former' : 'none'
  }

  /** Whether the user is subscribed to the channel now. */
  follows(channelId: number): boolean {
    return this.#channel(channelId).active
  }

  #channel(channelId: number): Following {
    if (channelId === this.#lastId) return this.#last
    let channel = this.#channels.get(channelId)
    if (!channel) {
      channel = this.#state.subscriptions.get(channelId, this.#userId) ?? nothing
      this.#channels.set(channelId, channel)
    }
    this.#lastId = channelId
    this.#last = channel
    this.#presentAfter = channel.active ? channel.spans.at(-1)![0] : Number.POSITIVE_INFINITY
    return channel
  }

  #takesPart(conversationId: number): boolean {
    let part = this.#conversations.get(conversationId)
    if (part === undefined) {
      part = takesPart(this.#state, this.#userId, conversationId)
      this.#conversations.set(conversationId, part)
    }
    return part
  }
}

/** They are in order. There are as many as the user came, and each member can remove and add people again and again. */
function lastSpanBefore(id: number, spans: Following['spans']): Following['spans'][number] | undefined {
  let [low, high] = [0, spans.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (spans[middle]![0] < id) low = middle + 1
    else high = middle
  }
  return spans[low - 1]
}

export function hasRow(state: State, userId: number, id: number): boolean {
  return new Reader(state, userId).hasRow(id)
}

export function isUnread(state: State, userId: number, id: number): boolean {
  return new Reader(state, userId).isUnread(id)
}

export function takesPart(state: State, userId: number, conversationId: number): boolean {
  return state.conversations.get(conversationId)?.userIds.includes(userId) ?? false
}

/** The user's flags of a message they may read, in the order the API lists them. */
export function listFlags(state: State, userId: number, id: number): string[] {
  const reader = new Reader(state, userId)
  if (!reader.hasRow(id)) return ['read', 'historical']
  const sets = state.messageFlags.of(userId)
  const flags: string[] = []
  if (!reader.isUnread(id)) flags.push('read')
  if (sets.starred.has(id)) flags.push('starred')
  if (sets.collapsed.has(id)) flags.push('collapsed')
  flags.push(...mentionFlags(state, userId, id))
  if (!reader.received(id)) flags.push('historical')
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

/** The highest ID in the user's own history. */
export function newestOwn(state: State, userId: number): number {
  let newest = -1
  for (const { id } of state.conversations.where('member', userId))
    newest = Math.max(newest, state.messages.inConversation(id).last)
  for (const { channelId, spans } of state.subscriptions.ofUser(userId)) {
    const ids = state.messages.inChannel(channelId)
    for (const [after, upTo = Number.POSITIVE_INFINITY] of spans) {
      const index = upTo === Number.POSITIVE_INFINITY ? ids.length : ids.lowerBound(upTo)
      if (index > 0 && ids.at(index - 1) > after) newest = Math.max(newest, ids.at(index - 1))
    }
  }
  const { historical } = state.messageFlags.of(userId)
  for (let id = historical.atMost(state.messages.lastId); id > Math.max(newest, 0); id = historical.atMost(id - 1))
    if (state.messages.has(id)) newest = id
  return newest === 0 ? -1 : newest
}
