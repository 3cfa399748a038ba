// Markdown to HTML. HTML in the source is always escaped.

import type { Asker } from '../permissions.ts'
import type { Channel, State } from '../state.ts'
import { escapeHtml } from './escape.ts'
import { findMentions } from './mentions.ts'

export { escapeHtml } from './escape.ts'

export interface Mentions {
  /** Users named, ascending; silent mentions do not count. */
  readonly userIds: readonly number[]
  /** Groups named, ascending. */
  readonly groupIds: readonly number[]
  readonly channelWildcard: boolean
  readonly topicWildcard: boolean
}

export interface Rendered {
  readonly html: string
  readonly mentions: Mentions
  readonly hasLink: boolean
  readonly hasImage: boolean
  readonly hasAttachment: boolean
  /** The message begins with `/me `. */
  readonly isMe: boolean
}

/** Where the text stands; null when nowhere in particular. */
export type RenderPlace = { readonly channel?: Channel; readonly topic?: string } | null

/** Renders a message as its author writes it. */
export function render(asker: Asker, source: string, _place: RenderPlace): Rendered {
  const { html, mentions } = findMentions(asker.state, source)
  return {
    html: `<p>${html}</p>`,
    mentions,
    hasLink: /https?:\/\/\S/.test(source),
    hasImage: /https?:\/\/\S+\.(png|jpe?g|gif|webp)\b/i.test(source),
    hasAttachment: source.includes('/user_uploads/'),
    isMe: source.startsWith('/me '),
  }
}

/** Links that the organization's linkifiers find in a topic. */
export function topicLinks(_state: State, _topic: string): { text: string; url: string }[] {
  return []
}

/** Renders what has no author or place: descriptions, profile fields. */
export function renderInline(_state: State, source: string): string {
  return source === '' ? '' : `<p>${escapeHtml(source)}</p>`
}
