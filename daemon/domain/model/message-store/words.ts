// Cutting text into words, for the full-text index and for searches in it.

/** Calls with the hash of every word of a lower-case text. Characters of scripts without spaces are words by themselves. */
export function eachWordHash(text: string, take: (hash: number) => void): void {
  let hash = start
  let inWord = false
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    const kind = classify(code)
    if (kind === 1) {
      hash = Math.imul(hash ^ code, prime)
      inWord = true
      continue
    }
    if (inWord) take(hash >>> 0 || 1)
    hash = start
    inWord = false
    if (kind === 2) take(Math.imul(start ^ code, prime) >>> 0 || 1)
  }
  if (inWord) take(hash >>> 0 || 1)
}

export function wordHashes(text: string): number[] {
  const hashes = new Set<number>()
  eachWordHash(text, hash => hashes.add(hash))
  return [...hashes]
}

/** The positions of a word or phrase in a lower-case text, not as a part of longer words. */
export function* occurrences(text: string, term: string): Generator<readonly [from: number, to: number]> {
  if (term === '') return
  const opens = classify(term.charCodeAt(0)) === 1
  const closes = classify(term.charCodeAt(term.length - 1)) === 1
  for (let at = text.indexOf(term); at !== -1; ) {
    const end = at + term.length
    const isWhole =
      !(opens && at > 0 && classify(text.charCodeAt(at - 1)) === 1) &&
      !(closes && end < text.length && classify(text.charCodeAt(end)) === 1)
    if (isWhole) yield [at, end]
    at = text.indexOf(term, isWhole ? end : at + 1)
  }
}

const start = 0x811c9dc5
const prime = 0x01000193

/** 0: between words; 1: part of a word; 2: a word by itself. */
function classify(code: number): 0 | 1 | 2 {
  if (code < 0x80) return (code >= 97 && code <= 122) || (code >= 48 && code <= 57) || code === 95 ? 1 : 0
  if (code < 0xc0) return code === 0xaa || code === 0xb5 || code === 0xba ? 1 : 0
  if (code === 0xd7 || code === 0xf7) return 0
  if (code >= 0x2000 && code <= 0x206f) return 0
  if (code >= 0x2e80 && code <= 0x303f) return code >= 0x3000 ? 0 : 2
  if ((code >= 0x3040 && code <= 0x9fff) || (code >= 0xac00 && code <= 0xd7af)) return 2
  if (code >= 0xf900 && code <= 0xfaff) return 2
  return code >= 0xff00 && code <= 0xff0f ? 0 : 1
}
