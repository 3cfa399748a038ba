// Full-text search: what was asked for, whether a message has it, and where.

import { occurrences } from '../model/message-store/words.ts'
import { escapeHtml } from '../values/escape.ts'

/** Words and quoted phrases, in lower case. Of an address, its scheme does not count. */
export function searchTerms(operand: string): string[] {
  const terms: string[] = []
  for (const [, phrase, word] of operand.toLowerCase().matchAll(/"([^"]*)"|([^\s"]+)/g)) {
    const term = (phrase ?? word!.replace(/^[a-z]+:\/\/(?=.)/, '')).trim().replace(/\s+/g, ' ')
    if (term !== '') terms.push(term)
  }
  return terms
}

// OPEN: words match whole and as written, whatever their case; no stemming.
export function hasTerms(text: string, terms: readonly string[]): boolean {
  const lower = text.toLowerCase()
  return terms.every(term => lower.includes(term) && occurrences(lower, term).length > 0)
}

/** HTML with every hit in its text marked. */
export function highlight(html: string, terms: readonly string[]): string {
  const escaped = terms.map(escapeHtml)
  return html
    .split(/(<[^>]*>)/)
    .map((part, index) => (index % 2 === 1 ? part : mark(part, escaped)))
    .join('')
}

export function highlightedText(text: string, terms: readonly string[]): string {
  const escaped = (plain: string) => escapeHtml(plain).replaceAll("'", '&#39;')
  return mark(escaped(text), terms.map(escaped))
}

function mark(text: string, terms: readonly string[]): string {
  const lower = text.toLowerCase()
  // Where lower case has another length, positions would not fit.
  if (lower.length !== text.length) return text
  const entities = [...text.matchAll(/&#?\w+;/g)].map(({ 0: { length }, index }) => [index, index + length] as const)
  const hits = terms
    .flatMap(term => occurrences(lower, term))
    .filter(([from, to]) => !entities.some(([start, end]) => start < from && to < end))
    .sort((a, b) => a[0] - b[0] || b[1] - a[1])
  let result = ''
  let at = 0
  for (const [from, to] of hits) {
    if (from < at) continue
    result += `${text.slice(at, from)}<span class="highlight">${text.slice(from, to)}</span>`
    at = to
  }
  return result + text.slice(at)
}
