// The public dialect: what other servers of the API family call things. One table, both ways; with it, clients made
// for those servers work unmodified. Without it the daemon speaks exactly its own names.

import type { FieldMap } from './parameters.ts'

/** Our name to theirs, where it stands as the name of a field or parameter. */
const names: Readonly<Record<string, string>> = {
  svc_version: 'zulip_version',
  svc_feature_level: 'zulip_feature_level',
  svc_merge_base: 'zulip_merge_base',
  svc_plan_is_not_limited: 'zulip_plan_is_not_limited',
  svc_update_announcements_stream_id: 'zulip_update_announcements_stream_id',
  realm_svc_update_announcements_stream_id: 'realm_zulip_update_announcements_stream_id',
}

/** And where it stands as the value of a field. */
const values: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  reaction_type: { svc_extra_emoji: 'zulip_extra_emoji' },
  emoji_name: { svc: 'zulip' },
  emoji_code: { svc: 'zulip' },
  property: { svc_update_announcements_stream_id: 'zulip_update_announcements_stream_id' },
}

// A quote inside a JSON string is escaped, so a quoted word before a colon can only be a key, and a key with its value
// can only be that pair: the text need not be parsed.
const spoken = new RegExp(
  [
    `"(?<name>${Object.keys(names).join('|')})":`,
    ...Object.entries(values).map(([field, words]) => `"${field}":"(?:${Object.keys(words).join('|')})"`),
  ].join('|'),
  'g',
)

/** Old paths that other servers still answer, and clients still call. */
const formerly: Readonly<Record<string, string>> = {
  '/api/v1/settings/notifications': '/api/v1/settings',
  '/api/v1/settings/display': '/api/v1/settings',
}

export function currentPath(path: string): string {
  return formerly[path] ?? path
}

/** A reply, in their words. */
export function speak(json: string): string {
  return json.replace(spoken, (match, name: string | undefined) => {
    if (name !== undefined) return `"${names[name]}":`
    const [field, value] = JSON.parse(`[${match.replace('":"', '","')}]`) as [string, string]
    return `"${field}":"${values[field]![value]}"`
  })
}

/** Parameters, in ours. */
export function understand(fields: FieldMap): FieldMap {
  const ours: FieldMap = new Map()
  for (const [name, value] of fields) {
    const known = reversed(values[name] ?? {})
    ours.set(reversed(names)[name] ?? name, typeof value === 'string' ? (known[value] ?? value) : value)
  }
  return ours
}

function reversed(table: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(table).map(([ours, theirs]) => [theirs, ours]))
}
