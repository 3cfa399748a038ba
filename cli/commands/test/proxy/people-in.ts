// Finds the people in a recording, in any form in which requests, answers and events name them.

import type { Person } from '../../organization/seed-pull/disguise.ts'

/** A person as one place names them. */
interface Named {
  readonly fullName: string
  readonly id?: number | undefined
  readonly email?: string | undefined
  readonly isBot?: boolean | undefined
}

/** Once for each of their names: a person may be renamed. */
export function peopleIn(recording: unknown): Person[] {
  const found = new Map<string, Named>()
  findNames(recording, named => found.set(JSON.stringify(named), named))
  const ids = new Map<string, number>()
  const known = new Map<number, { readonly email: string; readonly isBot: boolean }>()
  return [...found.values()]
    .sort((a, b) => knownOf(b) - knownOf(a))
    .map(({ fullName, id, email, isBot }) => {
      const userId = id ?? ids.get(email ?? fullName) ?? ids.get(fullName) ?? -1 - ids.size
      for (const key of email ? [email, fullName] : [fullName]) if (!ids.has(key)) ids.set(key, userId)
      // Without an address, the made-up name is made from the real one.
      const address = email ?? fullName
      const first = known.get(userId) ?? { email: address, isBot: isBot ?? /\bbot(?:@|$)/i.test(address) }
      known.set(userId, first)
      return { userId, fullName, ...first }
    })
}

/** Whole accounts come first, then those with an ID and an address: they decide which made-up name a person has. */
function knownOf({ id, email, isBot }: Named): number {
  return (id === undefined ? 0 : 4) + (isBot === undefined ? 0 : 2) + (email === undefined ? 0 : 1)
}

function findNames(value: unknown, add: (named: Named) => void): void {
  if (typeof value === 'string') findMentions(value, add)
  if (typeof value !== 'object' || value === null) return
  const fields = value as Record<string, unknown>
  for (const [key, field] of Object.entries(fields)) {
    // full_name, sender_full_name, user_full_name, bot_full_name: the ID and the address begin with the same word.
    if (key.endsWith('full_name') && typeof field === 'string') {
      const whose = key.slice(0, -'full_name'.length)
      const id = fields[`${whose}user_id`] ?? fields[`${whose}id`]
      const email = fields[`${whose}delivery_email`] || fields[`${whose}email`]
      add({
        fullName: field,
        id: typeof id === 'number' ? id : undefined,
        email: typeof email === 'string' ? email : undefined,
        isBot: typeof fields.is_bot === 'boolean' ? fields.is_bot : undefined,
      })
    }
    findNames(field, add)
  }
}

const groupMentions = new Set(['all', 'everyone', 'channel', 'stream', 'topic'])
const written = /@_?\*\*([^*|]{1,200})(?:\|(\d{1,15}))?\*\*/g
const rendered = /data-user-id="(\d{1,15})"[^<>]{0,100}>@?([^<]{1,200})</g

function findMentions(text: string, add: (named: Named) => void): void {
  for (const [, fullName, id] of text.matchAll(written))
    if (!groupMentions.has(fullName!)) add({ fullName: fullName!, id: id === undefined ? id : Number(id) })
  for (const [, id, fullName] of text.matchAll(rendered)) add({ fullName: fullName!, id: Number(id) })
}
