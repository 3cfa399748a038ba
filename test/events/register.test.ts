// POST /register: every section with every field and its type, and what each parameter and capability changes.

import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { bots } from '../../daemon/api/bots/bots.ts'
import { type Capability, capabilities } from '../../daemon/api/capabilities.ts'
import { channelFolders } from '../../daemon/api/channels/channel-folders.ts'
import { channels } from '../../daemon/api/channels/channels.ts'
import { defaultChannels } from '../../daemon/api/channels/default-channels.ts'
import { subscriptions } from '../../daemon/api/channels/subscriptions.ts'
import { topics } from '../../daemon/api/channels/topics.ts'
import { events } from '../../daemon/api/events.ts'
import { drafts } from '../../daemon/api/messages/drafts.ts'
import { messageFlags } from '../../daemon/api/messages/message-flags.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { savedSnippets } from '../../daemon/api/messages/saved-snippets.ts'
import { typing } from '../../daemon/api/messages/typing.ts'
import { linkifiers } from '../../daemon/api/organization/linkifiers.ts'
import { organization } from '../../daemon/api/organization/organization.ts'
import { alertWords } from '../../daemon/api/people/alert-words.ts'
import { mutedUsers } from '../../daemon/api/people/muted-users.ts'
import { navigationViews } from '../../daemon/api/people/navigation-views.ts'
import { presence } from '../../daemon/api/people/presence.ts'
import { profileFields } from '../../daemon/api/people/profile-fields.ts'
import { settings } from '../../daemon/api/people/settings.ts'
import { userGroups } from '../../daemon/api/people/user-groups.ts'
import { userStatus } from '../../daemon/api/people/user-status.ts'
import { users } from '../../daemon/api/people/users.ts'
import { resources } from '../../daemon/domain/index.ts'
import { Caller, sharedDaemon, type TestDaemon } from '../support/daemon.ts'
import { sectionShapes, unreadShape } from '../support/register-shapes.ts'
import { fetched, listen, person } from '../support/world.ts'

const everything = Object.fromEntries(Object.keys(capabilities).map(name => [name, true]))

let daemon: TestDaemon
let owner: Caller
let amy: Caller
let bob: Caller
let guest: Caller

sharedDaemon({ flags: ['--max-queues', '1000', '--dialect', 'spec'] }, async started => {
  daemon = started
  owner = daemon.owner
  amy = await person(daemon, 'amy')
  bob = await person(daemon, 'bob')
  guest = await person(daemon, 'guest', { role: 600 })
  await furnish()
})

/** One of everything that a section can list. */
async function furnish(): Promise<void> {
  const { channel_folder_id } = await owner.call(channelFolders.create, { name: 'plants' })
  await owner.call(subscriptions.subscribe, {
    subscriptions: [{ name: 'garden', description: '*beans*' }, { name: 'kitchen' }],
    principals: [owner.id, amy.id],
    folder_id: channel_folder_id,
  } as never)
  await bob.call(subscriptions.subscribe, { subscriptions: [{ name: 'elsewhere' }] })
  await owner.call(subscriptions.unsubscribe, { subscriptions: ['kitchen'] })
  const { stream_id } = await owner.call(channels.id, { stream: 'garden' })
  await owner.call(defaultChannels.add, { stream_id })
  await owner.call(defaultChannels.createGroup, {
    group_name: 'new',
    description: 'd',
    stream_names: ['elsewhere'],
  } as never)
  await owner.call(topics.follow, { stream_id, topic: 'dull', visibility_policy: 1 })
  await owner.call(alertWords.add, { alert_words: ['beans'] })
  await owner.call(mutedUsers.mute, { muted_user_id: guest.id })
  await owner.call(navigationViews.add, { fragment: 'narrow/is/alerted', is_pinned: true, name: 'Alerts' })
  await owner.call(savedSnippets.create, { title: 't', content: 'c' })
  await owner.call(drafts.create, { drafts: [{ type: '', to: [], topic: '', content: 'x' }] })
  await owner.call(linkifiers.add, { pattern: '#(?P<id>[0-9]+)', url_template: 'https://example.com/{id}' })
  await owner.call(organization.addDomain, { domain: 'example.org', allow_subdomains: true })
  await owner.call(userGroups.create, { name: 'cooks', description: 'd', members: [amy.id] })
  await owner.call(userStatus.update, { status_text: 'out', emoji_name: 'tada' })
  await owner.call(presence.update, { status: 'active' })
  await owner.call(profileFields.create, { name: 'Phone', field_type: 1, display_in_profile_summary: true } as never)
  await amy.call(bots.create, {
    full_name: 'hook',
    short_name: 'hook',
    bot_type: 3,
    payload_url: 'https://example.com',
  })
  await owner.call(bots.create, { full_name: 'plain', short_name: 'plain' })
  const gone = await person(daemon, 'gone')
  await owner.call(users.deactivate, { user_id: gone.id })
  await amy.call(messages.send, { type: 'channel', to: 'garden', topic: '', content: 'hello @**all**' })
  await amy.call(messages.send, { type: 'direct', to: [owner.id], content: 'one to one' })
  const { id } = await amy.call(messages.send, { type: 'direct', to: [owner.id, bob.id], content: 'three' })
  await owner.call(messageFlags.update, { messages: [id], op: 'add', flag: 'starred' })
}

describe('POST /register', () => {
  test('knows every section of the resources', () => {
    const named = resources.flatMap(resource => Object.keys(resource.sections ?? {}))
    const known = new Set(Object.keys(sectionShapes(true)))
    assert.deepEqual(
      named.filter(name => !known.has(name)),
      [],
    )
  })

  for (const modern of [true, false])
    for (const [name, fields] of Object.entries(sectionShapes(modern)))
      test(`${name} has its fields and no others, for a ${modern ? 'modern' : 'plain'} client`, async () => {
        const options = modern
          ? { client_capabilities: everything, slim_presence: true, include_subscribers: 'true' }
          : {}
        for (const caller of [owner, guest]) {
          const { queue_id, last_event_id, svc_version, svc_feature_level, svc_merge_base, result, msg, ...state } =
            await fetched(caller, [name], options)
          assert.deepEqual([typeof queue_id, last_event_id, svc_feature_level, result], ['string', -1, 417, 'success'])
          const shape = Type.Object(fields, { additionalProperties: false })
          const [error] = Value.Errors(shape, state)
          assert.equal(error, undefined, `${error?.path}: ${error?.message}: ${JSON.stringify(error?.value)}`)
          if (caller === owner) for (const list of Object.keys(state)) filled(list, state[list], modern)
        }
      })

  test('unread_msgs comes with message and update_message_flags together, never with one of them', async () => {
    const types = ['message', 'update_message_flags']
    const { unread_msgs } = await fetched(owner, types)
    assert.deepEqual([...Value.Errors(unreadShape, unread_msgs)], [])
    assert.ok(unread_msgs.count >= 3)
    assert.deepEqual([unread_msgs.pms.length, unread_msgs.huddles.length], [1, 1])
    for (const type of types) assert.equal((await fetched(owner, [type])).unread_msgs, undefined)
    assert.ok(((await owner.call(events.register, {})) as Record<string, unknown>).unread_msgs)
  })

  test('event_types also choose the state, unless fetch_event_types does; unknown names are ignored', async () => {
    const by = async (params: object) => Object.keys(await owner.call(events.register, params)).sort()
    const always = await by({ fetch_event_types: [] })
    assert.deepEqual(
      always,
      'last_event_id msg queue_id result svc_feature_level svc_merge_base svc_version'.split(' '),
    )
    assert.deepEqual(await by({ event_types: ['alert_words', 'nonsense'] }), ['alert_words', ...always].sort())
    assert.deepEqual(await by({ event_types: ['alert_words'], fetch_event_types: [] }), always)
  })

  test('muted_topics is left out when user_topic is asked for by name', async () => {
    const both = await fetched(owner, ['user_topic', 'muted_topics'])
    assert.deepEqual([both.user_topics.length, both.muted_topics], [1, undefined])
    assert.equal((await fetched(owner, ['muted_topics'])).muted_topics.length, 1)
  })

  test('presence_history_limit_days 0 leaves presence out', async () => {
    assert.deepEqual((await fetched(owner, ['presence'], { presence_history_limit_days: 0 })).presences, {})
  })

  test('a narrow must be pairs of known operators', async () => {
    for (const narrow of [
      [['channel']],
      [['near', '1']],
      [['is', 'followed']],
      [['is', 'nonsense']],
      [['-topic', 'x']],
    ])
      await owner.refused(events.register, { narrow }, 'BAD_REQUEST')
    for (const narrow of [
      [['stream', 'a']],
      [['is', 'dm']],
      [
        ['sender', 'a@example.com'],
        ['topic', 'x'],
      ],
    ])
      await owner.call(events.register, { narrow, fetch_event_types: [] })
  })

  test('guests may not hear all public channels', async () => {
    await guest.refused(events.register, { all_public_streams: true }, 'BAD_REQUEST')
    await guest.call(events.register, { all_public_streams: false, fetch_event_types: [] })
  })

  test('a bot hears all public channels, or one channel, as it was set up', async () => {
    const bot = async (short_name: string, more: object) => {
      const made = await owner.call(bots.create, { full_name: short_name, short_name, ...more })
      return listen(new Caller(daemon.url, `${short_name}-bot@example.com`, made.api_key, made.user_id), ['message'])
    }
    const hears = await bot('ears', { default_all_public_streams: true })
    const narrow = await bot('narrow', { default_all_public_streams: true, default_events_register_stream: 'garden' })
    const deaf = await bot('deaf', {})
    for (const to of ['garden', 'elsewhere'])
      await bob.call(messages.send, { type: 'channel', to, topic: 't', content: `in ${to}` })
    const contents = async (heard: typeof hears) => (await heard()).map(event => [event.message.content, event.flags])
    assert.deepEqual(await contents(hears), [
      ['in garden', []],
      ['in elsewhere', []],
    ])
    assert.deepEqual(await contents(narrow), [['in garden', []]])
    assert.deepEqual(await contents(deaf), [])
  })
})

/** Sections that this server has nothing to say in. */
const nothing =
  /^(reminders|scheduled_messages|onboarding_steps|realm_embedded_bots|realm_filters|realm_incoming_webhook_bots|realm_playgrounds|server_thumbnail_formats|push_devices|realm_emoji|upgrade_|giphy_api_key)/

function filled(name: string, value: unknown, modern: boolean): void {
  if (nothing.test(name) || (name === 'realm_linkifiers' && !modern)) return
  if (Array.isArray(value)) assert.ok(value.length > 0, `${name} has an example`)
}

/** Those of newer levels have tests of their own. */
type Known = Exclude<Capability, 'simplified_presence_events' | 'individual_emoji_changes'>

describe('client_capabilities', () => {
  const effects: Record<Known, (on: object) => Promise<unknown>> = {
    notification_settings_null: async on => {
      const { subscriptions } = await fetched(owner, ['subscription'], on)
      return subscriptions[0].push_notifications
    },
    bulk_message_deletion: async on => {
      const heard = await listen(amy, ['delete_message'], on)
      const { id } = await amy.call(messages.send, { type: 'channel', to: 'garden', topic: 'x', content: 'x' })
      await owner.call(messages.delete, { message_id: id })
      return Object.keys((await heard())[0]!).includes('message_ids')
    },
    // May be left out, and never is.
    user_avatar_url_field_optional: async on =>
      'avatar_url' in (await fetched(owner, ['realm_user'], on)).realm_users[0],
    stream_typing_notifications: async on => {
      const heard = await listen(amy, ['typing'], on)
      const { stream_id } = await owner.call(channels.id, { stream: 'garden' })
      await owner.call(typing.set, { op: 'start', type: 'channel', stream_id, topic: 'x' })
      return (await heard()).length
    },
    user_settings_object: async on => {
      const heard = await listen(bob, ['user_settings', 'update_display_settings'], on)
      const { enter_sends } = (await fetched(bob, ['user_settings'])).user_settings
      await bob.call(settings.update, { enter_sends: !enter_sends } as never)
      return (await heard()).map(event => event.type).sort()
    },
    linkifier_url_template: async on => (await fetched(owner, ['realm_linkifiers'], on)).realm_linkifiers.length,
    user_list_incomplete: async on => {
      const { realm_users } = await fetched(guest, ['realm_user'], on)
      return realm_users.some((user: { user_id: number }) => user.user_id === bob.id)
    },
    include_deactivated_groups: async on => {
      const { realm_user_groups } = await fetched(owner, ['realm_user_groups'], on)
      return realm_user_groups.some((group: { name: string }) => group.name === 'closed')
    },
    archived_channels: async on => {
      const { streams } = await fetched(owner, ['stream'], on)
      return streams.some((channel: { is_archived: boolean }) => channel.is_archived)
    },
    empty_topic_name: async on =>
      (await fetched(owner, ['message', 'update_message_flags'], on)).unread_msgs.streams[0].topic,
  }
  const expected: Record<Known, [without: unknown, withIt: unknown]> = {
    notification_settings_null: [false, null],
    bulk_message_deletion: [false, true],
    user_avatar_url_field_optional: [true, true],
    stream_typing_notifications: [0, 1],
    user_settings_object: [['update_display_settings', 'user_settings'], ['user_settings']],
    linkifier_url_template: [0, 1],
    user_list_incomplete: [true, false],
    include_deactivated_groups: [false, true],
    archived_channels: [false, true],
    empty_topic_name: ['general chat', ''],
  }

  before(async () => {
    const { group_id } = await owner.call(userGroups.create, { name: 'closed', description: '', members: [] })
    await owner.call(userGroups.deactivate, { user_group_id: group_id } as never)
    await owner.call(subscriptions.subscribe, { subscriptions: [{ name: 'attic' }] })
    const { stream_id } = await owner.call(channels.id, { stream: 'attic' })
    await owner.call(channels.archive, { stream_id })
    const groups = await fetched(owner, ['realm_user_groups'])
    const members = groups.realm_user_groups.find((group: { name: string }) => group.name === 'role:members').id
    await owner.call(organization.update, { can_access_all_users_group: { new: members } } as never)
  })

  for (const name of Object.keys(effects) as Known[])
    test(`${name}: ${capabilities[name].effect}`, async () => {
      assert.deepEqual(await effects[name]({}), expected[name][0])
      assert.deepEqual(await effects[name]({ client_capabilities: { [name]: true } }), expected[name][1])
    })

  test('unknown ones are ignored', async () => {
    await owner.call(events.register, {
      client_capabilities: { simplified_presence_events: true },
      fetch_event_types: [],
    })
  })
})
