// Additions of an organization to Markdown: custom emoji and linkifiers. The one place where the renderer meets their rows.

import type { CustomEmoji as Row } from '../model/rows/organization.ts'
import type { State } from '../model/state.ts'
import { findMatches, LinkifierBudget, linkifiersInOrder } from './linkify.ts'

export interface CustomEmoji {
  readonly id: number
  readonly name: string
  readonly deactivated: boolean
  readonly src: string
}

interface CustomEmojiLookup {
  /** The active one of this name, if any. */
  named(name: string): CustomEmoji | undefined
  withId(id: number): CustomEmoji | undefined
}

export interface LinkifierMatch {
  readonly start: number
  readonly end: number
  readonly url: string
}

export interface Linkifier {
  /** Matches that follow the rules on what comes before and after, from left to right. */
  match(text: string): Iterable<LinkifierMatch>
}

export function customEmoji(state: State): CustomEmojiLookup {
  return {
    named: name => present(state.emoji.find('activeName', name)),
    withId: id => present(state.emoji.get(id)),
  }
}

function present(emoji: Row | undefined): CustomEmoji | undefined {
  return emoji && { id: emoji.id, name: emoji.name, deactivated: emoji.deactivated, src: emojiUrl(emoji) }
}

/** Served like avatars: the path ends in the name of the file. */
export function emojiUrl({ file }: Pick<Row, 'file'>): string {
  return `/user_avatars/emoji/images/${file}`
}

/** In the order of the list: the earlier wins where two overlap. For one text: they share what it may cost. */
export function linkifiers(state: State, budget = new LinkifierBudget()): readonly Linkifier[] {
  return linkifiersInOrder(state).map(linkifier => ({ match: text => findMatches(linkifier, text, budget) }))
}
