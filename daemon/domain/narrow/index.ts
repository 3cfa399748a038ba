// A narrow as a plan: the smallest index that holds all its messages, and a test for each of them.

import { limits } from '../limits.ts'
import { IdList, unpackRuns } from '../model/message-store/index.ts'
import type { Channel } from '../model/state.ts'
import { inQuotes } from '../refusal.ts'
import { type Asker, readTest } from '../rules/index.ts'
import { findChannel, operators, parseMessageId, type Test } from './operators.ts'
import { hasTerm, searchCost, searchTerms } from './search.ts'
import { everyId, inParts, type Source, uniteLists } from './source.ts'
import { badNarrow, parseTerms, type Term } from './terms.ts'

export interface Plan {
  readonly source: Source
  readonly test: Test
  /** What is searched for, to be marked in the results. */
  readonly search: readonly string[]
  /** Holds direct messages only. */
  readonly directOnly: boolean
  /** Names a channel: that it is muted hides nothing in it. */
  readonly inChannel: boolean
}

/** What a narrow means where messages are read. */
export function planNarrow(asker: Asker, given: unknown): Plan {
  return planTerms(asker, withConversation(asker, parseTerms(given)))
}

/** What a narrow means where messages are changed or compared: it cannot follow a message to another place. */
export function planExactNarrow(asker: Asker, given: unknown): Plan {
  const terms = parseTerms(given)
  if (terms.some(({ operator }) => operator === 'with')) throw badNarrow('"with" can be used only to get messages')
  return planTerms(asker, terms)
}

function planTerms(asker: Asker, terms: readonly Term[]): Plan {
  const builder = new Builder(asker, terms)
  for (const term of terms) builder.take(term)
  return builder.plan()
}

/** Of all searches in one narrow. */
const maxWords = 50

class Builder {
  readonly #asker: Asker
  readonly #sources: Source[] = []
  readonly #tests: Test[] = []
  /** They take longer than the others. */
  readonly #searches: Test[] = []
  readonly #words = new Set<string>()
  readonly #terms: readonly Term[]
  readonly #channel: Channel | undefined
  #direct = false
  #channels = false
  #openHistory = false
  #wordCount = 0
  /** The message that was searched last, in lower case: other searches of the narrow read it too. */
  #searched = { id: 0, text: '' }
  #searchedCharacters = 0

  constructor(asker: Asker, terms: readonly Term[]) {
    this.#asker = asker
    this.#terms = terms
    const channel = terms.find(term => term.operator === 'channel' && !term.negated)
    this.#channel = channel && findChannel(asker, channel.operand)
  }

  take(term: Term): void {
    const { operator, operand, negated } = term
    const make = Object.hasOwn(operators, operator) ? operators[operator] : undefined
    if (!make) throw badNarrow(`unknown operator ${inQuotes(operator)}`)
    const { sources, test, direct, channels, open } = make(this.#asker, operand, this.#channel)
    if (operator === 'search') this.#takeWords(searchTerms(String(operand)), negated)
    if (!negated) {
      if (sources) this.#sources.push(sources)
      this.#direct ||= direct ?? false
      this.#channels ||= channels ?? false
      this.#openHistory ||= open ?? false
    }
    // What is not a direct message is in a channel.
    else if (operator === 'is' && direct) this.#channels = true
    if (test) this.#tests.push(negated ? id => !test(id) : test)
  }

  /** Words that all must be found are one search, to be marked in the results. Each negated search is a test of its own. */
  #takeWords(words: readonly string[], negated: boolean): void {
    this.#wordCount += words.length
    if (this.#wordCount > maxWords) throw badNarrow(`a search can have at most ${maxWords} words`)
    if (negated) this.#searches.push(id => !this.#has(id, words))
    else for (const word of words) this.#words.add(word)
  }

  plan(): Plan {
    if (this.#direct && this.#channels) throw badNarrow('a message cannot be both direct and in a channel')
    if (this.#words.size > 0) this.#addSearch()
    const personal = this.#terms.some(({ operator, operand }) => operator === 'is' && operand !== 'resolved')
    const readable = readTest(this.#asker, !this.#openHistory || personal)
    const own = ownHistory(this.#asker)
    const sources = this.#openHistory && !personal ? this.#sources : [...this.#sources, own]
    const source = sources.reduce((best, next) => (next.size < best.size ? next : best), sources[0] ?? own)
    const fits = askInTurn([...this.#tests, readable, ...this.#searches])
    const { messages } = this.#asker.state
    return {
      source,
      // Stars, histories and words outlive the messages they belong to.
      test: id => messages.has(id) && fits(id),
      search: [...this.#words],
      directOnly: this.#direct,
      inChannel: this.#terms.some(({ operator }) => operator === 'channel'),
    }
  }

  #addSearch(): void {
    const { messages } = this.#asker.state
    const words = [...this.#words]
    const found = messages.withWords(words.join(' '))
    if (found) this.#sources.push(inParts(found.count, found.parts))
    this.#searches.push(id => this.#has(id, words))
  }

  #has(id: number, words: readonly string[]): boolean {
    const { messages } = this.#asker.state
    if (this.#searched.id !== id)
      this.#searched = { id, text: `${messages.place(id).topic}\n${messages.content(id)}`.toLowerCase() }
    const { text } = this.#searched
    return words.every(word => {
      this.#searchedCharacters += searchCost(text, word)
      if (this.#searchedCharacters > limits.searchedCharacters)
        throw badNarrow('the search would read too much text; name a channel or a sender, or search for fewer words')
      return hasTerm(text, word)
    })
  }
}

/** Whether all tests fit. The one that did not fit is asked first for the next message: messages that follow each other are often alike. */
function askInTurn(tests: Test[]): Test {
  return id => {
    const failed = tests.findIndex(test => !test(id))
    if (failed > 0) tests.unshift(...tests.splice(failed, 1))
    return failed === -1
  }
}

/** Everything in the user's own history, received now or before. */
function ownHistory({ state, actor }: Asker): Source {
  const { messages } = state
  const lists: IdList[] = state.conversations.where('member', actor.id).map(({ id }) => messages.inConversation(id))
  for (const { channelId } of state.subscriptions.ofUser(actor.id)) lists.push(messages.inChannel(channelId))
  const { historical } = state.messageFlags.of(actor.id)
  if (historical.size > 0) lists.push(new IdList(unpackRuns(historical.runs())))
  // What was received in one channel can have been moved to another.
  if (messages.oldestMoved !== Number.POSITIVE_INFINITY) return everyId(messages.lastId, id => messages.has(id))
  const source = uniteLists(lists)
  // Walking all IDs is cheaper than keeping many lists in step, once most IDs are in them.
  return source.size * 2 > messages.lastId ? everyId(messages.lastId, id => messages.has(id)) : source
}

/** `with` names a message; the terms that name a conversation become the one that holds it now. */
function withConversation(asker: Asker, terms: Term[]): Term[] {
  const found = terms.filter(term => term.operator === 'with')
  if (found.length === 0) return terms
  if (found.length > 1) throw badNarrow('"with" can be given only once')
  const { state } = asker
  const id = parseMessageId(found[0]!.operand)
  const isPlace = ({ operator, negated }: Term) => ['channel', 'topic', 'dm'].includes(operator) && !negated
  const readable = state.messages.has(id) && readTest(asker)(id)
  if (!readable) {
    const places = new Set(terms.filter(isPlace).map(term => term.operator))
    if (places.has('dm') || (places.has('channel') && places.has('topic'))) return terms
    throw badNarrow(`there is no message with ID ${id}`, 'not-found')
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
