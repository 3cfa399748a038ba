// The content behind `server_emoji_data_url`: the names of every Unicode emoji, the usual one first.

import emojiNames from '../../../data/emoji.json' with { type: 'json' }

export function emojiData(): { readonly code_to_names: Readonly<Record<string, readonly string[]>> } {
  const entries = Object.entries(emojiNames as Readonly<Record<string, string>>)
  return { code_to_names: Object.fromEntries(entries.map(([code, list]) => [code, list.split(' ')])) }
}
