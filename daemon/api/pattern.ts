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

/**
 * A text such as `/ok|done/i` as pattern and flags; undefined for any other text. A path such as `/api/v1/register` is none: its end
 * has other letters than the flags of JavaScript.
 */
export function patternIn(text: string): { readonly source: string; readonly flags: string } | undefined {
  const [, source, flags] = /^\/(.+)\/([dgimsuvy]*)$/s.exec(text) ?? []
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
  if (expandedSize(source) > costliest) return { problem: repeatsTooMuch }
  try {
    const mask = [...flags].reduce((sum, letter) => sum | flagsByLetter[letter]!(), 0)
    const compiled = RE2JS.compile(RE2JS.translateRegExp(source), mask)
    const size = compiled.programSize()
    if (size > patternLimits.size) return { problem: repeatsTooMuch }
    return { size, test: text => compiled.test(text.slice(0, patternLimits.text)) }
  } catch (error) {
    return { problem: outside((error as Error).message.replace('error parsing regexp: ', '')) }
  }
}

export const repeatsTooMuch = 'the pattern repeats too much; use smaller numbers in {}'

/** What is larger is not compiled: that takes a second for 100,000. */
export const costliest = 10_000

/** About as many instructions as a pattern compiles to. To repeat something by `{1,200}` repeats its instructions. */
export function expandedSize(source: string): number {
  // The sizes of groups that are open, the outermost first, and of what comes last in the innermost.
  const open = [0]
  let last = 0
  const add = (size: number) => {
    last = size
    open[open.length - 1]! += size
  }
  for (const [token, , least, , most] of source.matchAll(tokens)) {
    if (token.startsWith('(')) open.push(1)
    else if (token === ')' && open.length > 1) add(open.pop()! + 1)
    else if (least !== undefined) add(last * (Math.max(Number(least), Number(most || 0)) - 1))
    else if (!/^[*+?]$/.test(token)) add(1)
  }
  return open.reduce((sum, size) => sum + size)
}

/** A beginning of a group, a repetition, a character that is escaped, a class of characters, or a character. */
const tokens =
  /\((?:\?(?:P?<\w*>|[a-zA-Z-]*:))?|(\{(\d+)(,(\d*))?\})|\\[pPx]\{[^}]*\}|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|./gsu

function outside(problem: string): string {
  return `must be a regular expression in RE2 syntax, without lookaround and backreferences: ${problem}`
}
