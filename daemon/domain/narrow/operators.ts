// The operators of a narrow: where the messages of each are found, and how to tell whether one fits.

import { channelByName, findConversation } from '../model/lookups.ts'
import { isMentioned, Reader } from '../model/message-reader.ts'
import type { Channel, User } from '../model/state.ts'
import { isTopicMuted, topicPolicy } from '../model/topic-policy.ts'
import { inQuotes } from '../refusal.ts'
import { type Asker, seeMetadata } from '../rules/index.ts'
import { knownUser } from '../rules/user-access.ts'
import { resolvedPrefix, topicMeant } from '../values/topic-names.ts'
import { searchTerms } from './search.ts'
import { listMembers, type Source, sourceFrom, uniteLists } from './source.ts'
import { badNarrow, type Term } from './terms.ts'

export type Test = (id: number) => boolean

export interface Meaning {
  readonly sources?: Source
  readonly test?: Test
  /** Only direct messages, or only messages of channels, can fit. */
  readonly direct?: boolean
  readonly channels?: boolean
  /** Messages never received are meant too. */
  readonly open?: boolean
}

type Operand = Term['operand']

/** The operands of `channels`. */
const kinds: Readonly<Record<string, (channel: Channel) => boolean>> = {
  public: channel => !channel.inviteOnly,
  'web-public': channel => channel.webPublic,
  archived: channel => channel.archived,
}

export const operators: Readonly<
  Record<string, (asker: Asker, operand: Operand, channel: Channel | undefined) => Meaning>
> = {
  channel(asker, operand) {
    const { messages } = asker.state
    const { id } = findChannel(asker, operand)
    return {
      sources: uniteLists([messages.inChannel(id)]),
      test: message => messages.place(message).thread.channelId === id,
      channels: true,
      open: true,
    }
  },

  channels({ state, server }, operand) {
    const fits = kinds[String(operand)]
    if (!fits || (operand === 'archived' && !server?.level.rules.archivedChannelsNarrow))
      throw badNarrow(`unknown operand of "channels": ${inQuotes(String(operand))}`)
    const kind = [...state.channels.values()].filter(fits)
    const ids = new Set(kind.map(channel => channel.id))
    return {
      sources: uniteLists(kind.map(channel => state.messages.inChannel(channel.id))),
      test: message => ids.has(state.messages.place(message).thread.channelId),
      channels: true,
      open: operand === 'public',
    }
  },

  topic({ state }, operand, channel) {
    const topic = topicMeant(String(operand))
    const key = topic.toLowerCase()
    const { messages } = state
    return {
      sources: uniteLists(
        channel ? [messages.inTopic(channel.id, topic)] : messages.topicsNamed(topic).map(thread => thread.ids),
      ),
      test: message => {
        const { thread } = messages.place(message)
        return thread.conversationId === 0 && thread.key === key
      },
      channels: true,
    }
  },

  mentions(asker, operand) {
    if (!asker.server?.level.rules.mentionsNarrow) throw badNarrow('unknown operator "mentions"')
    const list = asker.state.messages.mentioning(findUser(asker, operand).id)
    return { sources: uniteLists([list]), test: message => list.has(message) }
  },

  sender(asker, operand) {
    const { messages } = asker.state
    const { id } = findUser(asker, operand)
    return { sources: uniteLists([messages.bySender(id)]), test: message => messages.sender(message) === id }
  },

  dm(asker, operand) {
    const { state, actor } = asker
    const people = findUsers(asker, operand).map(user => user.id)
    const conversation = people.length > 0 ? findConversation(state, [...new Set([actor.id, ...people])]) : undefined
    return {
      sources: uniteLists(conversation ? [state.messages.inConversation(conversation.id)] : []),
      test: message => state.messages.place(message).thread.conversationId === conversation?.id,
      direct: true,
    }
  },

  'dm-including': (asker, operand) => conversationsWith(asker, findUser(asker, operand), 1),
  'group-pm-with': (asker, operand) => conversationsWith(asker, findUser(asker, operand), 3),

  is(asker, operand) {
    const { state, actor } = asker
    const { messages } = state
    const inChannel = (id: number) => messages.place(id).thread.conversationId === 0
    const visibility = (id: number) => {
      const { topic, thread } = messages.place(id)
      return topicPolicy(state, actor.id, thread.channelId, topic)
    }
    switch (operand) {
      case 'dm':
      case 'private':
        return conversationsWith(asker, actor, 1)
      case 'starred': {
        const { starred } = state.messageFlags.of(actor.id)
        return { sources: listMembers(starred), test: id => starred.has(id) }
      }
      case 'unread': {
        const reader = new Reader(state, actor.id)
        return { test: id => reader.isUnread(id) }
      }
      case 'mentioned':
        return {
          sources: uniteLists([messages.mentioning(actor.id), messages.channelWildcards]),
          test: id => isMentioned(state, actor.id, id),
        }
      case 'alerted':
        return {
          sources: uniteLists([messages.alerting(actor.id)]),
          test: id => messages.details(id)?.alerted?.includes(actor.id) ?? false,
        }
      case 'followed':
        return { test: id => inChannel(id) && visibility(id) === 3 }
      case 'resolved':
        return { test: id => inChannel(id) && messages.place(id).topic.startsWith(resolvedPrefix) }
      case 'muted':
        return { test: id => isMutedFor(asker, id) }
      default:
        throw badNarrow(`unknown operand of "is": ${inQuotes(String(operand))}`)
    }
  },

  has({ state }, operand) {
    if (operand === 'reaction')
      return { sources: uniteLists([state.messages.reacted]), test: id => state.messages.reacted.has(id) }
    if (operand !== 'link' && operand !== 'image' && operand !== 'attachment')
      throw badNarrow(`unknown operand of "has": ${inQuotes(String(operand))}`)
    const list = state.messages.ofKind(operand)
    return { sources: uniteLists([list]), test: id => list.has(id) }
  },

  in(asker, operand) {
    if (operand === 'all') return {}
    if (operand !== 'home') throw badNarrow(`unknown operand of "in": ${inQuotes(String(operand))}`)
    return { test: id => !isMutedFor(asker, id) }
  },

  id(_asker, operand) {
    const id = parseMessageId(operand)
    return { sources: sourceFrom([id]), test: message => message === id }
  },

  // Already replaced by the conversation it points to.
  with: () => ({}),
  near: () => ({}),

  search(_asker, operand) {
    if (typeof operand !== 'string' || searchTerms(operand).length === 0)
      throw badNarrow('"search" needs at least one word')
    return {}
  },
}

function conversationsWith({ state, actor }: Asker, user: User, atLeast: number): Meaning {
  const shared = state.conversations
    .where('member', actor.id)
    .filter(({ userIds }) => userIds.includes(user.id) && userIds.length >= atLeast)
  const ids = new Set(shared.map(conversation => conversation.id))
  return {
    sources: uniteLists(shared.map(conversation => state.messages.inConversation(conversation.id))),
    test: id => ids.has(state.messages.place(id).thread.conversationId),
    direct: true,
  }
}

function isMutedFor({ state, actor }: Asker, id: number): boolean {
  const { topic, thread } = state.messages.place(id)
  return thread.conversationId === 0 && isTopicMuted(state, actor.id, thread.channelId, topic)
}

// --- operands ---------------------------------------------------------------------------------------------------

export function findChannel(asker: Asker, operand: Operand): Channel {
  const { state } = asker
  const channel = typeof operand === 'number' ? state.channels.get(operand) : channelByName(state, String(operand))
  if (!channel || !seeMetadata.allows(asker, channel))
    throw badNarrow(`there is no channel ${inQuotes(String(operand))}`, 'not-found')
  return channel
}

function findUser(asker: Asker, operand: Operand): User {
  const user =
    typeof operand === 'number'
      ? knownUser(asker, operand)
      : (knownUser(asker, String(operand)) ??
        (/^\d+$/.test(String(operand)) ? knownUser(asker, Number(operand)) : undefined))
  if (!user) throw badNarrow(`there is no user ${inQuotes(String(operand))}`, 'not-found')
  return user
}

function findUsers(asker: Asker, operand: Operand): User[] {
  const given = typeof operand === 'string' ? operand.split(',').map(part => part.trim()) : [operand].flat()
  return given.map(one => findUser(asker, one))
}

/** Message IDs fit in 31 bits. */
const largestId = 2 ** 31 - 1

export function parseMessageId(operand: Operand): number {
  const id = /^\d{1,15}$/.test(String(operand)) ? Number(operand) : -1
  if (id < 0 || id > largestId) throw badNarrow(`${inQuotes(String(operand))} is not a message ID`)
  return id
}
