// Finds the emoji that a name means: the organization's own first, then the built-in extra one, then Unicode.

import emojiNames from '../../../data/emoji.json' with { type: 'json' }
import { didYouMean } from '../../local/did-you-mean.ts'
import type { Emoji } from '../model/rows/people.ts'
import type { State } from '../model/state.ts'
import { missing, type Refusal } from '../refusal.ts'
import { type CustomEmoji, customEmoji } from './organization-content.ts'

/** Characters of a name that suggestions look at, and code units of the longest emoji: both come from a caller. */
const longestName = 60
const longestCharacter = 40

/** The one emoji that belongs to the server itself. OPEN: its picture is not shipped; clients have their own. */
const extra: Emoji = { type: 'svc_extra_emoji', code: 'svc', name: 'svc', src: '/static/emoji/svc.png' }
/** The same as clients of the public server write it in a text. */
const publicExtra: Emoji = { ...extra, name: 'zulip', src: '/static/generated/emoji/images/emoji/unicode/zulip.png' }

/** What `:name:` in a text shows. */
export function emojiInText(state: State, name: string): Emoji | undefined {
  return emojiByName(state, name) ?? (name === publicExtra.name ? publicExtra : undefined)
}

/** By its name, or, for Unicode emoji, by the character itself. */
export function emojiByName(state: State, name: string): Emoji | undefined {
  const custom = customEmoji(state).named(name)
  if (custom && !custom.deactivated) return present(custom)
  if (name === extra.name) return extra
  const code = unicodeCode(name)
  return code === undefined ? emojiByCharacter(name) : { type: 'unicode_emoji', code, name }
}

/** OPEN: the public server takes emoji by name only; here a character is accepted too, as the canonical name of its emoji. */
export function emojiByCharacter(character: string): Emoji | undefined {
  const code = [...character.slice(0, longestCharacter)]
    .filter(part => part !== '\uFE0F')
    .map(part => part.codePointAt(0)!.toString(16).padStart(4, '0'))
    .join('-')
  const name = unicodeName(code)
  return name === undefined ? undefined : { type: 'unicode_emoji', code, name }
}

/** The refusal of a name that means nothing, with names that are close to it. */
export function noSuchEmoji(state: State, name: string): Refusal {
  const own = [...state.emoji.values()].filter(({ deactivated }) => !deactivated).map(emoji => emoji.name)
  const hint = didYouMean(name.slice(0, longestName), [...own, ...unicode().codes.keys()])
  return missing('emoji_name', 'emoji', name, { hint })
}

/** Whether the code means something in its namespace; deactivated custom emoji still do. */
export function isEmojiCode(state: State, type: string, code: string): boolean {
  switch (type) {
    case 'unicode_emoji':
      return unicodeName(code) !== undefined
    case 'realm_emoji':
      return /^\d{1,15}$/.test(code) && customEmoji(state).withId(Number(code)) !== undefined
    case 'svc_extra_emoji':
      return code === extra.code
    default:
      return false
  }
}

/** Whether name, type and code are those of one emoji that can be used now. */
export function isEmojiPair(state: State, { name, type, code }: Emoji): boolean {
  switch (type) {
    case 'unicode_emoji':
      return unicodeCode(name) === code
    case 'realm_emoji': {
      const custom = customEmoji(state).named(name)
      return custom !== undefined && !custom.deactivated && String(custom.id) === code
    }
    case 'svc_extra_emoji':
      return name === extra.name && code === extra.code
  }
}

/** Names that come with the service; only administrators may give them to something else. */
export function isBuiltInEmoji(name: string): boolean {
  return name === extra.name || unicodeCode(name) !== undefined
}

export function unicodeCode(name: string): string | undefined {
  return unicode().codes.get(name)
}

/** The usual name of a Unicode emoji. */
export function unicodeName(code: string): string | undefined {
  return unicode().names.get(code)
}

function present({ id, name, src }: CustomEmoji): Emoji {
  return { type: 'realm_emoji', code: String(id), name, src }
}

// Shared by all worlds: it follows from a file that ships with the program, and nothing changes it once it is made.
let known: { readonly codes: ReadonlyMap<string, string>; readonly names: ReadonlyMap<string, string> } | undefined

/** Made at the first question: a start does not pay for it. */
function unicode() {
  if (known) return known
  const codes = new Map<string, string>()
  const names = new Map<string, string>()
  for (const [code, list] of Object.entries(emojiNames as Readonly<Record<string, string>>)) {
    const all = list.split(' ')
    names.set(code, all[0]!)
    for (const name of all) codes.set(name, code)
  }
  known = { codes, names }
  return known
}
