// Addresses that are links without any markup: with a scheme, or a domain with a known ending, or of mail. Which words they are,
// and where they end, is as on the public server.

import topLevelDomains from '../../../data/top-level-domains.json' with { type: 'json' }

export interface BareLink {
  readonly start: number
  readonly end: number
  /** The address as a link, with a scheme. */
  readonly url: string
}

/** Cheap and never wrong: whether a text can hold one. */
function mayHoldLinks(text: string): boolean {
  return /[\p{L}\p{N}_-]\.[\p{L}\p{N}]|:\/\/|bitcoin:/u.test(text)
}

/** From left to right. */
export function findBareLinks(text: string): BareLink[] {
  const found: BareLink[] = []
  if (!mayHoldLinks(text)) return found
  for (const { 0: word, index } of text.matchAll(/\S+/g)) {
    const link = linkInWord(word)
    if (link) found.push({ ...link, start: index + link.start, end: index + link.end })
  }
  return found
}

/** Where in a word a link is looked for; more would take quadratic time on a word that is made for it. */
const mostStarts = 16

/** A word holds one link at most: after it only punctuation may follow. */
function linkInWord(word: string): BareLink | undefined {
  if (!mayHoldLinks(word)) return undefined
  // Punctuation of the sentence around a link is no part of it.
  let tail = word.length
  while (tail > 0 && `!:;?),.'">`.includes(word[tail - 1]!)) tail--
  let starts = 0
  for (const { index } of word.matchAll(/(?<![^'"(,:<])[\p{L}\p{N}_.-]/gu)) {
    if (++starts > mostStarts) return undefined
    const link = linkAt(word, index, tail)
    if (link) return link
  }
  return undefined
}

function linkAt(word: string, start: number, tail: number): BareLink | undefined {
  // In here, so that a start does not pay for classes of Unicode.
  const scheme = /https?:\/\//y
  const host = /[\p{L}\p{N}_.:@-]+/uy
  const domain = /(?:[\p{L}\p{N}_-]+\.)+([\p{L}\p{N}_-]+)/uy
  const mail = /[\p{L}\p{N}_.-]+@[\p{L}\p{N}_.-]+\.[\p{L}\p{N}_]+/uy
  const coin = /bitcoin:[13][a-km-zA-HJ-NP-Z1-9]{25,34}/y
  const schemeEnd = findEnd(scheme, word, start)
  if (schemeEnd !== undefined) {
    const hostEnd = findEnd(host, word, schemeEnd)
    const end = hostEnd === undefined ? undefined : linkEnd(word, hostEnd, Math.max(tail, schemeEnd + 1))
    return end === undefined ? undefined : { start, end, url: word.slice(start, end) }
  }
  if (findEnd(coin, word, start) === tail) return { start, end: tail, url: word.slice(start, tail) }
  const domainEnd = findEnd(domain, word, start)
  if (domainEnd !== undefined && endsInTopLevelDomain(word.slice(start, domainEnd))) {
    const end = linkEnd(word, domainEnd, tail)
    if (end !== undefined) return { start, end, url: `http://${word.slice(start, end)}` }
  }
  const mailEnd = findEnd(mail, word, start)
  return mailEnd === tail ? { start, end: tail, url: `mailto:${word.slice(start, tail)}` } : undefined
}

function findEnd(pattern: RegExp, text: string, start: number): number | undefined {
  pattern.lastIndex = start
  return pattern.test(text) ? pattern.lastIndex : undefined
}

/** The end of the path after the host, or of the host; undefined if something else follows than punctuation. */
function linkEnd(word: string, hostEnd: number, tail: number): number | undefined {
  if (word[hostEnd] !== '/') return hostEnd >= tail ? tail : undefined
  let depth = 0
  for (let at = hostEnd + 1; at <= word.length; at++) {
    if (at >= tail && depth === 0) return at
    if (word[at] === '"') return undefined
    if (word[at] === '(' && ++depth > deepest) return undefined
    if (word[at] === ')' && --depth < 0) return undefined
  }
  return undefined
}

/** Parentheses inside each other that a path may have. */
const deepest = 7

// Shared by all worlds: made from a file that ships with the program, and never changed after that.
let endings: ReadonlySet<string> | undefined

function endsInTopLevelDomain(name: string): boolean {
  endings ??= new Set(topLevelDomains.split(' '))
  return endings.has(name.slice(name.lastIndexOf('.') + 1))
}
