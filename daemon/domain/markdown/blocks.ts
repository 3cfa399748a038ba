// Rules for whole lines: fences (code, quote, spoiler, math), how deep things nest, and what nests by how many spaces.

import type { StateBlock } from 'markdown-it'
import { escapeHtml } from '../values/escape.ts'
import { renderFormula } from './formulas.ts'
import { element, escapeCode } from './html.ts'
import { languageName } from './languages.ts'
import type { Env, Findings } from './render-context.ts'

/** Lists in quotes in lists …: what is deeper stays text. Each level reads its lines again, so there must be an end. */
const maxDepth = 24

interface Fence {
  readonly marker: string
  readonly word: string
  readonly header: string
}

/** A line that opens or closes a fence. */
function fenceAt(state: StateBlock, line: number): Fence | undefined {
  if (state.sCount[line]! - state.blkIndent >= 4) return undefined
  const start = state.bMarks[line]! + state.tShift[line]!
  const first = state.src[start]
  if (first !== '`' && first !== '~') return undefined
  const [, marker, rest = ''] = fenceLine.exec(state.src.slice(start, state.eMarks[line]!)) ?? []
  if (marker === undefined) return undefined
  const [, word, header] = infoText.exec(rest) ?? []
  if (word !== undefined) return { marker, word, header: header!.trim() }
  return rest.trim() === '' ? { marker, word: '', header: '' } : undefined
}

/** The marker, and a word for what is inside with a header. In two steps, neither of which can try a character in two ways. */
const fenceLine = /^(`{3,}|~{3,})([^~`]*)$/
const infoText = /^ *\{?\.?([\w+,\-./#]+) *(.*)$/s

function closes({ marker, word }: Fence, opening: Fence): boolean {
  return word === '' && marker === opening.marker
}

function kindOf({ word }: Fence, defaultWord: string): 'code' | 'quote' | 'spoiler' {
  const kind = (word || defaultWord).toLowerCase()
  return kind === 'quote' || kind === 'quoted' ? 'quote' : kind === 'spoiler' ? 'spoiler' : 'code'
}

export function fence(state: StateBlock, startLine: number, endLine: number, silent: boolean): boolean {
  const opening = fenceAt(state, startLine)
  if (!opening) return false
  if (silent) return true
  const close = closingLine(state, opening, startLine, endLine)
  const after = Math.min(close + 1, endLine)
  const kind = kindOf(opening, (state.env as unknown as Env).context.codeLanguage)
  if (kind === 'code') {
    const token = state.push('fence', 'code', 0)
    token.info = opening.word
    token.content = state.getLines(startLine + 1, close, state.sCount[startLine]!, false)
  } else if (kind === 'quote') nest(state, 'blockquote', startLine + 1, close)
  else spoiler(state, opening.header, startLine + 1, close)
  state.line = after
  return true
}

/** Code ends at the first closing line; what holds Markdown can hold further fences. */
function closingLine(state: StateBlock, opening: Fence, startLine: number, endLine: number): number {
  const { codeLanguage } = (state.env as unknown as Env).context
  const open = [opening]
  for (let line = startLine + 1; line < endLine; line++) {
    if (!state.isEmpty(line) && state.sCount[line]! < state.blkIndent) return line
    const found = fenceAt(state, line)
    if (!found) continue
    const innermost = open.at(-1)!
    if (closes(found, innermost)) {
      open.pop()
      if (open.length === 0) return line
    } else if (kindOf(innermost, codeLanguage) !== 'code') open.push(found)
  }
  return endLine
}

function nest(state: StateBlock, tag: string, startLine: number, endLine: number): void {
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

type Rule = (state: StateBlock, startLine: number, endLine: number, silent: boolean) => boolean

/** Marks alone (`>`) are no quote. With text below them they are one, and the text is in it. */
export function wrapQuote(quote: Rule): Rule {
  return (state, startLine, endLine, silent) => {
    const marks = marksAt(state, startLine, endLine)
    if (marks.end === startLine || marks.followedBy === 'quote') return quote(state, startLine, endLine, silent)
    if (marks.followedBy === 'nothing') return false
    if (silent) return true
    let end = marks.end
    while (end < endLine && !state.isEmpty(end)) end++
    nest(state, 'blockquote', marks.end, end)
    state.line = end
    return true
  }
}

/**
 * Every row has as many cells as the first, and a cell takes as long as a short message.
 * OPEN: the public server does not limit tables; here what comes after the first 3,000 cells of a message stays text. Nothing a person
 * writes comes near it: cells of such a table have two letters.
 */
export function boundTable(table: Rule): Rule {
  const mostCells = 3000
  return (state, startLine, endLine, silent) => {
    const { findings } = state.env as unknown as Env
    const line = state.src.slice(state.bMarks[startLine], state.eMarks[startLine])
    if (!line.includes('|')) return false
    const columns = line.split('|').length
    const rows = Math.floor((mostCells - findings.tableCells) / columns)
    const isTable = table(state, startLine, Math.min(endLine, startLine + rows), silent)
    if (isTable && !silent) findings.tableCells += columns * (state.line - startLine)
    return isTable
  }
}

interface Marks {
  readonly end: number
  readonly followedBy: 'nothing' | 'quote' | 'text'
}

/** Runs of marks that were looked at: each of their lines is asked about. */
const knownMarks = new WeakMap<StateBlock, Marks>()

/** The lines from here on that are marks of quotes and nothing else. */
function marksAt(state: StateBlock, startLine: number, endLine: number): Marks {
  if (!isMark(state, startLine)) return { end: startLine, followedBy: 'quote' }
  const known = knownMarks.get(state)
  if (known && startLine < known.end && known.end <= endLine) return known
  let end = startLine
  while (end < endLine && isMark(state, end)) end++
  const isOver = end >= endLine || state.isEmpty(end)
  const marks: Marks = { end, followedBy: isOver ? 'nothing' : startOf(state, end) === '>' ? 'quote' : 'text' }
  knownMarks.set(state, marks)
  return marks
}

function isMark(state: StateBlock, line: number): boolean {
  return (
    startOf(state, line) === '>' &&
    state.skipSpaces(state.bMarks[line]! + state.tShift[line]! + 1) >= state.eMarks[line]!
  )
}

function startOf(state: StateBlock, line: number): string | undefined {
  return state.src[state.bMarks[line]! + state.tShift[line]!]
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

/** Without blank lines around it and spaces at the ends of lines, escaped as the public server's highlighter does it. */
export function codeHtml(content: string, word: string, { findings }: Env): string {
  // Not by an expression: one that looks for the end of a run begins again at each of its characters.
  const lines = content.split('\n').map(line => line.trimEnd())
  const first = lines.findIndex(line => line !== '')
  const code = lines.slice(first, lines.findLastIndex(line => line !== '') + 1).join('\n')
  if (word.toLowerCase() === 'math') return `${element('p', {}, displayHtml(code, findings))}\n`
  const language = word === '' ? undefined : languageName(word)
  // The highlighter escapes quotes; where it names a language, its HTML is written once more, without that.
  const escaped = language === undefined ? escapeHtml(code).replaceAll("'", '&#39;') : escapeCode(code)
  const pre = element('pre', {}, `<span></span>${element('code', {}, `${escaped}\n`)}`)
  return `${element('div', { class: 'codehilite', 'data-code-language': language }, pre)}\n`
}

function displayHtml(formula: string, findings: Findings): string {
  return (
    renderFormula(formula, true, findings) ??
    element('span', { class: 'tex-error' }, escapeHtml(formula).replaceAll("'", '&#x27;'))
  )
}
