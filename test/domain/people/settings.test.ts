// Settings: what people set for themselves.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { defaultLevel } from '../../../daemon/api/levels/releases.ts'
import { settings as api } from '../../../daemon/api/people/settings.ts'
import { users } from '../../../daemon/api/people/users.ts'
import { userSettings } from '../../../daemon/api/shapes/user-settings.ts'
import { type Caller, sharedDaemon, type TestDaemon } from '../../support/daemon.ts'
import { mailWith } from '../../support/outbox.ts'
import { fetched, listen, person } from '../../support/world.ts'

let daemon: TestDaemon
let amy: Caller
let bob: Caller

sharedDaemon({}, async started => {
  daemon = started
  amy = await person(daemon, 'amy')
  bob = await person(daemon, 'bob')
})

const modern = { client_capabilities: { user_settings_object: true } }
const legacy = ['user_settings', 'update_display_settings', 'update_global_notifications']

describe('PATCH /settings/display and PATCH /settings/notifications', () => {
  test('are older names of the same', async () => {
    for (const path of ['/settings/display', '/settings/notifications']) {
      const hear = await listen(amy, ['user_settings'], modern)
      const { body } = await amy.raw('PATCH', `/api/v1${path}?high_contrast_mode=true&wildcard_mentions_notify=false`)
      assert.equal(body.result, 'success')
      assert.deepEqual(
        (await hear()).map(event => event.property),
        ['high_contrast_mode', 'wildcard_mentions_notify'],
      )
      await amy.call(api.update, { high_contrast_mode: false, wildcard_mentions_notify: true })
    }
  })
})

describe('PATCH /settings', () => {
  test('a change is told as user_settings, and by the older events to clients that know nothing newer', async () => {
    const newer = await listen(amy, legacy, modern)
    const older = await listen(amy, legacy)
    await amy.call(api.update, { twenty_four_hour_time: true, enable_sounds: false, hide_ai_features: true })
    const changes = [
      { type: 'user_settings', op: 'update', property: 'twenty_four_hour_time', value: true },
      { type: 'user_settings', op: 'update', property: 'enable_sounds', value: false },
      { type: 'user_settings', op: 'update', property: 'hide_ai_features', value: true },
    ]
    assert.deepEqual(await newer(), changes)
    assert.deepEqual(await older(), [
      changes[0],
      { type: 'update_display_settings', user: amy.email, setting_name: 'twenty_four_hour_time', setting: true },
      changes[1],
      { type: 'update_global_notifications', user: amy.email, notification_name: 'enable_sounds', setting: false },
      changes[2],
    ])
    await amy.call(api.update, { twenty_four_hour_time: true })
    assert.deepEqual(await newer(), [], 'what does not change is not told')
  })

  test('default_language comes with its name', async () => {
    const heard = await listen(amy, legacy)
    await amy.call(api.update, { default_language: 'de' })
    assert.deepEqual(await heard(), [
      { type: 'user_settings', op: 'update', property: 'default_language', value: 'de', language_name: 'Deutsch' },
      {
        type: 'update_display_settings',
        user: amy.email,
        setting_name: 'default_language',
        setting: 'de',
        language_name: 'Deutsch',
      },
    ])
  })

  test('a time zone is told to everyone who can see the user', async () => {
    const heard = await listen(bob, ['realm_user'])
    await amy.call(api.update, { timezone: 'Europe/Berlin' })
    assert.deepEqual(await heard(), [
      {
        type: 'realm_user',
        op: 'update',
        person: { user_id: amy.id, email: amy.email, timezone: 'Europe/Berlin' },
      },
    ])
  })

  test('a time zone given by an old name is kept under its present one', async () => {
    for (const [old, present] of [
      ['Asia/Calcutta', 'Asia/Kolkata'],
      ['US/Pacific', 'America/Los_Angeles'],
    ] as const) {
      await amy.call(api.update, { timezone: old })
      assert.equal((await amy.call(api.show, {})).user_settings.timezone, present)
    }
  })

  test('email_address_visibility changes the address that others see', async () => {
    const fay = await person(daemon, 'fay')
    const heard = await listen(bob, ['realm_user'])
    await fay.call(api.update, { email_address_visibility: 4 })
    const people = (await heard()).map(({ person }) => person)
    assert.ok(people.some(person => person.new_email === `user${fay.id}@example.com`))
    assert.ok(people.some(person => person.delivery_email === null))
  })

  test('values out of range are refused and name the setting; nothing changes', async () => {
    for (const [name, value] of [
      ['color_scheme', 4],
      ['web_home_view', 'attic'],
      ['email_notifications_batching_period_seconds', 0],
      ['email_notifications_batching_period_seconds', 604_801],
      ['timezone', 'Mars/Olympus'],
      ['timezone', '+01:00'],
      ['default_language', 'xx-nothing-at-all'],
      ['notification_sound', 'explosion'],
      ['web_font_size_px', -1],
      ['enter_sends', 'yes'],
    ] as const) {
      const { msg } = await bob.refused(api.update, { left_side_userlist: true, [name]: value }, 'BAD_REQUEST')
      assert.ok(msg.startsWith(name), msg)
    }
    assert.equal((await bob.call(api.show, {})).user_settings.left_side_userlist, false)
  })

  test('a password is changed by who knows the old one', async () => {
    const cat = await person(daemon, 'cat')
    await cat.refused(api.update, { new_password: 'quite long enough' }, 'BAD_REQUEST')
    await cat.refused(api.update, { old_password: 'wrong', new_password: 'quite long enough' }, 'BAD_REQUEST')
    const old_password = 'cat has a long password'
    const { msg } = await cat.refused(api.update, { old_password, new_password: 'x' }, 'BAD_REQUEST')
    assert.match(msg, /^new_password/)
    await cat.call(api.update, { old_password, new_password: 'quite long enough' })
    await daemon.anonymous.refused(
      users.fetchApiKey,
      { username: cat.email, password: old_password },
      'AUTHENTICATION_FAILED',
    )
    await daemon.anonymous.call(users.fetchApiKey, { username: cat.email!, password: 'quite long enough' })
  })

  test('a first password needs no old one, the next one does', async () => {
    const { owner, anonymous } = daemon
    const first = 'the first one is long enough'
    await owner.call(api.update, { new_password: first })
    await anonymous.call(users.fetchApiKey, { username: owner.email!, password: first })
    await owner.refused(api.update, { new_password: 'another one of some length' }, 'BAD_REQUEST')
    await anonymous.call(users.fetchApiKey, { username: owner.email!, password: first })
  })

  test('a name is changed at once, an email address when a mailed token comes back', async () => {
    const dan = await person(daemon, 'dan')
    const heard = await listen(bob, ['realm_user'])
    await dan.call(api.update, { full_name: 'Daniel', email: 'daniel@example.com' })
    await dan.refused(api.update, { email: 'bob@example.com' }, 'BAD_REQUEST')
    await dan.refused(api.update, { email: 'nonsense' }, 'BAD_REQUEST')
    assert.equal((await dan.call(users.me, {})).email, 'dan@example.com')
    const token = await mailedToken()
    await daemon.anonymous.refused(api.confirmEmail, { token: 'guess' }, 'BAD_REQUEST')
    assert.equal((await daemon.anonymous.call(api.confirmEmail, { token })).user_id, dan.id)
    await daemon.anonymous.refused(api.confirmEmail, { token }, 'BAD_REQUEST')
    assert.equal((await heard())[0]?.person.full_name, 'Daniel')
  })
})

async function mailedToken(): Promise<string> {
  return (await mailWith(daemon, /confirm-email ([0-9a-f-]{36})/))[1]!
}

describe('POST /register', () => {
  test('user_settings has every setting; older fields are for clients without user_settings_object', async () => {
    const state = await fetched(bob, legacy, modern)
    for (const [name, { default: value, ...rest }] of Object.entries(userSettings)) {
      const isLater = 'since' in rest && rest.since > defaultLevel
      assert.deepEqual(state.user_settings[name], isLater ? undefined : value, name)
    }
    assert.equal(state.enter_sends, undefined)
    const older = await fetched(bob, legacy)
    assert.equal(older.enter_sends, false)
    assert.equal(older.enable_sounds, true)
    assert.equal(older.hide_ai_features, undefined)
    assert.ok(older.emojiset_choices.length > 0 && older.available_notification_sounds.length > 0)
  })
})

describe('PATCH /realm/user_settings_defaults', () => {
  test('administrators set what new accounts start with', async () => {
    await bob.refused(api.updateDefaults, { enter_sends: true }, 'UNAUTHORIZED_PRINCIPAL')
    await daemon.owner.refused(api.updateDefaults, { web_font_size_px: 0 }, 'BAD_REQUEST')
    const heard = await listen(bob, ['realm_user_settings_defaults'])
    await daemon.owner.call(api.updateDefaults, { enter_sends: true })
    assert.deepEqual(await heard(), [
      { type: 'realm_user_settings_defaults', op: 'update', property: 'enter_sends', value: true },
    ])
    const state = await fetched(bob, ['realm_user_settings_defaults'])
    assert.equal(state.realm_user_settings_defaults.enter_sends, true)
    assert.ok(!('timezone' in state.realm_user_settings_defaults), 'no organization chooses where people live')
    assert.equal((await bob.call(api.show, {})).user_settings.enter_sends, false)
    const eve = await person(daemon, 'eve')
    assert.equal((await eve.call(api.show, {})).user_settings.enter_sends, true)
  })
})
