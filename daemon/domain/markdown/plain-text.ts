// Finds markup in plain text: linkifier matches, emoji by name and by character, emoticons.

import type { Token } from 'markdown-it'
import type { Emoji } from '../model/rows/people.ts'
import { emojiByCharacter, unicodeCode } from './emoji-names.ts'
import { element, escapeText, openTag } from './html.ts'
import type { Linkifier, LinkifierMatch } from './organization-content.ts'
import type { Env } from './render-context.ts'
import { safeUrl } from './urls.ts'

type TokenClass = new (type: string, tag: string, nesting: 0 | 1 | -1) => Token

/** The tokens of a text, with what its plain parts hide made visible. */
export function withHiddenThings(text: string, children: Token[], env: Env): Token[] {
  if (!mayHide(text, env)) return children
  const made: Token[] = []
  let inLink = 0
  for (const [at, token] of children.entries()) {
    if (token.type === 'link_open') inLink++
    if (token.type === 'link_close') inLink--
    if (token.type !== 'text') made.push(token)
    else {
      const bare = inLink > 0 && children[at + 1]?.markup === 'bare'
      const parts = bare ? [token.content] : split(token.content, inLink > 0, startsFresh(children[at - 1]), env)
      const Class = token.constructor as TokenClass
      for (const part of parts) {
        const next = new Class(typeof part === 'string' ? 'text' : 'html_inline', '', 0)
        next.content = typeof part === 'string' ? part : part.html
        made.push(next)
        if (typeof part !== 'string' && part.href !== undefined) next.attrs = [['href', part.href]]
      }
    }
  }
  return made
}

/** HTML of ours, and the link it is, if it is one. */
interface Made {
  readonly html: string
  readonly href?: string
}

type Part = string | Made

function startsFresh(before: Token | undefined): boolean {
  return before === undefined || before.nesting === 1 || before.type === 'softbreak' || before.type === 'hardbreak'
}

/**
 * Colons around a name, or more than ASCII: nothing hides in a text without, unless linkifiers or emoticons
 * are looked for.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII as a whole
const hideout = /:[\w+-]+:|[^\x00-\x7f]/

function mayHide(text: string, { context: { linkifiers, emoticons } }: Env): boolean {
  return linkifiers.length > 0 || emoticons || hideout.test(text)
}

function split(text: string, inLink: boolean, fresh: boolean, env: Env): Part[] {
  if (!mayHide(text, env)) return [text]
  let parts: Part[] = [text]
  if (!inLink) {
    const { linkifiers } = env.context
    if (linkifiers.length > 0) parts = linkify(text, fresh, linkifiers)
  }
  parts = each(parts, plain => replaceNames(plain, env))
  if (env.context.emoticons) parts = each(parts, plain => emoticons(plain, env))
  return each(parts, plain => characters(plain, env))
}

function each(parts: readonly Part[], change: (text: string) => Part[]): Part[] {
  return parts.flatMap(part => (typeof part === 'string' && part !== '' ? change(part) : part))
}

// --- linkifiers -------------------------------------------------------------------------------------------------

function linkify(text: string, fresh: boolean, linkifiers: readonly Linkifier[]): Part[] {
  // A character that is no boundary replaces the code or link before the text.
  const before = fresh ? '' : 'x'
  const parts: Part[] = []
  let end = before.length
  const whole = before + text
  for (const match of linkifierMatches(whole, linkifiers)) {
    const words = whole.slice(match.start, match.end)
    parts.push(whole.slice(end, match.start), anchor(match.url, words))
    end = match.end
  }
  parts.push(whole.slice(end))
  return parts
}

/** Matches that do not overlap, by position; of two that do, the one of the earlier linkifier wins. */
export function linkifierMatches(text: string, linkifiers: readonly Linkifier[]): LinkifierMatch[] {
  let taken: Uint8Array | undefined
  const matches: LinkifierMatch[] = []
  for (const linkifier of linkifiers)
    for (const match of linkifier.match(text)) {
      // A pattern must not produce links that run something.
      if (safeUrl(match.url) === undefined) continue
      // Most texts have none.
      taken ??= new Uint8Array(text.length)
      if (match.end <= match.start || taken.subarray(match.start, match.end).includes(1)) continue
      taken.fill(1, match.start, match.end)
      matches.push(match)
    }
  return matches.sort((a, b) => a.start - b.start)
}

function anchor(href: string, words: string): Made {
  return { html: element('a', { href }, escapeText(words)), href }
}

// --- emoji ------------------------------------------------------------------------------------------------------

function replaceNames(text: string, env: Env): Part[] {
  const parts: Part[] = []
  let done = 0
  const name = /:([\p{L}\p{N}_+-]+)(?=:)/gu
  for (let found = name.exec(text); found; found = name.exec(text)) {
    const emoji = env.context.emoji(found[1]!)
    if (!emoji || !hasRoom(env)) continue
    parts.push(text.slice(done, found.index), { html: emojiHtml(emoji) })
    done = found.index + found[0].length + 1
    name.lastIndex = done
  }
  parts.push(text.slice(done))
  return parts
}

// OPEN: how many emoji a message shows is not stated. Each takes about 100 characters of HTML, so all beyond these stay
// what they were written as.
const mostEmoji = 1000

function hasRoom({ findings }: Env): boolean {
  return ++findings.emoji <= mostEmoji
}

function emojiHtml({ name, code, src }: Emoji): string {
  const words = name.replaceAll('_', ' ')
  if (src !== undefined) return openTag('img', { alt: `:${name}:`, class: 'emoji', src, title: words })
  const attributes = { 'aria-label': words, class: `emoji emoji-${code}`, role: 'img', title: words }
  return element('span', attributes, `:${name}:`)
}

const emoticonNames: Readonly<Record<string, string>> = {
  ':)': 'slight_smile',
  '(:': 'slight_smile',
  ':(': 'frown',
  ':D': 'smile',
  ';)': 'wink',
  ':|': 'neutral',
  ':/': 'confused',
  ':o': 'open_mouth',
  ':O': 'open_mouth',
  ':p': 'stuck_out_tongue',
  ':P': 'stuck_out_tongue',
  '<3': 'heart',
}
const emoticon = /(?<![^,.;?!()[\] "'\n\t])(?::\)|\(:|:\(|:D|;\)|:\||:\/|:o|:O|:p|:P|<3)(?![^,.;?!()[\] "'\n\t])/g

function emoticons(text: string, env: Env): Part[] {
  return replace(text, emoticon, env, found => {
    const name = emoticonNames[found]!
    // Unicode only: an organization's own emoji of that name is something else.
    const code = unicodeCode(name)
    return code === undefined || !env.context.emoticons ? undefined : { type: 'unicode_emoji', name, code }
  })
}

function characters(text: string, env: Env): Part[] {
  return replace(text, possibleEmoji(), env, found => (isPlainSign(found) ? undefined : emojiByCharacter(found)))
}

// These patterns are made with the first use: classes of Unicode take a millisecond, and most starts render nothing.

/**
 * By the grammar of Unicode's report 51: flags, keycaps, and pictures joined together or drawn in colour. Digits are possible emoji too, but
 * only with a selector after them.
 */
function possibleEmoji(): RegExp {
  return /\p{RI}\p{RI}|(?![0-9#*](?!\uFE0F))\p{Emoji}(?:\p{EMod}|\uFE0F\u20E3?|[\u{E0020}-\u{E007E}]+\u{E007F})?(?:\u200D(?:\p{RI}\p{RI}|\p{Emoji}(?:\p{EMod}|\uFE0F\u20E3?|[\u{E0020}-\u{E007E}]+\u{E007F})?))*/gu
}

/** Arrows, digits and other signs that are text unless a selector follows. */
function isPlainSign(text: string): boolean {
  return /^\P{Emoji_Presentation}\u20E3?$/u.test(text)
}

function replace(text: string, pattern: RegExp, env: Env, emojiOf: (found: string) => Emoji | undefined): Part[] {
  const parts: Part[] = []
  let done = 0
  for (const found of text.matchAll(pattern)) {
    const emoji = emojiOf(found[0])
    if (!emoji || !hasRoom(env)) continue
    parts.push(text.slice(done, found.index), { html: emojiHtml(emoji) })
    done = found.index + found[0].length
  }
  parts.push(text.slice(done))
  return parts
}
