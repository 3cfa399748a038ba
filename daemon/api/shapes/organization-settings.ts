// Settings of the organization: what PATCH /realm takes and `register` reports as realm_*.

import { bool, eitherOf, int, natural, nullable, oneOf, text } from '../define.ts'

/** A number, or `unlimited`; the domain refuses anything else with its own code. */
const limitSeconds = eitherOf(int, text)

export const organizationSettings = {
  name: { shape: text, default: 'Natter' },
  description: { shape: text, default: '' },
  org_type: { shape: oneOf(0, 10, 20, 30, 35, 40, 50, 60, 70, 80, 90, 100, 1000), default: 0 },
  default_language: { shape: text, default: 'en' },
  invite_required: { shape: bool, default: true, owner: true },
  emails_restricted_to_domains: { shape: bool, default: false, owner: true },
  disallow_disposable_email_addresses: { shape: bool, default: true, owner: true },
  waiting_period_threshold: { shape: natural, default: 0, owner: true },
  message_retention_days: { shape: limitSeconds, default: -1, owner: true },
  enable_spectator_access: { shape: bool, default: false },
  topics_policy: { shape: oneOf('allow_empty_topic', 'disable_empty_topic'), default: 'allow_empty_topic' },
  allow_message_editing: { shape: bool, default: true },
  message_content_edit_limit_seconds: { shape: limitSeconds, default: 600 },
  message_content_delete_limit_seconds: { shape: limitSeconds, default: 600 },
  move_messages_within_stream_limit_seconds: { shape: limitSeconds, default: 604_800 },
  move_messages_between_streams_limit_seconds: { shape: limitSeconds, default: 604_800 },
  message_edit_history_visibility_policy: { shape: oneOf('all', 'moves', 'none'), default: 'all' },
  enable_read_receipts: { shape: bool, default: false },
  enable_guest_user_indicator: { shape: bool, default: true },
  enable_guest_user_dm_warning: { shape: bool, default: true },
  name_changes_disabled: { shape: bool, default: false },
  email_changes_disabled: { shape: bool, default: false },
  default_avatar_source: { shape: oneOf('G', 'J'), default: 'G', since: 456 },
  avatar_changes_disabled: { shape: bool, default: false },
  require_unique_names: { shape: bool, default: false },
  inline_image_preview: { shape: bool, default: true },
  inline_url_embed_preview: { shape: bool, default: false },
  media_preview_size: { shape: oneOf(100, 150, 200), default: 100, since: 469 },
  digest_emails_enabled: { shape: bool, default: false },
  digest_weekday: { shape: oneOf(0, 1, 2, 3, 4, 5, 6), default: 1 },
  send_channel_events_messages: { shape: bool, default: false, since: 434 },
  send_welcome_emails: { shape: bool, default: true },
  message_content_allowed_in_email_notifications: { shape: bool, default: true },
  default_code_block_language: { shape: text, default: '' },
  video_chat_provider: { shape: oneOf(0, 1, 3, 4, 5), default: 1 },
  jitsi_server_url: { shape: nullable(text), default: null },
  giphy_rating: { shape: oneOf(0, 1, 2, 3, 4, 5), default: 2 },
  require_e2ee_push_notifications: { shape: bool, default: false },
  want_advertise_in_communities_directory: { shape: bool, default: false },
  welcome_message_custom_text: { shape: text, default: '' },
  presence_disabled: { shape: bool, default: false },
  new_stream_announcements_stream_id: { shape: int, default: -1 },
  signup_announcements_stream_id: { shape: int, default: -1 },
  svc_update_announcements_stream_id: { shape: int, default: -1 },
  moderation_request_channel_id: { shape: int, default: -1 },
} as const

export type OrganizationSetting = keyof typeof organizationSettings
