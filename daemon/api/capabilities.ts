// The capabilities that a client can declare in `client_capabilities` at register, and what each changes. Absent means false.

export const capabilities = {
  notification_settings_null: {
    since: 1,
    effect: 'Notification fields of a subscription can be null, which means inherit.',
    // A client that declares anything must declare this one; the spec does not say so.
    requiredByPublicServers: true,
  },
  bulk_message_deletion: { since: 13, effect: 'delete_message carries message_ids instead of one event per message.' },
  user_avatar_url_field_optional: { since: 18, effect: 'avatar_url can be missing from user objects.' },
  stream_typing_notifications: { since: 58, effect: 'Typing events in channels are sent.' },
  user_settings_object: { since: 89, effect: 'The two older settings events and their state fields are not sent.' },
  linkifier_url_template: { since: 176, effect: 'realm_linkifiers is filled and its events are sent.' },
  user_list_incomplete: { since: 232, effect: 'Users the client cannot access are left out instead of replaced.' },
  include_deactivated_groups: { since: 294, effect: 'Deactivated groups are listed and updated, not removed.' },
  archived_channels: { since: 315, effect: 'Archived channels are listed and updated, not deleted.' },
  empty_topic_name: { since: 334, effect: 'The empty topic is sent as the empty string.' },
  simplified_presence_events: { since: 419, effect: 'presence events carry presences, in the modern form.' },
  individual_emoji_changes: {
    since: 491,
    effect: 'realm_emoji/add and realm_emoji/update_one are sent instead of all custom emoji.',
  },
} as const

export type Capability = keyof typeof capabilities
