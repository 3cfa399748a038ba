// The `realm` section of `register`: settings, permissions, limits, and what the server is like.

import { type OrganizationSetting, organizationSettings } from '../../api/shapes/organization-settings.ts'
import {
  channelPermissions,
  groupPermissions,
  organizationPermissions,
  type PermissionSetting,
} from '../../api/shapes/permission-settings.ts'
import { mapTable } from '../../api/tables.ts'
import { limits } from '../limits.ts'
import { reportReasons } from '../messages/messages/report.ts'
import type { GroupValue } from '../model/roles.ts'
import { organizationSetting } from '../model/settings.ts'
import type { State } from '../model/state.ts'
import { externalAccounts } from '../people/profile-fields/field-data.ts'
import type { Context } from '../resource.ts'
import { presentValue, systemGroup } from '../rules/group-values.ts'
import { emptyTopicDisplayName } from '../values/topic-names.ts'
import { enabledMethods, presentMethods } from './authentication.ts'
import { gifRatings, giphyRatings, jitsiServerUrl, videoChatProviders } from './constants.ts'
import { presentPictures } from './pictures.ts'

export function realmSection(ctx: Context): Record<string, unknown> {
  return { ...organizationFields(ctx), ...limitFields, ...serverFields(ctx) }
}

function organizationFields({ state, server }: Context): Record<string, unknown> {
  const { organization } = state
  const setting = <S extends OrganizationSetting>(name: S) => organizationSetting(state, name)
  const fields: Record<string, unknown> = {}
  for (const name of Object.keys(organizationSettings) as OrganizationSetting[]) fields[`realm_${name}`] = setting(name)
  for (const [name, value] of Object.entries(organization.permissions))
    fields[`realm_${name}`] = presentValue(state, value)
  return {
    ...fields,
    realm_date_created: organization.dateCreated,
    realm_url: server.url,
    realm_uri: server.url,
    ...presentPictures(state, server.url),
    realm_allow_edit_history: setting('message_edit_history_visibility_policy') !== 'none',
    realm_mandatory_topics: setting('topics_policy') === 'disable_empty_topic',
    realm_available_video_chat_providers: videoChatProviders,
    realm_push_notifications_enabled: false,
    realm_push_notifications_enabled_end_timestamp: null,
    realm_authentication_methods: presentMethods(state, server),
    realm_email_auth_enabled: enabledMethods(state).Email,
    realm_password_auth_enabled: enabledMethods(state).Email,
    realm_bot_domain: server.emailDomain,
    realm_plan_type: 1,
    realm_upload_quota_mib: server.uploadQuotaMiB ?? null,
    realm_default_external_accounts: externalAccounts,
    realm_is_zephyr_mirror_realm: false,
    realm_empty_topic_display_name: emptyTopicDisplayName,
    realm_create_public_stream_policy: policyOf(state, organization.permissions.can_create_public_channel_group),
    realm_create_private_stream_policy: policyOf(state, organization.permissions.can_create_private_channel_group),
    realm_create_web_public_stream_policy: policyOf(
      state,
      organization.permissions.can_create_web_public_channel_group,
    ),
    realm_wildcard_mention_policy: mentionPolicyOf(state, organization.permissions.can_mention_many_users_group),
  }
}

const limitFields = {
  max_stream_name_length: limits.channelName,
  max_stream_description_length: limits.channelDescription,
  max_channel_folder_name_length: limits.folderName,
  max_channel_folder_description_length: limits.folderDescription,
  max_topic_length: limits.topic,
  max_message_length: limits.messageContent,
  max_reminder_note_length: limits.reminderNote,
  max_bulk_new_subscription_messages: limits.bulkNewSubscriptionMessages,
  event_queue_longpoll_timeout_seconds: limits.longPollSeconds,
  server_presence_ping_interval_seconds: limits.presencePingSeconds,
  server_presence_offline_threshold_seconds: limits.presenceOfflineSeconds,
  server_typing_started_wait_period_milliseconds: limits.typingStartedWaitMs,
  server_typing_stopped_wait_period_milliseconds: limits.typingStoppedWaitMs,
  server_typing_started_expiry_period_milliseconds: limits.typingStartedExpiryMs,
  max_avatar_file_size_mib: limits.imageMiB,
  max_icon_file_size_mib: limits.imageMiB,
  max_logo_file_size_mib: limits.imageMiB,
  max_file_upload_size_mib: limits.fileUploadMiB,
  password_min_length: limits.passwordMin,
  password_max_length: limits.passwordMax,
  password_min_guesses: limits.passwordGuesses,
  server_min_deactivated_realm_deletion_days: limits.deletionDelayDays,
  server_max_deactivated_realm_deletion_days: null,
}

function serverFields({ state, server, keys }: Context) {
  const { level } = server
  return {
    realm_uuid: formatUuid(keys.digestText('realm_uuid')),
    realm_owner_full_content_access: false,
    realm_workplace_users_group: systemGroup(state, 'role:everyone').id,
    server_generation: 1,
    server_inline_image_preview: true,
    server_inline_url_embed_preview: false,
    server_avatar_changes_disabled: false,
    server_name_changes_disabled: false,
    server_needs_upgrade: false,
    server_web_public_streams_enabled: true,
    server_can_summarize_topics: false,
    server_emoji_data_url: `${server.url}/static/emoji.json`,
    server_jitsi_server_url: jitsiServerUrl,
    server_thumbnail_formats: [],
    server_supported_permission_settings: supportedSettings,
    development_environment: server.devAuth,
    settings_send_digest_emails: false,
    svc_plan_is_not_limited: true,
    upgrade_text_for_wide_organization_logo: '',
    gif_rating_policy_options: level.rules.gifRatingsShared ? gifRatings : giphyRatings,
    server_report_message_types: reportTypes,
    jitsi_server_url: organizationSetting(state, 'jitsi_server_url') ?? jitsiServerUrl,
  }
}

const supportedSettings = {
  realm: {
    ...mapTable(organizationPermissions, name => presentSupported(organizationPermissions[name], '', null)),
    workplace_users_group: presentSupported({ nobody: true, everyone: true, default: 'role:everyone' }, '', null),
  },
  stream: mapTable(channelPermissions, name => presentSupported(channelPermissions[name], 'channel_creator', null)),
  group: mapTable(groupPermissions, name => presentSupported(groupPermissions[name], 'group_creator', 'role:nobody')),
}

/** A name for the organization that no other one has, and that is the same after a restart. */
function formatUuid(digest: string): string {
  const hex = digest.slice(0, 32)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`
}

const reportTypes = Object.entries(reportReasons).map(([key, name]) => ({ key, name }))

function presentSupported(setting: PermissionSetting, creator: string, forSystemGroups: string | null) {
  return {
    require_system_group: setting.systemOnly === true,
    allow_internet_group: false,
    allow_nobody_group: setting.nobody,
    allow_everyone_group: setting.everyone,
    default_group_name: setting.default === 'creator' ? creator : setting.default,
    default_for_system_groups: forSystemGroups,
    allowed_system_groups: setting.allowed ?? [],
  }
}

// --- numbers that older clients read instead of the groups ------------------------------------------------------

const policies = new Map(
  Object.entries({
    'role:everyone': 1,
    'role:members': 1,
    'role:administrators': 2,
    'role:fullmembers': 3,
    'role:moderators': 4,
    'role:nobody': 6,
    'role:owners': 7,
  }),
)

function policyOf(state: State, value: GroupValue): number {
  return policies.get(nameOf(state, value)) ?? 1
}

const mentionPolicies = new Map(
  Object.entries({
    'role:everyone': 1,
    'role:members': 2,
    'role:fullmembers': 3,
    'role:administrators': 5,
    'role:nobody': 6,
    'role:moderators': 7,
  }),
)

function mentionPolicyOf(state: State, value: GroupValue): number {
  return mentionPolicies.get(nameOf(state, value)) ?? 5
}

function nameOf(state: State, value: GroupValue): string {
  return typeof value === 'number' ? (state.groups.get(value)?.name ?? '') : ''
}
