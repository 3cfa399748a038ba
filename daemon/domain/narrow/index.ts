// A narrow as a plan: the smallest index that holds all its messages, and a test for each of them.

import { userByEmail } from '../lookups.ts'
import { IdList, idsOf } from '../message-store/index.ts'
import { isMuted } from '../messages/neighbours.ts'
import { conversationOf } from '../messages/people.ts'
import { isMentioned, Reader, takesPart } from '../messages/reader.ts'
import { type Asker, seeContent, seeMetadata } from '../permissions.ts'
import type { Channel, User } from '../state.ts'
import { resolvedPrefix, topicMeant } from '../topic-names.ts'
import { topicPolicy } from '../topic-visibility.ts'
import { hasTerms, searchTerms } from './search.ts'
import { anyOf, everyId, inParts, listed, membersOf, type Source } from './source.ts'
import { badNarrow, type Term, termsOf } from './terms.ts'

export interface Plan {
  readonly source: Source
  readonly test: (id: number) => boolean
  /** What is searched for, to be marked in the results. */
  readonly search: readonly string[]
  /** Holds direct messages only. */
  readonly directOnly: boolean
}

type Test = (id: number) => boolean

export function planOf(asker: Asker, given: unknown): Plan {
  const terms = withConversation(asker, termsOf(given))
  const builder = new Builder(asker, terms)
  for (const term of terms) builder.take(term)
  return builder.plan()
}

class Builder {
  readonly #asker: Asker
  readonly #sources: Source[] = []
  readonly #tests: Test[] = []
  readonly #words: string[] = []
  readonly #terms: readonly Term[]
  readonly #channel: Channel | undefined
  #direct = false
  #channels = false
  #openHistory = false

  constructor(asker: Asker, terms: readonly Term[]) {
    this.#asker = asker
    this.#terms = terms
    const channel = terms.find(term => term.operator === 'channel' && !term.negated)
    this.#channel = channel && channelNamed(asker, channel.operand)
  }

  take(term: Term): void {
    const { operator, operand, negated } = term
    const make = Object.hasOwn(operators, operator) ? operators[operator] : undefined
    if (!make) throw badNarrow(`unknown operator '${operator}'`)
    const { sources, test, direct, channels, open } = make(this.#asker, operand, this.#channel)
    if (operator === 'search') this.#words.push(...searchTerms(String(operand)))
    if (!negated) {
      if (sources) this.#sources.push(sources)
      this.#direct ||= direct ?? false
      this.#channels ||= channels ?? false
      this.#openHistory ||= open ?? false
    }
    // A negated search has no effect: it would have to read everything.
    if (test && !(negated && operator === 'search')) this.#tests.push(negated ? id => !test(id) : test)
  }

  plan(): Plan {
    if (this.#direct && this.#channels) throw badNarrow('no message can be both direct and in a channel')
    if (this.#words.length > 0) this.#addSearch()
    const personal = this.#terms.some(({ operator, operand }) => operator === 'is' && operand !== 'resolved')
    const readable = readableBy(this.#asker, this.#openHistory && !personal)
    const own = ownHistory(this.#asker)
    const sources = this.#openHistory && !personal ? this.#sources : [...this.#sources, own]
    const source = sources.reduce((best, next) => (next.size < best.size ? next : best), sources[0] ?? own)
    const tests = this.#tests
    const { messages } = this.#asker.state
    return {
      source,
      // Stars, histories and words outlive the messages they belong to.
      test: id => messages.has(id) && tests.every(test => test(id)) && readable(id),
      search: this.#words,
      directOnly: this.#direct,
    }
  }

  #addSearch(): void {
    const { messages } = this.#asker.state
    const found = messages.withWords(this.#words.join(' '))
    if (found) this.#sources.push(inParts(found.count, found.parts))
    const words = this.#words
    this.#tests.push(id => hasTerms(`${messages.place(id).topic}\n${messages.content(id)}`, words))
  }
}

/** Everything in the user's own history, received now or before. */
function ownHistory({ state, actor }: Asker): Source {
  const { messages } = state
  const lists: IdList[] = state.conversations.where('member', actor.id).map(({ id }) => messages.inConversation(id))
  for (const { channelId } of state.subscriptions.ofUser(actor.id)) lists.push(messages.inChannel(channelId))
  const { historical } = state.messageFlags.of(actor.id)
  if (historical.size > 0) lists.push(new IdList(idsOf(historical.runs())))
  // What was received in one channel can have been moved to another.
  if (messages.oldestMoved !== Number.POSITIVE_INFINITY) return everyId(messages.lastId, id => messages.has(id))
  const source = anyOf(lists)
  // Walking all IDs is cheaper than keeping many lists in step, once most IDs are in them.
  return source.size * 2 > messages.lastId ? everyId(messages.lastId, id => messages.has(id)) : source
}

/** Whether the user may read a message, asked of many: what is settled per channel is settled once. */
function readableBy(asker: Asker, open: boolean): Test {
  const { state, actor } = asker
  const channels = new Map<number, Channel | undefined>()
  const reader = new Reader(state, actor.id)
  return id => {
    const { channelId, conversationId } = state.messages.place(id).thread
    if (conversationId !== 0) return takesPart(state, actor.id, conversationId)
    if (!channels.has(channelId)) {
      const channel = state.channels.get(channelId)
      channels.set(channelId, channel && seeContent.allows(asker, channel) ? channel : undefined)
    }
    const channel = channels.get(channelId)
    if (!channel) return false
    const shared = channel.historyPublic || !channel.inviteOnly
    return (open && shared) || reader.hasRow(id)
  }
}

// --- operators --------------------------------------------------------------------------------------------------

interface Meaning {
  readonly sources?: Source
  readonly test?: Test
  /** Only direct messages, or only messages of channels, can fit. */
  readonly direct?: boolean
  readonly channels?: boolean
  /** Messages never received are meant too. */
  readonly open?: boolean
}

type Operand = Term['operand']

const operators: Readonly<Record<string, (asker: Asker, operand: Operand, channel: Channel | undefined) => Meaning>> = {
  channel(asker, operand) {
    const { messages } = asker.state
    const { id } = channelNamed(asker, operand)
    return {
      sources: anyOf([messages.inChannel(id)]),
      test: message => messages.place(message).thread.channelId === id,
      channels: true,
      open: true,
    }
  },

  channels({ state }, operand) {
    if (operand !== 'public' && operand !== 'web-public') throw badNarrow(`unknown channels operand '${operand}'`)
    const kind = [...state.channels.values()].filter(channel =>
      operand === 'public' ? !channel.inviteOnly : channel.webPublic,
    )
    const ids = new Set(kind.map(channel => channel.id))
    return {
      sources: anyOf(kind.map(channel => state.messages.inChannel(channel.id))),
      test: message => ids.has(state.messages.place(message).thread.channelId),
      channels: true,
      open: true,
    }
  },

  topic({ state }, operand, channel) {
    const topic = topicMeant(String(operand))
    const key = topic.toLowerCase()
    const { messages } = state
    return {
      sources: anyOf(
        channel ? [messages.inTopic(channel.id, topic)] : messages.topicsNamed(topic).map(thread => thread.ids),
      ),
      test: message => {
        const { thread } = messages.place(message)
        return thread.conversationId === 0 && thread.key === key
      },
      channels: true,
    }
  },

  sender(asker, operand) {
    const { messages } = asker.state
    const { id } = userNamed(asker, operand)
    return { sources: anyOf([messages.bySender(id)]), test: message => messages.sender(message) === id }
  },

  dm(asker, operand) {
    const { state, actor } = asker
    const people = usersNamed(asker, operand).map(user => user.id)
    const conversation = conversationOf(state, [...new Set([actor.id, ...people])])
    return {
      sources: anyOf(conversation ? [state.messages.inConversation(conversation.id)] : []),
      test: message => state.messages.place(message).thread.conversationId === conversation?.id,
      direct: true,
    }
  },

  'dm-including': (asker, operand) => conversationsWith(asker, userNamed(asker, operand), 1),
  'group-pm-with': (asker, operand) => conversationsWith(asker, userNamed(asker, operand), 3),

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
        return { sources: membersOf(starred), test: id => starred.has(id) }
      }
      case 'unread': {
        const reader = new Reader(state, actor.id)
        return { test: id => reader.isUnread(id) }
      }
      case 'mentioned':
        return {
          sources: anyOf([messages.mentioning(actor.id), messages.channelWildcards]),
          test: id => isMentioned(state, actor.id, id),
        }
      case 'alerted':
        return {
          sources: anyOf([messages.alerting(actor.id)]),
          test: id => messages.details(id)?.alerted?.includes(actor.id) ?? false,
        }
      case 'followed':
        return { test: id => inChannel(id) && visibility(id) === 3, channels: true }
      case 'resolved':
        return { test: id => inChannel(id) && messages.place(id).topic.startsWith(resolvedPrefix), channels: true }
      case 'muted':
        return { test: id => isMutedFor(asker, id) }
      default:
        throw badNarrow(`unknown 'is' operand '${operand}'`)
    }
  },

  has({ state }, operand) {
    const kind = String(operand).replace(/s$/, '')
    if (kind === 'reaction')
      return { sources: anyOf([state.messages.reacted]), test: id => state.messages.reacted.has(id) }
    if (kind !== 'link' && kind !== 'image' && kind !== 'attachment')
      throw badNarrow(`unknown 'has' operand '${operand}'`)
    const list = state.messages.ofKind(kind)
    return { sources: anyOf([list]), test: id => list.has(id) }
  },

  in(asker, operand) {
    if (operand === 'all') return {}
    if (operand !== 'home') throw badNarrow(`unknown 'in' operand '${operand}'`)
    return { test: id => !isMutedFor(asker, id) }
  },

  id(_asker, operand) {
    const id = messageIdOf(operand)
    return { sources: listed([id]), test: message => message === id, open: true }
  },

  // Already replaced by the conversation it points to.
  with: () => ({}),
  near: () => ({}),

  search(_asker, operand) {
    if (typeof operand !== 'string' || searchTerms(operand).length === 0) throw badNarrow('search for what?')
    return {}
  },
}

function conversationsWith({ state, actor }: Asker, user: User, atLeast: number): Meaning {
  const shared = state.conversations
    .where('member', actor.id)
    .filter(({ userIds }) => userIds.includes(user.id) && userIds.length >= atLeast)
  const ids = new Set(shared.map(conversation => conversation.id))
  return {
    sources: anyOf(shared.map(conversation => state.messages.inConversation(conversation.id))),
    test: id => ids.has(state.messages.place(id).thread.conversationId),
    direct: true,
  }
}

function isMutedFor({ state, actor }: Asker, id: number): boolean {
  const { topic, thread } = state.messages.place(id)
  return thread.conversationId === 0 && isMuted(state, actor.id, thread.channelId, topic)
}

// --- operands ---------------------------------------------------------------------------------------------------

function channelNamed(asker: Asker, operand: Operand): Channel {
  const { channels } = asker.state
  const channel =
    typeof operand === 'number' ? channels.get(operand) : channels.find('name', String(operand).trim().toLowerCase())
  if (!channel || !seeMetadata.allows(asker, channel)) throw badNarrow(`unknown channel ${operand}`)
  return channel
}

function userNamed({ state }: Asker, operand: Operand): User {
  const user =
    typeof operand === 'number'
      ? state.users.get(operand)
      : (userByEmail(state, String(operand)) ??
        (/^\d+$/.test(String(operand)) ? state.users.get(Number(operand)) : undefined))
  if (!user) throw badNarrow(`unknown user ${operand}`)
  return user
}

function usersNamed(asker: Asker, operand: Operand): User[] {
  const given: readonly (string | number)[] =
    typeof operand === 'string'
      ? operand.split(',').filter(part => part.trim() !== '')
      : typeof operand === 'number'
        ? [operand]
        : operand
  return given.map(one => userNamed(asker, one))
}

function messageIdOf(operand: Operand): number {
  const id = typeof operand === 'number' ? operand : /^\d{1,15}$/.test(String(operand)) ? Number(operand) : -1
  if (id < 0) throw badNarrow(`'${operand}' is not a message ID`)
  return id
}

/** `with` names a message; the terms that name a conversation become the one that holds it now. */
function withConversation(asker: Asker, terms: Term[]): Term[] {
  const found = terms.filter(term => term.operator === 'with')
  if (found.length === 0) return terms
  if (found.length > 1) throw badNarrow("'with' can be given once only")
  const { state } = asker
  const id = messageIdOf(found[0]!.operand)
  const isPlace = ({ operator, negated }: Term) => ['channel', 'topic', 'dm'].includes(operator) && !negated
  const readable = state.messages.has(id) && readableBy(asker, true)(id)
  if (!readable) {
    const places = new Set(terms.filter(isPlace).map(term => term.operator))
    if (places.has('dm') || (places.has('channel') && places.has('topic'))) return terms
    throw badNarrow(`no message ${id} to go with`)
  }
  const { topic, thread } = state.messages.place(id)
  const others = terms.filter(term => !isPlace(term))
  if (thread.conversationId !== 0) {
    const { userIds } = state.conversations.get(thread.conversationId)!
    return [{ operator: 'dm', operand: userIds, negated: false }, ...others]
  }
  return [
    { operator: 'channel', operand: thread.channelId, negated: false },
    { operator: 'topic', operand: topic, negated: false },
    ...others,
  ]
}
