// Changes that break clients, on both sides of their level, in spaces of a real daemon.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { bots } from '../../daemon/api/bots/bots.ts'
import { uploads } from '../../daemon/api/files/uploads.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { reactions } from '../../daemon/api/messages/reactions.ts'
import { dataExports } from '../../daemon/api/organization/exports.ts'
import { organization } from '../../daemon/api/organization/organization.ts'
import { presence } from '../../daemon/api/people/presence.ts'
import { settings } from '../../daemon/api/people/settings.ts'
import { levelSpaces, listen } from '../support/levels.ts'

const spaceAt = levelSpaces()
const some = { type: 'channel', to: 'general', topic: 'levels', content: 'Hello' } as const

/** What the owner finds in the reply of register. */
async function stateAt(level: number): Promise<Record<string, any>> {
  return (await listen((await spaceAt(level)).owner)).state
}

describe('POST /register', () => {
  const fields: [level: number, gone: string[], come: string[]][] = [
    [426, ['realm_is_zephyr_mirror_realm'], []],
    [434, [], ['realm_send_channel_events_messages']],
    [435, [], ['server_report_message_types']],
    [438, [], ['realm_owner_full_content_access']],
    [439, ['emojiset', 'timezone', 'enable_sounds', 'available_notification_sounds', 'emojiset_choices'], []],
    [442, ['giphy_rating_options'], ['gif_rating_options', 'tenor_api_key']],
    [453, ['gif_rating_options', 'realm_giphy_rating'], ['gif_rating_policy_options', 'realm_gif_rating_policy']],
    [456, [], ['realm_default_avatar_source']],
    [466, [], ['realm_uuid']],
    [468, ['push_devices'], ['devices']],
    [469, [], ['realm_media_preview_size']],
    [477, [], ['realm_workplace_users_group']],
    [481, [], ['idle_queue_timeout_secs']],
    [486, [], ['klipy_api_key']],
    [493, [], ['has_webex_token']],
  ]
  for (const [level, gone, come] of fields)
    test(`changes its fields at ${level}`, async () => {
      const [before, after] = [await stateAt(level - 1), await stateAt(level)]
      for (const name of gone) assert.deepEqual([name in before, name in after], [true, false], name)
      for (const name of come) assert.deepEqual([name in before, name in after], [false, true], name)
    })

  test('names the creator of a channel differently from 427 on', async () => {
    const defaults = async (level: number) =>
      (await stateAt(level)).server_supported_permission_settings.stream.can_administer_channel_group.default_group_name
    assert.deepEqual([await defaults(426), await defaults(427)], ['stream_creator_or_nobody', 'channel_creator'])
  })

  test('has settings of people and channels from their level on', async () => {
    const [before, after] = [await stateAt(430), await stateAt(431)]
    assert.equal('web_inbox_show_channel_folders' in before.user_settings, false)
    assert.equal(after.user_settings.web_inbox_show_channel_folders, true)
    assert.equal('web_inbox_show_channel_folders' in after.realm_user_settings_defaults, true)
    const permission = async (level: number) => {
      const { streams, subscriptions, server_supported_permission_settings: supported } = await stateAt(level)
      const name = 'can_create_topic_group'
      return [name in streams[0], name in subscriptions[0], name in supported.stream]
    }
    assert.deepEqual([await permission(440), await permission(441)].flat(), [false, false, false, true, true, true])
  })
})

describe('attachments', () => {
  async function attachmentAt(level: number) {
    const { owner } = await spaceAt(level)
    const listener = await listen(owner, { event_types: ['attachment'] })
    const file = { filename: 'a.txt', contentType: 'text/plain', bytes: Buffer.from('hello') }
    const { url } = await owner.call(uploads.upload, { file })
    const { id } = await owner.call(messages.send, { ...some, content: `[a](${url})` })
    const { attachments } = await owner.call(uploads.list, {})
    const news = (await listener.next()).at(-1)!
    assert.deepEqual(news.attachment, attachments[0], 'the event has the same form')
    const { detached_uploads } = await owner.call(messages.update, { message_id: id, content: 'no file' })
    assert.equal(detached_uploads[0]!.create_time, attachments[0]!.create_time)
    return { ...attachments[0]!, sent: id }
  }

  test('have their times in seconds from 443 on', async () => {
    const [before, after] = [await attachmentAt(442), await attachmentAt(443)]
    assert.ok(before.create_time > 1e12 && before.messages![0]!.date_sent > 1e12)
    assert.ok(after.create_time < 1e11 && after.messages![0]!.date_sent < 1e11)
  })

  test('list the IDs of messages from 472 on', async () => {
    const [before, after] = [await attachmentAt(471), await attachmentAt(472)]
    assert.deepEqual([before.message_ids, before.messages!.map(({ id }) => id)], [undefined, [before.sent]])
    assert.deepEqual([after.messages, after.message_ids], [undefined, [after.sent]])
  })
})

describe('events', () => {
  test('of older settings are gone from 439 on', async () => {
    const types = async (level: number) => {
      const { owner } = await spaceAt(level)
      const listener = await listen(owner)
      await owner.call(settings.update, { twenty_four_hour_time: true, enable_sounds: false })
      return (await listener.next()).map(({ type }) => type).sort()
    }
    assert.deepEqual(await types(438), [
      'update_display_settings',
      'update_global_notifications',
      'user_settings',
      'user_settings',
    ])
    assert.deepEqual(await types(439), ['user_settings', 'user_settings'])
  })

  test('of reactions have no user from 484 on', async () => {
    const userIn = async (level: number) => {
      const { owner } = await spaceAt(level)
      const { id } = await owner.call(messages.send, some)
      const listener = await listen(owner, { event_types: ['reaction'] })
      await owner.call(reactions.add, { message_id: id, emoji_name: 'tada' })
      const [event] = await listener.next()
      assert.equal(event!.user_id, owner.id)
      return event!.user?.user_id
    }
    const { owner } = await spaceAt(483)
    assert.deepEqual([await userIn(483), await userIn(484)], [owner.id, undefined])
  })

  test('of bots lose what events of users have from 474 on', async () => {
    const told = async (level: number) => {
      const { owner } = await spaceAt(level)
      const listener = await listen(owner, { event_types: ['realm_bot'] })
      const { user_id } = await owner.call(bots.create, { full_name: 'Level Bot', short_name: 'level' })
      await owner.call(bots.update, { bot_id: user_id, full_name: 'Level Robot' })
      await owner.call(bots.regenerateKey, { bot_id: user_id })
      await owner.call(bots.update, { bot_id: user_id, default_all_public_streams: true })
      const state = await listen(owner, { fetch_event_types: ['realm_bot'], event_types: [] })
      const row = state.state.realm_bots.find((bot: { user_id: number }) => bot.user_id === user_id)
      const events = await listener.next()
      assert.equal('api_key' in events[0]!.bot, 'api_key' in row)
      return [events.map(({ op }) => op).join(' '), 'api_key' in row, 'full_name' in row]
    }
    assert.deepEqual(await told(473), ['add update update update', true, true])
    assert.deepEqual(await told(474), ['add update', false, false])
  })

  test('about the rating of GIFs name the setting by its level', async () => {
    const property = async (level: number, params: object) => {
      const { owner } = await spaceAt(level)
      const listener = await listen(owner, { event_types: ['realm'] })
      await owner.call(organization.update, params as never)
      return (await listener.next()).map(event => event.property)
    }
    assert.deepEqual(await property(452, { giphy_rating: 3 }), ['giphy_rating'])
    assert.deepEqual(await property(453, { gif_rating_policy: 3 }), ['gif_rating_policy'])
    assert.deepEqual(await property(453, { giphy_rating: 3 }), [], 'the older name is unknown')
  })

  test('about the description carry its HTML from 462 on, and are an update_dict from 464 on', async () => {
    const told = async (level: number) => {
      const { owner } = await spaceAt(level)
      const listener = await listen(owner, { event_types: ['realm'] })
      await owner.call(organization.update, { description: 'About *us*' } as never)
      const [{ op, rendered_description, data }] = (await listener.next()) as [Record<string, any>]
      return [op, rendered_description !== undefined, data?.rendered_description !== undefined]
    }
    assert.deepEqual(await told(461), ['update', false, false])
    assert.deepEqual(await told(463), ['update', true, false])
    assert.deepEqual(await told(464), ['update_dict', false, true])
  })
})

describe('web_home_view', () => {
  test('calls the recent view recent from 454 on', async () => {
    const shown = async (level: number, value: string) => {
      const { owner } = await spaceAt(level)
      const listener = await listen(owner, { event_types: ['user_settings'] })
      await owner.call(settings.update, { web_home_view: value as never })
      const { user_settings } = (await listen(owner, { fetch_event_types: ['user_settings'] })).state
      return [(await listener.next())[0]!.value, user_settings.web_home_view]
    }
    assert.deepEqual(await shown(453, 'recent_topics'), ['recent_topics', 'recent_topics'])
    assert.deepEqual(await shown(454, 'recent'), ['recent', 'recent'])
    await (await spaceAt(453)).owner.refused(settings.update, { web_home_view: 'recent' }, 'BAD_REQUEST')
  })
})

describe('exports', () => {
  test('have a word for their type from 449 on', async () => {
    const typeOf = async (level: number, export_type: unknown) => {
      const { owner } = await spaceAt(level)
      await owner.call(settings.update, { allow_private_data_export: true })
      await owner.call(dataExports.create, { export_type } as never)
      return (await owner.call(dataExports.list, {})).exports[0]!
    }
    assert.equal((await typeOf(448, 2)).export_type, 2)
    assert.equal((await typeOf(449, 'full_with_consent')).export_type, 'full_with_consent')
    const prior = async (level: number) => 'export_from_prior_server' in (await typeOf(level, 'public'))
    const found = await Promise.all([498, 499, 501, 502, 505, 506].map(prior))
    assert.deepEqual(found, [false, true, true, false, false, true])
    await (await spaceAt(449)).owner.refused(dataExports.create, { export_type: 3 }, 'BAD_REQUEST')
    await (await spaceAt(448)).owner.refused(dataExports.create, { export_type: '"public"' }, 'BAD_REQUEST')
  })

  test('say from 430 on who sees the address of each person', async () => {
    const first = async (level: number) =>
      (await (await spaceAt(level)).owner.call(dataExports.consents, {})).export_consents[0]!
    assert.deepEqual(
      [(await first(429)).email_address_visibility, (await first(430)).email_address_visibility],
      [undefined, 1],
    )
  })
})

describe('GET /users/{user_id_or_email}/presence', () => {
  test('has the older form, the modern one, or both', async () => {
    const keys = async (level: number) => {
      const space = await spaceAt(level)
      await space.as('amy').call(presence.update, { status: 'active' })
      const reply = await space.owner.call(presence.ofUser, { user_id_or_email: 'amy@example.com' })
      return [Object.keys(reply.presence).sort().join(' '), reply.server_timestamp !== undefined]
    }
    assert.deepEqual(await keys(486), ['aggregated website', false])
    assert.deepEqual(await keys(487), ['active_timestamp idle_timestamp', false])
    assert.deepEqual(await keys(496), ['active_timestamp idle_timestamp', false])
    assert.deepEqual(await keys(497), ['active_timestamp aggregated idle_timestamp website', true])
  })
})
