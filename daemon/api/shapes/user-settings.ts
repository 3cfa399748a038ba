// Personal settings: what PATCH /settings takes. `legacy` names the older event that also reports a change.

import { bool, int, oneOf, text } from '../define.ts'

const onOrOff = (value: boolean, legacy?: 'display' | 'notifications') =>
  legacy ? ({ shape: bool, default: value, legacy } as const) : ({ shape: bool, default: value } as const)

export const userSettings = {
  color_scheme: { shape: oneOf(1, 2, 3), default: 1, legacy: 'display' },
  default_language: { shape: text, default: 'en', legacy: 'display' },
  // What is kept is the older word; newer levels take and get `recent`.
  web_home_view: {
    shape: oneOf('inbox', 'recent_topics', 'all_messages', 'recent'),
    default: 'inbox',
    legacy: 'display',
    earlier: { until: 454, shape: oneOf('inbox', 'recent_topics', 'all_messages') },
  },
  demote_inactive_streams: { shape: oneOf(1, 2, 3), default: 1, legacy: 'display' },
  emojiset: { shape: oneOf('google', 'google-blob', 'twitter', 'text'), default: 'google', legacy: 'display' },
  enable_drafts_synchronization: onOrOff(true, 'display'),
  enter_sends: onOrOff(false, 'display'),
  fluid_layout_width: onOrOff(false, 'display'),
  high_contrast_mode: onOrOff(false, 'display'),
  left_side_userlist: onOrOff(false, 'display'),
  starred_message_counts: onOrOff(true, 'display'),
  translate_emoticons: onOrOff(false, 'display'),
  twenty_four_hour_time: onOrOff(false, 'display'),
  timezone: { shape: text, default: '', legacy: 'display' },
  desktop_icon_count_display: { shape: oneOf(1, 2, 3, 4), default: 1, legacy: 'notifications' },
  email_notifications_batching_period_seconds: { shape: int, default: 120, legacy: 'notifications' },
  enable_desktop_notifications: onOrOff(true, 'notifications'),
  enable_digest_emails: onOrOff(true, 'notifications'),
  enable_login_emails: onOrOff(true, 'notifications'),
  enable_marketing_emails: onOrOff(true, 'notifications'),
  enable_offline_email_notifications: onOrOff(true, 'notifications'),
  enable_offline_push_notifications: onOrOff(true, 'notifications'),
  enable_online_push_notifications: onOrOff(true, 'notifications'),
  enable_sounds: onOrOff(true, 'notifications'),
  enable_stream_audible_notifications: onOrOff(false, 'notifications'),
  enable_stream_desktop_notifications: onOrOff(false, 'notifications'),
  enable_stream_email_notifications: onOrOff(false, 'notifications'),
  enable_stream_push_notifications: onOrOff(false, 'notifications'),
  message_content_in_email_notifications: onOrOff(true, 'notifications'),
  notification_sound: { shape: text, default: 'svc', legacy: 'notifications' },
  pm_content_in_desktop_notifications: onOrOff(true, 'notifications'),
  presence_enabled: onOrOff(true, 'notifications'),
  realm_name_in_email_notifications_policy: { shape: oneOf(1, 2, 3), default: 1, legacy: 'notifications' },
  wildcard_mentions_notify: onOrOff(true, 'notifications'),
  enable_followed_topic_audible_notifications: onOrOff(true),
  enable_followed_topic_desktop_notifications: onOrOff(true),
  enable_followed_topic_email_notifications: onOrOff(true),
  enable_followed_topic_push_notifications: onOrOff(true),
  enable_followed_topic_wildcard_mentions_notify: onOrOff(true),
  automatically_follow_topics_policy: { shape: oneOf(1, 2, 3, 4), default: 3 },
  automatically_unmute_topics_in_muted_streams_policy: { shape: oneOf(1, 2, 3, 4), default: 2 },
  automatically_follow_topics_where_mentioned: onOrOff(true),
  resolved_topic_notice_auto_read_policy: {
    shape: oneOf('always', 'except_followed', 'never'),
    default: 'except_followed',
  },
  display_emoji_reaction_users: onOrOff(true),
  email_address_visibility: { shape: oneOf(1, 2, 3, 4, 5), default: 1 },
  allow_private_data_export: onOrOff(false),
  receives_typing_notifications: onOrOff(true),
  send_private_typing_notifications: onOrOff(true),
  send_stream_typing_notifications: onOrOff(true),
  send_read_receipts: onOrOff(true),
  user_list_style: { shape: oneOf(1, 2, 3), default: 3 },
  hide_ai_features: onOrOff(false),
  web_animate_image_previews: { shape: oneOf('always', 'on_hover', 'never'), default: 'on_hover' },
  web_channel_default_view: { shape: oneOf(1, 2, 3, 4), default: 1 },
  web_escape_navigates_to_home_view: onOrOff(true),
  web_font_size_px: { shape: int, default: 16 },
  web_line_height_percent: { shape: int, default: 140 },
  web_inbox_show_channel_folders: { shape: bool, default: true, since: 431 },
  web_left_sidebar_show_channel_folders: onOrOff(true),
  web_left_sidebar_unreads_count_summary: onOrOff(true),
  web_mark_read_on_scroll_policy: { shape: oneOf(1, 2, 3), default: 1 },
  web_navigate_to_sent_message: onOrOff(true),
  web_stream_unreads_count_display_policy: { shape: oneOf(1, 2, 3), default: 2 },
  web_suggest_update_timezone: onOrOff(true),
} as const

export type UserSetting = keyof typeof userSettings

/** The older event that also reports a change, for clients that do not know the newer one. */
export function legacyEventOf(setting: UserSetting): 'display' | 'notifications' | undefined {
  const entry = userSettings[setting]
  return 'legacy' in entry ? entry.legacy : undefined
}
