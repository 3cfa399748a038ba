// Additions of newer levels, on both sides of their level, in spaces of a real daemon.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { bots } from '../../daemon/api/bots/bots.ts'
import { channelFolders } from '../../daemon/api/channels/channel-folders.ts'
import { channels } from '../../daemon/api/channels/channels.ts'
import { subscriptions } from '../../daemon/api/channels/subscriptions.ts'
import { topics } from '../../daemon/api/channels/topics.ts'
import type { Endpoint } from '../../daemon/api/define.ts'
import { uploads } from '../../daemon/api/files/uploads.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { emoji } from '../../daemon/api/organization/emoji.ts'
import { linkifiers } from '../../daemon/api/organization/linkifiers.ts'
import { organization } from '../../daemon/api/organization/organization.ts'
import { server } from '../../daemon/api/organization/server.ts'
import { avatars } from '../../daemon/api/people/avatars.ts'
import { presence } from '../../daemon/api/people/presence.ts'
import { profileFields } from '../../daemon/api/people/profile-fields.ts'
import { userGroups } from '../../daemon/api/people/user-groups.ts'
import { userStatus } from '../../daemon/api/people/user-status.ts'
import { users } from '../../daemon/api/people/users.ts'
import type { Caller } from '../support/daemon.ts'
import { pixel } from '../support/images.ts'
import { levelSpaces, listen } from '../support/levels.ts'
import type { TestSpace } from '../support/spaces.ts'

const spaceAt = levelSpaces()
const some = { type: 'channel', to: 'general', topic: 'levels', content: 'Hello' } as const

async function channelId({ owner }: TestSpace, stream = 'general'): Promise<number> {
  return (await owner.call(channels.id, { stream })).stream_id
}

/** The status of an answer on both sides of a level. */
async function statuses(level: number, call: (space: TestSpace) => Promise<{ status: number }>): Promise<number[]> {
  return [(await call(await spaceAt(level - 1))).status, (await call(await spaceAt(level))).status]
}

describe('endpoints', () => {
  test('of newer levels are unknown paths before', async () => {
    assert.deepEqual(
      await statuses(440, ({ owner }) => owner.raw('GET', `/api/v1/users/${owner.id}/channels`)),
      [404, 200],
    )
    assert.equal((await (await spaceAt(439)).owner.raw('POST', '/api/v1/users/9/channels')).status, 404)
    const space = await spaceAt(440)
    const { subscribed_channel_ids } = await space.owner.call(subscriptions.ofUser, { user_id: space.as('amy').id })
    assert.ok(subscribed_channel_ids.includes(await channelId(space)))
  })

  test('GET /thumbnail/status came with 479', async () => {
    assert.deepEqual(
      await statuses(479, async ({ owner }) => {
        const file = { filename: 'a.png', contentType: 'image/png', bytes: pixel.png }
        const { url } = await owner.call(uploads.upload, { file })
        const [, filename] = url.split('/user_uploads/1/') as [string, string]
        return owner.try(uploads.thumbnail, { realm_id_str: 1, filename })
      }),
      [404, 200],
    )
  })
})

describe('params', () => {
  const cases: [level: number, endpoint: Endpoint, params: Record<string, unknown>, name: string][] = [
    [431, { ...organization.update, method: 'PATCH', path: '/settings' }, { web_inbox_show_channel_folders: true }, ''],
    [434, organization.update, { send_channel_events_messages: true }, ''],
    [441, channels.create, { name: 'x', subscribers: [], can_create_topic_group: 2 }, 'can_create_topic_group'],
    [445, messages.list, { anchor: 'newest', anchor_date: '2030-01-01' }, 'anchor_date'],
    [469, organization.update, { media_preview_size: 150 }, ''],
    [
      471,
      linkifiers.add,
      { example_input: '#1', pattern: '#(?P<id>[0-9]+)', url_template: 'https://x.example/{id}' },
      '',
    ],
    [478, linkifiers.add, { alternative_url_templates: [], pattern: 'x', url_template: 'https://x.example/' }, ''],
    [
      507,
      channels.create,
      { name: 'y', subscribers: [], default_push_notifications: true },
      'default_push_notifications',
    ],
  ]
  for (const [level, endpoint, params, named] of cases)
    test(`${named || Object.keys(params)[0]} is ignored and reported before ${level}`, async () => {
      const name = named || Object.keys(params)[0]!
      const ignored = async (at: number) => {
        const { body } = await (await spaceAt(at)).owner.try(endpoint, params)
        assert.equal(body.result, 'success', JSON.stringify(body))
        return (body.ignored_parameters_unsupported as string[] | undefined) ?? []
      }
      assert.deepEqual(
        [(await ignored(level - 1)).includes(name), (await ignored(level)).includes(name)],
        [true, false],
      )
    })
})

describe('channels', () => {
  test('let some people start topics from 441 on', async () => {
    const space = await spaceAt(441)
    const stream_id = await channelId(space)
    const amy = space.as('amy')
    await space.owner.call(messages.send, some)
    const nobody = (await listen(space.owner)).state.realm_user_groups.find(
      (group: any) => group.name === 'role:nobody',
    )
    await space.owner.call(channels.update, { stream_id, can_create_topic_group: { new: nobody.id } })
    await amy.call(messages.send, some)
    const refused = await amy.refused(messages.send, { ...some, topic: 'another' }, 'BAD_REQUEST')
    assert.match(refused.msg, /create new topics/)
  })

  test('post notices about themselves from 434 on only if the organization wants them', async () => {
    const posted = async (level: number, wanted: boolean) => {
      const space = await spaceAt(level)
      if (wanted) await space.owner.call(organization.update, { send_channel_events_messages: true } as never)
      const stream_id = await channelId(space)
      await space.owner.call(channels.update, { stream_id, description: 'another one' })
      const { messages: found } = await space.owner.call(messages.list, {
        anchor: 'newest',
        num_before: 1,
        num_after: 0,
        narrow: [['topic', 'channel events']],
      })
      return found.length
    }
    assert.deepEqual([await posted(433, false), await posted(434, false), await posted(434, true)], [1, 0, 1])
  })

  test('that are archived can be read from 480 on', async () => {
    for (const { endpoint } of [{ endpoint: channels.show }, { endpoint: channels.members }, { endpoint: topics.list }])
      assert.deepEqual(
        await statuses(480, async space => {
          const stream_id = await channelId(space)
          await space.owner.call(channels.archive, { stream_id })
          return space.owner.try(endpoint, { stream_id })
        }),
        [400, 200],
        endpoint.id,
      )
  })

  test('give new subscribers push notifications by their own choice from 507 on', async () => {
    const space = await spaceAt(507)
    await space.owner.call(channels.create, { name: 'loud', subscribers: [], default_push_notifications: true })
    await space.as('amy').call(subscriptions.subscribe, { subscriptions: [{ name: 'loud' }] })
    const { subscriptions: found } = await space.as('amy').call(subscriptions.list, {})
    const loud = found.find(({ name }) => name === 'loud')!
    assert.deepEqual([loud.default_push_notifications, loud.push_notifications], [true, true])
    await space
      .as('amy')
      .refused(
        channels.create,
        { name: 'louder', subscribers: [], default_push_notifications: true },
        'UNAUTHORIZED_PRINCIPAL',
      )
  })
})

describe('messages', () => {
  test('can be found around a date from 445 on', async () => {
    const space = await spaceAt(445, { clock: 'frozen@2030-01-01T09:00:00Z' })
    const { id: first } = await space.owner.call(messages.send, some)
    await space.control.call('POST', '/clock/advance', { by: '2d' })
    const { id: second } = await space.owner.call(messages.send, some)
    const around = async (anchor_date: string) =>
      (await space.owner.call(messages.list, { anchor: 'date', anchor_date, num_before: 0, num_after: 0 })).anchor
    assert.deepEqual([await around('2030-01-01T08:00:00Z'), await around('2030-01-02')], [first, second])
    assert.equal(await around('2031-01-01T00:00:00'), second)
    for (const params of [{}, { anchor_date: 'tomorrow' }])
      await space.owner.refused(
        messages.list,
        { anchor: 'date', num_before: 1, num_after: 0, ...params },
        'BAD_REQUEST',
      )
    await (await spaceAt(444)).owner.refused(
      messages.list,
      { anchor: 'date', num_before: 1, num_after: 0 },
      'BAD_REQUEST',
    )
  })

  test('can be narrowed to mentions from 446 on, and to archived channels from 489 on', async () => {
    const found = async (level: number, term: [string, string]) => {
      const space = await spaceAt(level)
      const amy = space.as('amy')
      await space.owner.call(messages.send, { ...some, content: `@**|${amy.id}** look` })
      await space.owner.call(channels.archive, { stream_id: await channelId(space) })
      const params = { anchor: 'newest', num_before: 5, num_after: 0, narrow: [term] }
      const { body } = await space.owner.try(messages.list, params)
      return body.result === 'success' ? (body.messages as unknown[]).length > 0 : body.code
    }
    assert.deepEqual(
      [await found(445, ['mentions', 'amy@example.com']), await found(446, ['mentions', 'amy@example.com'])],
      ['BAD_NARROW', true],
    )
    assert.deepEqual(
      [await found(488, ['channels', 'archived']), await found(489, ['channels', 'archived'])],
      ['BAD_NARROW', true],
    )
  })

  test('have links in the reply of sending from 508 on', async () => {
    assert.equal('message_url' in (await (await spaceAt(507)).owner.call(messages.send, some)), false)
    const space = await spaceAt(508)
    const { id, message_url, message_link } = await space.owner.call(messages.send, some)
    assert.equal(message_url, `${space.url}/#narrow/channel/${await channelId(space)}-general/topic/levels/near/${id}`)
    assert.equal(message_link, `[#general > levels @ 💬](${message_url})`)
    const direct = await space.owner.call(messages.send, { type: 'direct', to: [space.as('amy').id], content: 'hi' })
    assert.equal(direct.message_link, direct.message_url)
  })
})

describe('events and capabilities', () => {
  test('a new order of channel folders is told from 418 on', async () => {
    const told = async (level: number) => {
      const { owner } = await spaceAt(level)
      const made = [await folder(owner, 'one'), await folder(owner, 'two')]
      const listener = await listen(owner, { event_types: ['channel_folder'] })
      await owner.call(channelFolders.reorder, { order: made.reverse() })
      return (await listener.next()).map(({ op, order }) => [op, order])
    }
    assert.deepEqual([await told(417), await told(418)], [[], [['reorder', [2, 1]]]])
  })

  test('simplified_presence_events came with 419', async () => {
    const told = async (level: number) => {
      const space = await spaceAt(level)
      const client_capabilities = { simplified_presence_events: true }
      const listener = await listen(space.owner, { event_types: ['presence'], client_capabilities })
      await space.as('amy').call(presence.update, { status: 'active' })
      return Object.keys((await listener.next())[0]!).sort()
    }
    assert.deepEqual(await told(418), ['email', 'id', 'presence', 'server_timestamp', 'type', 'user_id'])
    assert.deepEqual(await told(419), ['id', 'presences', 'type'])
  })

  test('individual_emoji_changes came with 491', async () => {
    const told = async (level: number) => {
      const { owner } = await spaceAt(level)
      const client_capabilities = { individual_emoji_changes: true }
      const listener = await listen(owner, { event_types: ['realm_emoji'], client_capabilities })
      const file = { filename: 'a.png', contentType: 'image/png', bytes: pixel.png }
      await owner.call(emoji.upload, { emoji_name: 'level', file })
      await owner.call(emoji.deactivate, { emoji_name: 'level' })
      return (await listener.next()).map(({ op }) => op)
    }
    assert.deepEqual(
      [await told(490), await told(491)],
      [
        ['update', 'update'],
        ['add', 'update_one'],
      ],
    )
  })

  test('peer_remove reaches archived channels from 428 on', async () => {
    const told = async (level: number) => {
      const space = await spaceAt(level)
      const stream_id = await channelId(space)
      await space.owner.call(channels.archive, { stream_id })
      const client_capabilities = { archived_channels: true }
      const listener = await listen(space.owner, { event_types: ['subscription'], client_capabilities })
      await space.owner.call(users.deactivate, { user_id: space.as('amy').id })
      return (await listener.next()).some(event => event.op === 'peer_remove' && event.stream_ids.includes(stream_id))
    }
    assert.deepEqual([await told(427), await told(428)], [false, true])
  })

  test('a queue says how long it lives from 481 on', async () => {
    const { state } = await listen((await spaceAt(481)).owner, { idle_queue_timeout: 'mobile' })
    assert.equal(state.idle_queue_timeout_secs, 43_200)
    const short = await listen((await spaceAt(481)).owner, { idle_queue_timeout: 700 })
    assert.equal(short.state.idle_queue_timeout_secs, 700)
  })
})

describe('people and bots', () => {
  test('users have is_imported_stub from 433 on', async () => {
    const shown = async (level: number) => {
      const { owner } = await spaceAt(level)
      const { members } = await owner.call(users.list, {})
      const { state } = await listen(owner)
      return [
        members[0]!.is_imported_stub,
        (await owner.call(users.me, {})).is_imported_stub,
        state.realm_users[0].is_imported_stub,
      ]
    }
    assert.deepEqual(await shown(432), [undefined, undefined, undefined])
    assert.deepEqual(await shown(433), [false, false, false])
  })

  test('bots get another address from 447 on, and it is told from 461 on', async () => {
    const told = async (level: number) => {
      const { owner } = await spaceAt(level)
      const { user_id } = await owner.call(bots.create, { full_name: 'Level Bot', short_name: 'level' })
      const listener = await listen(owner, { event_types: ['realm_bot'] })
      await owner.try(bots.update, { bot_id: user_id, short_name: 'renamed' })
      const { user } = await owner.call(users.show, { user_id })
      return [user.delivery_email, (await listener.next()).map(({ bot }) => bot.email)]
    }
    assert.deepEqual(await told(446), ['level-bot@example.com', []])
    assert.deepEqual(await told(460), ['renamed-bot@example.com', []])
    assert.deepEqual(await told(461), ['renamed-bot@example.com', ['renamed-bot@example.com']])
  })

  test('bots can be asked about from 458 on, and may use groups from 496 on', async () => {
    assert.deepEqual(
      await statuses(458, async space =>
        space.owner.try(subscriptions.status, { user_id: space.as('echo-bot').id, stream_id: await channelId(space) }),
      ),
      [400, 200],
    )
    assert.deepEqual(await statuses(496, space => space.as('echo-bot').try(userGroups.list, {})), [400, 200])
  })

  test('an avatar that is not there can be deleted again and again from 443 on', async () => {
    const versions = async (level: number) => {
      const { owner } = await spaceAt(level)
      const before = (await owner.call(users.me, {})).avatar_version
      await owner.call(avatars.delete, {})
      return (await owner.call(users.me, {})).avatar_version - before
    }
    assert.deepEqual([await versions(442), await versions(443)], [1, 0])
  })

  test('discord is among the authentication methods from 488 on', async () => {
    const methods = async (level: number) =>
      (await (await spaceAt(level)).owner.call(server.settings, {})).authentication_methods.discord
    assert.deepEqual([await methods(487), await methods(488)], [undefined, false])
  })

  test('bots that are administrators set statuses from 473 on', async () => {
    assert.deepEqual(
      await statuses(473, async space => {
        const bot = space.as('echo-bot')
        await space.owner.call(bots.update, { bot_id: bot.id, role: 200 })
        return bot.try(userStatus.updateFor, { user_id: space.as('amy').id, status_text: 'away' })
      }),
      [400, 200],
    )
  })

  test('paragraphs are in the summary of a profile from 476 on, and fields find people from 455 on', async () => {
    assert.deepEqual(
      await statuses(476, ({ owner }) =>
        owner.try(profileFields.create, { name: 'About', field_type: 2, display_in_profile_summary: true }),
      ),
      [400, 200],
    )
    const { owner } = await spaceAt(455)
    await owner.call(profileFields.create, { name: 'Nick', field_type: 1, use_for_user_matching: true })
    const { custom_fields } = await owner.call(profileFields.list, {})
    assert.equal(custom_fields.at(-1)!.use_for_user_matching, true)
    await owner.refused(
      profileFields.create,
      { name: 'Born', field_type: 4, use_for_user_matching: true },
      'BAD_REQUEST',
    )
  })
})

describe('linkifiers', () => {
  test('turn pasted URLs into text from 471 on', async () => {
    const { owner } = await spaceAt(478)
    const rule = { pattern: '#(?P<id>[0-9]+)', url_template: 'https://x.example/{id}' }
    await owner.refused(linkifiers.add, { ...rule, reverse_template: '#{id}' }, 'BAD_REQUEST')
    const { id } = await owner.call(linkifiers.add, {
      ...rule,
      example_input: '#1',
      reverse_template: '#{id}',
      alternative_url_templates: ['https://y.example/{id}'],
    })
    const shown = async (caller: Caller) => (await caller.call(linkifiers.list, {})).linkifiers.at(-1)!
    const { example_input, reverse_template, alternative_url_templates } = await shown(owner)
    assert.deepEqual(
      [example_input, reverse_template, alternative_url_templates],
      ['#1', '#{id}', ['https://y.example/{id}']],
    )
    await owner.call(linkifiers.update, { filter_id: id, ...rule, reverse_template: '', example_input: '' })
    assert.equal((await shown(owner)).reverse_template, null)
    const older = (await spaceAt(470)).owner
    await older.call(linkifiers.add, rule)
    assert.deepEqual(Object.keys(await shown(older)).sort(), ['id', 'pattern', 'url_template'])
  })
})

async function folder(owner: Caller, name: string): Promise<number> {
  return (await owner.call(channelFolders.create, { name })).channel_folder_id
}
