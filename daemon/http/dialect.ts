// The public dialect: what other servers of the API family call things. One table, both ways; with it, clients made
// for those servers work unmodified. Without it the daemon speaks exactly its own names.

import type { FieldMap } from './parameters.ts'

type Words = ReadonlyMap<string, string>

// Maps, not plain objects: what is looked up comes from callers, and objects know `constructor` and `valueOf`.

/** Our name to theirs, as the name of a field or parameter. */
const names = wordsOf({
  svc_version: 'zulip_version',
  svc_feature_level: 'zulip_feature_level',
  svc_merge_base: 'zulip_merge_base',
  svc_plan_is_not_limited: 'zulip_plan_is_not_limited',
  svc_update_announcements_stream_id: 'zulip_update_announcements_stream_id',
  realm_svc_update_announcements_stream_id: 'realm_zulip_update_announcements_stream_id',
})

/** And as the value of a field. */
const values: ReadonlyMap<string, Words> = new Map([
  ['reaction_type', wordsOf({ svc_extra_emoji: 'zulip_extra_emoji' })],
  ['emoji_name', wordsOf({ svc: 'zulip' })],
  ['emoji_code', wordsOf({ svc: 'zulip' })],
  ['property', wordsOf({ svc_update_announcements_stream_id: 'zulip_update_announcements_stream_id' })],
])

const ownNames = reversed(names)
const ownValues: ReadonlyMap<string, Words> = new Map([...values].map(([field, words]) => [field, reversed(words)]))

// A quote inside a JSON string is escaped, so a quoted word before a colon can only be a key, and a key with its value
// can only be that pair: the text need not be parsed.
const spoken = new RegExp(
  [
    `"(?<name>${[...names.keys()].join('|')})":`,
    ...[...values].map(([field, words]) => `"${field}":"(?:${[...words.keys()].join('|')})"`),
  ].join('|'),
  'g',
)

/** Old paths that other servers still answer, and clients still call. */
const formerly = wordsOf({
  '/api/v1/settings/notifications': '/api/v1/settings',
  '/api/v1/settings/display': '/api/v1/settings',
})

export function currentPath(path: string): string {
  return formerly.get(path) ?? path
}

/** A reply, in their words. */
export function speak(json: string): string {
  return json.replace(spoken, (match, name: string | undefined) => {
    if (name !== undefined) return `"${names.get(name)}":`
    const [field, value] = JSON.parse(`[${match.replace('":"', '","')}]`) as [string, string]
    return `"${field}":"${values.get(field)!.get(value)}"`
  })
}

/** Parameters, in ours. */
export function understand(fields: FieldMap): FieldMap {
  const ours: FieldMap = new Map()
  for (const [name, value] of fields) {
    const own = typeof value === 'string' ? (ownValues.get(name)?.get(value) ?? value) : value
    ours.set(ownNames.get(name) ?? name, own)
  }
  return ours
}

function wordsOf(table: Readonly<Record<string, string>>): Words {
  return new Map(Object.entries(table))
}

function reversed(words: Words): Words {
  return new Map([...words].map(([ours, theirs]) => [theirs, ours]))
}
