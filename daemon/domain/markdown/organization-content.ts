// What an organization adds to Markdown: custom emoji and linkifiers. The one place where the renderer meets their rows.

import type { State } from '../state.ts'

export interface CustomEmoji {
  readonly id: number
  readonly name: string
  readonly deactivated: boolean
  readonly src: string
}

export interface CustomEmojiLookup {
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
  /** Matches that follow the rules on what stands before and after, from left to right. */
  match(text: string): Iterable<LinkifierMatch>
}

export function customEmoji(_state: State): CustomEmojiLookup {
  return { named: () => undefined, withId: () => undefined }
}

/** In the order of the list: the earlier wins where two overlap. */
export function linkifiers(_state: State): readonly Linkifier[] {
  return []
}
