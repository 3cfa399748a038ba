// Links in topics: linkifier matches first, then bare addresses where they left room; in the order of the text.

import type { State } from '../model/state.ts'
import { type LinkifierMatch, linkifiers } from './organization-content.ts'
import { linkifierMatches } from './plain-text.ts'
import { bareUrlEnd } from './urls.ts'

export interface TopicLink {
  readonly text: string
  readonly url: string
}

export function topicLinks(state: State, topic: string): TopicLink[] {
  return linksIn(topic, linkifiers(state))
}

export function linksIn(topic: string, list: ReturnType<typeof linkifiers>): TopicLink[] {
  const addresses = { match: bareAddresses }
  return linkifierMatches(topic, [...list, addresses]).map(({ start, end, url }) => ({
    text: topic.slice(start, end),
    url,
  }))
}

function bareAddresses(text: string): LinkifierMatch[] {
  const found: LinkifierMatch[] = []
  if (!text.includes('://')) return found
  for (const { index } of text.matchAll(/(?<![\p{L}\p{N}_])https?:\/\//giu)) {
    if (index < (found.at(-1)?.end ?? 0)) continue
    const end = bareUrlEnd(text, index)
    if (end !== undefined) found.push({ start: index, end, url: text.slice(index, end) })
  }
  return found
}
