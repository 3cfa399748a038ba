// Places of messages: topics of channels and direct conversations, each with its list of messages. A topic keeps one list
// however its name is spelled in upper and lower case; every spelling is a place of its own.

import { IdList } from './id-list.ts'
import { wordHashes } from './words.ts'

export interface Thread {
  /** 0 for a direct conversation. */
  readonly channelId: number
  /** The topic in lower case; empty for a direct conversation. */
  readonly key: string
  readonly conversationId: number
  readonly ids: IdList
}

export interface Place {
  readonly number: number
  readonly topic: string
  readonly thread: Thread
}

export class Places {
  readonly #places: Place[] = []
  /** By the numbers of places: asked for when many messages are gone through. */
  readonly #channelIds: number[] = []
  readonly #byTopic = new Map<number, Map<string, Place>>()
  readonly #threads = new Map<number, Map<string, Thread>>()
  readonly #threadsByKey = new Map<string, Thread[]>()
  readonly #threadsByWord = new Map<number, Thread[]>()
  readonly #conversations = new Map<number, Place>()

  get(number: number): Place {
    return this.#places[number]!
  }

  channelId(number: number): number {
    return this.#channelIds[number]!
  }

  ofTopic(channelId: number, topic: string): Place {
    let places = this.#byTopic.get(channelId)
    if (!places) {
      places = new Map()
      this.#byTopic.set(channelId, places)
    }
    let place = places.get(topic)
    if (!place) {
      place = { number: this.#places.length, topic, thread: this.#openThread(channelId, topic.toLowerCase()) }
      places.set(topic, place)
      this.#add(place)
    }
    return place
  }

  ofConversation(conversationId: number): Place {
    let place = this.#conversations.get(conversationId)
    if (!place) {
      const thread = { channelId: 0, key: '', conversationId, ids: new IdList() }
      place = { number: this.#places.length, topic: '', thread }
      this.#conversations.set(conversationId, place)
      this.#add(place)
    }
    return place
  }

  thread(channelId: number, topic: string): Thread | undefined {
    return this.#threads.get(channelId)?.get(topic.toLowerCase())
  }

  conversation(conversationId: number): Thread | undefined {
    return this.#conversations.get(conversationId)?.thread
  }

  /** Topics of a channel that have ever been. */
  threadsOf(channelId: number): Iterable<Thread> {
    return this.#threads.get(channelId)?.values() ?? []
  }

  /** The topic of this name in every channel. */
  threadsNamed(topic: string): readonly Thread[] {
    return this.#threadsByKey.get(topic.toLowerCase()) ?? []
  }

  /** Topics whose name has a word with this hash. */
  threadsWithWord(hash: number): readonly Thread[] {
    return this.#threadsByWord.get(hash) ?? []
  }

  /** In the order of their numbers, which segments refer to. */
  save(): unknown[] {
    return this.#places.map(({ topic, thread }) =>
      thread.conversationId === 0 ? [thread.channelId, topic] : thread.conversationId,
    )
  }

  load(saved: readonly unknown[]): void {
    for (const place of saved) {
      if (typeof place === 'number') this.ofConversation(place)
      else this.ofTopic(...(place as [number, string]))
    }
  }

  #add(place: Place): void {
    this.#places.push(place)
    this.#channelIds.push(place.thread.channelId)
  }

  #openThread(channelId: number, key: string): Thread {
    let threads = this.#threads.get(channelId)
    if (!threads) {
      threads = new Map()
      this.#threads.set(channelId, threads)
    }
    let thread = threads.get(key)
    if (!thread) {
      thread = { channelId, key, conversationId: 0, ids: new IdList() }
      threads.set(key, thread)
      push(this.#threadsByKey, key, thread)
      for (const hash of wordHashes(key)) push(this.#threadsByWord, hash, thread)
    }
    return thread
  }
}

/** Puts one more into a group. */
export function push<K, V>(groups: Map<K, V[]>, key: K, one: V): void {
  const group = groups.get(key)
  if (group) group.push(one)
  else groups.set(key, [one])
}
