// Names of languages: the highlighter's name for the word after a code fence.

import languages from '../../../data/languages.json' with { type: 'json' }

// Shared by all worlds: made from a file that ships with the program, and never changed after that.
let byWord: ReadonlyMap<string, string> | undefined

/** The display name; the word itself if it is unknown. */
export function languageName(word: string): string {
  byWord ??= new Map(Object.entries(languages).flatMap(([name, words]) => words.split(' ').map(alias => [alias, name])))
  return byWord.get(word.toLowerCase()) ?? word
}
