// The organization: its settings, domains, and what `register` says of it.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { organization as api } from '../../../daemon/api/organization/organization.ts'
import { userGroups } from '../../../daemon/api/people/user-groups.ts'
import { organizationSettings } from '../../../daemon/api/shapes/organization-settings.ts'
import { organizationPermissions } from '../../../daemon/api/shapes/permission-settings.ts'
import { type Caller, sharedDaemon, type TestDaemon } from '../../support/daemon.ts'
import { fetched, listen, person } from '../../support/world.ts'

let owner: Caller
let shared: TestDaemon
let amy: Caller
let system: Record<string, number>

sharedDaemon({}, async daemon => {
  shared = daemon
  owner = daemon.owner
  amy = await person(daemon, 'amy')
  const { user_groups } = await owner.call(userGroups.list, {})
  system = Object.fromEntries(user_groups.map(group => [group.name, group.id]))
})

describe('PATCH /realm', () => {
  test('changes what differs, echoes it, and tells everyone', async () => {
    const heard = await listen(amy, ['realm'])
    const reply = await owner.call(api.update, {
      name: 'Example Inc.',
      digest_weekday: 3,
      enable_read_receipts: true,
      invite_required: true,
      topics_policy: 'disable_empty_topic',
      can_create_bots_group: { new: system['role:moderators']! },
    })
    const { result, msg, ...echo } = reply as Record<string, unknown>
    assert.deepEqual(echo, {
      name: 'updated',
      digest_weekday: 3,
      enable_read_receipts: true,
      topics_policy: 'updated',
      can_create_bots_group: system['role:moderators'],
    })
    const update = { type: 'realm', op: 'update' }
    const inData = { type: 'realm', op: 'update_dict', property: 'default' }
    assert.deepEqual(await heard(), [
      { ...update, property: 'name', value: 'Example Inc.' },
      { ...inData, data: { topics_policy: 'disable_empty_topic', mandatory_topics: true } },
      { ...update, property: 'enable_read_receipts', value: true },
      { ...update, property: 'digest_weekday', value: 3 },
      { ...inData, data: { can_create_bots_group: system['role:moderators'] } },
    ])
    const state = await fetched(amy, ['realm'])
    assert.equal(state.realm_name, 'Example Inc.')
    assert.equal(state.realm_mandatory_topics, true)
    assert.equal(state.realm_can_create_bots_group, system['role:moderators'])
  })

  test('limits are numbers above 0 or the word unlimited, which is null', async () => {
    await owner.call(api.update, { message_content_edit_limit_seconds: 'unlimited', message_retention_days: 30 })
    const state = await fetched(amy, ['realm'])
    assert.equal(state.realm_message_content_edit_limit_seconds, null)
    assert.equal(state.realm_message_retention_days, 30)
    await owner.call(api.update, { message_retention_days: 'unlimited' })
    assert.equal((await fetched(amy, ['realm'])).realm_message_retention_days, -1)
    for (const value of [0, -1, 'forever']) {
      const refusal = await owner.refused(
        api.update,
        { message_content_delete_limit_seconds: value },
        'REQUEST_VARIABLE_INVALID',
      )
      assert.equal(refusal.var_name, 'message_content_delete_limit_seconds')
      assert.equal(refusal.bad_value, value)
    }
  })

  test('is for administrators; some settings for owners only', async () => {
    await amy.refused(api.update, { name: 'Mine' }, 'UNAUTHORIZED_PRINCIPAL')
    const ada = await person(shared, 'ada', { role: 200 })
    await ada.call(api.update, { enable_guest_user_indicator: false })
    for (const params of [
      { invite_required: false },
      { waiting_period_threshold: 1 },
      { authentication_methods: { Email: true } },
      { can_create_groups: { new: system['role:moderators'] } },
    ])
      await ada.refused(api.update, { description: 'half', ...params }, 'UNAUTHORIZED_PRINCIPAL')
  })

  test('a change of the waiting period makes full members, and unmakes them, at once', async () => {
    const full = async () =>
      (await owner.call(userGroups.members, { user_group_id: system['role:fullmembers']!, direct_member_only: true }))
        .members
    assert.ok((await full()).includes(amy.id))
    const heard = await listen(amy, ['user_group'])
    await owner.call(api.update, { waiting_period_threshold: 3 })
    assert.ok(!(await full()).includes(amy.id))
    await owner.call(api.update, { waiting_period_threshold: 0 })
    assert.ok((await full()).includes(amy.id))
    assert.deepEqual(
      (await heard()).map(({ op, group_id }) => [op, group_id]),
      [
        ['remove_members', system['role:fullmembers']],
        ['add_members', system['role:fullmembers']],
      ],
    )
  })

  test('bad values are refused and change nothing', async () => {
    const all = { new: system['role:everyone']! }
    for (const params of [
      { name: '' },
      { name: 'x'.repeat(41) },
      { description: 'x'.repeat(1001) },
      { org_type: 5 },
      { default_language: 'klingon' },
      { video_chat_provider: 3 },
      { jitsi_server_url: 'nonsense' },
      { new_stream_announcements_stream_id: 9999 },
      { waiting_period_threshold: -1 },
      { authentication_methods: { Email: false } },
      { authentication_methods: { Carrier: true } },
      { authentication_methods: { GitHub: true } },
      { can_create_bots_group: all },
      { can_manage_all_groups: { new: system['role:nobody'] } },
      { can_access_all_users_group: { new: system['role:moderators'] } },
    ])
      await owner.refused(api.update, { description: 'half', ...params }, 'BAD_REQUEST')
    const single = { direct_members: [amy.id], direct_subgroups: [] }
    const { setting_name } = await owner.refused(
      api.update,
      { can_access_all_users_group: { new: single } },
      'SYSTEM_GROUP_REQUIRED',
    )
    assert.equal(setting_name, 'can_access_all_users_group')
    await owner.refused(api.update, { can_create_bots_group: { new: 5, old: 1 } }, 'EXPECTATION_MISMATCH')
    assert.notEqual((await fetched(amy, ['realm'])).realm_description, 'half')
  })
})

describe('/realm/domains', () => {
  test('owners add, change and remove domains, and everyone is told', async () => {
    const heard = await listen(amy, ['realm_domains', 'realm'])
    const { new_domain } = await owner.call(api.addDomain, { domain: 'Example.COM' })
    assert.equal(new_domain[1], 'example.com')
    await owner.call(api.update, { emails_restricted_to_domains: true })
    await owner.call(api.changeDomain, { domain: 'example.com', allow_subdomains: true })
    assert.deepEqual((await amy.call(api.domains, {})).domains, [{ domain: 'example.com', allow_subdomains: true }])
    await owner.call(api.removeDomain, { domain: 'example.com' })
    assert.deepEqual(
      (await heard()).map(({ type, op, property, value }) => [type, op, property, value]),
      [
        ['realm_domains', 'add', undefined, undefined],
        ['realm', 'update', 'emails_restricted_to_domains', true],
        ['realm_domains', 'change', undefined, undefined],
        ['realm_domains', 'remove', undefined, undefined],
        ['realm', 'update', 'emails_restricted_to_domains', false],
      ],
    )
    assert.deepEqual((await fetched(amy, ['realm_domains'])).realm_domains, [])
  })

  test('bad, doubled and unknown domains are refused, and members may not change them', async () => {
    await owner.call(api.addDomain, { domain: 'a.example.com' })
    for (const domain of ['', 'localhost', 'a..b', '-a.com', 'a.com-', '.a.com', 'a b.com', 'a.example.com'])
      await owner.refused(api.addDomain, { domain }, 'BAD_REQUEST')
    await owner.refused(api.changeDomain, { domain: 'other.com', allow_subdomains: true }, 'BAD_REQUEST')
    await owner.refused(api.removeDomain, { domain: 'other.com' }, 'BAD_REQUEST')
    await amy.refused(api.addDomain, { domain: 'b.com' }, 'UNAUTHORIZED_PRINCIPAL')
    await amy.refused(api.changeDomain, { domain: 'a.example.com', allow_subdomains: true }, 'UNAUTHORIZED_PRINCIPAL')
    await amy.refused(api.removeDomain, { domain: 'a.example.com' }, 'UNAUTHORIZED_PRINCIPAL')
  })
})

describe('POST /realm/test_welcome_bot_custom_message', () => {
  test('sends the text to the administrator who asks, and to no one else', async () => {
    const [heard, amyHeard] = [await listen(owner, ['message']), await listen(amy, ['message'])]
    const text = '  Welcome to **Example**!  '
    const { message_id } = await owner.call(api.testWelcomeMessage, { welcome_message_custom_text: text })
    const [event, ...more] = await heard()
    assert.deepEqual([event!.message.id, event!.flags, more], [message_id, [], []])
    assert.match(event!.message.content, /\n```quote\nWelcome to \*\*Example\*\*!\n```$/)
    assert.equal(event!.message.display_recipient.length, 2)
    assert.deepEqual(await amyHeard(), [])
    for (const bad of ['   ', 'x'.repeat(8001)])
      await owner.refused(api.testWelcomeMessage, { welcome_message_custom_text: bad }, 'BAD_REQUEST')
    await amy.refused(api.testWelcomeMessage, { welcome_message_custom_text: 'hi' }, 'UNAUTHORIZED_PRINCIPAL')
  })
})

describe('POST /register', () => {
  test('the realm section has every setting, permission and limit', async () => {
    const state = await fetched(amy, ['realm'])
    for (const [name, setting] of Object.entries(organizationSettings))
      if (!('since' in setting)) assert.notEqual(state[`realm_${name}`], undefined, name)
    for (const name of Object.keys(organizationPermissions)) assert.notEqual(state[`realm_${name}`], undefined, name)
    assert.equal(state.max_topic_length, 60)
    assert.equal(state.realm_empty_topic_display_name, 'general chat')
    assert.equal(state.server_supported_permission_settings.group.can_manage_group.default_group_name, 'group_creator')
    assert.equal(state.realm_authentication_methods.Email.enabled, true)
    assert.deepEqual((await amy.call(api.show, {})).realm.realm_name, state.realm_name)
  })

  test('what this server does not do is there too, empty', async () => {
    const state = await fetched(amy, ['giphy', 'realm_filters', 'stop_words', 'video_calls'])
    assert.deepEqual([state.giphy_api_key, state.realm_filters, state.has_zoom_token], ['', [], false])
    assert.ok(state.stop_words.includes('the'))
  })
})
