// Users as people name them: by name, email address or ID.

import { addHint, exitCodes, Failure } from '../base/failure.ts'
import type { Names } from './names.ts'

/** Several users, with commas. Email addresses only if all are: the server accepts either IDs or addresses, and no names. */
export async function readPeople(text: string, names: Names, takesAddresses = true): Promise<(number | string)[]> {
  const people = text.split(',').map(name => name.trim())
  if (takesAddresses && people.every(name => name.includes('@'))) return people
  return Promise.all(people.map(name => readPerson(name, names)))
}

/** The ID of one user. A name that only a channel has gets a hint. */
export async function readPerson(name: string, names: Names): Promise<number> {
  if (isId(name)) return Number(name.replace(/^id:/, ''))
  try {
    return await names.find('user', name)
  } catch (error) {
    const missing = error instanceof Failure && error.exit === exitCodes.notFound
    const isChannel = missing && (await names.find('channel', name).catch(() => undefined)) !== undefined
    throw isChannel ? addHint(error as Failure, `For the channel, write '#${name}>topic'.`) : error
  }
}

export function isId(text: string): boolean {
  return /^(id:)?\d+$/.test(text)
}
