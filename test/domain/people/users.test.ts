// Users: what the specification says of them.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import { events } from '../../../daemon/api/events.ts'
import { users as api } from '../../../daemon/api/people/users.ts'
import { Caller, sharedDaemon, type TestDaemon } from '../../support/daemon.ts'
import { fetched, listen, person } from '../../support/world.ts'

let daemon: TestDaemon
sharedDaemon({}, async started => {
  daemon = started
})

describe('GET /users', () => {
  test('lists people and bots, active and deactivated, but not the bots of the server', async () => {
    const amy = await person(daemon, 'amy')
    const gone = await person(daemon, 'gone')
    await daemon.owner.call(api.deactivate, { user_id: gone.id })
    const { members } = await amy.call(api.list, {})
    assert.deepEqual(
      members.map(({ email, is_active }) => [email, is_active]),
      [
        ['owner@example.com', true],
        ['amy@example.com', true],
        ['gone@example.com', false],
      ],
    )
    assert.ok(members.every(user => !('profile_data' in user) && user.avatar_url === null))
  })

  test('user_ids filters, and unknown IDs are skipped', async () => {
    const { members } = await daemon.owner.call(api.list, { user_ids: [daemon.owner.id, 999], client_gravatar: false })
    assert.deepEqual(
      members.map(user => user.user_id),
      [daemon.owner.id],
    )
    assert.match(
      members[0]!.avatar_url!,
      /^https:\/\/secure\.gravatar\.com\/avatar\/[0-9a-f]{32}\?d=identicon&version=1$/,
    )
  })

  test('the avatar of the provider is named by the MD5 of the lower-case address', async () => {
    const { members } = await daemon.owner.call(api.list, { user_ids: [daemon.owner.id], client_gravatar: false })
    assert.ok(members[0]!.avatar_url!.includes(createHash('md5').update('owner@example.com').digest('hex')))
  })

  test('an unknown parameter is reported beside a long list too', async () => {
    const { body } = await daemon.owner.raw('GET', '/api/v1/users?colour=red')
    assert.deepEqual(body.ignored_parameters_unsupported, ['colour'])
    assert.ok(body.members.length > 0)
  })
})

describe('GET /users/{user_id}', () => {
  test('shows every field of the user resource', async () => {
    const { user } = await daemon.owner.call(api.show, {
      user_id: daemon.owner.id,
      include_custom_profile_fields: true,
      client_gravatar: false,
    })
    const { date_joined, avatar_url, ...rest } = user
    assert.match(date_joined, /^\d{4}-\d\d-\d\dT\d\d:\d\d\+00:00$/)
    assert.deepEqual(rest, {
      user_id: daemon.owner.id,
      delivery_email: 'owner@example.com',
      email: 'owner@example.com',
      full_name: 'Olive Owner',
      is_active: true,
      is_owner: true,
      is_admin: true,
      is_guest: false,
      is_bot: false,
      bot_type: null,
      role: 100,
      timezone: '',
      avatar_version: 1,
      profile_data: {},
    })
  })

  test('an unknown user is refused', async () => {
    await daemon.owner.refused(api.show, { user_id: 9999 }, 'BAD_REQUEST')
  })
})

describe('GET /users/{email}', () => {
  test('finds by real address in any case, and by placeholder', async () => {
    const bea = await person(daemon, 'bea')
    for (const email of ['bea@example.com', 'BEA@Example.com', `user${bea.id}@example.com`])
      assert.equal((await daemon.owner.call(api.showByEmail, { email })).user.user_id, bea.id)
    await daemon.owner.refused(api.showByEmail, { email: 'nobody@example.com' }, 'BAD_REQUEST')
  })
})

describe('GET /users/me', () => {
  test('gives the fields at the top level, with profile_data, max_message_id and a computed avatar', async () => {
    const me = await daemon.owner.call(api.me, {})
    assert.deepEqual(me.profile_data, {})
    assert.equal(typeof me.avatar_url, 'string')
    assert.equal(typeof me.max_message_id, 'number')
  })
})

describe('POST /users', () => {
  test('creates a member and tells everyone, then of their groups', async () => {
    const heard = await listen(daemon.owner, ['realm_user', 'user_group'])
    const dora = await person(daemon, 'dora')
    const [added, ...groups] = await heard()
    assert.equal(added!.op, 'add')
    assert.deepEqual(added!.person, {
      ...(await daemon.owner.call(api.show, { user_id: dora.id, include_custom_profile_fields: true })).user,
    })
    assert.deepEqual(
      groups.map(({ op, user_ids }) => [op, user_ids]),
      [
        ['add_members', [dora.id]],
        ['add_members', [dora.id]],
      ],
    )
  })

  test('clients without client_gravatar get the avatar’s address', async () => {
    const heard = await listen(daemon.owner, ['realm_user'], { client_gravatar: false })
    await person(daemon, 'drew')
    const [{ person: added } = {} as any] = await heard()
    assert.match(added.avatar_url, /^https:/)
  })

  test('needs an administrator with the can_create_users flag', async () => {
    const account = { email: 'x@example.com', password: 'correct horse', full_name: 'Xaver' }
    const member = await person(daemon, 'member')
    await member.refused(api.create, account, 'UNAUTHORIZED_PRINCIPAL')
    const admin = await person(daemon, 'admin', { role: 200 })
    await admin.refused(api.create, account, 'BAD_REQUEST')
  })

  test('refuses an address in use, in any case, also of a deactivated account', async () => {
    const account = { password: 'correct horse', full_name: 'Somebody' }
    await person(daemon, 'taken')
    for (const email of ['taken@example.com', 'Taken@Example.COM', 'nonsense', 'user77@example.com', 'a b@example.com'])
      assert.match((await daemon.owner.refused(api.create, { ...account, email }, 'BAD_REQUEST')).msg, /^email/)
  })

  test('refuses bad names and passwords, and names the parameter', async () => {
    const good = { email: 'new@example.com', password: 'correct horse', full_name: 'Somebody' }
    for (const full_name of ['x', 'x'.repeat(101), 'a*b', 'a@b', 'Amy|12', 'Amy "The" Adams', 'a`b', 'a>b'])
      assert.match((await daemon.owner.refused(api.create, { ...good, full_name }, 'BAD_REQUEST')).msg, /^full_name: /)
    for (const password of ['short', 'aaaaaaaaaa', '123456789', 'password1'])
      assert.match((await daemon.owner.refused(api.create, { ...good, password }, 'BAD_REQUEST')).msg, /^password: /)
  })
})

describe('PATCH /users/{user_id}', () => {
  test('changes name and role, and tells users who can access the user', async () => {
    const eve = await person(daemon, 'eve')
    const heard = await listen(eve, ['realm_user', 'user_group'])
    await daemon.owner.call(api.update, { user_id: eve.id, full_name: ' Eve Evans ', role: 300 })
    const told = await heard()
    assert.deepEqual(
      told.filter(({ type }) => type === 'realm_user'),
      [
        { type: 'realm_user', op: 'update', person: { user_id: eve.id, role: 300 } },
        { type: 'realm_user', op: 'update', person: { user_id: eve.id, full_name: 'Eve Evans' } },
      ],
    )
    assert.deepEqual(
      told.filter(({ type }) => type === 'user_group').map(({ op, group_id, user_ids }) => [op, group_id, user_ids]),
      [
        // From role:members to role:moderators, then out of role:fullmembers.
        ['remove_members', 6, [eve.id]],
        ['add_members', 4, [eve.id]],
        ['remove_members', 5, [eve.id]],
      ],
    )
    const { user } = await daemon.owner.call(api.show, { user_id: eve.id })
    assert.deepEqual([user.full_name, user.role], ['Eve Evans', 300])
  })

  test('an unchanged or blank name changes nothing', async () => {
    const fay = await person(daemon, 'fay')
    const heard = await listen(fay, ['realm_user'])
    await daemon.owner.call(api.update, { user_id: fay.id, full_name: 'fay example', role: 400 })
    await daemon.owner.call(api.update, { user_id: fay.id, full_name: '  ' })
    assert.deepEqual(await heard(), [])
  })

  test('is for organization administrators only', async () => {
    const gus = await person(daemon, 'gus')
    await gus.refused(api.update, { user_id: gus.id, full_name: 'Gus Great' }, 'BAD_REQUEST')
  })

  test('only owners add or remove the owner role, and the only owner keeps it', async () => {
    const hal = await person(daemon, 'hal', { role: 200 })
    const ivy = await person(daemon, 'ivy')
    await hal.refused(api.update, { user_id: ivy.id, role: 100 }, 'UNAUTHORIZED_PRINCIPAL')
    await hal.refused(api.update, { user_id: daemon.owner.id, role: 400 }, 'UNAUTHORIZED_PRINCIPAL')
    await daemon.owner.refused(api.update, { user_id: daemon.owner.id, role: 200 }, 'BAD_REQUEST')
    await daemon.owner.call(api.update, { user_id: ivy.id, role: 100 })
    await daemon.owner.call(api.update, { user_id: ivy.id, role: 400 })
  })

  test('making a guest an administrator gives BAD_REQUEST', async () => {
    const jan = await person(daemon, 'jan', { role: 600 })
    for (const role of [200, 100]) await daemon.owner.refused(api.update, { user_id: jan.id, role }, 'BAD_REQUEST')
    await daemon.owner.refused(api.update, { user_id: jan.id, role: 150 }, 'BAD_REQUEST')
    await daemon.owner.call(api.update, { user_id: jan.id, role: 400 })
    await daemon.owner.call(api.update, { user_id: jan.id, role: 200 })
  })

  test('new_email needs an owner with the can_change_user_emails flag; it changes login and events', async () => {
    const kim = await person(daemon, 'kim')
    const admin = await person(daemon, 'lee', { role: 200 })
    const second = await person(daemon, 'second', { role: 100 })
    await admin.refused(api.update, { user_id: kim.id, new_email: 'kim2@example.com' }, 'BAD_REQUEST')
    await second.refused(api.update, { user_id: kim.id, new_email: 'kim2@example.com' }, 'BAD_REQUEST')
    await daemon.owner.refused(api.update, { user_id: kim.id, new_email: 'LEE@example.com' }, 'BAD_REQUEST')
    const heard = await listen(admin, ['realm_user'])
    await daemon.owner.call(api.update, { user_id: kim.id, new_email: 'kim2@example.com' })
    const told = await heard()
    assert.deepEqual(told[0]!.person, { user_id: kim.id, delivery_email: 'kim2@example.com' })
    assert.deepEqual(Object.keys(told[1]!.person), [
      'user_id',
      'avatar_url',
      'avatar_url_medium',
      'avatar_source',
      'avatar_version',
    ])
    assert.deepEqual(told[2]!.person, { user_id: kim.id, new_email: 'kim2@example.com' })
    await kim.refused(api.me, {}, 'INVALID_API_KEY')
    assert.equal((await new Caller(daemon.url, 'KIM2@example.com', kim.key).call(api.me, {})).user_id, kim.id)
    await daemon.owner.call(api.update, { user_id: second.id, role: 400 })
  })

  test('a change of several things happens whole or not at all', async () => {
    const lou = await person(daemon, 'lou')
    await daemon.owner.refused(
      api.update,
      { user_id: lou.id, full_name: 'Lou Long', role: 300, profile_data: [{ id: 77, value: 'x' }] },
      'BAD_REQUEST',
    )
    const { user } = await daemon.owner.call(api.show, { user_id: lou.id })
    assert.deepEqual([user.full_name, user.role], ['lou example', 400])
  })
})

describe('PATCH /users/{email}', () => {
  test('does the same by address', async () => {
    const max = await person(daemon, 'max')
    await daemon.owner.call(api.updateByEmail, { email: 'max@example.com', full_name: 'Max Mint' })
    assert.equal((await max.call(api.me, {})).full_name, 'Max Mint')
    await daemon.owner.refused(api.updateByEmail, { email: 'none@example.com', full_name: 'Max' }, 'BAD_REQUEST')
    const admin = await person(daemon, 'mia', { role: 200 })
    await admin.refused(api.updateByEmail, { email: 'max@example.com', role: 100 }, 'UNAUTHORIZED_PRINCIPAL')
  })
})

describe('DELETE /users/{user_id}', () => {
  test('deactivates: the key is refused, everyone is told, groups hide the user', async () => {
    const ned = await person(daemon, 'ned')
    const heard = await listen(daemon.owner, ['realm_user', 'user_group'])
    await daemon.owner.call(api.deactivate, { user_id: ned.id })
    assert.deepEqual(await heard(), [
      { type: 'realm_user', op: 'update', person: { user_id: ned.id, is_active: false } },
    ])
    const { status, body } = await ned.raw('GET', '/api/v1/users/me')
    assert.deepEqual([status, body.code], [401, 'USER_DEACTIVATED'])
    await daemon.anonymous.refused(
      api.fetchApiKey,
      { username: 'ned@example.com', password: 'ned has a long password' },
      'USER_DEACTIVATED',
    )
    await daemon.owner.refused(api.deactivate, { user_id: ned.id }, 'BAD_REQUEST')
    const { realm_users, realm_non_active_users } = await fetched(daemon.owner, ['realm_user'])
    assert.ok(realm_users.every((user: any) => user.user_id !== ned.id && !('is_active' in user)))
    assert.ok(realm_non_active_users.some((user: any) => user.user_id === ned.id))
  })

  test('needs an administrator, and an owner for an owner; the only owner stays', async () => {
    const oda = await person(daemon, 'oda')
    const pam = await person(daemon, 'pam', { role: 200 })
    await oda.refused(api.deactivate, { user_id: pam.id }, 'BAD_REQUEST')
    await pam.refused(api.deactivate, { user_id: daemon.owner.id }, 'UNAUTHORIZED_PRINCIPAL')
    await daemon.owner.refused(api.deactivate, { user_id: daemon.owner.id }, 'BAD_REQUEST')
    await daemon.owner.refused(
      api.deactivate,
      { user_id: oda.id, deactivation_notification_comment: 'x'.repeat(2001) },
      'BAD_REQUEST',
    )
    await pam.call(api.deactivate, { user_id: oda.id })
  })
})

describe('DELETE /users/me', () => {
  test('anyone may leave, but not the only owner', async () => {
    const quin = await person(daemon, 'quin')
    await quin.call(api.deactivateSelf, {})
    await quin.refused(api.me, {}, 'USER_DEACTIVATED')
    const { is_last_owner, entity } = await daemon.owner.refused(api.deactivateSelf, {}, 'CANNOT_DEACTIVATE_LAST_USER')
    assert.deepEqual([is_last_owner, entity], [true, 'organization owner'])
  })
})

describe('POST /fetch_api_key', () => {
  test('refuses what is no address, and tells no one who exists', async () => {
    await daemon.anonymous.refused(api.fetchApiKey, { username: 'amy', password: 'x' }, 'BAD_REQUEST')
    const wrong = { username: 'amy@example.com', password: 'wrong' }
    await daemon.anonymous.refused(api.fetchApiKey, wrong, 'AUTHENTICATION_FAILED')
    await daemon.anonymous.refused(api.fetchApiKey, { ...wrong, username: 'none@example.com' }, 'AUTHENTICATION_FAILED')
  })
})

describe('register, realm_user', () => {
  test('everyone, the bots of the server, and what the caller may do', async () => {
    const state = await fetched(daemon.owner, ['realm_user'])
    assert.ok(state.cross_realm_bots.every((bot: any) => bot.is_system_bot && bot.bot_owner_id === null))
    const gravatars = await fetched(daemon.owner, ['realm_user'], { client_gravatar: true })
    for (const bot of gravatars.cross_realm_bots)
      assert.deepEqual([bot.is_active, typeof bot.avatar_url], [true, 'string'], bot.full_name)
    assert.ok(gravatars.realm_users.some((user: any) => user.avatar_url === null && !('is_active' in user)))
    assert.equal(state.user_id, daemon.owner.id)
    assert.deepEqual(
      [state.is_owner, state.is_admin, state.is_moderator, state.is_guest, state.can_create_streams],
      [true, true, true, false, true],
    )
    assert.equal(state.avatar_source, 'G')
  })

  test('state fetched before, with the events since, is the state fetched after', async () => {
    const { queue_id, realm_users } = (await daemon.owner.call(events.register, {
      event_types: ['realm_user'],
    })) as any
    const sam = await person(daemon, 'sam')
    await daemon.owner.call(api.update, { user_id: sam.id, full_name: 'Sam Smith', role: 300 })
    const reply = await daemon.owner.call(events.get, { queue_id, last_event_id: -1 })
    const known = new Map<number, any>(realm_users.map((user: any) => [user.user_id, user]))
    for (const { op, person } of reply.events as any[]) {
      const { is_active, ...rest } = person
      if (op === 'add') known.set(person.user_id, rest)
      else Object.assign(known.get(person.user_id), rest)
    }
    const later = (await fetched(daemon.owner, ['realm_user'])).realm_users
    assert.deepEqual(
      later.map(({ user_id, full_name, role }: any) => [user_id, full_name, role]),
      [...known.values()].map(({ user_id, full_name, role }) => [user_id, full_name, role]),
    )
  })
})
