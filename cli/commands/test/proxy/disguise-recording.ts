// Replaces the names and addresses in a recording by made-up ones: the same for the same person everywhere in it.

import { rmSync } from 'node:fs'
import { writeFileAtomicallySync } from '../../../../daemon/local/atomic-file.ts'
import { largeFile, readText } from '../../../../daemon/local/bounded-file.ts'
import { disguisesFor, disguiseText, type Person } from '../../organization/seed-pull/disguise.ts'

/** From one file to the other; the first one is deleted. */
export function disguiseRecording(from: string, to: string, salt: Uint8Array): void {
  const lines = readText(from, largeFile)
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line) as unknown)
  const people = new Map<number, Person>()
  for (const line of lines) findPeople(line, people)
  const all = [...people.values()]
  const disguise = disguiseText(all, disguisesFor(all, salt), salt)
  writeFileAtomicallySync(to, `${lines.map(line => JSON.stringify(changeTexts(line, disguise))).join('\n')}\n`)
  rmSync(from)
}

/** Accounts as any answer has them. */
function findPeople(value: unknown, people: Map<number, Person>): void {
  if (typeof value !== 'object' || value === null) return
  const { user_id: userId, email, delivery_email, full_name: fullName, is_bot } = value as Record<string, unknown>
  const address = delivery_email ?? email
  if (typeof userId === 'number' && typeof address === 'string' && typeof fullName === 'string')
    people.set(userId, { userId, email: address, fullName, isBot: is_bot === true })
  for (const part of Object.values(value)) findPeople(part, people)
}

/** Keys too: some records are keyed by address. */
function changeTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map(item => changeTexts(item, change))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [change(key), changeTexts(item, change)]))
}
