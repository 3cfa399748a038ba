// Events about settings: which a client gets for each setting of a person, of the organization, and of new accounts.

import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { type Caller, sharedDaemon } from '../support/daemon.ts'
import { person } from '../support/world.ts'
import { ok } from './support/cases.ts'

let owner: Caller
let amy: Caller

sharedDaemon({ flags: ['--memory', '--dialect', 'zulip'] }, async daemon => {
  owner = daemon.owner
  amy = await person(daemon, 'amy')
})

type Heard = () => Promise<Record<string, any>[]>

/** A queue that is read again and again. */
async function queueOf(caller: Caller, event_types: string[], modern = false): Promise<Heard> {
  const client_capabilities = { notification_settings_null: true, user_settings_object: modern }
  const fields = { event_types, fetch_event_types: [], client_capabilities }
  const { queue_id } = await ok(caller, 'POST /register', fields)
  let last_event_id = -1
  return async () => {
    const { events } = await ok(caller, 'GET /events', { queue_id, last_event_id, dont_block: true })
    last_event_id = events.at(-1)?.id ?? last_event_id
    return events.map(({ id, ...event }: Record<string, any>) => event)
  }
}

/** Other values than those that an account begins with. */
const display = {
  color_scheme: 2,
  default_language: 'de',
  web_home_view: 'all_messages',
  demote_inactive_streams: 2,
  emojiset: 'twitter',
  enable_drafts_synchronization: false,
  enter_sends: true,
  fluid_layout_width: true,
  high_contrast_mode: true,
  left_side_userlist: true,
  starred_message_counts: false,
  translate_emoticons: true,
  twenty_four_hour_time: true,
}
const notifications = {
  desktop_icon_count_display: 2,
  email_notifications_batching_period_seconds: 300,
  enable_desktop_notifications: false,
  enable_digest_emails: false,
  enable_offline_email_notifications: false,
  enable_offline_push_notifications: false,
  enable_online_push_notifications: false,
  enable_sounds: false,
  enable_stream_audible_notifications: true,
  enable_stream_desktop_notifications: true,
  enable_stream_email_notifications: true,
  enable_stream_push_notifications: true,
  message_content_in_email_notifications: false,
  notification_sound: 'ding',
  pm_content_in_desktop_notifications: false,
  realm_name_in_email_notifications_policy: 2,
  wildcard_mentions_notify: false,
}
const ownNotifications = { enable_login_emails: false, enable_marketing_emails: false }
const newer = {
  display_emoji_reaction_users: false,
  web_escape_navigates_to_home_view: false,
  receives_typing_notifications: false,
  send_private_typing_notifications: false,
  send_read_receipts: false,
  send_stream_typing_notifications: false,
  web_mark_read_on_scroll_policy: 2,
  web_channel_default_view: 2,
  user_list_style: 2,
  web_animate_image_previews: 'never',
  web_stream_unreads_count_display_policy: 3,
  web_font_size_px: 14,
  web_line_height_percent: 120,
  web_navigate_to_sent_message: false,
  web_suggest_update_timezone: false,
  hide_ai_features: true,
  resolved_topic_notice_auto_read_policy: 'always',
  web_left_sidebar_unreads_count_summary: false,
  web_left_sidebar_show_channel_folders: false,
  enable_followed_topic_audible_notifications: false,
  enable_followed_topic_desktop_notifications: false,
  enable_followed_topic_email_notifications: false,
  enable_followed_topic_push_notifications: false,
  enable_followed_topic_wildcard_mentions_notify: false,
  automatically_follow_topics_policy: 1,
  automatically_unmute_topics_in_muted_streams_policy: 1,
  automatically_follow_topics_where_mentioned: false,
}

describe('PATCH /settings', () => {
  let plain: Heard
  let modern: Heard
  let others: Heard
  const types = ['user_settings', 'update_display_settings', 'update_global_notifications']

  before(async () => {
    plain = await queueOf(amy, types)
    modern = await queueOf(amy, types, true)
    others = await queueOf(owner, types)
  })

  async function change(property: string, value: unknown, legacy?: object): Promise<void> {
    await ok(amy, 'PATCH /settings', { [property]: value })
    const named = property === 'default_language' ? { language_name: 'Deutsch' } : {}
    const event = { type: 'user_settings', op: 'update', property, value, ...named }
    assert.deepEqual(await modern(), [event])
    assert.deepEqual(await plain(), legacy ? [event, { ...legacy, ...named }] : [event])
    assert.deepEqual(await others(), [])
    await ok(amy, 'PATCH /settings', { [property]: value })
    assert.deepEqual(await plain(), [], 'a value that is the same is no change')
  }

  for (const [setting_name, setting] of Object.entries(display))
    test(`${setting_name}: the newer event and update_display_settings`, () =>
      change(setting_name, setting, { type: 'update_display_settings', user: amy.email, setting_name, setting }))

  for (const [notification_name, setting] of Object.entries({ ...notifications, ...ownNotifications }))
    test(`${notification_name}: the newer event and update_global_notifications`, () =>
      change(notification_name, setting, {
        type: 'update_global_notifications',
        user: amy.email,
        notification_name,
        setting,
      }))

  for (const [property, value] of Object.entries(newer))
    test(`${property}: the newer event alone`, () => change(property, value))
})

describe('PATCH /realm/user_settings_defaults', () => {
  let heard: Heard
  before(async () => {
    heard = await queueOf(amy, ['realm_user_settings_defaults'])
  })

  for (const [property, value] of Object.entries({ ...display, ...notifications, ...newer }))
    if (property !== 'default_language')
      test(`${property}: an event for everyone`, async () => {
        await ok(owner, 'PATCH /realm/user_settings_defaults', { [property]: value })
        assert.deepEqual(await heard(), [{ type: 'realm_user_settings_defaults', op: 'update', property, value }])
      })
})

describe('PATCH /realm', () => {
  let heard: Heard
  const groups: Record<string, number> = {}
  before(async () => {
    heard = await queueOf(amy, ['realm'])
    const { realm_user_groups } = await ok(owner, 'POST /register', { fetch_event_types: ['realm_user_groups'] })
    for (const { name, id } of realm_user_groups) groups[name] = id
  })

  const own = {
    name: 'Tea House',
    description: 'Tea',
    org_type: 10,
    default_language: 'de',
    invite_required: false,
    disallow_disposable_email_addresses: false,
    waiting_period_threshold: 3,
    enable_spectator_access: true,
    message_content_delete_limit_seconds: 1200,
    move_messages_within_stream_limit_seconds: 3600,
    move_messages_between_streams_limit_seconds: 3600,
    message_edit_history_visibility_policy: 'moves',
    enable_read_receipts: true,
    enable_guest_user_indicator: false,
    enable_guest_user_dm_warning: false,
    name_changes_disabled: true,
    email_changes_disabled: true,
    avatar_changes_disabled: true,
    require_unique_names: true,
    inline_image_preview: false,
    inline_url_embed_preview: true,
    digest_emails_enabled: true,
    digest_weekday: 4,
    send_welcome_emails: false,
    message_content_allowed_in_email_notifications: false,
    default_code_block_language: 'python',
    video_chat_provider: 0,
    giphy_rating: 1,
    want_advertise_in_communities_directory: true,
    require_e2ee_push_notifications: true,
  }
  for (const [property, value] of Object.entries(own))
    test(`${property}: realm/update`, async () => {
      await ok(owner, 'PATCH /realm', { [property]: value })
      assert.deepEqual(await heard(), [{ type: 'realm', op: 'update', property, value }])
      await ok(owner, 'PATCH /realm', { [property]: value })
      // The type of the organization is told every time.
      assert.deepEqual(await heard(), property === 'org_type' ? [{ type: 'realm', op: 'update', property, value }] : [])
    })

  const inData = (data: object) => ({ type: 'realm', op: 'update_dict', property: 'default', data })
  for (const [given, data] of [
    [{ allow_message_editing: false }, { allow_message_editing: false }],
    [{ message_content_edit_limit_seconds: 300 }, { message_content_edit_limit_seconds: 300 }],
    [{ message_content_edit_limit_seconds: '"unlimited"' }, { message_content_edit_limit_seconds: null }],
    [{ topics_policy: 'disable_empty_topic' }, { topics_policy: 'disable_empty_topic', mandatory_topics: true }],
    [{ topics_policy: 'allow_empty_topic' }, { topics_policy: 'allow_empty_topic', mandatory_topics: false }],
  ] as const)
    test(`${JSON.stringify(given)}: realm/update_dict`, async () => {
      await ok(owner, 'PATCH /realm', given)
      assert.deepEqual(await heard(), [inData(data)])
    })

  test('authentication_methods: objects, as register has them', async () => {
    await ok(owner, 'PATCH /realm', { authentication_methods: { Email: true, Dev: false } })
    const [event] = await heard()
    const { realm_authentication_methods } = await ok(owner, 'POST /register', { fetch_event_types: ['realm'] })
    assert.deepEqual(event, inData({ authentication_methods: realm_authentication_methods }))
    assert.deepEqual(realm_authentication_methods.Email, { enabled: true, available: true })
  })

  for (const name of [
    'can_add_subscribers_group',
    'can_add_custom_emoji_group',
    'can_create_bots_group',
    'can_create_groups',
    'can_create_public_channel_group',
    'can_create_private_channel_group',
    'can_create_write_only_bots_group',
    'can_delete_any_message_group',
    'can_delete_own_message_group',
    'can_invite_users_group',
    'can_manage_all_groups',
    'can_manage_billing_group',
    'can_mention_many_users_group',
    'can_move_messages_between_channels_group',
    'can_move_messages_between_topics_group',
    'can_resolve_topics_group',
    'can_set_delete_message_policy_group',
    'can_set_topics_policy_group',
    'can_summarize_topics_group',
    'create_multiuse_invite_group',
    'direct_message_initiator_group',
    'direct_message_permission_group',
  ])
    test(`${name}: a group, then people and groups`, async () => {
      const group = groups['role:fullmembers']!
      await ok(owner, 'PATCH /realm', { [name]: { new: group } })
      assert.deepEqual(await heard(), [inData({ [name]: group })])
      const set = { direct_members: [owner.id], direct_subgroups: [group] }
      await ok(owner, 'PATCH /realm', { [name]: { new: set, old: group } })
      assert.deepEqual(await heard(), [inData({ [name]: set })])
    })

  test('several at once have an event each', async () => {
    await ok(owner, 'PATCH /realm', {
      name: 'Coffee House',
      allow_message_editing: true,
      can_create_bots_group: { new: groups['role:members'] },
      can_create_groups: { new: groups['role:members'] },
    })
    assert.deepEqual(await heard(), [
      { type: 'realm', op: 'update', property: 'name', value: 'Coffee House' },
      inData({ allow_message_editing: true }),
      inData({ can_create_bots_group: groups['role:members'] }),
      inData({ can_create_groups: groups['role:members'] }),
    ])
  })
})
