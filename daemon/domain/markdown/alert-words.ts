// Alert words: case does not matter, but they must be whole words. A text is cut into pieces once, and what begins at each piece is looked
// up among the words; how many words people have does not matter.

import type { AlertWords } from '../model/rows/people.ts'
import type { State } from '../model/state.ts'

/** A character between words. Each is a piece of its own when a text is split. */
const boundary = /[\s()[\]{}<>"'“”‘’.,;:!?*`]/
/** The answer for the characters that most texts are made of. */
const ascii = Array.from({ length: 128 }, (_, code) => boundary.test(String.fromCharCode(code)))

/** The words of all accounts. */
class Words {
  /** IDs of the users who have a word. */
  readonly #users = new Map<string, Set<number>>()
  /** How many words there are, by their first piece and the number of their pieces: at most 100, because a word has at most 100 characters. */
  readonly #counts = new Map<string, Map<number, number>>()
  readonly #rows = new Map<number, AlertWords>()

  get size(): number {
    return this.#users.size
  }

  /** Takes what has changed: the words of all other accounts stay as they are. */
  update(rows: State['alertWords']): void {
    for (const row of rows.values()) {
      const { userId } = row
      const before = this.#rows.get(userId)
      if (before === row) continue
      for (const word of before?.words ?? []) this.#remove(word.toLowerCase(), userId)
      for (const word of row.words) this.#add(word.toLowerCase(), userId)
      this.#rows.set(userId, row)
    }
    if (this.#rows.size === rows.size) return
    for (const [userId, { words }] of this.#rows) {
      if (rows.has(userId)) continue
      for (const word of words) this.#remove(word.toLowerCase(), userId)
      this.#rows.delete(userId)
    }
  }

  /** The users of every word that occurs. Bounded by the pieces of the text times the numbers of pieces that words have. */
  *find(text: string): Generator<ReadonlySet<number>> {
    const lower = text.toLowerCase()
    const pieces = splitPieces(lower)
    const ends: number[] = []
    for (const piece of pieces) ends.push((ends.at(-1) ?? 0) + piece.length)
    for (const [start, piece] of pieces.entries()) {
      const counts = this.#counts.get(piece)
      // A word that begins with a boundary must itself follow one.
      if (!counts || (start > 0 && isBoundary(piece) && !isBoundary(pieces[start - 1]!))) continue
      for (const count of counts.keys()) {
        const last = start + count - 1
        if (last >= pieces.length || !isWordEnd(pieces, last)) continue
        const users = this.#users.get(lower.slice(ends[start]! - piece.length, ends[last]))
        if (users) yield users
      }
    }
  }

  #add(word: string, userId: number): void {
    const pieces = splitPieces(word)
    if (pieces.length === 0) return
    const users = this.#users.get(word)
    if (users) return void users.add(userId)
    this.#users.set(word, new Set([userId]))
    const counts = this.#counts.get(pieces[0]!) ?? new Map<number, number>()
    this.#counts.set(pieces[0]!, counts.set(pieces.length, (counts.get(pieces.length) ?? 0) + 1))
  }

  #remove(word: string, userId: number): void {
    const users = this.#users.get(word)
    if (!users?.delete(userId) || users.size > 0) return
    this.#users.delete(word)
    const pieces = splitPieces(word)
    const [first, { length }] = [pieces[0]!, pieces]
    const counts = this.#counts.get(first)!
    const left = counts.get(length)! - 1
    if (left > 0) counts.set(length, left)
    else counts.delete(length)
    if (counts.size === 0) this.#counts.delete(first)
  }
}

/** By hand: a pattern takes several times as long, and after a start this is done for the words of all accounts. */
function splitPieces(text: string): string[] {
  const pieces: string[] = []
  let from = 0
  for (let at = 0; at < text.length; at++) {
    if (!(ascii[text.charCodeAt(at)] ?? boundary.test(text[at]!))) continue
    if (at > from) pieces.push(text.slice(from, at))
    pieces.push(text[at]!)
    from = at + 1
  }
  if (from < text.length) pieces.push(text.slice(from))
  return pieces
}

function isBoundary(piece: string): boolean {
  return piece.length === 1 && boundary.test(piece)
}

/** A word ends where the text does, or before a boundary. */
function isWordEnd(pieces: readonly string[], at: number): boolean {
  const after = pieces[at + 1]
  return after === undefined || isBoundary(after)
}

const alertWords = new WeakMap<State, { readonly version: number; readonly words: Words }>()

/** IDs of the users with an alert word in the text, ascending. */
export function alertedBy(state: State, content: string): readonly number[] {
  let known = alertWords.get(state)
  if (known?.version !== state.alertWords.version) {
    const words = known?.words ?? new Words()
    words.update(state.alertWords)
    known = { version: state.alertWords.version, words }
    alertWords.set(state, known)
  }
  if (known.words.size === 0) return []
  const found = new Set<number>()
  for (const users of new Set(known.words.find(content))) for (const userId of users) found.add(userId)
  return [...found].sort((a, b) => a - b)
}
