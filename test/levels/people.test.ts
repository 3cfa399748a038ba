// Changes about accounts and their settings at newer levels, on both sides of their level, in spaces of a real daemon.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { botStorage } from '../../daemon/api/bots/bot-storage.ts'
import { channels } from '../../daemon/api/channels/channels.ts'
import { subscriptions } from '../../daemon/api/channels/subscriptions.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { organization } from '../../daemon/api/organization/organization.ts'
import { avatars } from '../../daemon/api/people/avatars.ts'
import { profileFields } from '../../daemon/api/people/profile-fields.ts'
import { settings } from '../../daemon/api/people/settings.ts'
import { users } from '../../daemon/api/people/users.ts'
import { pixel } from '../support/images.ts'
import { levelSpaces, listen } from '../support/levels.ts'
import type { TestSpace } from '../support/spaces.ts'

const spaceAt = levelSpaces()

async function group({ owner }: TestSpace, name: string): Promise<number> {
  const { realm_user_groups } = (await listen(owner, { fetch_event_types: ['realm_user_groups'], event_types: [] }))
    .state
  return realm_user_groups.find((one: { name: string }) => one.name === name).id
}

describe('profile fields', () => {
  test('show times by the rules of the level, in the event as in the profile', async () => {
    const rendered = async (level: number) => {
      const { owner } = await spaceAt(level)
      const { id } = await owner.call(profileFields.create, { name: 'Since', field_type: 1 })
      const listener = await listen(owner, { event_types: ['realm_user'] })
      await owner.call(profileFields.set, { data: [{ id, value: '<time:1514678400> <time:noon>' }] })
      const { profile_data } = await owner.call(users.me, {})
      const { person } = (await listener.next())[0]!
      assert.equal(person.custom_profile_field.rendered_value, profile_data![id]!.rendered_value)
      return person.custom_profile_field.rendered_value
    }
    const time = '<time datetime="2017-12-31T00:00:00Z">1514678400</time>'
    assert.equal(await rendered(450), `<p>${time} <span class="timestamp-error">Invalid time format: noon</span></p>`)
    assert.equal(await rendered(451), `<p>${time} &lt;time:noon&gt;</p>`)
    assert.equal(await rendered(503), '<p>&lt;time:1514678400&gt; &lt;time:noon&gt;</p>')
  })
})

describe('GET /users', () => {
  test('has no stand-ins for people whom a guest cannot access from 437 on', async () => {
    const unknown = async (level: number) => {
      const space = await spaceAt(level)
      const can_access_all_users_group = { new: await group(space, 'role:members') }
      await space.owner.call(organization.update, { can_access_all_users_group } as never)
      await space.owner.call(users.update, { user_id: space.as('amy').id, role: 600 })
      const account = { email: 'lone@example.com', password: 'long enough to hold', full_name: 'Lone' }
      const { user_id } = await space.owner.call(users.create, account)
      const { streams } = await space.owner.call(channels.list, {})
      const names = streams.map(({ name }) => name)
      await space.owner.call(subscriptions.unsubscribe, { subscriptions: names, principals: [user_id] })
      const { members } = await space.as('amy').call(users.list, {})
      assert.ok(members.some(({ user_id }) => user_id === space.as('amy').id))
      return members.some(({ full_name }) => full_name === 'Unknown user')
    }
    assert.deepEqual([await unknown(436), await unknown(437)], [true, false])
  })
})

describe('PATCH /settings with target_users', () => {
  test('changes the settings of other people from 444 on', async () => {
    const space = await spaceAt(444)
    const [amy, bob] = [space.as('amy'), space.as('bob')]
    await bob.call(settings.update, { enter_sends: true })
    await bob.call(settings.update, { enter_sends: false })
    const heard = await listen(amy, { event_types: ['user_settings'] })
    const members = await group(space, 'role:members')
    const target_users = { user_ids: [amy.id], group_ids: [members], skip_if_already_edited: true }
    await space.owner.call(settings.update, { enter_sends: true, target_users })
    const value = async (who: typeof amy) => (await who.call(settings.show, {})).user_settings.enter_sends
    assert.deepEqual([await value(amy), await value(bob)], [true, false])
    assert.deepEqual(
      (await heard.next()).map(({ property, value }) => [property, value]),
      [['enter_sends', true]],
    )
    await space.owner.call(settings.update, {
      enter_sends: true,
      target_users: { user_ids: [bob.id], skip_if_already_edited: false },
    })
    assert.equal(await value(bob), true)
  })

  test('is for administrators, and not for what is private', async () => {
    const { owner, as } = await spaceAt(444)
    const target_users = { user_ids: [as('bob').id], skip_if_already_edited: false }
    await as('amy').refused(settings.update, { enter_sends: true, target_users }, 'UNAUTHORIZED_PRINCIPAL')
    for (const params of [{ presence_enabled: false }, { email: 'x@example.com' }, { timezone: 'Europe/Berlin' }])
      assert.match(
        (await owner.refused(settings.update, { ...params, target_users }, 'BAD_REQUEST')).msg,
        /other people/,
      )
    for (const user_ids of [[], [999_999], [as('echo-bot').id]])
      await owner.refused(
        settings.update,
        { enter_sends: true, target_users: { user_ids, skip_if_already_edited: false } },
        'BAD_REQUEST',
      )
    const older = await spaceAt(443)
    const { body } = await older.owner.try(settings.update, { enter_sends: true, target_users })
    assert.deepEqual(body.ignored_parameters_unsupported, ['target_users'])
  })
})

describe('DELETE /users/{user_id} with actions', () => {
  test('deletes what an account has sent, and its profile, from 459 on', async () => {
    const space = await spaceAt(459)
    const [amy, { owner }] = [space.as('amy'), space]
    const some = { type: 'channel', to: 'general', topic: 'levels', content: 'Hello' } as const
    const { id } = await amy.call(messages.send, some)
    const { id: direct } = await amy.call(messages.send, { type: 'direct', to: [owner.id], content: 'Hello' })
    await amy.call(avatars.upload, { file: { filename: 'a.png', contentType: 'image/png', bytes: pixel.png } })
    await owner.call(users.deactivate, {
      user_id: amy.id,
      actions: { delete_profile: true, delete_public_channel_messages: true },
    })
    await owner.refused(messages.get, { message_id: id }, 'BAD_REQUEST')
    await owner.call(messages.get, { message_id: direct })
    const { user } = await owner.call(users.show, { user_id: amy.id, client_gravatar: false })
    assert.deepEqual([user.full_name, user.avatar_url?.includes('gravatar')], ['Deleted user', true])
  })

  test('needs the right to delete messages of others, and is unknown before', async () => {
    const space = await spaceAt(459)
    const admin = space.as('bob')
    await space.owner.call(users.update, { user_id: admin.id, role: 200 })
    const can_delete_any_message_group = { new: await group(space, 'role:owners') }
    await space.owner.call(organization.update, { can_delete_any_message_group } as never)
    const params = { user_id: space.as('amy').id, actions: { delete_direct_messages: true } }
    await admin.refused(users.deactivate, params, 'BAD_REQUEST')
    const older = await spaceAt(458)
    const { body } = await older.owner.try(users.deactivate, { ...params, user_id: older.as('amy').id })
    assert.deepEqual(body.ignored_parameters_unsupported, ['actions'])
  })
})

describe('avatar_source', () => {
  test('is J from 466 on for accounts without a picture, where the organization wants it', async () => {
    const told = async (level: number) => {
      const space = await spaceAt(level)
      await space.owner.call(organization.update, { default_avatar_source: 'J' } as never)
      const listener = await listen(space.owner, { event_types: ['realm_user'] })
      const { avatar_url } = await space.owner.call(avatars.delete, {})
      const [{ person }] = (await listener.next()) as [Record<string, any>]
      assert.equal(person.avatar_url, avatar_url)
      const picture = await fetch(new URL(avatar_url, space.url.replace(/\/spaces.*/, '')))
      const { state } = await listen(space.owner, { fetch_event_types: ['realm_user'], event_types: [] })
      return [person.avatar_source, state.avatar_source, picture.headers.get('content-type')]
    }
    assert.deepEqual(await told(465), ['U', 'U', 'image/svg+xml'])
    assert.deepEqual(await told(466), ['J', 'J', 'image/svg+xml'])
  })

  test('is J in a new organization from 468 on, so that a client never has to work out the picture', async () => {
    const shown = async (level: number) => {
      const { owner } = await spaceAt(level)
      const { state } = await listen(owner, { fetch_event_types: ['realm', 'realm_user'], event_types: [] })
      const { members } = await owner.call(users.list, { client_gravatar: true })
      const people = members.filter(({ is_bot }) => !is_bot)
      const drawn = people.every(({ avatar_url }) => avatar_url?.includes('/jdenticon.svg'))
      return [state.realm_default_avatar_source, state.avatar_source, drawn]
    }
    assert.deepEqual(
      [await shown(467), await shown(468)],
      [
        ['G', 'G', false],
        ['J', 'J', true],
      ],
    )
  })
})

describe('date_joined', () => {
  test('of an account that POST /users made is that of the first login from 475 on', async () => {
    const told = async (level: number) => {
      const space = await spaceAt(level, { clock: 'frozen@2030-01-01T09:00:00Z' })
      const { owner } = space
      const account = { email: 'new@example.com', password: 'long enough to hold', full_name: 'New' }
      const { user_id } = await owner.call(users.create, account)
      const listener = await listen(owner, { event_types: ['realm_user'] })
      await space.control.call('POST', '/clock/advance', { by: '5m' })
      const login = { username: account.email, password: account.password }
      await owner.call(users.fetchApiKey, login)
      await owner.call(users.fetchApiKey, login)
      const { user } = await owner.call(users.show, { user_id })
      return [user.date_joined, (await listener.next()).map(({ op, person }) => [op, person])]
    }
    assert.deepEqual(await told(474), ['2030-01-01T09:00+00:00', []])
    const date_joined = '2030-01-01T09:05+00:00'
    const [shown, [[op, person]]] = (await told(475)) as [string, [[string, Record<string, unknown>]]]
    assert.deepEqual([shown, op, person.date_joined], [date_joined, 'update', date_joined])
  })
})

describe('access', () => {
  test('people use bot storage until 494', async () => {
    const status = async (level: number) => (await (await spaceAt(level)).owner.try(botStorage.get, {})).status
    assert.deepEqual([await status(493), await status(494)], [200, 400])
    assert.equal((await (await spaceAt(494)).as('echo-bot').try(botStorage.get, {})).status, 200)
  })

  test('the email address of a channel is for people who may post there from 448 on', async () => {
    const status = async (level: number) => {
      const space = await spaceAt(level)
      const can_send_message_group = await group(space, 'role:owners')
      const channel = { name: 'news', subscribers: [space.owner.id, space.as('amy').id], can_send_message_group }
      const { id: stream_id } = await space.owner.call(channels.create, channel)
      return [space.owner, space.as('amy')].map(
        async person => (await person.try(channels.email, { stream_id })).status,
      )
    }
    assert.deepEqual(await Promise.all(await status(447)), [200, 200])
    assert.deepEqual(await Promise.all(await status(448)), [200, 400])
  })

  test('channels with protected history let everyone start topics from 441 on', async () => {
    const space = await spaceAt(441)
    const can_create_topic_group = await group(space, 'role:moderators')
    const secret = { subscribers: [space.owner.id], invite_only: true, can_create_topic_group }
    const refused = await space.owner.refused(channels.create, { name: 'one', ...secret }, 'BAD_REQUEST')
    assert.match(refused.msg, /^can_create_topic_group: must be role:everyone/)
    const { id: stream_id } = await space.owner.call(channels.create, {
      name: 'two',
      ...secret,
      history_public_to_subscribers: true,
    })
    await space.owner.refused(channels.update, { stream_id, history_public_to_subscribers: false }, 'BAD_REQUEST')
    const everyone = { new: await group(space, 'role:everyone') }
    await space.owner.call(channels.update, {
      stream_id,
      history_public_to_subscribers: false,
      can_create_topic_group: everyone,
    })
    await space.owner.refused(
      channels.update,
      { stream_id, can_create_topic_group: { new: can_create_topic_group } },
      'BAD_REQUEST',
    )
  })
})
