// The types of events that a queue can be registered for. `fetch_event_types` also takes the names of state sections.

export const eventTypes = [
  'alert_words',
  'attachment',
  'channel_folder',
  'custom_profile_fields',
  'default_stream_groups',
  'default_streams',
  'delete_message',
  'drafts',
  'heartbeat',
  'invites_changed',
  'message',
  'muted_topics',
  'muted_users',
  'navigation_view',
  'onboarding_steps',
  'presence',
  'reaction',
  'realm',
  'realm_bot',
  'realm_domains',
  'realm_emoji',
  'realm_export',
  'realm_export_consent',
  'realm_linkifiers',
  'realm_playgrounds',
  'realm_user',
  'realm_user_settings_defaults',
  'reminders',
  'saved_snippets',
  'scheduled_messages',
  'stream',
  'submessage',
  'subscription',
  'typing',
  'typing_edit_message',
  'update_display_settings',
  'update_global_notifications',
  'update_message',
  'update_message_flags',
  'user_group',
  'user_settings',
  'user_status',
  'user_topic',
] as const

/** Of public servers at this level. Our daemon has no such events, and our programs follow both. */
export const foreignEventTypes = ['restart', 'web_reload_client'] as const

export type EventType = (typeof eventTypes)[number] | (typeof foreignEventTypes)[number]

const known: ReadonlySet<string> = new Set(eventTypes)

/** Those that exist, each once, in one order. */
export function knownEventTypes(given: readonly string[]): string[] {
  return [...new Set(given)].filter(type => known.has(type)).sort()
}
