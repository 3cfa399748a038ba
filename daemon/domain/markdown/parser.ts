// markdown-it, with HTML off, the rules we keep and the rules of ours.

import MarkdownIt, { type StateCore, type Token } from 'markdown-it'
import { boundTable, codeHtml, fence, limitNesting, spoilerRules, wrapQuote } from './blocks.ts'
import { escapeCode, escapeText } from './html.ts'
import { bareLink, code, lineBreak, lineEnd, link, math, strike, textBeforeLinks, time } from './inline.ts'
import { interruptingList, listRules, mergeLists, parseParagraph } from './lists.ts'
import { mention } from './mentions.ts'
import { findPairs } from './pairs.ts'
import { placeLink } from './places.ts'
import { withHiddenThings } from './plain-text.ts'
import { linkPreview, withPreviews } from './previews.ts'
import type { Env } from './render-context.ts'

// Shared by all worlds: its rules are the same in each, and what differs travels in `env`. Made at the first message that
// needs it.
let parser: InstanceType<typeof MarkdownIt> | undefined

export function toHtml(source: string, env: Env): string {
  if (isPlainFor(env, source)) return `<p>${source}</p>`
  parser ??= makeParser()
  return parser.render(source, env).trimEnd()
}

/**
 * One line of words and the signs that end sentences, in which nothing could mean anything else. Much of what people
 * say is like that.
 */
export function isPlain(source: string): boolean {
  return /^[A-Za-z][A-Za-z0-9]*(?:['-][A-Za-z0-9]+)*[,.!?]?(?: [A-Za-z0-9]+(?:['-][A-Za-z0-9]+)*[,.!?]?)*$/.test(source)
}

function isPlainFor(env: Env, source: string): boolean {
  return env.context.linkifiers.length === 0 && isPlain(source)
}

function makeParser(): InstanceType<typeof MarkdownIt> {
  const md = new MarkdownIt({ html: false, breaks: true })
  md.core.ruler.enableOnly(['normalize', 'block'])
  md.core.ruler.push('natter_inline', readInline)
  // OPEN: rules (`---`) are drawn; references, underlined headings and backslash escapes stay literal text.
  md.block.ruler.enableOnly(['table', 'code', 'fence', 'blockquote', 'hr', 'list', 'heading', 'paragraph'])
  md.block.ruler.at('table', boundTable(findRule(md.block.ruler, 'table')), { alt: ['paragraph', 'reference'] })
  md.block.ruler.at('fence', fence, { alt: ['paragraph', 'reference', 'blockquote', 'list'] })
  md.block.ruler.at('blockquote', wrapQuote(findRule(md.block.ruler, 'blockquote')), {
    alt: ['paragraph', 'reference', 'blockquote', 'list'],
  })
  md.block.ruler.at('list', interruptingList(findRule(md.block.ruler, 'list')), { alt: ['paragraph', 'blockquote'] })
  md.block.ruler.at('paragraph', parseParagraph)
  limitNesting(md)
  md.inline.ruler.enableOnly(['text', 'newline', 'strikethrough', 'emphasis'])
  md.inline.ruler.at('text', textBeforeLinks(findRule(md.inline.ruler, 'text')))
  md.inline.ruler.before('text', 'natter_bare_link', bareLink)
  md.inline.ruler.at('newline', lineBreak)
  md.inline.ruler.before('newline', 'line_end', lineEnd)
  md.inline.ruler.at('strikethrough', strike)
  md.inline.ruler.before('strikethrough', 'literal_underscore', underscores)
  for (const rule of [code, mention, placeLink, link, math, time])
    md.inline.ruler.before('strikethrough', `natter_${rule.name}`, rule)
  Object.assign(md.renderer.rules, {
    s_open: () => '<del>',
    s_close: () => '</del>',
    text: (tokens: Token[], at: number) => escapeText(tokens[at]!.content),
    code_inline: (tokens: Token[], at: number) => `<code>${escapeCode(tokens[at]!.content)}</code>`,
    fence: (tokens: Token[], at: number, _options: unknown, env: Env) =>
      codeHtml(tokens[at]!.content, tokens[at]!.info || env.context.codeLanguage, env),
    code_block: (tokens: Token[], at: number, _options: unknown, env: Env) => codeHtml(tokens[at]!.content, '', env),
    ...listRules,
    ...spoilerRules,
  })
  return md
}

/** The rule of markdown-it that a rule of ours calls. */
function findRule<Rule>(ruler: { getRules(chain: string): Rule[] }, name: string): Rule {
  // The ruler has no method that finds a rule by its name.
  const rules = (ruler as unknown as { __rules__: { name: string; fn: Rule }[] }).__rules__
  return rules.find(rule => rule.name === name)!.fn
}

/** Underscores are part of names, not emphasis. */
function underscores(state: { src: string; pos: number; pending: string }): boolean {
  if (state.src[state.pos] !== '_') return false
  state.pending += '_'
  state.pos++
  return true
}

/** Reads the lines inside blocks, knowing which are in quotes. */
function readInline(state: StateCore): void {
  const env = state.env as unknown as Env
  const previews = new Map<Token, readonly string[]>()
  let quotes = 0
  for (const token of state.tokens) {
    if (token.tag === 'blockquote') quotes += token.nesting
    if (token.type !== 'inline') continue
    env.quoted = quotes > 0
    // As most cells of tables are.
    if (isPlainFor(env, token.content)) {
      const text = new state.Token('text', '', 0)
      text.content = token.content
      token.children = [text]
      continue
    }
    env.pairs = findPairs(token.content)
    const children: Token[] = []
    state.md.inline.parse(token.content, state.md, env, children)
    token.children = withHiddenThings(token.content, withStrongOutside(children.filter(isSomething)), env)
    const shown = renderPreviews(token.children, env)
    if (shown.length > 0) previews.set(token, shown)
  }
  state.tokens = withPreviews(mergeLists(state.tokens), previews)
}

/** Delimiters that became elements leave empty texts. */
function isSomething({ type, content }: Token): boolean {
  return type !== 'text' || content !== ''
}

/** `***both***`: the bold element is the outer one. */
function withStrongOutside(children: Token[]): Token[] {
  const open: number[] = []
  for (let at = 0; at < children.length; at++) {
    if (children[at]!.nesting === 1) open.push(at)
    if (children[at]!.nesting !== -1) continue
    const start = open.pop()!
    const [outer, inner] = [children[start]!, children[start + 1]!]
    const [innerEnd, outerEnd] = [children[at - 1]!, children[at]!]
    // Both begin and end beside each other.
    if (outer.type !== 'em_open' || inner.type !== 'strong_open' || innerEnd.type !== 'strong_close') continue
    children.splice(start, 2, inner, outer)
    children.splice(at - 1, 2, outerEnd, innerEnd)
  }
  return children
}

function renderPreviews(children: readonly Token[], env: Env): string[] {
  const found: string[] = []
  for (const [at, token] of children.entries()) {
    const href = token.attrGet('href')
    if (href === null) continue
    const text = token.type === 'link_open' ? collectText(children, at + 1) : ''
    const html = linkPreview(env, String(href), text === href ? '' : text)
    if (html !== undefined) found.push(html)
  }
  return found
}

function collectText(children: readonly Token[], start: number): string {
  let text = ''
  for (let at = start; children[at] && children[at]!.type !== 'link_close'; at++)
    if (children[at]!.type === 'text' || children[at]!.type === 'code_inline') text += children[at]!.content
  return text
}
