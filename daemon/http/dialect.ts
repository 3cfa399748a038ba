// The public dialect: what other servers of the API family call things, in one table for both directions. Clients made
// for those servers get it and work unmodified; our own get the names of the spec, and all others get both names.

import type { Dialect } from '../domain/model/rows/queues.ts'
import { Refusal } from '../domain/refusal.ts'
import type { FieldMap } from './parameters.ts'

/** Products whose name begins with Zulip, and zulip-js, which sends nothing but the name of node-fetch 2. */
const publicClient = /\bzulip|^node-fetch\/1\.0 \(/i

/** The dialect of one caller. */
export function chooseDialect(choice: 'auto' | Dialect, userAgent = ''): Dialect {
  if (choice !== 'auto') return choice
  if (userAgent.startsWith('natter/')) return 'spec'
  return publicClient.test(userAgent) ? 'zulip' : 'both'
}

type Words = ReadonlyMap<string, string>

// Maps, not plain objects: what is looked up comes from callers, and objects know `constructor` and `valueOf`.

/** Our name to theirs, as the name of a field or parameter. */
const names = mapWords({
  svc_version: 'zulip_version',
  svc_feature_level: 'zulip_feature_level',
  svc_merge_base: 'zulip_merge_base',
  svc_plan_is_not_limited: 'zulip_plan_is_not_limited',
  svc_update_announcements_stream_id: 'zulip_update_announcements_stream_id',
  realm_svc_update_announcements_stream_id: 'realm_zulip_update_announcements_stream_id',
})

/** The same for values of fields. */
const values: ReadonlyMap<string, Words> = new Map([
  ['reaction_type', mapWords({ svc_extra_emoji: 'zulip_extra_emoji' })],
  ['emoji_name', mapWords({ svc: 'zulip' })],
  ['emoji_code', mapWords({ svc: 'zulip' })],
  ['notification_sound', mapWords({ svc: 'zulip' })],
  ['property', mapWords({ svc_update_announcements_stream_id: 'zulip_update_announcements_stream_id' })],
])

/** Texts of a reply to replace, for values whose meaning depends on the fields beside them. */
const phrases = mapWords({
  '"zing","svc"]': '"zing","zulip"]',
  '"property":"notification_sound","value":"svc"': '"property":"notification_sound","value":"zulip"',
  '"notification_name":"notification_sound","setting":"svc"':
    '"notification_name":"notification_sound","setting":"zulip"',
})

const ownNames = reverse(names)
const ownValues: ReadonlyMap<string, Words> = new Map([...values].map(([field, words]) => [field, reverse(words)]))

// A quote inside a JSON string is escaped, so a quoted word before a colon can only be a key, and a key with its value
// can only be that pair: the text need not be parsed.
const spoken = new RegExp(
  [
    `"(?<name>${[...names.keys()].join('|')})":`,
    // The spec has it for all accounts, public servers for bots only. Another field always follows.
    '"bot_type":null,',
    ...[...phrases.keys()].map(phrase => phrase.replace(']', '\\]')),
    ...[...values].map(([field, words]) => `"${field}":"(?:${[...words.keys()].join('|')})"`),
  ].join('|'),
  'g',
)

/** Old paths that other servers still answer, and clients still call. */
const formerly = mapWords({
  '/api/v1/settings/notifications': '/api/v1/settings',
  '/api/v1/settings/display': '/api/v1/settings',
})

export function currentPath(path: string): string {
  return formerly.get(path) ?? path
}

/** A field of the table with its value, which is never a list or an object. */
const namedTwice = new RegExp(`"(${[...names.keys()].join('|')})":("(?:[^"\\\\]|\\\\.)*"|[^",}\\]]+)`, 'g')

/** A reply, in the words of the caller. */
export function speak(dialect: Dialect, json: string): string {
  if (dialect === 'zulip') return speakPublic(json)
  // Most replies have none of the names.
  if (dialect === 'spec' || !json.includes('svc_')) return json
  return json.replace(namedTwice, (field, name: string, value: string) => `${field},"${names.get(name)}":${value}`)
}

function speakPublic(json: string): string {
  return json.replace(spoken, (match, name: string | undefined) => {
    if (match.startsWith('"bot_type"')) return ''
    if (name !== undefined) return `"${names.get(name)}":`
    const phrase = phrases.get(match)
    if (phrase !== undefined) return phrase
    const [field, value] = JSON.parse(`[${match.replace('":"', '","')}]`) as [string, string]
    return `"${field}":"${values.get(field)!.get(value)}"`
  })
}

/** Why a caller is not let in: public servers have one code for all reasons. */
export function speakAuthentication(error: unknown): unknown {
  if (!(error instanceof Refusal) || error.status !== 401) return error
  const { message, kind, hidden } = error
  return new Refusal(message, { code: 'UNAUTHORIZED', kind, ...(hidden && { hidden }) })
}

/** The parameters of a call with our names. Most calls have no others. */
export function understand(fields: FieldMap): FieldMap {
  for (const name of fields.keys()) if (ownNames.has(name) || ownValues.has(name)) return translate(fields)
  return fields
}

function translate(fields: FieldMap): FieldMap {
  const ours: FieldMap = new Map()
  for (const [name, value] of fields) {
    const own = typeof value === 'string' ? (ownValues.get(name)?.get(value) ?? value) : value
    ours.set(ownNames.get(name) ?? name, own)
  }
  return ours
}

function mapWords(table: Readonly<Record<string, string>>): Words {
  return new Map(Object.entries(table))
}

function reverse(words: Words): Words {
  return new Map([...words].map(([ours, theirs]) => [theirs, ours]))
}
