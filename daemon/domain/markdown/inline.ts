// Rules for what is inside a line: code, links, addresses, math, times. Each looks at a character once, so that no
// text takes more than linear time.

import type { StateInline } from 'markdown-it'
import { escapeHtml } from '../model/escape.ts'
import { element } from './html.ts'
import { pairsOf, runLength } from './pairs.ts'
import { audioPlayer } from './previews.ts'
import type { Env } from './render-context.ts'
import { isoSeconds, parseTime } from './times.ts'
import { bareUrlEnd, safeUrl } from './urls.ts'

/** HTML of ours among the tokens. */
export function pushHtml(state: StateInline, html: string): void {
  state.push('html_inline', '', 0).content = html
}

export function envOf(state: StateInline): Env {
  return state.env as unknown as Env
}

export function code(state: StateInline): boolean {
  const { src, pos, posMax } = state
  if (src[pos] !== '`') return false
  const length = runLength(src, pos)
  const close = pairsOf(state).code.get(pos)
  if (close === undefined || close + length > posMax) {
    const end = Math.min(pos + length, posMax)
    state.pending += src.slice(pos, end)
    state.pos = end
    return true
  }
  const inside = src.slice(pos + length, close).replaceAll('\n', ' ')
  const padded = inside.length > 2 && inside.startsWith(' ') && inside.endsWith(' ') && inside.trim() !== ''
  state.push('code_inline', 'code', 0).content = padded ? inside.slice(1, -1) : inside
  state.pos = close + length
  return true
}

/** `[text](address)`, and with an exclamation mark the player of an audio file. */
export function link(state: StateInline): boolean {
  const { src, pos, posMax } = state
  const media = src[pos] === '!' && src[pos + 1] === '['
  const start = media ? pos + 1 : pos
  if (src[start] !== '[' || envOf(state).linked) return false
  const close = pairsOf(state).brackets.get(start)
  if (close === undefined || close + 1 >= posMax || src[close + 1] !== '(' || close === start + 1) return false
  const target = targetAt(src, close + 2, posMax)
  if (!target) return false
  const env = envOf(state)
  const href = safeUrl(target.url, env.context.ownUrl)
  if (href === undefined) return false
  const player = media && audioPlayer(env, href, src.slice(start + 1, close))
  if (media && !player) return false
  if (player) pushHtml(state, player)
  else {
    const open = state.push('link_open', 'a', 1)
    open.attrs = target.title === '' ? [['href', href]] : [['href', href], ['title', target.title]] // biome-ignore format: one line
    state.pos = start + 1
    state.posMax = close
    env.linked = true
    state.md.inline.tokenize(state)
    env.linked = false
    state.push('link_close', 'a', -1)
    state.posMax = posMax
  }
  state.pos = target.end
  return true
}

const title = /[ \t]+(?:"([^"\n]*)"|'([^'\n]*)')[ \t]*(?=\))/y

function targetAt(src: string, start: number, max: number): { url: string; title: string; end: number } | undefined {
  let end = start
  for (let depth = 0; end < max; end++) {
    const char = src[end]!
    if (char <= ' ') break
    // Limited so that nested beginnings are not scanned again and again.
    if (char === '(' && ++depth > 32) return undefined
    if (char === ')' && --depth < 0) break
  }
  if (end >= max) return undefined
  const url = src.slice(start, end)
  title.lastIndex = end
  const titled = title.exec(src)
  const after = titled ? end + titled[0].length : end
  if (after >= max || src[after] !== ')') return undefined
  return { url, title: titled?.[1] ?? titled?.[2] ?? '', end: after + 1 }
}

/** A bare address. The scheme is text already when the colon is met. */
export function address(state: StateInline): boolean {
  const { src, pos, posMax } = state
  if (src[pos] !== ':' || src[pos + 1] !== '/' || src[pos + 2] !== '/' || envOf(state).linked) return false
  const scheme = /https?$/i.exec(src.slice(Math.max(0, pos - 5), pos))?.[0]
  if (!scheme || state.pending.length < scheme.length) return false
  const start = pos - scheme.length
  if (start > 0 && /[\p{L}\p{N}_]/u.test(src[start - 1]!)) return false
  const end = bareUrlEnd(src, start, posMax)
  const href = end === undefined ? undefined : safeUrl(src.slice(start, end), envOf(state).context.ownUrl)
  if (end === undefined || href === undefined) return false
  state.pending = state.pending.slice(0, -scheme.length)
  state.push('link_open', 'a', 1).attrs = [['href', href]]
  state.push('text', '', 0).content = src.slice(start, end)
  state.push('link_close', 'a', -1).markup = 'bare'
  state.pos = end
  return true
}

// OPEN: math is not typeset: the source is inside the outer elements, and clients can typeset it.
// The typesetter weighs more than the daemon.
const formula = /\$\$(?!\$)((?:[^$\n]|\$(?!\$))+)\$\$(?!\$)/y

export function math(state: StateInline): boolean {
  const { src, pos } = state
  if (src[pos] !== '$' || src[pos + 1] !== '$' || src[pos - 1] === '$') return false
  const found = matchAt(formula, state)
  if (!found) return false
  pushHtml(state, formulaHtml(found[1]!))
  return true
}

/** Braces that do not match are the error that shows without typesetting. */
export function formulaHtml(source: string, display = false): string {
  if (!hasMatchingBraces(source)) return element('span', { class: 'tex-error' }, escapeHtml(source))
  const html = element('span', { class: 'katex' }, escapeHtml(source))
  return display ? element('span', { class: 'katex-display' }, html) : html
}

function hasMatchingBraces(source: string): boolean {
  let depth = 0
  for (let at = 0; at < source.length && depth >= 0; at++) {
    if (source[at] === '\\') at++
    else if (source[at] === '{') depth++
    else if (source[at] === '}') depth--
  }
  return depth === 0
}

const timeTag = /<time:([^>\n<]+)>/y

export function time(state: StateInline): boolean {
  if (!state.src.startsWith('<time:', state.pos)) return false
  const found = matchAt(timeTag, state)
  if (!found) return false
  const text = found[1]!
  const ms = parseTime(text)
  pushHtml(
    state,
    ms === undefined
      ? element('span', { class: 'timestamp-error' }, `Invalid time format: ${escapeHtml(text)}`)
      : element('time', { datetime: isoSeconds(ms) }, escapeHtml(text)),
  )
  return true
}

/** Bold, italic and struck text end with the line: each line gets a list of delimiters of its own. */
export function lineEnd(state: StateInline): boolean {
  if (state.src[state.pos] !== '\n') return false
  const fresh: typeof state.delimiters = []
  // The list that is current at the end is paired anyway, at the top; inside a link it is the first one.
  state.tokens_meta.push({ delimiters: state.level > 0 ? fresh : state.delimiters })
  state.delimiters = fresh
  return false
}

/** Matches here and moves on, unless that would leave the part of the text being read. */
export function matchAt(pattern: RegExp, state: StateInline): RegExpExecArray | null {
  pattern.lastIndex = state.pos
  const found = pattern.exec(state.src)
  if (!found || state.pos + found[0].length > state.posMax) return null
  state.pos += found[0].length
  return found
}
