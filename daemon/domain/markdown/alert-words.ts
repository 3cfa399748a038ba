// Alert words: case does not matter, but they must stand by themselves.

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
