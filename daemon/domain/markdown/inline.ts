// Rules for what is inside a line: code, links, math, times, struck text. Each looks at a character once, so that no
// text takes more than linear time.

import type { StateInline } from 'markdown-it'
import { renderFormula } from './formulas.ts'
import { element, escapeText } from './html.ts'
import { nextLink, type Pairs, runLength } from './pairs.ts'
import { audioPlayer, inlineImage } from './previews.ts'
import type { Env } from './render-context.ts'
import { isoTime, parseIsoTime, parseTime } from './times.ts'
import { safeUrl } from './urls.ts'

/** HTML of ours among the tokens. */
export function pushHtml(state: StateInline, html: string): void {
  state.push('html_inline', '', 0).content = html
}

export function envOf(state: StateInline): Env {
  return state.env as unknown as Env
}

function pairsOf(state: StateInline): Pairs {
  return envOf(state).pairs!
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
  state.push('code_inline', 'code', 0).content = src.slice(pos + length, close)
  state.pos = close + length
  return true
}

/** `[text](address)`, and with an exclamation mark an image or the player of an audio file. */
export function link(state: StateInline): boolean {
  const { src, pos, posMax } = state
  const media = src[pos] === '!' && src[pos + 1] === '['
  const start = media ? pos + 1 : pos
  if (src[start] !== '[' || envOf(state).linked || (!media && src[pos - 1] === '!')) return false
  const close = pairsOf(state).brackets.get(start)
  if (close === undefined || close + 1 >= posMax || src[close + 1] !== '(') return false
  const target = targetAt(src, close + 2, posMax)
  if (!target) return false
  const env = envOf(state)
  const href = safeUrl(target.url, env.context.ownUrl)
  if (href === undefined) return false
  if (media) {
    const alt = src.slice(start + 1, close)
    const shown = audioPlayer(env, href, alt) ?? inlineImage(env, href, alt, target.title)
    if (shown === undefined) return false
    pushHtml(state, shown)
  } else {
    const open = state.push('link_open', 'a', 1)
    open.attrs = target.title === '' ? [['href', href]] : [['href', href], ['title', target.title]] // biome-ignore format: one line
    if (src.slice(start + 1, close).trim() === '') state.push('text', '', 0).content = target.url
    else {
      state.pos = start + 1
      state.posMax = close
      env.linked = true
      state.md.inline.tokenize(state)
      env.linked = false
    }
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

/** An address without markup, where one was found. */
export function bareLink(state: StateInline): boolean {
  if (envOf(state).linked) return false
  const link = nextLink(pairsOf(state), state.pos)
  if (link?.start !== state.pos || link.end > state.posMax) return false
  const href = safeUrl(link.url, envOf(state).context.ownUrl)
  if (href === undefined) return false
  state.push('link_open', 'a', 1).attrs = [['href', href]]
  state.push('text', '', 0).content = state.src.slice(link.start, link.end)
  state.push('link_close', 'a', -1).markup = 'bare'
  state.pos = link.end
  return true
}

/** Reads text up to a sign of markup, as the rule of markdown-it does, but no further than to the next bare link. */
export function textBeforeLinks(text: (state: StateInline, silent: boolean) => boolean): typeof text {
  return (state, silent) => {
    const start = state.pos
    const before = state.pending
    if (!text(state, silent)) return false
    const link = envOf(state).linked ? undefined : nextLink(pairsOf(state), start + 1)
    if (link && link.start < state.pos) {
      state.pending = before + state.src.slice(start, link.start)
      state.pos = link.start
    }
    return true
  }
}

const formula = /\B\$\$([^\n_$](?:\\\$|[^$\n])*)\$\$(?!\$)\B/y

export function math(state: StateInline): boolean {
  const { src, pos } = state
  if (src[pos] !== '$' || src[pos + 1] !== '$' || src[pos - 1] === '$') return false
  const found = matchAt(formula, state)
  if (!found) return false
  const html = renderFormula(found[1]!, false, envOf(state).findings)
  pushHtml(state, html ?? element('span', { class: 'tex-error' }, escapeText(found[0])))
  return true
}

export function time(state: StateInline): boolean {
  const { src, pos, posMax } = state
  if (!src.startsWith('<time:', pos) || pairsOf(state).lastAngle < pos) return false
  const end = src.indexOf('>', pos)
  if (end >= posMax) return false
  const text = src.slice(pos + '<time:'.length, end)
  const { rules } = envOf(state).context
  const ms = rules?.timesInIsoOnly ? parseIsoTime(text) : parseTime(text)
  if (ms !== undefined) pushHtml(state, element('time', { datetime: isoTime(ms) }, escapeText(text)))
  else if (rules?.wrongTimesAreText) pushHtml(state, escapeText(`<time:${text}>`))
  else pushHtml(state, element('span', { class: 'timestamp-error' }, `Invalid time format: ${escapeText(text)}`))
  state.pos = end + 1
  return true
}

/** Two tildes begin and end struck text wherever they are; one or more than two are text. */
export function strike(state: StateInline): boolean {
  const { src, pos, posMax } = state
  if (src[pos] !== '~') return false
  const length = Math.min(runLength(src, pos), posMax - pos)
  const token = state.push('text', '', 0)
  token.content = '~'.repeat(length)
  if (length === 2)
    state.delimiters.push({ marker: 0x7e, length: 0, token: state.tokens.length - 1, end: -1, open: true, close: true })
  state.pos += length
  return true
}

/** A line break is shown as one. Spaces around it stay: the author may have aligned something. */
export function lineBreak(state: StateInline): boolean {
  if (state.src[state.pos] !== '\n') return false
  state.push('hardbreak', 'br', 0)
  state.pos++
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
