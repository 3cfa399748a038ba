// Rules for whole lines: fences (code, quote, spoiler, math), how deep things nest, and what nests by how many spaces.

import type { StateBlock } from 'markdown-it'
import { escapeHtml } from '../model/escape.ts'
import { element } from './html.ts'
import { formulaHtml } from './inline.ts'
import { languageName } from './languages.ts'

/** Lists in quotes in lists …: what is deeper stays text. Each level reads its lines again, so there must be an end. */
const maxDepth = 24

interface Fence {
  readonly marker: string
  readonly info: string
}

/** A line that opens or closes a fence. */
function fenceAt(state: StateBlock, line: number): Fence | undefined {
  if (state.sCount[line]! - state.blkIndent >= 4) return undefined
  const start = state.bMarks[line]! + state.tShift[line]!
  const first = state.src[start]
  if (first !== '`' && first !== '~') return undefined
  const text = state.src.slice(start, state.eMarks[line]!)
  const length = /^(?:`{3,}|~{3,})/.exec(text)?.[0].length
  if (length === undefined) return undefined
  const info = text.slice(length).trim()
  return first === '`' && info.includes('`') ? undefined : { marker: text.slice(0, length), info }
}

function closes({ marker, info }: Fence, opening: Fence): boolean {
  return info === '' && marker[0] === opening.marker[0] && marker.length >= opening.marker.length
}

function holdsMarkdown({ info }: Fence): boolean {
  return /^(?:quote|spoiler)(?:\s|$)/.test(info)
}

export function fence(state: StateBlock, startLine: number, endLine: number, silent: boolean): boolean {
  const opening = fenceAt(state, startLine)
  if (!opening) return false
  if (silent) return true
  const close = closingLine(state, opening, startLine, endLine)
  const after = Math.min(close + 1, endLine)
  if (!holdsMarkdown(opening)) {
    const token = state.push('fence', 'code', 0)
    token.info = opening.info
    token.content = state.getLines(startLine + 1, close, state.sCount[startLine]!, true)
    if (token.content !== '' && !token.content.endsWith('\n')) token.content += '\n'
  } else if (opening.info.startsWith('quote')) nested(state, 'blockquote', startLine + 1, close)
  else spoiler(state, opening.info.slice('spoiler'.length).trim(), startLine + 1, close)
  state.line = after
  return true
}

/** Code ends at the first closing line; what holds Markdown can hold further fences. */
function closingLine(state: StateBlock, opening: Fence, startLine: number, endLine: number): number {
  const open = [opening]
  for (let line = startLine + 1; line < endLine; line++) {
    if (!state.isEmpty(line) && state.sCount[line]! < state.blkIndent) return line
    const found = fenceAt(state, line)
    if (!found) continue
    const innermost = open.at(-1)!
    if (closes(found, innermost)) {
      open.pop()
      if (open.length === 0) return line
    } else if (holdsMarkdown(innermost)) open.push(found)
  }
  return endLine
}

function nested(state: StateBlock, tag: string, startLine: number, endLine: number): void {
  state.push(`${tag}_open`, tag, 1)
  inside(state, startLine, endLine)
  state.push(`${tag}_close`, tag, -1)
}

function inside(state: StateBlock, startLine: number, endLine: number): void {
  const { parentType, lineMax } = state
  state.parentType = 'blockquote'
  state.lineMax = endLine
  state.md.block.tokenize(state, startLine, endLine)
  state.parentType = parentType
  state.lineMax = lineMax
}

function spoiler(state: StateBlock, header: string, startLine: number, endLine: number): void {
  state.push('spoiler_open', 'div', 1)
  if (header !== '') paragraph(state, header)
  state.push('spoiler_header_end', 'div', 0)
  inside(state, startLine, endLine)
  state.push('spoiler_close', 'div', -1)
}

/** Its three boxes have no line breaks between them. */
export const spoilerRules = {
  spoiler_open: () => '<div class="spoiler-block"><div class="spoiler-header">\n',
  spoiler_header_end: () => '</div><div class="spoiler-content" aria-hidden="true">\n',
  spoiler_close: () => '</div></div>\n',
}

function paragraph(state: StateBlock, content: string): void {
  state.push('paragraph_open', 'p', 1)
  const inline = state.push('inline', '', 0)
  inline.content = content
  inline.children = []
  state.push('paragraph_close', 'p', -1)
}

/** What every nested block passes through. */
export function limitNesting(md: StateBlock['md']): void {
  const { block } = md
  const tokenize = block.tokenize.bind(block)
  block.tokenize = (state, startLine, endLine) => {
    if (state.level >= maxDepth) {
      const text = state.getLines(startLine, endLine, state.blkIndent, false).trim()
      if (text !== '') paragraph(state, text)
      state.line = endLine
      return
    }
    const putBack = state.parentType === 'list' ? widenItem(state, startLine) : undefined
    tokenize(state, startLine, endLine)
    putBack?.()
  }
}

/** Two spaces are enough to be part of a list item, however wide its marker is. */
function widenItem(state: StateBlock, line: number): (() => void) | undefined {
  const surplus = state.blkIndent - (state.listIndent + 2)
  if (surplus <= 0) return undefined
  const start = state.bMarks[line]!
  state.blkIndent -= surplus
  state.sCount[line]! -= surplus
  // The marker is no indentation any more: the line starts behind it. The list itself puts back the rest.
  state.bMarks[line]! += state.tShift[line]!
  state.tShift[line] = 0
  return () => {
    state.bMarks[line] = start
  }
}

export function codeHtml(content: string, info: string, defaultLanguage: string): string {
  const word = /^\{?\.?([^\s{}]+)/.exec(info)?.[1] ?? defaultLanguage
  if (word === 'math') return element('p', {}, formulaHtml(content.trim(), true))
  const language = word === '' ? undefined : languageName(word)
  const pre = element('pre', {}, `<span></span>${element('code', {}, escapeHtml(content))}`)
  return `${element('div', { class: 'codehilite', 'data-code-language': language }, pre)}\n`
}
