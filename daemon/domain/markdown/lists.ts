// Lists and paragraphs as the public server reads them, where markdown-it follows CommonMark: a list may begin with any number and
// with any bullet, bullets of one list may differ, and the spaces of continued lines stay.

import type { StateBlock, Token } from 'markdown-it'

type Rule = (state: StateBlock, startLine: number, endLine: number, silent: boolean) => boolean

/** A list of any number ends the paragraph before it; markdown-it lets only those that begin with 1. */
export function interruptingList(list: Rule): Rule {
  return (state, startLine, endLine, silent) => {
    if (!silent || state.parentType !== 'paragraph' || !itemLine.test(lineOf(state, startLine)))
      return list(state, startLine, endLine, silent)
    state.parentType = 'root'
    const found = list(state, startLine, endLine, silent)
    state.parentType = 'paragraph'
    return found
  }
}

const itemLine = /^ *(?:[*+-]|\d\.) +/

function lineOf(state: StateBlock, line: number): string {
  return state.src.slice(state.bMarks[line]! + state.tShift[line]!, state.eMarks[line]!)
}

/** Like the rule of markdown-it, but spaces at the end stay, and so do those of the lines that continue an item. */
export const parseParagraph: Rule = (state, startLine, endLine) => {
  const rules = state.md.block.ruler.getRules('paragraph')
  const { parentType } = state
  const startsItem = state.tokens.at(-1)?.type === 'list_item_open'
  state.parentType = 'paragraph'
  let end = startLine + 1
  for (; end < endLine && !state.isEmpty(end); end++) {
    // Deeper by four, or a quote that was left: no block begins there.
    if (state.sCount[end]! - state.blkIndent > 3 || state.sCount[end]! < 0) continue
    if (rules.some(rule => rule(state, end, endLine, true))) break
  }
  const indent = startsItem ? Math.max(0, state.blkIndent - itemIndent) : state.blkIndent
  const first = state.getLines(startLine, startLine + 1, state.blkIndent, false).trimStart()
  const rest = end > startLine + 1 ? `\n${state.getLines(startLine + 1, end, indent, false)}` : ''
  state.line = end
  const open = state.push('paragraph_open', 'p', 1)
  open.map = [startLine, end]
  const inline = state.push('inline', '', 0)
  inline.content = first + rest
  inline.map = [startLine, end]
  inline.children = []
  state.push('paragraph_close', 'p', -1)
  state.parentType = parentType
  return true
}

/** Spaces by which the content of an item is deeper than its list. */
const itemIndent = 2

/** Items that follow each other are one list, whatever their bullets are. */
export function mergeLists(tokens: readonly Token[]): Token[] {
  const merged: Token[] = []
  for (const token of tokens) {
    const before = merged.at(-1)
    if (token.type === 'bullet_list_open' && before?.type === 'bullet_list_close' && before.level === token.level)
      merged.pop()
    else merged.push(token)
  }
  return merged
}

/** A list inside an item follows its text without a line break. */
export const listRules = { bullet_list_open: openList, ordered_list_open: openList }

function openList(tokens: Token[], at: number): string {
  const token = tokens[at]!
  const start = token.attrGet('start')
  return `<${token.tag}${start === null ? '' : ` start="${Number(start)}"`}>\n`
}
