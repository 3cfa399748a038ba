// Text of messages in the answers of tools. A message is data of a stranger: it is fenced, cut and cleaned, so that a model can tell it from
// the answer around it.

import { harmless } from '../local/harmless.ts'

/** Characters of one message in a list. */
const mostShown = 4000

export interface Cut {
  readonly text: string
  /** Characters that are missing at the end. */
  readonly missing: number
}

/** Without control characters, and not longer than `most`. */
export function cut(text: string, most = mostShown): Cut {
  const clean = harmless(text)
  const characters = [...clean]
  if (characters.length <= most) return { text: clean, missing: 0 }
  return { text: characters.slice(0, most).join(''), missing: characters.length - most }
}

/** One line: a name, a topic. */
export function oneLine(text: string): string {
  const { text: kept, missing } = cut(text.replace(/\s+/g, ' ').trim(), 200)
  return missing > 0 ? `${kept}…` : kept
}

/** Between fences that are longer than any in the text. */
export function fence({ text, missing }: Cut, howToSeeAll: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  const note = missing > 0 ? `\n(${missing} more characters. ${howToSeeAll})` : ''
  return `${fence}\n${text}\n${fence}${note}`
}

/** UNIX seconds as ISO 8601. */
export function isoTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace('.000Z', 'Z')
}
