// The format of a seed: sections of plain records, checked before anything is made of them.

import { levelForms, readLevel } from '../api/levels/releases.ts'
import type { SavedUpload } from '../io/saved-uploads.ts'

export interface Seed {
  /** The feature level of the run that this seed founds; the flag wins. */
  readonly level?: string | number
  readonly organization?: { readonly name?: string; readonly description?: string; readonly settings?: Params }
  readonly owner?: { readonly email?: string; readonly full_name?: string }
  readonly users?: readonly SeedUser[]
  readonly bots?: readonly SeedBot[]
  readonly groups?: readonly SeedGroup[]
  readonly channels?: readonly SeedChannel[]
  readonly messages?: readonly SeedMessage[]
  readonly steps?: readonly SeedStep[]
  /** A whole organization as `natter seed dump` writes it, in place of a new one; the other sections are added to it. */
  readonly rows?: Readonly<Record<string, readonly object[]>>
  /** The files that rows refer to. */
  readonly uploads?: readonly SavedUpload[]
}

export type Params = Readonly<Record<string, unknown>>
export type Path = readonly (string | number)[]

interface SeedUser {
  /** What the rest of the seed calls them, and the first part of their address. */
  readonly name: string
  readonly email?: string
  readonly full_name?: string
  readonly role?: 'owner' | 'administrator' | 'moderator' | 'member' | 'guest'
  /** Without one they cannot log in by password, and the daemon need not spend time on hashing it. */
  readonly password?: string
}

interface SeedBot {
  readonly name: string
  readonly owner?: string
  readonly full_name?: string
  readonly type?: 'generic' | 'incoming-webhook' | 'outgoing-webhook'
  readonly payload_url?: string
}

interface SeedGroup {
  readonly name: string
  readonly description?: string
  readonly members?: readonly string[]
  readonly subgroups?: readonly string[]
  readonly settings?: Params
}

interface SeedChannel {
  readonly name: string
  readonly description?: string
  readonly privacy?: 'public' | 'private' | 'web-public'
  readonly creator?: string
  readonly subscribers?: readonly string[]
  /** Joined by accounts that are created later. */
  readonly default?: boolean
  /** Further parameters of `create-channel`. */
  readonly settings?: Params
}

interface SeedMessage {
  readonly from: string
  readonly channel?: string
  readonly topic?: string
  readonly to?: readonly string[]
  readonly content: string
  /** How long before the start it was sent: `2d`, `1h30m`. */
  readonly ago?: string
  readonly reactions?: readonly { readonly from: string; readonly emoji: string }[]
}

/** Any call of the API. */
interface SeedStep {
  readonly as?: string
  readonly call: string
  readonly params?: Params
}

/** What is wrong with a seed, in a sentence that says where. */
export class SeedRefused extends Error {}

/** Something is wrong with the seed, at this place. */
export class SeedMistake extends Error {
  readonly path: Path
  constructor(path: Path, message: string) {
    super(message)
    this.path = path
  }
}

type Check = (value: unknown, path: Path) => void

const text: Check = (value, path) => insist(typeof value === 'string' && value !== '', path, 'must be a text')
const bool: Check = (value, path) => insist(typeof value === 'boolean', path, 'must be true or false')
const params: Check = (value, path) => insist(isRecord(value), path, 'must be a record of parameters')

function oneOf(...words: string[]): Check {
  return (value, path) => insist(words.includes(value as string), path, `must be one of ${words.join(', ')}`)
}

function listOf(check: Check): Check {
  return (value, path) => {
    insist(Array.isArray(value), path, 'must be a list')
    for (const [index, item] of (value as unknown[]).entries()) check(item, [...path, index])
  }
}

/** Fields whose name ends in `!` must be there. */
function record(fields: Readonly<Record<string, Check>>): Check {
  const known = new Map(Object.entries(fields).map(([name, check]) => [name.replace('!', ''), check]))
  const needed = Object.keys(fields).filter(name => name.endsWith('!'))
  return (value, path) => {
    insist(isRecord(value), path, 'must be a record')
    for (const [name, item] of Object.entries(value as object)) {
      const check = known.get(name)
      insist(check !== undefined, [...path, name], `is unknown here; there is ${[...known.keys()].join(', ')}`)
      check!(item, [...path, name])
    }
    for (const name of needed.map(name => name.slice(0, -1)))
      insist(Object.hasOwn(value as object, name), path, `lacks ${name}`)
  }
}

const row: Check = (value, path) => insist(isRecord(value), path, 'must be a record')
const names = listOf(text)
const seed = record({
  organization: record({ name: text, description: text, settings: params }),
  owner: record({ email: text, full_name: text }),
  users: listOf(
    record({
      'name!': text,
      email: text,
      full_name: text,
      password: text,
      role: oneOf('owner', 'administrator', 'moderator', 'member', 'guest'),
    }),
  ),
  bots: listOf(
    record({
      'name!': text,
      owner: text,
      full_name: text,
      payload_url: text,
      type: oneOf('generic', 'incoming-webhook', 'outgoing-webhook'),
    }),
  ),
  groups: listOf(record({ 'name!': text, description: text, members: names, subgroups: names, settings: params })),
  channels: listOf(
    record({
      'name!': text,
      description: text,
      creator: text,
      subscribers: names,
      default: bool,
      settings: params,
      privacy: oneOf('public', 'private', 'web-public'),
    }),
  ),
  messages: listOf(
    record({
      'from!': text,
      'content!': text,
      channel: text,
      topic: text,
      to: names,
      ago: text,
      reactions: listOf(record({ 'from!': text, 'emoji!': text })),
    }),
  ),
  steps: listOf(record({ as: text, 'call!': text, params })),
  rows: (value, path) => {
    insist(isRecord(value), path, 'must be a record of lists')
    for (const [name, rows] of Object.entries(value as object)) listOf(row)(rows, [...path, name])
  },
  uploads: listOf(record({ 'name!': text, 'content!': text })),
  level: (value, path) => insist(readLevel(value as string) !== undefined, path, `must be ${levelForms}`),
})

export function checkSeed(value: unknown): Seed {
  seed(value, [])
  return value as Seed
}

/** `channels[2].name`. */
export function formatPath(path: Path): string {
  return path
    .map(step => (typeof step === 'number' ? `[${step}]` : `.${step}`))
    .join('')
    .replace(/^\./, '')
}

function insist(holds: boolean, path: Path, message: string): void {
  if (!holds) throw new SeedMistake(path, message)
}

function isRecord(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
