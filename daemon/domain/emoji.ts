// Emoji by name and by code: custom ones of the organization, extra ones of the service, and those of Unicode.

import type { ReactionType } from './message-store/message.ts'
import type { State } from './state.ts'

export interface Emoji {
  readonly type: ReactionType
  readonly code: string
  readonly name: string
}

/** The emoji that a name stands for now: an active custom one first, then an extra one, then Unicode. */
export function emojiByName(_state: State, name: string): Emoji | undefined {
  if (name === extraName) return { type: 'svc_extra_emoji', code: extraName, name }
  const code = unicode.get(name)
  return code === undefined ? undefined : { type: 'unicode_emoji', code, name }
}

/** Whether the code exists in its namespace. */
export function isEmojiCode(_state: State, type: ReactionType, code: string): boolean {
  if (type === 'svc_extra_emoji') return code === extraName
  return type === 'unicode_emoji' && codes.has(code)
}

/** Whether the name may be used for the emoji with this code. */
export function isEmojiPair(state: State, { type, code, name }: Emoji): boolean {
  const found = emojiByName(state, name)
  if (found?.type === type && found.code === code) return true
  return type === 'unicode_emoji' && unicode.get(name) === code
}

const extraName = 'svc'

// The full table comes from the emoji data file.
const unicode = new Map([
  ['+1', '1f44d'],
  ['thumbs_up', '1f44d'],
  ['-1', '1f44e'],
  ['thumbs_down', '1f44e'],
  ['tada', '1f389'],
  ['heart', '2764'],
  ['smile', '1f642'],
  ['octopus', '1f419'],
  ['working_on_it', '1f6e0'],
  ['check', '2705'],
  ['eyes', '1f440'],
])
const codes = new Set(unicode.values())
