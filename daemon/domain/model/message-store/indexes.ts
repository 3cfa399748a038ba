// Messages by what they are: channel, sender, mention, alert word, kind of content.

import { IdList } from './id-list.ts'
import { type Details, marks } from './message.ts'

/** Kinds of content that can be asked for. */
const kinds = { link: marks.link, image: marks.image, attachment: marks.attachment } as const
export type Kind = keyof typeof kinds

const none = new IdList()

/** One list per channel, or per user. */
export class Lists {
  readonly #lists = new Map<number, IdList>()

  of(key: number): IdList {
    return this.#lists.get(key) ?? none
  }

  open(key: number): IdList {
    let list = this.#lists.get(key)
    if (!list) {
      list = new IdList()
      this.#lists.set(key, list)
    }
    return list
  }
}

export class Indexes {
  readonly channels = new Lists()
  readonly senders = new Lists()
  /** Mentioned by name, through a group or as one who took part in the topic. */
  readonly mentions = new Lists()
  readonly alerts = new Lists()
  readonly channelWildcards = new IdList()
  readonly reacted = new IdList()
  readonly kinds: Readonly<Record<Kind, IdList>> = {
    link: new IdList(),
    image: new IdList(),
    attachment: new IdList(),
  }

  addContent(id: number, found: number, details: Details | undefined): void {
    for (const list of this.#ofMarks(found)) list.add(id)
    for (const list of this.#ofPeople(details)) list.add(id)
  }

  removeContent(id: number, found: number, details: Details | undefined): void {
    for (const list of this.#ofMarks(found)) list.removeAll([id])
    for (const list of this.#ofPeople(details)) list.removeAll([id])
  }

  #ofMarks(found: number): IdList[] {
    if (found === 0) return nothing
    const lists = kindEntries.filter(([, mark]) => (found & mark) !== 0).map(([kind]) => this.kinds[kind])
    if ((found & marks.channelWildcard) !== 0) lists.push(this.channelWildcards)
    return lists
  }

  #ofPeople(details: Details | undefined): IdList[] {
    if (!details) return nothing
    const { mentioned = [], topicMentioned = [], alerted = [] } = details
    return [
      ...[...mentioned, ...topicMentioned].map(userId => this.mentions.open(userId)),
      ...alerted.map(userId => this.alerts.open(userId)),
    ]
  }
}

const nothing: IdList[] = []
const kindEntries = Object.entries(kinds) as [Kind, number][]
