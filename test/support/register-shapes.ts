// The answer of `register`, section by section: every field and its type, nothing else.

import { type TSchema, Type } from '@sinclair/typebox'
import { anything, bool, eitherOf, int, keyed, listOf, nullable, num, oneOf, text } from '../../daemon/api/define.ts'
import {
  channelPermissions,
  groupPermissions,
  organizationPermissions,
} from '../../daemon/api/shapes/permission-settings.ts'

type Fields = Record<string, TSchema>

function exactly(fields: Fields): TSchema {
  return Type.Object(fields, { additionalProperties: false })
}

function all(names: string, shape: TSchema): Fields {
  return Object.fromEntries(names.split(/\s+/).map(name => [name, shape]))
}

const ids = listOf(int)
const group = eitherOf(int, exactly({ direct_members: ids, direct_subgroups: ids }))
/** Those of the default level. */
const groups = (settings: object, prefix = '') =>
  Object.fromEntries(
    Object.entries(settings).flatMap(([name, setting]) => ('since' in setting ? [] : [[prefix + name, group]])),
  )

export const channelFields: Fields = {
  ...all('stream_id date_created subscriber_count stream_post_policy', int),
  ...all('name description rendered_description topics_policy', text),
  ...all('creator_id first_message_id folder_id message_retention_days stream_weekly_traffic', nullable(int)),
  ...all('invite_only is_web_public history_public_to_subscribers is_archived', bool),
  ...all('is_recently_active is_announcement_only', bool),
  ...groups(channelPermissions),
}

const notifications = 'audible_notifications desktop_notifications email_notifications push_notifications'
const subscription = (setting: TSchema, subscribers: boolean) =>
  exactly({
    ...channelFields,
    color: text,
    ...all('is_muted in_home_view pin_to_top', bool),
    ...all(`${notifications} wildcard_mentions_notify`, setting),
    ...(subscribers && { subscribers: ids }),
  })

const person: Fields = {
  ...all('user_id role', int),
  ...all('email full_name date_joined timezone', text),
  ...all('delivery_email avatar_url', nullable(text)),
  ...all('is_owner is_admin is_guest is_bot', bool),
  bot_type: nullable(int),
  bot_owner_id: Type.Optional(nullable(int)),
  avatar_version: int,
  profile_data: Type.Optional(keyed(exactly({ value: text, rendered_value: Type.Optional(text) }))),
  is_system_bot: Type.Optional(Type.Literal(true)),
}

const display: Fields = {
  ...all('color_scheme demote_inactive_streams', int),
  ...all('default_language web_home_view emojiset timezone', text),
  ...all('enable_drafts_synchronization enter_sends fluid_layout_width high_contrast_mode', bool),
  ...all('left_side_userlist starred_message_counts translate_emoticons twenty_four_hour_time', bool),
}

const notified: Fields = {
  ...all('desktop_icon_count_display email_notifications_batching_period_seconds', int),
  realm_name_in_email_notifications_policy: int,
  notification_sound: text,
  ...all('enable_desktop_notifications enable_digest_emails enable_login_emails enable_marketing_emails', bool),
  ...all('enable_offline_email_notifications enable_offline_push_notifications', bool),
  ...all('enable_online_push_notifications enable_sounds enable_stream_audible_notifications', bool),
  ...all('enable_stream_desktop_notifications enable_stream_email_notifications', bool),
  ...all('enable_stream_push_notifications message_content_in_email_notifications', bool),
  ...all('pm_content_in_desktop_notifications presence_enabled wildcard_mentions_notify', bool),
}

const emojisets = listOf(exactly({ key: text, text }))

const settings: Fields = {
  ...display,
  ...notified,
  ...all('display_emoji_reaction_users web_escape_navigates_to_home_view receives_typing_notifications', bool),
  ...all('send_private_typing_notifications send_stream_typing_notifications send_read_receipts', bool),
  ...all('allow_private_data_export web_navigate_to_sent_message web_suggest_update_timezone', bool),
  ...all('hide_ai_features web_left_sidebar_unreads_count_summary web_left_sidebar_show_channel_folders', bool),
  ...all('enable_followed_topic_desktop_notifications enable_followed_topic_email_notifications', bool),
  ...all('enable_followed_topic_push_notifications enable_followed_topic_audible_notifications', bool),
  ...all('enable_followed_topic_wildcard_mentions_notify automatically_follow_topics_where_mentioned', bool),
  ...all('email_address_visibility web_mark_read_on_scroll_policy web_channel_default_view user_list_style', int),
  ...all('web_stream_unreads_count_display_policy web_font_size_px web_line_height_percent', int),
  ...all('automatically_follow_topics_policy automatically_unmute_topics_in_muted_streams_policy', int),
  ...all('web_animate_image_previews resolved_topic_notice_auto_read_policy', text),
  emojiset_choices: emojisets,
  available_notification_sounds: listOf(text),
}

const supported = keyed(
  exactly({
    ...all('require_system_group allow_internet_group allow_nobody_group allow_everyone_group', bool),
    default_group_name: text,
    default_for_system_groups: nullable(text),
    allowed_system_groups: listOf(text),
  }),
)

const realm: Fields = {
  ...all('max_stream_name_length max_stream_description_length max_channel_folder_name_length', int),
  ...all('max_channel_folder_description_length max_topic_length max_message_length max_reminder_note_length', int),
  ...all('max_bulk_new_subscription_messages event_queue_longpoll_timeout_seconds', int),
  ...all('server_presence_ping_interval_seconds server_presence_offline_threshold_seconds', int),
  ...all('server_typing_started_wait_period_milliseconds server_typing_stopped_wait_period_milliseconds', int),
  ...all('server_typing_started_expiry_period_milliseconds max_avatar_file_size_mib max_icon_file_size_mib', int),
  ...all('max_logo_file_size_mib max_file_upload_size_mib password_min_length password_max_length', int),
  ...all('password_min_guesses server_min_deactivated_realm_deletion_days server_generation', int),
  server_max_deactivated_realm_deletion_days: nullable(int),
  ...all('realm_name realm_description realm_url realm_uri realm_icon_url realm_icon_source realm_logo_url', text),
  ...all('realm_logo_source realm_night_logo_url realm_night_logo_source realm_default_language', text),
  ...all('realm_default_code_block_language realm_message_edit_history_visibility_policy', text),
  ...all('realm_topics_policy realm_welcome_message_custom_text realm_bot_domain', text),
  ...all('realm_empty_topic_display_name server_emoji_data_url upgrade_text_for_wide_organization_logo', text),
  ...all('realm_message_content_edit_limit_seconds realm_message_content_delete_limit_seconds', nullable(int)),
  ...all('realm_move_messages_within_stream_limit_seconds', nullable(int)),
  ...all('realm_move_messages_between_streams_limit_seconds realm_upload_quota_mib', nullable(int)),
  realm_push_notifications_enabled_end_timestamp: nullable(int),
  ...all('realm_jitsi_server_url server_jitsi_server_url jitsi_server_url', nullable(text)),
  ...all('realm_date_created realm_message_retention_days realm_waiting_period_threshold realm_digest_weekday', int),
  ...all('realm_video_chat_provider realm_giphy_rating realm_org_type realm_plan_type', int),
  ...all('realm_moderation_request_channel_id realm_new_stream_announcements_stream_id', int),
  ...all('realm_signup_announcements_stream_id realm_svc_update_announcements_stream_id', int),
  ...all('realm_create_public_stream_policy realm_create_private_stream_policy', int),
  ...all('realm_create_web_public_stream_policy realm_wildcard_mention_policy', int),
  ...all(
    'realm_allow_message_editing realm_allow_edit_history realm_mandatory_topics realm_enable_read_receipts',
    bool,
  ),
  ...all('realm_presence_disabled realm_invite_required realm_emails_restricted_to_domains', bool),
  ...all('realm_disallow_disposable_email_addresses realm_require_unique_names realm_name_changes_disabled', bool),
  ...all('realm_email_changes_disabled realm_avatar_changes_disabled realm_enable_spectator_access', bool),
  ...all('realm_want_advertise_in_communities_directory realm_inline_image_preview', bool),
  ...all('realm_inline_url_embed_preview realm_digest_emails_enabled realm_send_welcome_emails', bool),
  ...all('realm_message_content_allowed_in_email_notifications realm_enable_guest_user_indicator', bool),
  ...all('realm_enable_guest_user_dm_warning realm_push_notifications_enabled', bool),
  ...all('realm_require_e2ee_push_notifications realm_email_auth_enabled realm_password_auth_enabled', bool),
  ...all('realm_is_zephyr_mirror_realm server_inline_image_preview server_inline_url_embed_preview', bool),
  ...all('server_avatar_changes_disabled server_name_changes_disabled server_needs_upgrade', bool),
  ...all('server_web_public_streams_enabled server_can_summarize_topics development_environment', bool),
  ...all('settings_send_digest_emails svc_plan_is_not_limited', bool),
  ...all('realm_available_video_chat_providers giphy_rating_options', keyed(exactly({ name: text, id: int }))),
  realm_authentication_methods: keyed(
    exactly({ enabled: bool, available: bool, unavailable_reason: Type.Optional(text) }),
  ),
  realm_default_external_accounts: keyed(exactly(all('name text hint url_pattern', text))),
  server_thumbnail_formats: listOf(anything),
  server_supported_permission_settings: exactly(all('realm stream group', supported)),
  ...groups(organizationPermissions, 'realm_'),
}

const topic = exactly({ stream_id: int, topic_name: text, last_updated: int, visibility_policy: int })
const unread = { unread_message_ids: ids }
const draft = exactly({
  id: int,
  type: oneOf('', 'stream', 'private'),
  to: ids,
  topic: text,
  content: text,
  timestamp: int,
})
const legacyPresence = Type.Object({ client: text, status: oneOf('active', 'idle'), timestamp: int })

const scheduled: Fields = {
  type: oneOf('stream', 'private'),
  ...all('content rendered_content', text),
  scheduled_delivery_timestamp: int,
  failed: bool,
}

/** For a client that declares every capability and wants subscribers, or for one that declares none. */
export function sectionShapes(modern: boolean): Record<string, Fields> {
  const setting = modern ? nullable(bool) : bool
  return {
    alert_words: { alert_words: listOf(text) },
    channel_folders: {
      channel_folders: listOf(
        exactly({
          ...all('id order date_created', int),
          ...all('name description rendered_description', text),
          creator_id: nullable(int),
          is_archived: bool,
        }),
      ),
    },
    custom_profile_fields: {
      custom_profile_fields: listOf(
        exactly({
          ...all('id type order', int),
          ...all('name hint field_data', text),
          ...all('required editable_by_user', bool),
          display_in_profile_summary: Type.Optional(Type.Literal(true)),
        }),
      ),
      custom_profile_field_types: keyed(exactly({ id: int, name: text })),
    },
    default_streams: { realm_default_streams: ids },
    default_stream_groups: {
      realm_default_stream_groups: listOf(exactly({ id: int, name: text, description: text, streams: ids })),
    },
    drafts: { drafts: listOf(draft) },
    // What these hold came with later levels.
    device: {},
    klipy: {},
    tenor: {},
    giphy: { giphy_api_key: text },
    message: { max_message_id: int },
    muted_topics: { muted_topics: listOf(Type.Tuple([text, text, int])) },
    muted_users: { muted_users: listOf(exactly({ id: int, timestamp: int })) },
    navigation_views: {
      navigation_views: listOf(exactly({ fragment: text, is_pinned: bool, name: nullable(text) })),
    },
    onboarding_steps: {
      onboarding_steps: listOf(exactly({ type: text, name: text })),
      navigation_tour_video_url: nullable(text),
    },
    presence: {
      presences: keyed(
        modern ? exactly({ active_timestamp: int, idle_timestamp: int }) : Type.Record(text, legacyPresence),
      ),
      presence_last_update_id: int,
      server_timestamp: num,
    },
    push_device: { push_devices: keyed(anything) },
    realm,
    realm_billing: { realm_billing: exactly({ has_pending_sponsorship_request: bool }) },
    realm_bot: {
      realm_bots: listOf(
        exactly({
          ...all('user_id bot_type', int),
          ...all('email full_name api_key avatar_url', text),
          ...all('is_active default_all_public_streams', bool),
          ...all('default_sending_stream default_events_register_stream', nullable(text)),
          owner_id: nullable(int),
          services: listOf(exactly({ base_url: text, interface: int, token: text })),
        }),
      ),
    },
    realm_domains: { realm_domains: listOf(exactly({ domain: text, allow_subdomains: bool })) },
    realm_embedded_bots: { realm_embedded_bots: listOf(anything) },
    realm_emoji: {
      realm_emoji: keyed(
        exactly({
          ...all('id name source_url', text),
          still_url: nullable(text),
          deactivated: bool,
          author_id: nullable(int),
        }),
      ),
    },
    realm_filters: { realm_filters: Type.Array(anything, { maxItems: 0 }) },
    realm_incoming_webhook_bots: { realm_incoming_webhook_bots: listOf(anything) },
    realm_linkifiers: {
      realm_linkifiers: Type.Array(exactly({ id: int, pattern: text, url_template: text }), {
        maxItems: modern ? 9 : 0,
      }),
    },
    realm_playgrounds: { realm_playgrounds: listOf(anything) },
    realm_user: {
      ...all('realm_users realm_non_active_users', listOf(exactly(person))),
      cross_realm_bots: listOf(exactly({ ...person, is_active: bool, avatar_url: text })),
      user_id: int,
      ...all('email delivery_email full_name avatar_url_medium avatar_source', text),
      avatar_url: nullable(text),
      ...all('is_owner is_admin is_moderator is_guest can_create_public_streams can_create_private_streams', bool),
      ...all('can_create_web_public_streams can_create_streams can_invite_others_to_realm', bool),
    },
    realm_user_groups: {
      realm_user_groups: listOf(
        exactly({
          id: int,
          ...all('name description', text),
          ...all('members direct_subgroup_ids', ids),
          ...all('is_system_group deactivated', bool),
          ...all('creator_id date_created', nullable(int)),
          ...groups(groupPermissions),
        }),
      ),
    },
    realm_user_settings_defaults: {
      realm_user_settings_defaults: exactly(Type.Omit(Type.Object(settings), ['timezone']).properties),
    },
    recent_private_conversations: {
      recent_private_conversations: listOf(exactly({ user_ids: ids, max_message_id: int })),
    },
    saved_snippets: {
      saved_snippets: listOf(exactly({ ...all('id date_created', int), ...all('title content', text) })),
    },
    reminders: {
      reminders: listOf(
        exactly({ ...scheduled, reminder_id: int, to: ids, reminder_target_message_id: nullable(int) }),
      ),
    },
    scheduled_messages: {
      scheduled_messages: listOf(
        exactly({
          ...scheduled,
          scheduled_message_id: int,
          to: eitherOf(int, ids),
          topic: Type.Optional(text),
        }),
      ),
    },
    starred_messages: { starred_messages: ids },
    stop_words: { stop_words: listOf(text) },
    stream: { streams: listOf(exactly(channelFields)) },
    subscription: {
      subscriptions: listOf(subscription(setting, modern)),
      unsubscribed: listOf(subscription(setting, modern)),
      never_subscribed: listOf(exactly({ ...channelFields, ...(modern && { subscribers: ids }) })),
    },
    update_display_settings: modern ? {} : { ...display, emojiset_choices: emojisets },
    update_global_notifications: modern ? {} : { ...notified, available_notification_sounds: listOf(text) },
    update_message_flags: {},
    user_settings: { user_settings: exactly(settings) },
    user_status: {
      user_status: keyed(
        exactly({
          away: Type.Optional(Type.Literal(true)),
          ...all('status_text emoji_name emoji_code reaction_type', Type.Optional(text)),
        }),
      ),
    },
    user_topic: { user_topics: listOf(topic) },
    video_calls: { has_zoom_token: bool },
  }
}

/** Given only with both `message` and `update_message_flags`. */
export const unreadShape = exactly({
  count: int,
  pms: listOf(exactly({ ...all('other_user_id sender_id', int), ...unread })),
  streams: listOf(exactly({ stream_id: int, topic: text, ...unread })),
  huddles: listOf(exactly({ user_ids_string: text, ...unread })),
  mentions: ids,
  old_unreads_missing: bool,
})
