// The settings that a server shows of an organization, as far as a seed can take them.

import { type OrganizationSetting, organizationSettings } from '../../../../daemon/api/shapes/organization-settings.ts'

/**
 * Left out: what has a section of its own, IDs and servers that another organization does not have, and rules that could refuse the
 * people and the messages of the same seed, who are older than the rule or have new addresses.
 */
const leftOut: ReadonlySet<string> = new Set<OrganizationSetting>([
  'name',
  'description',
  'new_stream_announcements_stream_id',
  'signup_announcements_stream_id',
  'svc_update_announcements_stream_id',
  'moderation_request_channel_id',
  'video_chat_provider',
  'jitsi_server_url',
  'emails_restricted_to_domains',
  'disallow_disposable_email_addresses',
  'waiting_period_threshold',
  'message_retention_days',
  'topics_policy',
  'require_unique_names',
])

export type Settings = Readonly<Record<string, string | number | boolean>>

/** From a reply of `register`: those that differ from what a new organization has, and that this version knows. */
export function settingsIn(registered: Readonly<Record<string, unknown>>): Settings {
  const settings: Record<string, string | number | boolean> = {}
  for (const [name, { shape, default: usual }] of Object.entries(organizationSettings)) {
    if (leftOut.has(name)) continue
    const value = registered[`realm_${name}`]
    // A limit that a server has switched off is shown as null, and set by its name.
    const wanted = value === null && name.endsWith('_limit_seconds') ? 'unlimited' : value
    if (wanted !== usual && isPlain(wanted) && isOffered(shape, wanted)) settings[name] = wanted
  }
  return settings
}

function isPlain(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value)
}

/** Other servers, and newer ones, have values of their own. */
function isOffered(shape: object, value: string | number | boolean): boolean {
  const { anyOf = [shape] } = shape as { anyOf?: readonly { const?: unknown; type?: string }[] }
  const type = typeof value
  return (anyOf as readonly { const?: unknown; type?: string }[]).some(arm =>
    arm.const === undefined
      ? arm.type === type || (arm.type === 'integer' && Number.isInteger(value))
      : arm.const === value,
  )
}
