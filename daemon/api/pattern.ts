// Patterns that callers write, such as `/ok|done/i`. They run on RE2, whose work grows with the length of the text and no faster:
// the engine of JavaScript can take hours for 30 characters.

import { RE2JS } from 're2js'

export const patternLimits = {
  /** Characters of a pattern. */
  length: 1000,
  /** Instructions that it compiles to. `{1,200}` repeats those of what it follows. */
  size: 200,
  /** Characters of a text that are searched, from its beginning. */
  text: 10_000,
} as const

export interface Pattern {
  /** Instructions: what one character of text costs at most. */
  readonly size: number
  test(text: string): boolean
}

const flagsByLetter: Readonly<Record<string, () => number>> = {
  i: () => RE2JS.CASE_INSENSITIVE,
  m: () => RE2JS.MULTILINE,
  s: () => RE2JS.DOTALL,
  // RE2 always reads characters, not halves of them.
  u: () => 0,
}

/** A text such as `/ok|done/i` as pattern and flags; undefined for any other text. */
export function patternIn(text: string): { readonly source: string; readonly flags: string } | undefined {
  const [, source, flags] = /^\/(.+)\/([a-z]*)$/s.exec(text) ?? []
  return source === undefined ? undefined : { source, flags: flags! }
}

/** Compiles a pattern in the syntax of RE2, with groups as JavaScript names them, or says what is wrong with it. */
export function compilePattern(source: string, flags = ''): Pattern | { readonly problem: string } {
  const unknown = [...flags].find(letter => !Object.hasOwn(flagsByLetter, letter))
  if (unknown !== undefined) return { problem: `has the unknown flag ${unknown}; use i, m, s or u` }
  if (source.length > patternLimits.length)
    return { problem: `the pattern must have at most ${patternLimits.length} characters` }
  // Otherwise taken for the letter k.
  if (/\\k</.test(source)) return { problem: outside('\\k') }
  try {
    const mask = [...flags].reduce((sum, letter) => sum | flagsByLetter[letter]!(), 0)
    const compiled = RE2JS.compile(RE2JS.translateRegExp(source), mask)
    const size = compiled.programSize()
    if (size > patternLimits.size) return { problem: 'the pattern repeats too much; use smaller numbers in {}' }
    return { size, test: text => compiled.test(text.slice(0, patternLimits.text)) }
  } catch (error) {
    return { problem: outside((error as Error).message.replace('error parsing regexp: ', '')) }
  }
}

function outside(problem: string): string {
  return `must be a regular expression in RE2 syntax, without lookaround and backreferences: ${problem}`
}
