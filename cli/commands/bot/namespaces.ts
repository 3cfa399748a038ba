// The namespaces of a handler in TypeScript. They are removed with its types, also those that have code.

// @ts-expect-error: sucrase publishes no types for its parser.
import { parse } from 'sucrase/dist/parser/index.js'

interface Token {
  readonly start: number
  readonly end: number
  /** Whether it is removed. */
  readonly isType: boolean
}

const header = /(?:namespace|module)\s+([\w$\u0080-\uffff.]+)\s*\{/y

/** The name and the line of the first namespace that has more than types in it. */
export function findNamespaceWithCode(source: string): { readonly name: string; readonly line: number } | undefined {
  // Most files have none, and are not parsed again.
  if (!/\b(?:namespace|module)\s+[^\s.=]/.test(source)) return undefined
  const found: { name: string; start: number; brace: number }[] = []
  let previous = ''
  for (const { start, end, isType } of tokensOf(source)) {
    header.lastIndex = start
    const [text, name] = (isType && previous !== 'declare' && header.exec(source)) || []
    if (text) found.push({ name: name!, start, brace: start + text.length - 1 })
    previous = source.slice(start, end)
  }
  // As blocks they show which of their parts are types.
  let blocks = source
  for (const { start, brace } of found)
    blocks =
      blocks.slice(0, start).replace(/\bexport\s+$/, blank) + blank(source.slice(start, brace)) + blocks.slice(brace)
  const tokens = tokensOf(blocks)
  const first = found.find(({ brace }) =>
    hasCode(blocks, tokens.slice(tokens.findIndex(({ start }) => start === brace))),
  )
  return first && { name: first.name, line: source.slice(0, first.start).split('\n').length }
}

function tokensOf(source: string): readonly Token[] {
  return parse(source, false, true, false).tokens
}

function blank(text: string): string {
  return text.replace(/\S/g, ' ')
}

/** Whether anything is left of the block that the tokens begin with. Nothing is, if it is inside of a declaration. */
function hasCode(source: string, tokens: readonly Token[]): boolean {
  if (tokens[0]?.isType) return false
  let depth = 0
  for (const { start, end, isType } of tokens) {
    if (isType) continue
    const text = source.slice(start, end)
    if (text === '{') depth++
    else if (text !== '}') {
      if (text !== ';') return true
    } else if (--depth === 0) return false
  }
  return false
}
