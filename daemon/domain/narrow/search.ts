// Full-text search: what was asked for, whether a message has it, and where.

import { occurrences } from '../model/message-store/words.ts'
import { escapeHtml } from '../values/escape.ts'

/** Words and quoted phrases, in lower case, each once. Of an address, its scheme does not count. */
export function searchTerms(operand: string): string[] {
  const terms = new Set<string>()
  for (const [, phrase, word] of operand.toLowerCase().matchAll(/"([^"]*)"|([^\s"]+)/g)) {
    const term = (phrase ?? word!.replace(/^[a-z]+:\/\/(?=.)/, '')).trim().replace(/\s+/g, ' ')
    if (term !== '') terms.add(term)
  }
  return [...terms]
}

// OPEN: words match whole and as written, whatever their case; no stemming.
export function hasTerm(lower: string, term: string): boolean {
  return !occurrences(lower, term).next().done
}

/** How long that can take, in characters of a plain text: in one that repeats itself, a long phrase is compared at every place. */
export function searchCost(lower: string, term: string): number {
  return lower.length * (1 + term.length / 32)
}

/** HTML with every hit in its text marked. */
export function highlight(html: string, terms: readonly string[]): string {
  return mark(html, terms.map(escapeHtml))
}

export function highlightedText(text: string, terms: readonly string[]): string {
  const escaped = (plain: string) => escapeHtml(plain).replaceAll("'", '&#39;')
  return mark(escaped(text), terms.map(escaped))
}

function mark(html: string, terms: readonly string[]): string {
  // The only letter whose lower case has another length, with which positions would not fit.
  const lower = html.replace(/[^İ]+/g, part => part.toLowerCase())
  const hits = terms.flatMap(term => [...occurrences(lower, term)]).sort((a, b) => a[0] - b[0] || b[1] - a[1])
  // Tags and entities, in which a hit is no text.
  const others = html.matchAll(/<[^<>]*>|&#?\w+;/g)
  let other = others.next().value
  let result = ''
  let at = 0
  for (const [from, to] of hits) {
    while (other && endOf(other) <= from) other = others.next().value
    if (from < at || (other && other.index < from && to < endOf(other))) continue
    result += `${html.slice(at, from)}<span class="highlight">${html.slice(from, to)}</span>`
    at = to
  }
  return result + html.slice(at)
}

function endOf({ 0: { length }, index }: RegExpMatchArray & { readonly index: number }): number {
  return index + length
}
