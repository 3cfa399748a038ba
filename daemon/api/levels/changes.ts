// The forms of `register`, events and other replies at older levels. Params, endpoints and fields of replies that
// only come or go are marked where the catalogue describes them.

import { organizationSettings } from '../shapes/organization-settings.ts'
import { channelPermissions } from '../shapes/permission-settings.ts'
import { legacyEventOf, type UserSetting, userSettings } from '../shapes/user-settings.ts'
import { at, type Change, each, only, rename } from './change.ts'
import {
  asUpload,
  goneFromBots,
  inMilliseconds,
  recentView,
  withExportNumber,
  withoutAccount,
  withRecentView,
} from './older-forms.ts'
import { newestLevel } from './releases.ts'
import { settingChanges } from './setting-changes.ts'

const none = () => null

const legacySettings = (Object.keys(userSettings) as UserSetting[]).filter(name => legacyEventOf(name) !== undefined)

export const changes: readonly Change[] = [
  ...settingChanges('user', userSettings),
  ...settingChanges('organization', organizationSettings),
  ...settingChanges('channel', channelPermissions),
  {
    level: 418,
    about: 'Reordering channel folders sends an event of type channel_folder with op reorder.',
    events: { channel_folder: { older: event => (event.op === 'reorder' ? null : event) } },
  },
  {
    level: 426,
    breaks: true,
    about: 'The reply of register has no realm_is_zephyr_mirror_realm.',
    register: { ends: ['realm_is_zephyr_mirror_realm'] },
  },
  {
    level: 427,
    breaks: true,
    about: 'In server_supported_permission_settings, the default stream_creator_or_nobody is called channel_creator.',
    register: {
      touches: ['server_supported_permission_settings'],
      older: at(
        'server_supported_permission_settings',
        at('stream', settings =>
          Object.fromEntries(
            Object.entries<{ default_group_name: string }>(settings).map(([name, setting]) => [
              name,
              setting.default_group_name === 'channel_creator'
                ? { ...setting, default_group_name: 'stream_creator_or_nobody' }
                : setting,
            ]),
          ),
        ),
      ),
    },
  },
  {
    level: 435,
    about: 'The reply of register lists in server_report_message_types what a message can be reported as.',
    register: { begins: ['server_report_message_types'] },
  },
  {
    level: 438,
    about: 'The reply of register has realm_owner_full_content_access.',
    register: { begins: ['realm_owner_full_content_access'] },
  },
  {
    level: 439,
    breaks: true,
    about:
      'Events of the types update_display_settings and update_global_notifications are gone, and so are the settings at the top of the reply of register; use user_settings.',
    register: { ends: [...legacySettings, 'available_notification_sounds', 'emojiset_choices'] },
    events: { update_display_settings: { newer: none }, update_global_notifications: { newer: none } },
  },
  {
    level: 442,
    breaks: true,
    about: 'In the reply of register, giphy_rating_options is called gif_rating_options, and tenor_api_key is new.',
    register: {
      begins: ['tenor_api_key'],
      touches: ['giphy_rating_options'],
      older: rename('gif_rating_options', 'giphy_rating_options'),
    },
  },
  {
    level: 443,
    breaks: true,
    about: 'The times of attachments (create_time, date_sent) are in seconds; they were in milliseconds.',
    events: { attachment: { older: at('attachment', inMilliseconds) } },
    replies: {
      'get-attachments': { older: at('attachments', each(inMilliseconds)) },
      'update-message': { older: at('detached_uploads', each(inMilliseconds)) },
    },
  },
  {
    level: 449,
    breaks: true,
    about: 'The type of an export is a word: public, full_with_consent or full_without_consent.',
    events: { realm_export: { older: at('exports', each(withExportNumber)) } },
    replies: { 'get-realm-exports': { older: at('exports', each(withExportNumber)) } },
  },
  {
    level: 453,
    breaks: true,
    about:
      'The setting giphy_rating of the organization is called gif_rating_policy, and gif_rating_options in the reply of register gif_rating_policy_options.',
    register: {
      newer: rename('realm_giphy_rating', 'realm_gif_rating_policy'),
      touches: ['gif_rating_options'],
      older: rename('gif_rating_policy_options', 'gif_rating_options'),
    },
    events: {
      realm: {
        newer: event => (event.property === 'giphy_rating' ? { ...event, property: 'gif_rating_policy' } : event),
      },
    },
    replies: { 'update-realm': { newer: rename('giphy_rating', 'gif_rating_policy') } },
  },
  {
    level: 454,
    breaks: true,
    about: 'The value recent_topics of web_home_view is called recent.',
    register: {
      newer: built =>
        at(
          'user_settings',
          at('web_home_view', recentView),
        )(at('realm_user_settings_defaults', at('web_home_view', recentView))(built)),
    },
    events: { user_settings: { newer: withRecentView }, realm_user_settings_defaults: { newer: withRecentView } },
    replies: { 'get-settings': { newer: at('user_settings', at('web_home_view', recentView)) } },
  },
  {
    level: 457,
    about:
      'The person who deletes messages gets delete_message only for those that they can access, not for all of them.',
    events: { delete_message: {} },
  },
  {
    level: 466,
    about: 'The reply of register has realm_uuid.',
    register: { begins: ['realm_uuid'] },
  },
  {
    level: 466,
    about: 'The avatar_source of an account can be J: a Jdenticon.',
    register: { older: at('avatar_source', asUpload) },
    events: { realm_user: { older: at('person', at('avatar_source', asUpload)) } },
  },
  {
    level: 468,
    breaks: true,
    about: 'The reply of register has devices instead of push_devices.',
    register: { begins: ['devices'], ends: ['push_devices'] },
  },
  {
    level: 471,
    about: 'Linkifiers have example_input and reverse_template.',
    register: { begins: ['realm_linkifiers.*.example_input', 'realm_linkifiers.*.reverse_template'] },
    events: {
      realm_linkifiers: { begins: ['realm_linkifiers.*.example_input', 'realm_linkifiers.*.reverse_template'] },
    },
  },
  {
    level: 478,
    about: 'Linkifiers have alternative_url_templates.',
    register: { begins: ['realm_linkifiers.*.alternative_url_templates'] },
    events: { realm_linkifiers: { begins: ['realm_linkifiers.*.alternative_url_templates'] } },
  },
  {
    level: 455,
    about: 'Profile fields have use_for_user_matching.',
    register: { begins: ['custom_profile_fields.*.use_for_user_matching'] },
    events: { custom_profile_fields: { begins: ['fields.*.use_for_user_matching'] } },
  },
  {
    level: 472,
    breaks: true,
    about: 'Attachments have message_ids, a list of IDs, instead of messages.',
    events: { attachment: { begins: ['attachment.message_ids'], ends: ['attachment.messages'] } },
  },
  {
    level: 474,
    breaks: true,
    about:
      'The objects of realm_bot have no api_key, avatar_url, bot_type, email, full_name, is_active and owner_id; changes of these send no realm_bot/update.',
    register: { ends: goneFromBots.map(name => `realm_bots.*.${name}`) },
    events: { realm_bot: { newer: withoutAccount } },
  },
  {
    level: 477,
    about: 'The reply of register has realm_workplace_users_group.',
    register: {
      begins: ['realm_workplace_users_group', 'server_supported_permission_settings.realm.workplace_users_group'],
    },
  },
  {
    level: 481,
    about: 'The reply of register says in idle_queue_timeout_secs when an idle queue ends.',
    register: { begins: ['idle_queue_timeout_secs'] },
  },
  {
    level: 484,
    breaks: true,
    about: 'Events of type reaction have no user; use user_id.',
    events: { reaction: { ends: ['user'] } },
  },
  {
    level: 485,
    breaks: true,
    about: 'In realm_incoming_webhook_bots, the field validator of a URL option is called input_type.',
    register: {
      touches: ['realm_incoming_webhook_bots'],
      older: at('realm_incoming_webhook_bots', each(at('url_options', each(rename('input_type', 'validator'))))),
    },
  },
  { level: 486, about: 'The reply of register has klipy_api_key.', register: { begins: ['klipy_api_key'] } },
  {
    level: 487,
    breaks: true,
    about: 'GET /users/{user_id_or_email}/presence has active_timestamp and idle_timestamp.',
    replies: { 'get-user-presence': { older: at('presence', only('aggregated', 'website')) } },
  },
  {
    level: 487,
    gap: [497, newestLevel],
    breaks: true,
    about: 'GET /users/{user_id_or_email}/presence has no website and aggregated; level 497 brought them back.',
    replies: { 'get-user-presence': { newer: at('presence', only('active_timestamp', 'idle_timestamp')) } },
  },
  { level: 493, about: 'The reply of register has has_webex_token.', register: { begins: ['has_webex_token'] } },
  {
    level: 507,
    about: 'A change of default_push_notifications of a channel sends stream/update.',
    events: { stream: { older: event => (event.property === 'default_push_notifications' ? null : event) } },
  },
  {
    level: 499,
    gap: [502, 505],
    about: 'Exports have export_from_prior_server.',
    events: { realm_export: { begins: ['exports.*.export_from_prior_server'] } },
    replies: { 'get-realm-exports': { begins: ['exports.*.export_from_prior_server'] } },
  },
]
