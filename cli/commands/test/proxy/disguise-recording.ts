// Replaces the names and addresses in a recording by made-up ones: the same for the same person everywhere in it.

import { rmSync } from 'node:fs'
import { writeFileAtomicallySync } from '../../../../daemon/local/atomic-file.ts'
import { largeFile, readText } from '../../../../daemon/local/bounded-file.ts'
import { disguisesFor, disguiseText } from '../../organization/seed-pull/disguise.ts'
import { peopleIn } from './people-in.ts'

/** From one file to the other; the first one is deleted. */
export function disguiseRecording(from: string, to: string, salt: Uint8Array): void {
  const lines = readText(from, largeFile)
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line) as unknown)
  const people = peopleIn(lines)
  const disguise = disguiseText(people, disguisesFor(people, salt), salt)
  writeFileAtomicallySync(to, `${lines.map(line => JSON.stringify(changeTexts(line, disguise))).join('\n')}\n`)
  rmSync(from)
}

/** Their values are words of the API, even if a person is called so. */
const wordsOfApi = new Set(['type', 'op', 'property', 'result', 'code', 'method', 'endpoint'])

/** Keys are changed only if they are addresses: with a Mark among the people, mark_as_read stays. */
function changeTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map(item => changeTexts(item, change))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      if (wordsOfApi.has(key) && typeof item === 'string') return [key, item]
      if (key === 'path' && typeof item === 'string') return [key, changePath(item, change)]
      return [key.includes('@') ? change(key) : key, changeTexts(item, change)]
    }),
  )
}

/** Of a path, only addresses: /users/amy%40example.org. */
function changePath(path: string, change: (text: string) => string): string {
  return path
    .split('/')
    .map(part => part.replaceAll('%40', '@').replace(/%2b/gi, '+'))
    .map(part => (part.includes('@') ? change(part).replaceAll('@', '%40') : part))
    .join('/')
}
