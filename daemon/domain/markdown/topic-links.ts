// Links in topics: linkifier matches first, then bare addresses in the rest of the text; in the order of the text.

import type { State } from '../model/state.ts'
import { findBareLinks } from './bare-links.ts'
import { linkifiers } from './organization-content.ts'
import { linkifierMatches } from './plain-text.ts'

interface TopicLink {
  readonly text: string
  readonly url: string
}

export function topicLinks(state: State, topic: string): TopicLink[] {
  return linkifierMatches(topic, [...linkifiers(state), { match: findBareLinks }]).map(({ start, end, url }) => ({
    text: topic.slice(start, end),
    url,
  }))
}
