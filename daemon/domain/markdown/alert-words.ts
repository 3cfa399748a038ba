// Alert words: case does not matter, but they must be whole words. A text is cut into pieces once, and each piece
// is looked up; how many words people have does not matter.

import type { State } from '../model/state.ts'

/** Between two words; each is a piece of its own. */
const boundary = /([\s()[\]{}<>"'“”‘’.,;:!?*`])/

/** All words that begin with the same pieces. A word has at most 100 characters, so it is at most that deep. */
interface Node {
  readonly next: Map<string, Node>
  /** The word that ends here, and who has it. */
  word?: string
  users: number[]
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
    node.word = word
    node.users.push(userId)
    this.size++
  }

  /** Every word that occurs. Bounded by the pieces of the text times the depth of the words. */
  *in(text: string): Generator<Node> {
    const pieces = splitPieces(text.toLowerCase())
    for (let start = 0; start < pieces.length; start++) {
      // A word that begins with a boundary must itself follow one.
      if (start > 0 && isBoundary(pieces[start]!) && !isBoundary(pieces[start - 1]!)) continue
      let node = this.#root.next.get(pieces[start]!)
      for (let at = start; node; node = this.#after(node, pieces[++at]))
        if (node.word !== undefined && endsAt(pieces, at)) yield node
    }
  }

  #after(node: Node, piece: string | undefined): Node | undefined {
    return piece === undefined ? undefined : node.next.get(piece)
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
function endsAt(pieces: readonly string[], at: number): boolean {
  const after = pieces[at + 1]
  return after === undefined || isBoundary(after)
}

/** Which of the words (given in lower case) occur. */
export function alertWordsIn(text: string, words: Iterable<string>): string[] {
  const known = new Words()
  for (const word of words) known.add(word, 0)
  return [...new Set([...known.in(text)].map(({ word }) => word!))]
}

const alertWords = new WeakMap<State, { readonly version: number; readonly words: Words }>()

/** Users one of whose alert words the text has, ascending. */
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
  for (const node of new Set(known.words.in(content))) for (const userId of node.users) found.add(userId)
  return [...found].sort((a, b) => a - b)
}
