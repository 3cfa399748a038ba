// Makes data/emoji.json: emoji code → its names, the usual one first. Run by hand when Unicode has new emoji:
//   npm install --no-save emojibase-data && npx tsx data/make-emoji.ts
// The names come from the MIT-licensed emojibase-data; where two emoji claim a name, the earlier list has it.

import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'

type Shortcodes = Readonly<Record<string, string | readonly string[]>>

/** In order of precedence. The first list also says which emoji there are: those without skin tones. */
const lists = ['iamcal', 'github', 'joypixels', 'emojibase', 'cldr'] as const

/** Names that clients know and no list has, or that another emoji claims there. */
const ours: Readonly<Record<string, readonly string[]>> = {
  '1f44d': ['like'],
  '1f44e': ['dislike'],
  '1f642': ['slight_smile'],
  '1f641': ['frown'],
  '1f389': ['party_popper'],
  '2705': ['check'],
  '1f6e0': ['working_on_it'],
}

const require = createRequire(import.meta.url)
const names = new Map<string, string[]>()
const taken = new Set<string>()

for (const [code, extra] of Object.entries(ours)) for (const name of extra) claim(code, name)
const claimed = new Map([...names].map(([code, list]) => [code, [...list]]))
names.clear()
for (const list of lists) {
  const file = require.resolve(`emojibase-data/en/shortcodes/${list}.json`)
  for (const [hexcode, given] of Object.entries(JSON.parse(readFileSync(file, 'utf8')) as Shortcodes)) {
    const code = codeOf(hexcode)
    if (list === lists[0] && !names.has(code)) names.set(code, [])
    for (const name of [given].flat()) if (names.has(code) && /^[\w+-]+$/.test(name)) claim(code, name)
  }
}
for (const [code, list] of claimed) names.get(code)?.push(...list)

const rows = [...names].filter(([, list]) => list.length > 0).sort(([a], [b]) => (a < b ? -1 : 1))
const lines = rows.map(([code, list]) => `${JSON.stringify(code)}:${JSON.stringify(list.join(' '))}`)
writeFileSync(new URL('emoji.json', import.meta.url), `{\n${lines.join(',\n')}\n}\n`)

function claim(code: string, name: string): void {
  if (taken.has(name)) return
  taken.add(name)
  const list = names.get(code)
  if (list) list.push(name)
  else names.set(code, [name])
}

/** Lower case, without variation selectors: they say how a character is drawn, not which one it is. */
function codeOf(hexcode: string): string {
  return hexcode
    .toLowerCase()
    .split('-')
    .filter(part => part !== 'fe0f')
    .join('-')
}
