// The events about messages, and who gets them.

import { activityNews } from '../../channels/channels/activity.ts'
import { firstMessageId } from '../../channels/channels/history.ts'
import { ifKnown } from '../../channels/channels/present.ts'
import { attachmentNews } from '../../files/attachments.ts'
import type {
  FlagsChanged,
  MessageEdited,
  MessageSent,
  MessagesDeleted,
  MessagesMoved,
  PartlyRead,
  SubmessageAdded,
} from '../../model/facts/messages.ts'
import { hasRow, listFlags, mentionFlags, Reader } from '../../model/message-reader.ts'
import { type Message, unpackRuns } from '../../model/message-store/index.ts'
import type { State } from '../../model/state.ts'
import { isTopicMuted } from '../../model/topic-policy.ts'
import { queueTakes } from '../../narrow/queue-filter.ts'
import { metInConversation, partedInConversation } from '../../people/users/access.ts'
import type { Announcement, Client, Event } from '../../resource.ts'
import { channelAudience, splitByAccess } from '../../rules/audiences.ts'
import { hasSharedHistory, hearPublicChannels, seeContent, seeMessage, seeMetadata } from '../../rules/index.ts'
import { topicShown } from '../../values/topic-names.ts'
import { listConcerned } from './audience.ts'
import { presentMessage, type View } from './present.ts'

function mayStillSee(state: State, userId: number, id: number): boolean {
  const actor = state.users.get(userId)!
  return actor.active && seeMessage.allows({ state, actor }, id)
}

function pickView(client: Client): View {
  return {
    applyMarkdown: client.applyMarkdown,
    clientGravatar: client.clientGravatar,
    emptyTopic: client.emptyTopic,
    pairsRenumbered: client.level.rules.pairsRenumbered,
  }
}

export function sent(state: State, fact: MessageSent): Announcement[] {
  const { message, called = [], echo } = fact
  const readBy = new Set(fact.readBy)
  const { channelId } = message
  const channel = channelId === undefined ? undefined : state.channels.get(channelId)
  const to = channel
    ? state.subscriptions.followers(channel.id)
    : state.conversations.get(message.conversationId!)!.userIds
  const flags = sharedFlags(userId => [
    ...(readBy.has(userId) ? ['read'] : []),
    ...(called.includes(userId) ? ['mentioned'] : []),
    ...mentionFlags(state, userId, message.id),
  ])
  const sender = state.users.get(message.senderId)!
  const { known, strangers } = splitByAccess(state, sender, called.length > 0 ? [...to, ...called] : to)
  const news = (to: Announcement['to'], isStranger?: View['isStranger']): Announcement => ({
    to,
    first: message.senderId,
    event: client => ({
      type: 'message',
      message: presentMessage(state, message, { ...pickView(client), isStranger }),
    }),
    personal: flags,
    fits: queue => queueTakes(state, message, flags(queue.userId).flags, queue.narrow),
    ...(echo && { echo: { queueId: echo.queueId, fields: { local_message_id: echo.localId } } }),
  })
  return [
    ...(channel && fact.woke ? [activityNews(state, channel)] : []),
    ...(channel ? [] : metInConversation(state, message.conversationId!, fact.conversation !== undefined)),
    { ...news(known), ...(channel && !channel.inviteOnly && { overheard: overheardBy(state, message) }) },
    ...(strangers.length > 0 ? [news(strangers, user => user.id === sender.id)] : []),
  ]
}

/**
 * OPEN: on the public server a guest's queue with a narrow gets messages of every public channel. Guests may not read those, so here
 * only members' queues do.
 */
function overheardBy(state: State, message: Message): NonNullable<Announcement['overheard']> {
  return {
    fields: { flags: [] },
    fits: ({ userId, narrow }) => {
      // Stores of earlier versions can have a queue whose account is gone.
      const actor = state.users.get(userId)
      return (
        actor !== undefined && hearPublicChannels.allows({ state, actor }) && queueTakes(state, message, [], narrow)
      )
    },
  }
}

/** One object for all who have the same flags, and the same messages if they are told, so that their events are one text. */
function sharedFlags(
  flagsFor: (userId: number) => string[],
  idsFor?: (userId: number) => readonly number[],
): (userId: number) => { flags: string[] } {
  const known = new Map<string, { flags: string[] }>()
  return userId => {
    const flags = flagsFor(userId)
    const ids = idsFor?.(userId)
    const key = ids ? `${flags};${ids}` : flags.join()
    let shared = known.get(key)
    if (!shared) {
      shared = { flags, ...(ids && { message_ids: ids }) }
      known.set(key, shared)
    }
    return shared
  }
}

/** To users who did not receive a message and follow its channel, an event about it says that it is read. */
function flagsInEvent(state: State, userId: number, id: number): string[] {
  return hasRow(state, userId, id) ? listFlags(state, userId, id) : ['read']
}

export function announceEdited(state: State, fact: MessageEdited): Announcement[] {
  const { message, edit } = fact
  const event: Event = {
    type: 'update_message',
    user_id: edit.userId,
    edit_timestamp: edit.time,
    message_id: message.id,
    message_ids: [message.id],
    rendering_only: false,
    ...(message.channelId !== undefined && channelFields(state, message.channelId)),
    ...contentFields(fact),
  }
  const to = listConcerned(state, message.id)
  return [{ to, event, personal: sharedFlags(userId => flagsInEvent(state, userId, message.id)) }]
}

function contentFields({ message, edit }: MessageEdited) {
  return {
    orig_content: edit.prevContent,
    orig_rendered_content: edit.prevHtml,
    content: message.content,
    rendered_content: message.html,
    is_me_message: message.content.startsWith('/me '),
  }
}

function channelFields(state: State, channelId: number) {
  return { stream_id: channelId, stream_name: state.channels.get(channelId)!.name }
}

export function announceMoved(state: State, fact: MessagesMoved): Announcement[] {
  const { id, ids, from, to } = fact
  const shown = (topic: string, client: Client) => topicShown(topic, pickView(client).emptyTopic)
  const followers = state.subscriptions.followers(from.channelId)
  const people = new Set([...followers, ...listConcerned(state, id)])
  const source = state.channels.get(from.channelId)!
  // The event names the channel the messages come from: who may not know of it finds them where they are now.
  const mayKnowSource = (userId: number) =>
    from.channelId === to.channelId || seeMetadata.allows({ state, actor: state.users.get(userId)! }, source)
  const staying = new Set([...people].filter(userId => mayStillSee(state, userId, id) && mayKnowSource(userId)))
  // Who left the old channel before has lost nothing now, and must not learn what its topics are called by now.
  const couldSee = (userId: number) => {
    const actor = state.users.get(userId)!
    return actor.active && seeContent.allows({ state, actor }, source)
  }
  const before = new Set([...(hasSharedHistory(source) ? followers : []), ...(fact.lost ?? [])])
  const losing =
    from.channelId === to.channelId
      ? []
      : [...before].filter(userId => !mayStillSee(state, userId, id) && couldSee(userId))
  const target = state.channels.get(to.channelId)!
  const idsFor = (userId: number) => {
    const reader = new Reader(state, userId)
    return ids.filter(one => reader.look(one, target.id) !== 'none')
  }
  const event = (client: Client): Event => ({
    type: 'update_message',
    user_id: fact.userId,
    edit_timestamp: fact.time,
    message_id: id,
    message_ids: ids,
    rendering_only: false,
    ...channelFields(state, from.channelId),
    ...(fact.edited && contentFields(fact.edited)),
    propagate_mode: fact.mode,
    orig_subject: shown(from.topic, client),
    ...(from.topic !== to.topic && { subject: shown(to.topic, client), topic_links: fact.topicLinks }),
    ...(from.channelId !== to.channelId && { new_stream_id: to.channelId }),
  })
  return [
    ...(from.channelId === to.channelId
      ? []
      : [...firstGone(state, from.channelId, ids), ...firstCame(state, to.channelId, ids)]),
    ...goneForReaders(losing, fact, from),
    {
      to: staying,
      event,
      personal: sharedFlags(userId => flagsInEvent(state, userId, id), hasSharedHistory(target) ? undefined : idsFor),
    },
    ...fact.markedRead.map(([userId, runs]) => readEvent(userId, unpackRuns(runs))),
  ]
}

export function readEvent(userId: number, ids: readonly number[], all = false): Announcement {
  return { to: [userId], event: { ...flagsEvent('add', 'read', ids), all } }
}

function flagsEvent(op: 'add' | 'remove', flag: string, ids: readonly number[]) {
  return { type: 'update_message_flags', op, operation: op, flag, messages: ids, all: false }
}

/** One event for all of them, or one each for clients that know no better. */
function deletedForms(ids: readonly number[], fields: object, topic?: string): Announcement['event'] {
  return client => {
    const place = { ...fields, ...(topic !== undefined && { topic: topicShown(topic, pickView(client).emptyTopic) }) }
    if (client.bulkDeletion) return { type: 'delete_message', message_ids: ids, ...place }
    return ids.map(id => ({ type: 'delete_message', message_id: id, ...place }))
  }
}

/** Tells people of the messages that they could read that these are gone. */
function goneForReaders(
  people: Iterable<number>,
  { ids, partly = [] }: { readonly ids: readonly number[]; readonly partly?: readonly PartlyRead[] },
  { channelId, topic }: { readonly channelId: number; readonly topic: string },
): Announcement[] {
  const event = (some: readonly number[]) => deletedForms(some, { message_type: 'stream', stream_id: channelId }, topic)
  const rest = new Set(people)
  const parts: Announcement[] = []
  for (const { positions, userIds } of partly) {
    const to = userIds.filter(userId => rest.delete(userId))
    if (positions.length > 0) parts.push({ to, event: event(unpackRuns(positions).map(at => ids[at]!)) })
  }
  return [{ to: [...rest], event: event(ids) }, ...parts]
}

export function announceDeleted(state: State, fact: MessagesDeleted): Announcement[] {
  const { ids, place, userId, seen = ids, also = [], files = [] } = fact
  const unlinked = files.map(id => attachmentNews(state, 'update', id))
  if ('conversationId' in place) {
    const event = deletedForms(ids, { message_type: 'private' })
    return [
      ...byWhom(userId, [{ to: state.conversations.get(place.conversationId)!.userIds, event }]),
      ...partedInConversation(state, place.conversationId),
      ...unlinked,
    ]
  }
  const to = new Set(state.subscriptions.followers(place.channelId))
  for (const reader of also) to.add(reader)
  if (userId !== null && seen === ids) to.add(userId)
  else if (userId !== null) to.delete(userId)
  return [
    ...byWhom(userId, [
      ...firstGone(state, place.channelId, ids),
      ...goneForReaders(to, fact, place),
      ...(userId !== null && seen !== ids && seen.length > 0 ? goneForReaders([userId], { ids: seen }, place) : []),
    ]),
    ...unlinked,
  ]
}

/** What a retention policy deletes is announced to clients of newer levels only. */
function byWhom(userId: number | null, news: readonly Announcement[]): readonly Announcement[] {
  if (userId !== null) return news
  return news.map(({ event, ...announcement }) => ({
    ...announcement,
    event: client => {
      if (!client.level.rules.retentionTold) return null
      return typeof event === 'function' ? event(client) : event
    },
  }))
}

/** When the oldest message of a channel is among those that are gone, another is the first now. */
function firstGone(state: State, channelId: number, ids: readonly number[]): Announcement[] {
  const first = firstMessageId(state, state.channels.get(channelId)!)
  return first === null || first > ids[0]! ? announceFirst(state, channelId, first) : []
}

function firstCame(state: State, channelId: number, ids: readonly number[]): Announcement[] {
  const first = firstMessageId(state, state.channels.get(channelId)!)
  return first === ids[0] ? announceFirst(state, channelId, first) : []
}

function announceFirst(state: State, channelId: number, value: number | null | undefined): Announcement[] {
  const channel = state.channels.get(channelId)!
  const event: Event = {
    type: 'stream',
    op: 'update',
    stream_id: channelId,
    name: channel.name,
    property: 'first_message_id',
    value,
  }
  return [{ to: channelAudience(state, channel), event: ifKnown(channel, event) }]
}

export function announceSubmessage(state: State, { messageId, submessage }: SubmessageAdded): Announcement[] {
  const { id, senderId, msgType, content } = submessage
  return [
    {
      to: listConcerned(state, messageId),
      event: {
        type: 'submessage',
        message_id: messageId,
        submessage_id: id,
        sender_id: senderId,
        msg_type: msgType,
        content,
      },
    },
  ]
}

export function announceFlags(state: State, { userId, op, flag, runs }: FlagsChanged): Announcement[] {
  const ids = unpackRuns(runs)
  const event = flagsEvent(op, flag, ids)
  if (flag !== 'read' || op !== 'remove') return [{ to: [userId], event }]
  return [
    {
      to: [userId],
      event: client => ({
        ...event,
        message_details: Object.fromEntries(ids.map(id => [id, describeUnread(state, userId, id, pickView(client))])),
      }),
    },
  ]
}

function describeUnread(state: State, userId: number, id: number, view: View) {
  const { topic, thread } = state.messages.place(id)
  const mentioned = mentionFlags(state, userId, id).some(flag => flag.endsWith('mentioned'))
  if (thread.conversationId !== 0) {
    const { userIds } = state.conversations.get(thread.conversationId)!
    return { type: 'private', ...(mentioned && { mentioned }), user_ids: userIds.filter(other => other !== userId) }
  }
  return {
    type: 'stream',
    ...(mentioned && { mentioned }),
    stream_id: thread.channelId,
    topic: topicShown(topic, view.emptyTopic),
    unmuted_stream_msg: !isTopicMuted(state, userId, thread.channelId, topic),
  }
}
