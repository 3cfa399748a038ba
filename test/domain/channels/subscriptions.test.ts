// Subscriptions: what the specification says of them.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { channels } from '../../../daemon/api/channels/channels.ts'
import { subscriptions as api } from '../../../daemon/api/channels/subscriptions.ts'
import { events } from '../../../daemon/api/events.ts'
import { users } from '../../../daemon/api/people/users.ts'
import { hasRow } from '../../../daemon/domain/model/message-reader.ts'
import { sharedDaemon } from '../../support/daemon.ts'
import { threePeople } from '../../support/domain-world.ts'
import { listen, people, person } from '../../support/world.ts'

const daemon = sharedDaemon()

describe('POST /users/me/subscriptions', () => {
  test('creates what does not exist, subscribes the caller, and says who was subscribed before', async () => {
    const [amy] = await people(daemon(), 'sub-amy')
    const first = await amy.call(api.subscribe, {
      subscriptions: [{ name: 'Chess', description: 'Openings' }, 'chess', 'Go'],
    })
    assert.deepEqual(first.subscribed, { [amy.id]: ['Chess', 'Go'] })
    assert.deepEqual(first.already_subscribed, {})
    assert.equal(first.new_subscription_messages_sent, true)
    assert.equal(first.unauthorized, undefined)
    const again = await amy.call(api.subscribe, {
      subscriptions: [{ name: 'CHESS', description: 'ignored', color: '#ffffff' }],
      invite_only: true,
      send_new_subscription_messages: false,
    })
    assert.deepEqual(again.already_subscribed, { [amy.id]: ['Chess'] })
    assert.equal(again.new_subscription_messages_sent, undefined)
    const { subscriptions } = await amy.call(api.list, { include_subscribers: 'true' })
    assert.deepEqual(
      subscriptions.map(({ name, description, color, invite_only, subscribers }) => ({
        name,
        description,
        color,
        invite_only,
        subscribers,
      })),
      [
        { name: 'Chess', description: 'Openings', color: '#76ce90', invite_only: false, subscribers: [amy.id] },
        { name: 'Go', description: '', color: '#fae589', invite_only: false, subscribers: [amy.id] },
      ],
    )
  })

  test('refuses more accounts times channels than one request changes, and names both', async () => {
    const { owner } = daemon()
    const [amy] = await people(daemon(), 'product-amy')
    const subscriptions = Array.from({ length: 201 }, (_, i) => `product ${i}`)
    const request = { subscriptions, principals: Array<number>(100).fill(amy.id) }
    const { msg } = await owner.refused(api.subscribe, request, 'BAD_REQUEST')
    assert.match(msg, /^principals: you can name at most 20000 accounts times channels in one request/)
    await owner.refused(channels.id, { stream: 'product 0' }, 'BAD_REQUEST')
    const fewer = { ...request, subscriptions: subscriptions.slice(1) }
    assert.deepEqual((await owner.call(api.subscribe, fewer)).subscribed, { [amy.id]: fewer.subscriptions })
    await owner.call(api.subscribe, { subscriptions: ['product 0'] })
    await owner.refused(api.unsubscribe, request, 'BAD_REQUEST')
    assert.equal((await owner.call(api.unsubscribe, fewer)).removed.length, 200)
  })

  test('refuses settings that name more people and groups, in all new channels together', async () => {
    const { owner } = daemon()
    const named = await people(daemon(), ...Array.from({ length: 7 }, (_, i) => `named-${i}`))
    const value = { direct_members: named.map(({ id }) => id), direct_subgroups: [] }
    const settings = {
      can_administer_channel_group: value,
      can_add_subscribers_group: value,
      can_subscribe_group: value,
    }
    const subscriptions = Array.from({ length: 953 }, (_, i) => `named ${i}`)
    const { msg } = await owner.refused(api.subscribe, { subscriptions, ...settings }, 'BAD_REQUEST')
    assert.match(msg, /^subscriptions: the settings of new channels may name 20000 people and groups in all/)
    await owner.refused(channels.id, { stream: 'named 0' }, 'BAD_REQUEST')
    await owner.call(api.subscribe, { subscriptions: subscriptions.slice(0, 9), ...settings })
  })

  test('principals are IDs or email addresses; a bad one refuses everything and creates nothing', async () => {
    const { owner } = daemon()
    const [amy, bob] = await people(daemon(), 'principal-amy', 'principal-bob')
    for (const principals of [[amy.id, 9999], ['nobody@example.com'], [amy.id, bob.email!], [1]])
      await owner.refused(api.subscribe, { subscriptions: ['never made'], principals }, 'BAD_REQUEST')
    await owner.refused(channels.id, { stream: 'never made' }, 'BAD_REQUEST')
    const byId = await owner.call(api.subscribe, { subscriptions: ['made'], principals: [amy.id] })
    assert.deepEqual(byId.subscribed, { [amy.id]: ['made'] })
    const byEmail = await owner.call(api.subscribe, { subscriptions: ['made'], principals: [bob.email!.toUpperCase()] })
    assert.deepEqual(byEmail.subscribed, { [bob.id]: ['made'] })
    const empty = await owner.call(api.subscribe, { subscriptions: ['made'], principals: [] })
    assert.deepEqual(empty.subscribed, { [owner.id]: ['made'] })
  })

  test('peers hear of many people in many channels in one event, in order of their IDs, whatever colours these got', async () => {
    const { owner } = daemon()
    const [amy, bob, cat] = await people(daemon(), 'many-amy', 'many-bob', 'many-cat')
    await amy.call(api.subscribe, { subscriptions: ['first of amy'] })
    await cat.call(api.subscribe, { subscriptions: ['first of cat', 'second of cat'] })
    const subscriptions = ['many one', 'many two']
    await owner.call(api.subscribe, { subscriptions, principals: [bob.id] })
    await bob.call(api.unsubscribe, { subscriptions: ['many two', 'many one'] })
    const heard = await listen(owner, ['subscription'])
    const principals = [cat.id, bob.id, amy.id]
    await owner.call(api.subscribe, { subscriptions, principals })
    const [peers, ...others] = await heard()
    assert.deepEqual([peers!.op, peers!.stream_ids.length, others], ['peer_add', 2, []])
    assert.deepEqual(peers!.user_ids, [amy.id, bob.id, cat.id])
  })

  test('with authorization_errors_fatal false, closed channels are listed and the rest goes on', async () => {
    const [amy, bob] = await people(daemon(), 'closed-amy', 'closed-bob')
    await amy.call(api.subscribe, { subscriptions: ['closed'], invite_only: true })
    await bob.refused(api.subscribe, { subscriptions: ['closed', 'half'] }, 'BAD_REQUEST')
    await bob.refused(channels.id, { stream: 'half' }, 'BAD_REQUEST')
    const reply = await bob.call(api.subscribe, {
      subscriptions: ['closed', 'half'],
      authorization_errors_fatal: false,
    })
    assert.deepEqual(reply.unauthorized, ['closed'])
    assert.deepEqual(reply.subscribed, { [bob.id]: ['half'] })
    const none = await bob.call(api.subscribe, { subscriptions: ['half'], authorization_errors_fatal: false })
    assert.deepEqual(none.unauthorized, [])
  })

  test('a private channel comes into sight of its new subscriber, then the subscription; others hear of the peer', async () => {
    const [amy, bob, cat] = await people(daemon(), 'sight-amy', 'sight-bob', 'sight-cat')
    await amy.call(api.subscribe, { subscriptions: ['sight'], invite_only: true })
    const { subscriptions } = await amy.call(api.list, {})
    const id = subscriptions.find(one => one.name === 'sight')!.stream_id
    const [toAmy, toBob, toCat] = [
      await listen(amy, ['stream', 'subscription'], { include_subscribers: 'true' }),
      await listen(bob, ['stream', 'subscription'], { include_subscribers: 'true' }),
      await listen(cat, ['stream', 'subscription'], { include_subscribers: 'true' }),
    ]
    await amy.call(api.subscribe, { subscriptions: ['sight'], principals: [bob.id] })
    assert.deepEqual(await toAmy(), [{ type: 'subscription', op: 'peer_add', stream_ids: [id], user_ids: [bob.id] }])
    const [created, added] = await toBob()
    assert.deepEqual([created!.type, created!.op, created!.streams[0].stream_id], ['stream', 'create', id])
    assert.deepEqual(added!.subscriptions[0].subscribers, [amy.id, bob.id])
    await bob.call(api.unsubscribe, { subscriptions: ['sight'] })
    assert.deepEqual(await toBob(), [
      { type: 'subscription', op: 'remove', subscriptions: [{ stream_id: id, name: 'sight' }] },
      { type: 'stream', op: 'delete', stream_ids: [id], streams: [{ stream_id: id }] },
    ])
    assert.deepEqual(await toAmy(), [{ type: 'subscription', op: 'peer_remove', stream_ids: [id], user_ids: [bob.id] }])
    assert.deepEqual(await toCat(), [])
  })

  test('settings are checked even when every channel exists', async () => {
    const { owner } = daemon()
    const [amy] = await people(daemon(), 'checked-amy')
    await amy.call(api.subscribe, { subscriptions: ['checked'] })
    const refused = (params: object, code: string) =>
      amy.refused(api.subscribe, { subscriptions: ['checked'], ...params }, code)
    await refused({ can_send_message_group: 9999 }, 'BAD_REQUEST')
    await refused({ can_delete_any_message_group: 3 }, 'BAD_REQUEST')
    await refused({ folder_id: 77 }, 'BAD_REQUEST')
    await refused({ message_retention_days: 'tomorrow' }, 'REQUEST_VARIABLE_INVALID')
    await refused({ subscriptions: ['unchecked'], message_retention_days: 3 }, 'UNAUTHORIZED_PRINCIPAL')
    await refused({ subscriptions: [{ name: 'x'.repeat(61) }] }, 'BAD_REQUEST')
    await refused({ subscriptions: [{ name: 'paint', color: 'red' }] }, 'BAD_REQUEST')
    await refused({ subscriptions: Array.from({ length: 1001 }, (_, i) => `many ${i}`) }, 'BAD_REQUEST')
    await owner.call(api.subscribe, { subscriptions: ['checked'], principals: [amy.id] })
  })
})

describe('DELETE /users/me/subscriptions', () => {
  test('says what was removed and what was not, one entry for each person and channel', async () => {
    const { owner } = daemon()
    const [amy, bob] = await people(daemon(), 'leave-amy', 'leave-bob')
    await amy.call(api.subscribe, { subscriptions: ['leave 1', 'leave 2'], principals: [amy.id, bob.id] })
    const other = { subscriptions: ['leave 1'], principals: [amy.id] }
    await bob.refused(api.unsubscribe, other, 'BAD_REQUEST')
    await bob.refused(api.unsubscribe, { subscriptions: ['leave 1', 'no such'] }, 'BAD_REQUEST')
    await owner.refused(api.unsubscribe, { ...other, principals: [9999] }, 'BAD_REQUEST')
    assert.deepEqual((await bob.call(api.unsubscribe, { subscriptions: ['leave 2'] })).removed, ['leave 2'])
    const { removed, not_removed } = await owner.call(api.unsubscribe, {
      subscriptions: ['leave 1', 'leave 2'],
      principals: [amy.id, bob.id],
    })
    assert.deepEqual(removed, ['leave 1', 'leave 1', 'leave 2'])
    assert.deepEqual(not_removed, ['leave 2'])
  })

  test('users who come back find everything as they left it', async () => {
    const [amy] = await people(daemon(), 'back-amy')
    await amy.call(api.subscribe, { subscriptions: [{ name: 'back', color: '#abc' }] })
    const id = (await amy.call(channels.id, { stream: 'back' })).stream_id
    await amy.call(api.property, { stream_id: id, property: 'pin_to_top', value: true })
    await amy.call(api.unsubscribe, { subscriptions: ['back'] })
    await amy.call(api.subscribe, { subscriptions: [{ name: 'back', color: '#def' }] })
    const [row] = (await amy.call(api.list, {})).subscriptions
    assert.deepEqual([row!.color, row!.pin_to_top], ['#abc', true])
  })
})

describe('PATCH /users/me/subscriptions', () => {
  test('subscribes and unsubscribes at once', async () => {
    const [amy] = await people(daemon(), 'both-amy')
    await amy.refused(api.change, {}, 'BAD_REQUEST')
    await amy.refused(api.change, { add: ['both 1'], delete: ['no such'] }, 'BAD_REQUEST')
    await amy.refused(channels.id, { stream: 'both 1' }, 'BAD_REQUEST')
    await amy.call(api.change, { add: ['both 1'] })
    const { subscribed, removed, not_removed, already_subscribed } = await amy.call(api.change, {
      add: [{ name: 'both 2' }],
      delete: ['both 1'],
    })
    assert.deepEqual(
      { subscribed, removed, not_removed, already_subscribed },
      { subscribed: { [amy.id]: ['both 2'] }, removed: ['both 1'], not_removed: [], already_subscribed: {} },
    )
  })

  test('the same channel in add and delete is added first, then deleted', async () => {
    const [amy, bob] = await people(daemon(), 'same-amy', 'same-bob')
    const heard = await listen(amy, ['subscription', 'stream'])
    const said = async () => (await heard()).map(({ type, op }) => `${type}/${op}`)
    const following = async () => (await amy.call(api.list, {})).subscriptions.map(({ name }) => name)
    const both = { add: ['same'], delete: ['SAME'] }
    const made = await amy.call(api.change, both)
    assert.deepEqual([made.subscribed, made.removed], [{ [amy.id]: ['same'] }, ['same']])
    assert.deepEqual(await said(), ['stream/create', 'subscription/add', 'subscription/remove'])
    assert.ok(!(await following()).includes('same'), 'a channel that the call created')
    const again = await amy.call(api.change, both)
    assert.deepEqual([again.subscribed, again.removed, again.not_removed], [{ [amy.id]: ['same'] }, ['same'], []])
    assert.deepEqual(await said(), ['subscription/add', 'subscription/remove'])
    await amy.call(api.change, { add: ['same'] })
    const followed = await amy.call(api.change, both)
    assert.deepEqual([followed.already_subscribed, followed.removed], [{ [amy.id]: ['same'] }, ['same']])
    assert.ok(!(await following()).includes('same'), 'one that she followed')
    await bob.call(api.subscribe, { subscriptions: ['same secret'], invite_only: true })
    await amy.refused(api.change, { add: ['same secret'], delete: ['same secret'] }, 'BAD_REQUEST')
  })
})

describe('GET /users/{user_id}/subscriptions/{stream_id}', () => {
  test('says whether a person is subscribed to a channel the caller knows of', async () => {
    const { owner } = daemon()
    const [amy] = await people(daemon(), 'status-amy')
    await amy.call(api.subscribe, { subscriptions: ['status'] })
    const { stream_id } = await amy.call(channels.id, { stream: 'status' })
    const status = (user_id: number) => owner.call(api.status, { user_id, stream_id })
    assert.equal((await status(amy.id)).is_subscribed, true)
    assert.equal((await status(owner.id)).is_subscribed, false)
    await owner.refused(api.status, { user_id: 1, stream_id }, 'BAD_REQUEST')
    await owner.refused(api.status, { user_id: amy.id, stream_id: 9999 }, 'BAD_REQUEST')
  })
})

describe('POST /users/me/subscriptions/properties', () => {
  test('sets all or nothing and tells each change, the last of several of one property; muting has two names', async () => {
    const [amy] = await people(daemon(), 'props-amy')
    await amy.call(api.subscribe, { subscriptions: ['props'] })
    const { stream_id } = await amy.call(channels.id, { stream: 'props' })
    const heard = await listen(amy, ['subscription'])
    const set = (property: string, value: boolean | string) => ({ stream_id, property, value })
    for (const bad of [
      set('shape', true),
      set('is_muted', 'yes'),
      set('color', 'red'),
      { stream_id: 9999, property: 'color', value: '#fff' },
    ])
      await amy.refused(api.properties, { subscription_data: [set('pin_to_top', true), bad] }, 'BAD_REQUEST')
    assert.deepEqual(await heard(), [])
    await amy.call(api.properties, {
      subscription_data: [set('is_muted', true), set('color', '#00ff00'), set('push_notifications', false)],
    })
    await amy.call(api.property, { stream_id, property: 'in_home_view', value: true })
    await amy.call(api.property, { stream_id, property: 'is_muted', value: false })
    await amy.call(api.properties, { subscription_data: [set('is_muted', true), set('in_home_view', true)] })
    await amy.call(api.properties, { subscription_data: [set('pin_to_top', false), set('pin_to_top', true)] })
    const many = { subscription_data: Array.from({ length: 1001 }, (_, i) => set('pin_to_top', i % 2 === 0)) }
    const refusal = await amy.refused(api.properties, many, 'BAD_REQUEST')
    assert.equal(refusal.msg, 'subscription_data: must have at most 1000 items')
    await amy.refused(api.property, { stream_id: 9999, property: 'is_muted', value: false }, 'BAD_REQUEST')
    assert.deepEqual(
      (await heard()).map(({ property, value }) => [property, value]),
      [
        ['in_home_view', false],
        ['is_muted', true],
        ['color', '#00ff00'],
        ['push_notifications', false],
        ['in_home_view', true],
        ['is_muted', false],
        ['pin_to_top', true],
      ],
    )
  })
})

describe('POST /register', () => {
  test('tells subscriptions, former ones and those never had; notification settings as the client can read them', async () => {
    const [amy, bob] = await people(daemon(), 'register-amy', 'register-bob')
    await bob.call(api.subscribe, { subscriptions: ['register hidden'], invite_only: true })
    await bob.call(api.subscribe, { subscriptions: ['register never'] })
    await amy.call(api.subscribe, { subscriptions: ['register is', 'register was'] })
    await amy.call(api.unsubscribe, { subscriptions: ['register was'] })
    const reply: Record<string, any> = await amy.call(events.register, {
      fetch_event_types: ['subscription', 'stream'],
      include_subscribers: 'partial',
    })
    const names = (list: { name: string }[]) => list.map(one => one.name).filter(name => name.startsWith('register'))
    assert.deepEqual(names(reply.subscriptions), ['register is'])
    assert.deepEqual(names(reply.unsubscribed), ['register was'])
    assert.deepEqual(names(reply.never_subscribed), ['register never'])
    assert.deepEqual(names(reply.streams), ['register is', 'register never', 'register was'])
    assert.deepEqual(reply.subscriptions[0].subscribers, [amy.id])
    assert.equal(reply.subscriptions[0].desktop_notifications, false)
    const modern: Record<string, any> = await amy.call(events.register, {
      fetch_event_types: ['subscription'],
      client_capabilities: { notification_settings_null: true },
    })
    assert.equal(modern.subscriptions[0].desktop_notifications, null)
    assert.equal(modern.subscriptions[0].subscribers, undefined)
  })
})

describe('accounts that change', () => {
  test('a new role opens and closes channels; a deactivated account is no subscriber', async () => {
    const { owner } = daemon()
    const [amy, bob] = await people(daemon(), 'role-amy', 'role-bob')
    await amy.call(api.subscribe, { subscriptions: ['role open'], principals: [amy.id] })
    await amy.call(api.subscribe, { subscriptions: ['role closed'], invite_only: true })
    const open = (await amy.call(channels.id, { stream: 'role open' })).stream_id
    const closed = (await amy.call(channels.id, { stream: 'role closed' })).stream_id
    const heard = await listen(bob, ['stream', 'subscription', 'default_streams'], { include_subscribers: 'true' })
    const role = (value: 200 | 600) => owner.call(users.update, { user_id: bob.id, role: value })
    await role(200)
    const gained = await heard()
    assert.ok(gained[0]!.streams.some((stream: any) => stream.stream_id === closed))
    const peers = gained.find(event => event.op === 'peer_add' && event.stream_ids.includes(closed))
    assert.deepEqual(peers!.user_ids, [amy.id])
    await bob.refused(channels.id, { stream: 'role closed' }, 'BAD_REQUEST')
    await role(600)
    const [lost] = await heard()
    assert.ok([open, closed].every(id => lost!.stream_ids.includes(id)))
    await bob.refused(channels.show, { stream_id: open }, 'BAD_REQUEST')
    await amy.call(api.subscribe, { subscriptions: ['role open'], principals: [bob.id] })
    assert.deepEqual(
      (await heard()).map(event => `${event.type}/${event.op}`),
      ['stream/create', 'subscription/add'],
    )
    const peer = await listen(amy, ['subscription'])
    await owner.call(users.deactivate, { user_id: bob.id })
    assert.deepEqual(await peer(), [
      { type: 'subscription', op: 'peer_remove', stream_ids: [open], user_ids: [bob.id] },
    ])
    assert.equal((await amy.call(channels.show, { stream_id: open })).stream.subscriber_count, 1)
    await owner.refused(api.subscribe, { subscriptions: ['role open'], principals: [bob.id] }, 'BAD_REQUEST')
    await owner.call(users.reactivate, { user_id: bob.id })
    assert.deepEqual((await amy.call(channels.members, { stream_id: open })).subscribers, [amy.id, bob.id])
  })

  test('a guest may be subscribed by others, and then reads; never by themselves', async () => {
    const guest = await person(daemon(), 'role-guest', { role: 600 })
    const [amy] = await people(daemon(), 'role-host')
    await amy.call(api.subscribe, { subscriptions: ['role guests'] })
    await guest.refused(api.subscribe, { subscriptions: ['role guests'] }, 'BAD_REQUEST')
    assert.deepEqual((await guest.call(channels.list, {})).streams, [])
    await amy.call(api.subscribe, { subscriptions: ['role guests'], principals: [guest.id] })
    assert.deepEqual(
      (await guest.call(channels.list, { include_all: true })).streams.map(stream => stream.name),
      ['role guests'],
    )
  })
})

describe('leaving and coming back', () => {
  test('leaves nothing behind when nothing was sent meanwhile', () => {
    const { world, amy, bob } = threePeople()
    const channel = world.channel('revolving', [amy, bob])
    const spans = () => world.state.subscriptions.get(channel.id, bob.id)!.spans
    const principals = [bob.id]
    const leaveAndReturn = () => {
      world.run(world.owner, 'unsubscribe', { subscriptions: ['revolving'], principals })
      world.run(amy, 'subscribe', {
        subscriptions: [{ name: 'revolving' }],
        principals,
        send_new_subscription_messages: false,
      })
    }
    for (let i = 0; i < 5; i++) leaveAndReturn()
    assert.equal(spans().length, 1)
    const first = world.send(amy, channel, 'doors', 'for Bob')
    leaveAndReturn()
    world.run(world.owner, 'unsubscribe', { subscriptions: ['revolving'], principals })
    const missed = world.send(amy, channel, 'doors', 'not for Bob')
    world.run(amy, 'subscribe', {
      subscriptions: [{ name: 'revolving' }],
      principals,
      send_new_subscription_messages: false,
    })
    const last = world.send(amy, channel, 'doors', 'for Bob again')
    assert.equal(spans().length, 2)
    assert.deepEqual(
      [first, missed, last].map(id => hasRow(world.state, bob.id, id)),
      [true, false, true],
    )
  })
})
