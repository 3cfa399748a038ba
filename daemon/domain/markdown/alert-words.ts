// Alert words: case does not matter, but they must stand by themselves.

import type { State } from '../model/state.ts'

const boundary = /[\s()[\]{}<>"'“”‘’.,;:!?*`]/

/** Which of the words (given in lower case) occur. */
export function alertWordsIn(text: string, words: Iterable<string>): string[] {
  const lower = text.toLowerCase()
  return [...words].filter(word => word !== '' && occurs(lower, word))
}

function occurs(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    const end = at + word.length
    if ((at === 0 || boundary.test(text[at - 1]!)) && (end === text.length || boundary.test(text[end]!))) return true
  }
  return false
}

const alertWords = new WeakMap<State, { readonly version: number; readonly users: Map<string, number[]> }>()

/** Users one of whose alert words the text has, ascending. */
export function alertedBy(state: State, content: string): readonly number[] {
  let known = alertWords.get(state)
  if (known?.version !== state.alertWords.version) {
    const users = new Map<string, number[]>()
    for (const { userId, words } of state.alertWords.values())
      for (const word of words) users.set(word.toLowerCase(), [...(users.get(word.toLowerCase()) ?? []), userId])
    known = { version: state.alertWords.version, users }
    alertWords.set(state, known)
  }
  if (known.users.size === 0) return []
  const found = alertWordsIn(content, known.users.keys()).flatMap(word => known.users.get(word)!)
  return [...new Set(found)].sort((a, b) => a - b)
}
