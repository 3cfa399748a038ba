// Channels: what the specification says of them.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { bots } from '../../../daemon/api/bots/bots.ts'
import { channelFolders } from '../../../daemon/api/channels/channel-folders.ts'
import { channels as api } from '../../../daemon/api/channels/channels.ts'
import { subscriptions } from '../../../daemon/api/channels/subscriptions.ts'
import { messages } from '../../../daemon/api/messages/messages.ts'
import { reactions } from '../../../daemon/api/messages/reactions.ts'
import { organization } from '../../../daemon/api/organization/organization.ts'
import { Caller, sharedDaemon } from '../../support/daemon.ts'
import { listen, people } from '../../support/world.ts'

const daemon = sharedDaemon()

describe('POST /channels/create', () => {
  test('creates a channel with the settings given and subscribes those listed, not the creator', async () => {
    const { owner } = daemon()
    const [amy, bob] = await people(daemon(), 'create-amy', 'create-bob')
    const heard = await listen(bob, ['stream', 'subscription'], { include_subscribers: 'true' })
    const { id } = await amy.call(api.create, {
      name: ' Lunch ',
      description: 'Where\nto eat',
      subscribers: [bob.id, bob.id],
      topics_policy: 'allow_empty_topic',
    })
    const { stream } = await amy.call(api.show, { stream_id: id })
    assert.equal(stream.name, 'Lunch')
    assert.equal(stream.description, 'Where to eat')
    assert.equal(stream.creator_id, amy.id)
    assert.equal(stream.history_public_to_subscribers, true)
    assert.equal(stream.topics_policy, 'allow_empty_topic')
    assert.equal(stream.stream_weekly_traffic, null)
    assert.deepEqual(stream.can_administer_channel_group, { direct_members: [amy.id], direct_subgroups: [] })
    assert.deepEqual((await owner.call(api.members, { stream_id: id })).subscribers, [bob.id])
    const events = await heard()
    assert.deepEqual(
      events.map(event => `${event.type}/${event.op}`),
      ['stream/create', 'subscription/add'],
    )
    assert.deepEqual(events[1]!.subscriptions[0].subscribers, [bob.id])
  })

  test('a private channel is protected unless its history is shared, and no one else knows of it', async () => {
    const { owner } = daemon()
    const [amy, bob] = await people(daemon(), 'private-amy', 'private-bob')
    const heard = await listen(bob, ['stream', 'subscription'], { include_subscribers: 'true' })
    const { id } = await amy.call(api.create, { name: 'Secrets', invite_only: true, subscribers: [amy.id] })
    const { stream } = await owner.call(api.show, { stream_id: id })
    assert.equal(stream.invite_only, true)
    assert.equal(stream.history_public_to_subscribers, false)
    await bob.refused(api.show, { stream_id: id }, 'BAD_REQUEST')
    await bob.refused(api.members, { stream_id: id }, 'BAD_REQUEST')
    await bob.refused(api.id, { stream: 'secrets' }, 'BAD_REQUEST')
    await owner.refused(api.id, { stream: 'secrets' }, 'BAD_REQUEST')
    assert.deepEqual(await heard(), [])
  })

  test('a taken name is refused in any case, also when the caller cannot know of its holder', async () => {
    const { owner } = daemon()
    const [bob] = await people(daemon(), 'taken-bob')
    await owner.call(api.create, { name: 'Vault', invite_only: true, subscribers: [] })
    const { channel_name } = await bob.refused(api.create, { name: 'vAULT', subscribers: [] }, 'CHANNEL_ALREADY_EXISTS')
    assert.equal(channel_name, 'vAULT')
  })

  test('the notice of a new channel quotes its description, whatever is in it', async () => {
    const { owner } = daemon()
    for (const [description, fence] of [
      ['Where to eat', '````'],
      ['Use ``` for code', '````'],
      ['```` out ```` of it', '`````'],
    ]) {
      const name = `quoted ${description!.length}`
      await owner.call(api.create, {
        name,
        description,
        subscribers: [owner.id],
      })
      const { messages: said } = await owner.call(messages.list, {
        anchor: 'newest',
        num_before: 1,
        narrow: [['channel', name]],
        apply_markdown: false,
      })
      assert.ok(said[0]!.content.endsWith(`\n${fence} quote\n${description}\n${fence}`), said[0]!.content)
    }
  })

  test('names and descriptions are checked by code points and name the parameter', async () => {
    const { owner } = daemon()
    const refused = async (params: object, named: string) => {
      const { msg } = await owner.refused(api.create, { subscribers: [], ...params }, 'BAD_REQUEST')
      assert.match(msg, new RegExp(`^${named}`))
    }
    await refused({ name: '  ' }, 'name')
    await refused({ name: '🎈'.repeat(61) }, 'name')
    await refused({ name: 'a\u0007b' }, 'name: has an invalid character at position 2')
    await refused({ name: 'described', description: 'x'.repeat(1025) }, 'description')
    await refused({ name: 'folded', folder_id: 99 }, 'folder_id')
    await refused({ name: 'ghosts', subscribers: [9999] }, 'subscribers\\[0\\]')
    await refused({ name: 'webbed', is_web_public: true }, 'is_web_public')
    await refused({ name: 'hidden', is_default_stream: true, invite_only: true }, 'is_default_stream')
    await refused({ name: 'grouped', can_send_message_group: 9999 }, 'can_send_message_group')
    await owner.call(api.create, { name: '🎈'.repeat(60), subscribers: [] })
  })

  test('only owners choose how long messages are kept', async () => {
    const { owner } = daemon()
    const [bob] = await people(daemon(), 'keep-bob')
    const params = { name: 'Kept', subscribers: [], message_retention_days: 'unlimited' }
    await bob.refused(api.create, params, 'UNAUTHORIZED_PRINCIPAL')
    for (const bad of [0, -1, 'forever'])
      await owner.refused(api.create, { ...params, message_retention_days: bad }, 'REQUEST_VARIABLE_INVALID')
    const { id } = await owner.call(api.create, params)
    assert.equal((await owner.call(api.show, { stream_id: id })).stream.message_retention_days, -1)
  })
})

describe('GET /streams', () => {
  test('every filter adds what it says, sorted by name', async () => {
    const { owner } = daemon()
    const [amy] = await people(daemon(), 'list-amy')
    await owner.call(api.create, { name: 'list public', subscribers: [] })
    await owner.call(api.create, { name: 'list private', invite_only: true, subscribers: [amy.id] })
    await owner.call(api.create, { name: 'list hidden', invite_only: true, subscribers: [] })
    const { id } = await owner.call(api.create, { name: 'list old', subscribers: [] })
    await owner.call(api.archive, { stream_id: id })
    const names = async (caller: typeof amy, params: Parameters<typeof amy.call<typeof api.list>>[1]) => {
      const { streams } = await caller.call(api.list, params)
      return streams.map(stream => stream.name).filter(name => name.startsWith('list '))
    }
    assert.deepEqual(await names(amy, {}), ['list private', 'list public'])
    assert.deepEqual(await names(amy, { include_subscribed: false }), ['list public'])
    assert.deepEqual(await names(amy, { include_public: false }), ['list private'])
    assert.deepEqual(await names(amy, { include_public: false, include_subscribed: false }), [])
    assert.deepEqual(await names(amy, { exclude_archived: false }), ['list old', 'list private', 'list public'])
    assert.deepEqual(await names(amy, { include_all: true }), ['list private', 'list public'])
    assert.deepEqual(await names(owner, { include_all: true }), ['list hidden', 'list private', 'list public'])
    assert.deepEqual(await names(owner, { include_all_active: true }), ['list hidden', 'list private', 'list public'])
    assert.deepEqual(await names(owner, { include_can_access_content: true }), ['list public'])
    assert.deepEqual(await names(owner, { include_web_public: true, include_public: false }), [])
    assert.deepEqual(await names(owner, { include_owner_subscribed: true, include_public: false }), [])
    const { user_id, api_key } = await amy.call(bots.create, { full_name: 'List Bot', short_name: 'list' })
    const bot = new Caller(daemon().url, 'list-bot@example.com', api_key, user_id)
    assert.deepEqual(await names(bot, { include_can_access_content: true }), ['list public'])
    const both = { include_can_access_content: true, include_owner_subscribed: true }
    assert.deepEqual(await names(bot, both), ['list private', 'list public'])
    const { streams } = await amy.call(api.list, { include_default: true })
    assert.ok(streams.every(stream => stream.is_default === false))
  })
})

describe('PATCH /streams/{stream_id}', () => {
  test('each change is told, one event per property, and a rename carries the old name', async () => {
    const { owner } = daemon()
    const [amy] = await people(daemon(), 'patch-amy')
    const { id } = await owner.call(api.create, { name: 'before', subscribers: [] })
    const { channel_folder_id } = await owner.call(channelFolders.create, { name: 'Patch folder', description: '' })
    const heard = await listen(amy, ['stream'])
    await owner.call(api.update, {
      stream_id: id,
      new_name: 'after',
      description: 'new',
      folder_id: channel_folder_id,
      message_retention_days: 7,
      topics_policy: 'disable_empty_topic',
      can_send_message_group: { new: 3 },
    })
    const events = await heard()
    assert.deepEqual(
      events.map(({ name, property, value }) => [name, property, value]),
      [
        ['before', 'topics_policy', 'disable_empty_topic'],
        ['before', 'message_retention_days', 7],
        ['before', 'description', 'new'],
        ['before', 'name', 'after'],
        ['after', 'folder_id', channel_folder_id],
        ['after', 'can_send_message_group', 3],
        ['after', 'stream_post_policy', 2],
        ['after', 'is_announcement_only', true],
      ],
    )
    await owner.call(api.update, { stream_id: id, folder_id: null, message_retention_days: 'realm_default' })
    const { stream } = await amy.call(api.show, { stream_id: id })
    assert.equal(stream.folder_id, null)
    assert.equal(stream.message_retention_days, null)
    assert.equal(stream.is_announcement_only, true)
  })

  test('a channel with messages in named topics cannot be limited to the empty topic', async () => {
    const { owner } = daemon()
    const { id } = await owner.call(api.create, { name: 'with topics', subscribers: [owner.id] })
    await owner.call(messages.send, { type: 'channel', to: id, topic: 'named', content: 'hello' })
    const limited = { stream_id: id, topics_policy: 'empty_topic_only' }
    const { msg } = await owner.refused(api.update, limited, 'BAD_REQUEST')
    assert.match(msg, /^topics_policy: .*named topics/)
    const { stream } = await owner.call(api.show, { stream_id: id })
    assert.equal(stream.topics_policy, 'inherit')
  })

  test('a change of privacy takes the channel out of sight of users who lose access, and back', async () => {
    const { owner } = daemon()
    const [amy, bob] = await people(daemon(), 'privacy-amy', 'privacy-bob')
    const { id } = await owner.call(api.create, { name: 'open', subscribers: [owner.id, amy.id] })
    const heard = await listen(bob, ['stream', 'subscription'], { include_subscribers: 'true' })
    const inside = await listen(amy, ['stream', 'subscription'], { include_subscribers: 'true' })
    await owner.call(api.update, { stream_id: id, is_private: true })
    assert.deepEqual(await heard(), [{ type: 'stream', op: 'delete', stream_ids: [id], streams: [{ stream_id: id }] }])
    await bob.refused(api.show, { stream_id: id }, 'BAD_REQUEST')
    assert.deepEqual(await inside(), [
      {
        type: 'stream',
        op: 'update',
        stream_id: id,
        name: 'open',
        property: 'invite_only',
        value: true,
        history_public_to_subscribers: false,
        is_web_public: false,
      },
    ])
    await owner.call(api.update, { stream_id: id, is_private: false })
    const events = await heard()
    assert.deepEqual(
      events.map(event => `${event.type}/${event.op}`),
      ['stream/create', 'subscription/peer_add'],
    )
    assert.deepEqual(events[1], {
      type: 'subscription',
      op: 'peer_add',
      stream_ids: [id],
      user_ids: [owner.id, amy.id],
    })
  })

  test('all or nothing, and who may change what', async () => {
    const { owner } = daemon()
    const [amy, bob] = await people(daemon(), 'rights-amy', 'rights-bob')
    const { id } = await amy.call(api.create, { name: 'rights', subscribers: [amy.id] })
    const { id: secret } = await amy.call(api.create, { name: 'rights 2', invite_only: true, subscribers: [amy.id] })
    const refused = async (caller: typeof amy, params: object, code = 'BAD_REQUEST') => {
      const before = await amy.call(api.show, { stream_id: id })
      await caller.refused(api.update, { stream_id: id, ...params }, code)
      assert.deepEqual(await amy.call(api.show, { stream_id: id }), before)
    }
    await refused(bob, { description: 'mine' })
    await refused(bob, { stream_id: 9999, description: 'mine' })
    await refused(amy, { new_name: 'ok', is_default_stream: true })
    await refused(amy, { new_name: 'ok', message_retention_days: 3 }, 'UNAUTHORIZED_PRINCIPAL')
    await refused(owner, { new_name: 'ok', message_retention_days: 'soon' }, 'REQUEST_VARIABLE_INVALID')
    await refused(amy, { new_name: 'RIGHTS 2' }, 'CHANNEL_ALREADY_EXISTS')
    await refused(amy, { new_name: 'rights' })
    await refused(amy, { history_public_to_subscribers: false })
    await refused(amy, { is_private: true, is_web_public: true })
    await refused(amy, { is_web_public: true })
    await refused(amy, { folder_id: 9999 })
    await refused(amy, { is_archived: false })
    await refused(amy, { can_delete_any_message_group: { new: 3 } })
    await refused(amy, { description: 'x', can_send_message_group: { new: 3, old: 2 } }, 'EXPECTATION_MISMATCH')
    await refused(owner, { is_default_stream: true, is_private: true })
    // Administrators rename a private channel they are not in, and no more than that.
    await owner.call(api.update, { stream_id: secret, new_name: 'rights 3', can_send_message_group: { new: 6 } })
    await owner.refused(api.update, { stream_id: secret, is_private: false }, 'BAD_REQUEST')
    await owner.refused(api.update, { stream_id: secret, history_public_to_subscribers: true }, 'BAD_REQUEST')
    await owner.refused(api.update, { stream_id: secret, can_subscribe_group: { new: 6 } }, 'BAD_REQUEST')
    await amy.call(api.update, { stream_id: secret, can_subscribe_group: { new: 6 } })
    await bob.call(subscriptions.subscribe, { subscriptions: ['rights 3'] })
    // A pure change of case is a rename of its own.
    await amy.call(api.update, { stream_id: id, new_name: 'Rights' })
    assert.equal((await bob.call(api.id, { stream: ' rIGHTS ' })).stream_id, id)
  })
})

describe('DELETE /streams/{stream_id}', () => {
  test('announcements that went to the channel go nowhere any more', async () => {
    const { owner } = daemon()
    const { id } = await owner.call(api.create, { name: 'Loud', subscribers: [] })
    await owner.call(organization.update, {
      signup_announcements_stream_id: id,
      new_stream_announcements_stream_id: id,
    })
    const hear = await listen(owner, ['realm'])
    await owner.call(api.archive, { stream_id: id })
    const data = { new_stream_announcements_stream_id: -1, signup_announcements_stream_id: -1 }
    assert.deepEqual(await hear(), [{ type: 'realm', op: 'update_dict', property: 'default', data }])
  })

  test('archives once; the name stays taken; only unarchiving brings it back', async () => {
    const { owner } = daemon()
    const [amy] = await people(daemon(), 'archive-amy')
    const { id } = await owner.call(api.create, { name: 'Old', subscribers: [amy.id], is_default_stream: true })
    const plain = await listen(amy, ['stream', 'subscription', 'default_streams'])
    const modern = await listen(amy, ['stream', 'subscription'], {
      client_capabilities: { archived_channels: true },
      include_subscribers: 'true',
    })
    await amy.refused(api.archive, { stream_id: id }, 'BAD_REQUEST')
    await owner.call(api.archive, { stream_id: id })
    await owner.refused(api.archive, { stream_id: id }, 'BAD_REQUEST')
    await owner.refused(api.create, { name: 'old', subscribers: [] }, 'CHANNEL_ALREADY_EXISTS')
    await amy.refused(api.show, { stream_id: id }, 'BAD_REQUEST')
    assert.deepEqual((await amy.call(subscriptions.list, {})).subscriptions, [])
    assert.deepEqual(
      (await plain()).map(event => `${event.type}/${event.op}`),
      ['default_streams/undefined', 'stream/delete'],
    )
    const [event] = await modern()
    assert.deepEqual([event!.property, event!.value], ['is_archived', true])
    const again: object = await owner.call(api.update, { stream_id: id, is_archived: true })
    assert.deepEqual(again, { result: 'success', msg: '' })
    await owner.call(api.update, { stream_id: id, is_archived: false })
    assert.deepEqual(
      (await plain()).map(event => `${event.type}/${event.op}`),
      ['stream/create', 'subscription/add'],
    )
    assert.equal((await modern())[0]!.value, false)
    assert.equal((await amy.call(subscriptions.list, {})).subscriptions[0]!.name, 'Old')
  })

  test('the notice that it is archived comes as read to everyone, that of a new channel to its creator', async () => {
    const { owner } = daemon()
    const [amy, bob] = await people(daemon(), 'notice-amy', 'notice-bob')
    const { id: place } = await owner.call(api.create, { name: 'new here', subscribers: [amy.id, bob.id] })
    await owner.call(organization.update, { new_stream_announcements_stream_id: place })
    const hear = await Promise.all([amy, bob].map(reader => listen(reader, ['message'])))
    const flags = () => Promise.all(hear.map(async heard => (await heard()).map(event => event.flags)))
    const made = { name: 'noticed', subscribers: [amy.id, bob.id], announce: true }
    const { id } = await amy.call(api.create, made)
    assert.deepEqual(await flags(), [
      [['read'], ['read']],
      [[], []],
    ])
    await amy.call(api.archive, { stream_id: id })
    assert.deepEqual(await flags(), [[['read']], [['read']]])
    const { messages: kept } = await bob.call(messages.list, {
      anchor: 'newest',
      num_before: 2,
      narrow: [{ operator: 'channel', operand: id }],
    })
    assert.deepEqual(
      kept.map(message => message.flags),
      [[], ['read']],
    )
  })

  test('what has been said stays readable, and nothing about it can be changed', async () => {
    const { owner } = daemon()
    const made = { name: 'archived words', subscribers: [owner.id] }
    const { id } = await owner.call(api.create, made)
    const { id: message_id } = await owner.call(messages.send, {
      type: 'channel',
      to: id,
      topic: 't',
      content: '/poll ?',
    })
    await owner.call(reactions.add, { message_id, emoji_name: 'tada' })
    await owner.call(api.archive, { stream_id: id })
    await owner.call(messages.get, { message_id })
    await owner.refused(messages.update, { message_id, topic: 'u' }, 'BAD_REQUEST')
    await owner.refused(messages.delete, { message_id }, 'BAD_REQUEST')
    await owner.refused(messages.typing, { message_id, op: 'start' }, 'BAD_REQUEST')
    await owner.refused(reactions.add, { message_id, emoji_name: 'smile' }, 'BAD_REQUEST')
    await owner.refused(reactions.remove, { message_id, emoji_name: 'tada' }, 'BAD_REQUEST')
    await owner.refused(messages.submessage, { message_id, msg_type: 'widget', content: '{}' }, 'BAD_REQUEST')
  })
})

describe('GET /streams/{stream_id}/email_address', () => {
  test('is empty without a mail gateway, for the caller or a bot of theirs only', async () => {
    const { owner } = daemon()
    const { id } = await owner.call(api.create, { name: 'mail', subscribers: [] })
    assert.equal((await owner.call(api.email, { stream_id: id })).email, '')
    await owner.refused(api.email, { stream_id: id, sender_id: 1 }, 'BAD_REQUEST')
  })
})
