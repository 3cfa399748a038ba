// Alert words: case does not matter, but they must be whole words. A text is cut into pieces once, and each piece
// is looked up; how many words people have does not matter.

import type { State } from '../model/state.ts'

/** Characters between words. Each is a piece of its own when a text is split. */
const boundary = /([\s()[\]{}<>"'“”‘’.,;:!?*`])/

/** A node of a trie: the words that begin with the same pieces. At most 100 levels deep, because a word has at most 100 characters. */
interface Node {
  readonly next: Map<string, Node>
  /** IDs of the users who have the word that ends here; empty if none does. */
  readonly users: number[]
}

class Words {
  readonly #root = newNode()
  size = 0

  add(word: string, userId: number): void {
    let node = this.#root
    for (const piece of splitPieces(word)) {
      let next = node.next.get(piece)
      if (!next) {
        next = newNode()
        node.next.set(piece, next)
      }
      node = next
    }
    if (node === this.#root) return
    node.users.push(userId)
    this.size++
  }

  /** Every word that occurs. Bounded by the pieces of the text times the depth of the words. */
  *find(text: string): Generator<Node> {
    const pieces = splitPieces(text.toLowerCase())
    for (let start = 0; start < pieces.length; start++) {
      // A word that begins with a boundary must itself follow one.
      if (start > 0 && isBoundary(pieces[start]!) && !isBoundary(pieces[start - 1]!)) continue
      let node = this.#root.next.get(pieces[start]!)
      for (let at = start; node; node = node.next.get(pieces[++at] ?? ''))
        if (node.users.length > 0 && isWordEnd(pieces, at)) yield node
    }
  }
}

function newNode(): Node {
  return { next: new Map(), users: [] }
}

function splitPieces(text: string): string[] {
  return text.split(boundary).filter(piece => piece !== '')
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
    const all = new Words()
    for (const { userId, words } of state.alertWords.values())
      for (const word of words) all.add(word.toLowerCase(), userId)
    known = { version: state.alertWords.version, words: all }
    alertWords.set(state, known)
  }
  if (known.words.size === 0) return []
  const found = new Set<number>()
  for (const node of new Set(known.words.find(content))) for (const userId of node.users) found.add(userId)
  return [...found].sort((a, b) => a - b)
}
