// Made-up names for real people: the same for the same person everywhere in a pull. They depend on a salt, so that a list of
// known addresses does not tell whose they are.

import { createHmac } from 'node:crypto'

export interface Person {
  readonly userId: number
  readonly email: string
  readonly fullName: string
  readonly isBot: boolean
}

export interface Disguise {
  readonly fullName: string
  readonly email: string
}

const firstNames = `Ada Ben Cleo Dan Edie Finn Gwen Hugo Iris Jonas Kira Leo Mona Nils Olga
Pia Quinn Rosa Sven Tara Uma Vera Wim Xenia Yann Zoe Arlo Bea Carl Dora`.split(/\s/)
const lastNames = `Abbott Brook Carver Dale Ellis Frost Gray Hale Irving Jarvis Keller Lane Marsh
North Oakes Perry Quill Reed Stone Thorne Upton Vale West Young Zeller Ashby`.split(/\s/)

/** One for each person. Two with the same made-up name get a number. */
export function disguisesFor(people: readonly Person[], salt: Uint8Array): Map<number, Disguise> {
  const taken = new Set<string>()
  const disguises = new Map<number, Disguise>()
  for (const { userId, email, isBot } of [...people].sort((a, b) => a.userId - b.userId)) {
    const bytes = hashAddress(email, salt)
    const first = firstNames[bytes.readUInt16BE(0) % firstNames.length]!
    const last = isBot ? 'Bot' : lastNames[bytes.readUInt16BE(2) % lastNames.length]!
    let fullName = `${first} ${last}`
    for (let number = 2; taken.has(fullName); number++) fullName = `${first} ${last} ${number}`
    taken.add(fullName)
    disguises.set(userId, { fullName, email: `${fullName.toLowerCase().replaceAll(' ', '.')}@example.com` })
  }
  return disguises
}

/** With real names, only IDs in mentions are removed. */
export function keepText(text: string): string {
  return withoutIds(text)
}

/** Replaces names and addresses of these people in texts, and all other addresses. */
export function disguiseText(
  people: readonly Person[],
  disguises: ReadonlyMap<number, Disguise>,
  salt: Uint8Array,
): (text: string) => string {
  const replacements = new Map<string, string>()
  const put = (real: string, madeUp: string) => {
    if (real.length > 2 && !replacements.has(real.toLowerCase())) replacements.set(real.toLowerCase(), madeUp)
  }
  for (const { userId, fullName } of people) put(fullName, disguises.get(userId)!.fullName)
  for (const { userId, email } of people) put(email, disguises.get(userId)!.email)
  // After the whole names, which are longer and so come first below.
  for (const { userId, fullName, isBot } of people)
    if (!isBot)
      for (const [index, part] of fullName.split(/\s+/).entries()) put(part, partOf(disguises.get(userId)!, index))
  const longestFirst = [...replacements.keys()].sort((a, b) => b.length - a.length).map(escapePattern)
  const known =
    longestFirst.length > 0
      ? new RegExp(`(?<![\\p{L}\\p{N}])(?:${longestFirst.join('|')})(?![\\p{L}\\p{N}])`, 'giu')
      : undefined
  return text => {
    const named = known
      ? withoutIds(text).replace(known, real => replacements.get(real.toLowerCase())!)
      : withoutIds(text)
    return named.replace(anyAddress, address =>
      address.endsWith('@example.com') ? address : madeUpAddress(address, salt),
    )
  }
}

/** IDs are others in the world that the seed makes; files stay where they are. */
function withoutIds(text: string): string {
  return text.replace(/(@_?\*\*[^*|]+)\|\d+\*\*/g, '$1**').replace(/\]\(\/user_uploads\/[^)]*\)/g, '](#)')
}

function partOf({ fullName }: Disguise, index: number): string {
  const parts = fullName.split(' ')
  return parts[Math.min(index, 1)]!
}

const anyAddress = /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}/g

function madeUpAddress(address: string, salt: Uint8Array): string {
  return `someone-${hashAddress(address, salt).toString('hex', 0, 4)}@example.com`
}

function hashAddress(address: string, salt: Uint8Array): Buffer {
  return createHmac('sha256', salt).update(address.toLowerCase()).digest()
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
