// Settings, as clients of the public server know them: values that each of them takes and refuses, names, passwords, addresses.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Caller, sharedDaemon } from '../support/daemon.ts'
import { listen, person } from '../support/world.ts'
import { ask, type Case, cases, ok } from './support/cases.ts'

let amy: Caller
let bob: Caller
let admin: Caller
let owner: Caller
let bot: Caller

const patch = 'PATCH /settings'
const refused = { status: 400, code: 'BAD_REQUEST' }

/** What is on unless it is turned off. */
const on = [
  'automatically_follow_topics_where_mentioned',
  'display_emoji_reaction_users',
  'enable_desktop_notifications',
  'enable_digest_emails',
  'enable_drafts_synchronization',
  'enable_followed_topic_audible_notifications',
  'enable_followed_topic_desktop_notifications',
  'enable_followed_topic_email_notifications',
  'enable_followed_topic_push_notifications',
  'enable_followed_topic_wildcard_mentions_notify',
  'enable_login_emails',
  'enable_marketing_emails',
  'enable_offline_email_notifications',
  'enable_offline_push_notifications',
  'enable_online_push_notifications',
  'enable_sounds',
  'message_content_in_email_notifications',
  'pm_content_in_desktop_notifications',
  'presence_enabled',
  'receives_typing_notifications',
  'send_private_typing_notifications',
  'send_read_receipts',
  'send_stream_typing_notifications',
  'starred_message_counts',
  'web_escape_navigates_to_home_view',
  'web_left_sidebar_show_channel_folders',
  'web_left_sidebar_unreads_count_summary',
  'web_navigate_to_sent_message',
  'web_suggest_update_timezone',
  'wildcard_mentions_notify',
]

const off = [
  'allow_private_data_export',
  'enable_stream_audible_notifications',
  'enable_stream_desktop_notifications',
  'enable_stream_email_notifications',
  'enable_stream_push_notifications',
  'enter_sends',
  'fluid_layout_width',
  'hide_ai_features',
  'high_contrast_mode',
  'left_side_userlist',
  'translate_emoticons',
  'twenty_four_hour_time',
]

/** The default, other values, and what is refused. */
const choices: readonly (readonly [string, unknown, readonly unknown[], readonly unknown[]])[] = [
  ['automatically_follow_topics_policy', 3, [1, 2, 4], [0, 5, 10, 'never']],
  ['automatically_unmute_topics_in_muted_streams_policy', 2, [1, 3, 4], [0, 5]],
  ['color_scheme', 1, [2, 3], [0, 10, 'dark']],
  ['default_language', 'en', ['de', 'zh-hans'], ['invalid_de', '', 'english']],
  ['demote_inactive_streams', 1, [2, 3], [0, 10]],
  ['desktop_icon_count_display', 1, [2, 3, 4], [0, 10]],
  ['email_address_visibility', 1, [2, 3, 4, 5], [0, 6]],
  ['email_notifications_batching_period_seconds', 120, [1, 300, 604_800], [-1, 0, 604_810]],
  ['emojiset', 'google', ['google-blob', 'text', 'twitter'], ['apple', 'emojione', '']],
  ['notification_sound', 'svc', ['ding', 'none'], ['invalid_sound']],
  ['realm_name_in_email_notifications_policy', 1, [2, 3], [0, 10]],
  ['resolved_topic_notice_auto_read_policy', 'except_followed', ['always', 'never'], ['invalid']],
  ['timezone', '', ['America/Denver', 'Asia/Kolkata'], ['invalid_US/Mountain', 'Mars/Base']],
  ['user_list_style', 3, [1, 2], [0, 10]],
  ['web_animate_image_previews', 'on_hover', ['always', 'never'], ['invalid_value']],
  ['web_channel_default_view', 1, [2, 3, 4], [0, 10]],
  ['web_font_size_px', 16, [14, 20], ['big']],
  ['web_home_view', 'inbox', ['recent_topics', 'all_messages'], ['invalid_view']],
  ['web_line_height_percent', 140, [122, 130], ['wide']],
  ['web_mark_read_on_scroll_policy', 1, [2, 3], [0, 10]],
  ['web_stream_unreads_count_display_policy', 2, [1, 3], [0, 10]],
]

describe('settings', () => {
  sharedDaemon({ flags: ['--memory'] }, async daemon => {
    owner = daemon.owner
    amy = await person(daemon, 'amy')
    bob = await person(daemon, 'bob')
    admin = await person(daemon, 'ada', { role: 200 })
    const { user_id, api_key } = await ok(amy, 'POST /bots', { full_name: 'Robot', short_name: 'robot' })
    bot = new Caller(owner.url, 'robot-bot@example.com', api_key, user_id)
  })

  describe('the defaults of a new account', () => {
    const rows = [
      ...on.map(name => [name, true] as const),
      ...off.map(name => [name, false] as const),
      ...choices.map(([name, value]) => [name, value] as const),
    ]
    for (const [name, value] of rows)
      test(`${name} is ${JSON.stringify(value)}`, async () => {
        assert.deepEqual((await settings(bob))[name], value)
      })
  })

  describe('PATCH /settings changes and tells', () => {
    const rows = [
      ...on.map(name => [name, false] as const),
      ...off.map(name => [name, true] as const),
      ...choices.flatMap(([name, , values]) => values.map(value => [name, value] as const)),
    ]
    for (const [name, value] of rows)
      test(`${name} to ${JSON.stringify(value)}`, async () => {
        const capable = { client_capabilities: { notification_settings_null: false, user_settings_object: true } }
        const heard = await listen(amy, ['user_settings'], capable)
        await ok(amy, patch, { [name]: value })
        assert.deepEqual((await settings(amy))[name], value)
        const told = await heard()
        assert.deepEqual(
          told.map(({ op, property, value: sent }) => [op, property, sent]),
          [['update', name, value]],
        )
        await ok(amy, patch, { [name]: value })
        assert.deepEqual(await heard(), [], 'an unchanged value is not told')
      })
  })

  describe('PATCH /settings refuses', () => {
    cases([
      ...[...on, ...off].map((name): Case => [`${name}: maybe`, () => amy, patch, { [name]: 'maybe' }, refused]),
      ...choices.flatMap(([name, , , bad]) =>
        bad.map((value): Case => [`${name}: ${JSON.stringify(value)}`, () => amy, patch, { [name]: value }, refused]),
      ),
      ['bots', () => bot, patch, { enter_sends: true }, refused],
      ['names of one letter', () => amy, patch, { full_name: 'x' }, refused],
      ['no name', () => amy, patch, { full_name: '' }, refused],
      ['blank names', () => amy, patch, { full_name: '   ' }, refused],
      ['names that are too long', () => amy, patch, { full_name: 'x'.repeat(1000) }, refused],
      ['names of 101 characters', () => amy, patch, { full_name: 'x'.repeat(101) }, refused],
      ...['*', '`', '\\', '>', '"', '@', '\u0000', '\n', '\uFFFE'].map(
        (mark): Case => [
          `names with ${JSON.stringify(mark)}`,
          () => amy,
          patch,
          { full_name: `Ophel${mark}ia` },
          refused,
        ],
      ),
      ['names that look like a mention', () => amy, patch, { full_name: 'Amy|72' }, refused],
      ['a wrong old password', () => amy, patch, { old_password: 'bad', new_password: 'a long new password' }, refused],
      ['a new password without the old', () => amy, patch, { new_password: 'a long new password' }, refused],
      ['a weak password', () => amy, patch, { old_password: 'amy has a long password', new_password: 'easy' }, refused],
      ['an address that is none', () => amy, patch, { email: 'hamlet' }, refused],
      ['an address that somebody has', () => amy, patch, { email: 'BOB@example.com' }, refused],
      ['a disposable address', () => amy, patch, { email: 'amy@mailinator.com' }, refused],
    ])
  })

  describe('PATCH /settings takes', () => {
    cases([
      ...['BLÅHAJ', 'BLÅHAJ 🏳️‍⚧️', 'می‌خواهم', "O'Hara", 'Amy|72k', 'Li', '李小龍', 'a b'].map(
        (full_name): Case => [`the name ${full_name}`, () => amy, patch, { full_name }, {}],
      ),
      ['its present address', () => amy, patch, { email: ' amy@example.com ' }, {}],
      [
        'unknown settings, and says so',
        () => amy,
        patch,
        { no_such: 'x' },
        { ignored_parameters_unsupported: ['no_such'] },
      ],
      ['nothing at all', () => amy, patch, {}, {}],
    ])
    for (const [path, name] of [
      ['display', 'color_scheme'],
      ['notifications', 'desktop_icon_count_display'],
    ] as const)
      test(`the older path /settings/${path}`, async () => {
        await ok(bob, `PATCH /settings/${path}`, { [name]: 2 })
        assert.equal((await settings(bob))[name], 2)
      })

    test('the default sound by its public name', async () => {
      await ok(bob, patch, { notification_sound: 'ding' })
      await ok(bob, patch, { notification_sound: 'zulip' })
      assert.equal((await settings(bob)).notification_sound, 'svc')
    })

    test('old names of time zones, stored under their present names', async () => {
      for (const [old, present] of [
        ['America/Montreal', 'America/Toronto'],
        ['Asia/Calcutta', 'Asia/Kolkata'],
        ['Europe/Kiev', 'Europe/Kyiv'],
      ] as const) {
        await ok(bob, patch, { timezone: old })
        assert.equal((await ok(bob, 'GET /users/me')).timezone, present)
      }
    })

    test('a name, which is trimmed and told to everyone', async () => {
      const heard = await listen(amy, ['realm_user'])
      await ok(bob, patch, { full_name: '  Bob Builder ' })
      assert.deepEqual(await heard(), [
        { type: 'realm_user', op: 'update', person: { user_id: bob.id, full_name: 'Bob Builder' } },
      ])
      await ok(bob, patch, { full_name: 'Bob Builder' })
      assert.deepEqual(await heard(), [])
    })

    test('a password, and the old one ends', async () => {
      const login = (password: string) => ask(bob, 'POST /fetch_api_key', { username: 'bob@example.com', password })
      const [before, after] = ['bob has a long password', 'another good password']
      await ok(bob, patch, { old_password: before, new_password: after })
      assert.equal((await login(before)).body.code, 'AUTHENTICATION_FAILED')
      assert.equal((await login(after)).body.user_id, bob.id)
    })
  })

  describe('what the organization forbids', () => {
    test('names: ignored for members, allowed for administrators', async () => {
      await ok(owner, 'PATCH /realm', { name_changes_disabled: true })
      await ok(amy, patch, { full_name: 'Nobody New' })
      assert.notEqual((await ok(amy, 'GET /users/me')).full_name, 'Nobody New')
      await ok(admin, patch, { full_name: 'Ada Adams' })
      assert.equal((await ok(admin, 'GET /users/me')).full_name, 'Ada Adams')
      await ok(owner, 'PATCH /realm', { name_changes_disabled: false })
    })

    test('addresses: refused to members, allowed for administrators', async () => {
      await ok(owner, 'PATCH /realm', { email_changes_disabled: true })
      assert.equal((await ask(amy, patch, { email: 'amy2@example.com' })).body.code, 'BAD_REQUEST')
      await ok(admin, patch, { email: 'ada2@example.com' })
      await ok(owner, 'PATCH /realm', { email_changes_disabled: false })
    })

    test('avatars: refused to members', async () => {
      await ok(owner, 'PATCH /realm', { avatar_changes_disabled: true })
      assert.equal((await ask(amy, 'DELETE /users/me/avatar')).body.code, 'BAD_REQUEST')
      await ok(admin, 'DELETE /users/me/avatar')
      await ok(owner, 'PATCH /realm', { avatar_changes_disabled: false })
    })

    test('equal names, also those of deactivated people, in any case and form', async () => {
      await ok(owner, 'PATCH /realm', { require_unique_names: true })
      await ok(owner, 'POST /users', { email: 'cy@example.com', password: 'a long password', full_name: 'Cy Ångström' })
      for (const full_name of ['Cy Ångström', 'CY ÅNGSTRÖM', 'Cy A\u030angstro\u0308m'])
        assert.equal((await ask(amy, patch, { full_name })).body.code, 'BAD_REQUEST', full_name)
      const { members } = await ok(owner, 'GET /users')
      const cy = members.find(({ full_name }: { full_name: string }) => full_name === 'Cy Ångström')
      await ok(owner, `DELETE /users/${cy.user_id}`)
      assert.equal((await ask(amy, patch, { full_name: 'cy ångström' })).body.code, 'BAD_REQUEST')
      await ok(owner, 'PATCH /realm', { require_unique_names: false })
      await ok(amy, patch, { full_name: 'cy ångström' })
    })
  })

  describe('PATCH /realm/user_settings_defaults', () => {
    const line = 'PATCH /realm/user_settings_defaults'
    const roleRefused = { status: 400, code: 'UNAUTHORIZED_PRINCIPAL' }
    cases([
      ['is not for members', () => bob, line, { enter_sends: true }, roleRefused],
      ['takes booleans', () => admin, line, { enter_sends: true }, {}],
      ['takes choices', () => admin, line, { color_scheme: 2 }, {}],
      ['refuses other choices', () => admin, line, { color_scheme: 10 }, refused],
      ['refuses unknown sounds', () => admin, line, { notification_sound: 'invalid' }, refused],
      ['refuses periods below zero', () => admin, line, { email_notifications_batching_period_seconds: -1 }, refused],
      [
        'ignores what has no default',
        () => admin,
        line,
        { timezone: 'Asia/Kolkata' },
        { ignored_parameters_unsupported: ['timezone'] },
      ],
    ])
    test('new accounts start with them', async () => {
      await ok(admin, line, { left_side_userlist: true })
      const account = { email: 'dee@example.com', password: 'dee has a long password', full_name: 'Dee' }
      await ok(owner, 'POST /users', account)
      const { api_key, user_id } = await ok(bob, 'POST /fetch_api_key', {
        username: account.email,
        password: account.password,
      })
      const dee = new Caller(owner.url, 'dee@example.com', api_key, user_id)
      assert.equal((await settings(dee)).left_side_userlist, true)
    })
  })
})

async function settings(caller: Caller): Promise<Record<string, unknown>> {
  const fields = {
    fetch_event_types: ['user_settings'],
    client_capabilities: { notification_settings_null: false, user_settings_object: true },
  }
  return (await ok(caller, 'POST /register', fields)).user_settings
}
