// Guests who know of some people only: what they learn, what they forget, and what they see of strangers.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { subscriptions } from '../../../../daemon/api/channels/subscriptions.ts'
import { messages } from '../../../../daemon/api/messages/messages.ts'
import { reactions } from '../../../../daemon/api/messages/reactions.ts'
import { typing } from '../../../../daemon/api/messages/typing.ts'
import { organization } from '../../../../daemon/api/organization/organization.ts'
import { presence } from '../../../../daemon/api/people/presence.ts'
import { settings } from '../../../../daemon/api/people/settings.ts'
import { userGroups } from '../../../../daemon/api/people/user-groups.ts'
import { userStatus } from '../../../../daemon/api/people/user-status.ts'
import { users } from '../../../../daemon/api/people/users.ts'
import { type Caller, sharedDaemon, type TestDaemon } from '../../../support/daemon.ts'
import { fetched, listen, people, person } from '../../../support/world.ts'

let daemon: TestDaemon
let guest: Caller
let amy: Caller
let bob: Caller
let cat: Caller
let groups: Record<string, number>

sharedDaemon({}, async started => {
  daemon = started
  ;[amy, bob, cat] = await people(daemon, 'amy', 'bob', 'cat')
  guest = await person(daemon, 'gus', { role: 600 })
  const { user_groups } = await daemon.owner.call(userGroups.list, {})
  groups = Object.fromEntries(user_groups.map(group => [group.name, group.id]))
  const { subscriptions: own } = await guest.call(subscriptions.list, {})
  if (own.length > 0) await guest.call(subscriptions.unsubscribe, { subscriptions: own.map(one => one.name) })
  await limit(true)
})

function limit(limited: boolean) {
  const group = groups[limited ? 'role:members' : 'role:everyone']!
  return daemon.owner.call(organization.update, { can_access_all_users_group: { new: group } })
}

function subscribe(name: string, ...callers: Caller[]) {
  return daemon.owner.call(subscriptions.subscribe, {
    subscriptions: [{ name }],
    principals: callers.map(caller => caller.id),
  })
}

function unsubscribe(name: string, ...callers: Caller[]) {
  return daemon.owner.call(subscriptions.unsubscribe, {
    subscriptions: [name],
    principals: callers.map(caller => caller.id),
  })
}

/** Who came into sight and who went out of it. */
async function sightOf(caller: Caller) {
  const hear = await listen(caller, ['realm_user'])
  return async () =>
    (await hear())
      .filter(({ op }) => op === 'add' || op === 'remove')
      .map(({ op, person: { user_id, full_name } }) => [op, user_id, full_name])
      .sort()
}

const unknown = 'Unknown user'

describe('GET /events, for a guest outside can_access_all_users_group', () => {
  test('people met in a channel are added, and removed when nothing else is shared; no one else hears of it', async () => {
    const [heard, others] = [await sightOf(guest), await sightOf(amy)]
    await subscribe('garden', amy, bob)
    assert.deepEqual(await heard(), [])
    await subscribe('garden', guest)
    const met = [
      ['add', amy.id, 'amy example'],
      ['add', bob.id, 'bob example'],
    ]
    assert.deepEqual(
      (await heard()).filter(([, id]) => id !== daemon.owner.id),
      met,
    )
    await subscribe('pond', amy, guest)
    assert.deepEqual(await heard(), [], 'whom one knows already is not told again')
    await unsubscribe('garden', guest)
    const gone = (await heard()).filter(([, id]) => id !== daemon.owner.id)
    assert.deepEqual(gone, [['remove', bob.id, unknown]], 'amy is still in the pond')
    await unsubscribe('pond', amy)
    assert.deepEqual(
      (await heard()).filter(([, id]) => id === amy.id),
      [['remove', amy.id, unknown]],
    )
    assert.deepEqual(await others(), [])
  })

  test('a direct message makes two known to each other, until it is deleted', async () => {
    const hear = await listen(guest, ['realm_user', 'message'])
    await cat.call(messages.send, { type: 'direct', to: [guest.id], content: 'hello' })
    const [added, message] = await hear()
    assert.deepEqual([added!.op, added!.person.user_id, message!.type], ['add', cat.id, 'message'])
    assert.equal(message!.message.sender_full_name, 'cat example')
    await cat.call(messages.send, { type: 'direct', to: [guest.id], content: 'again' })
    assert.deepEqual(
      (await hear()).map(event => event.type),
      ['message'],
    )
    const ida = await person(daemon, 'ida')
    const sent = await ida.call(messages.send, { type: 'direct', to: [guest.id], content: 'never mind' })
    await hear()
    await ida.call(messages.delete, { message_id: sent.id })
    assert.deepEqual(
      (await hear()).map(({ op, person }) => [op, person]),
      [['remove', { user_id: ida.id, full_name: unknown }]],
    )
  })

  test('a group conversation makes all who are in it known', async () => {
    const heard = await sightOf(guest)
    await amy.call(messages.send, { type: 'direct', to: [guest.id, bob.id], content: 'the three of us' })
    assert.deepEqual(await heard(), [
      ['add', amy.id, 'amy example'],
      ['add', bob.id, 'bob example'],
    ])
  })

  test('lifting the limit adds everyone, and setting it removes all but acquaintances', async () => {
    const dan = await person(daemon, 'dan')
    const { subscriptions: own } = await dan.call(subscriptions.list, {})
    for (const { name } of own) await unsubscribe(name, dan)
    const heard = await sightOf(guest)
    await limit(false)
    assert.ok((await heard()).some(([op, id]) => op === 'add' && id === dan.id))
    await limit(true)
    const lost = await heard()
    assert.deepEqual(
      lost.find(([, id]) => id === dan.id),
      ['remove', dan.id, unknown],
    )
    assert.ok(lost.every(([, id]) => id !== amy.id && id !== cat.id && id !== guest.id))
  })

  test('with someone who comes into sight comes their status', async () => {
    const eve = await person(daemon, 'eve')
    await eve.call(userStatus.update, { status_text: 'away in spirit' })
    const hear = await listen(guest, ['realm_user', 'user_status'])
    await subscribe('shed', eve, guest)
    const status = (await hear()).find(event => event.type === 'user_status' && event.user_id === eve.id)
    assert.equal(status?.status_text, 'away in spirit')
  })

  test('deactivation removes people of shared channels; a reactivated account is added again', async () => {
    const fay = await person(daemon, 'fay')
    await subscribe('attic', fay, guest)
    const hear = await listen(guest, ['realm_user'])
    await daemon.owner.call(users.deactivate, { user_id: fay.id })
    assert.deepEqual(
      (await hear()).map(({ op, person }) => [op, person]),
      [['remove', { user_id: fay.id, full_name: 'Unknown user' }]],
    )
    await guest.refused(users.show, { user_id: fay.id }, 'BAD_REQUEST')
    await daemon.owner.call(users.reactivate, { user_id: fay.id })
    const back = await hear()
    assert.deepEqual(
      back.map(({ op, person }) => [op, person.user_id, person.is_active]),
      [
        ['add', fay.id, true],
        ['update', fay.id, true],
      ],
    )
  })
})

describe('what a guest outside can_access_all_users_group sees of strangers', () => {
  let hal: Caller

  test('single-user endpoints refuse as if there were no one', async () => {
    hal = await person(daemon, 'hal')
    const { subscriptions: own } = await hal.call(subscriptions.list, {})
    for (const { name } of own) await unsubscribe(name, hal)
    await subscribe('porch', hal, guest)
    await guest.call(users.show, { user_id: hal.id })
    await hal.call(messages.send, { type: 'channel', to: 'porch', topic: 'rain', content: 'it rains' })
    await unsubscribe('porch', hal)
    await guest.refused(users.show, { user_id: hal.id }, 'BAD_REQUEST')
    await guest.refused(users.showByEmail, { email: 'hal@example.com' }, 'BAD_REQUEST')
    await guest.refused(userStatus.get, { user_id: hal.id }, 'BAD_REQUEST')
    const { subscriptions: ours } = await guest.call(subscriptions.list, {})
    const stream_id = ours.find(one => one.name === 'porch')!.stream_id
    await guest.refused(subscriptions.status, { user_id: hal.id, stream_id }, 'BAD_REQUEST')
    await guest.refused(messages.send, { type: 'direct', to: [hal.id], content: 'hi' }, 'BAD_REQUEST')
  })

  test('messages, reactions and typing name a stand-in', async () => {
    const hear = await listen(guest, ['message', 'reaction', 'typing'], {
      client_capabilities: { stream_typing_notifications: true },
    } as never)
    const standIn = {
      sender_full_name: unknown,
      sender_email: `user${hal.id}@${daemon.ready.owner.email.split('@')[1]}`,
      avatar_url: '/static/unknown-user.svg',
    }
    const { messages: found } = await guest.call(messages.list, { anchor: 'newest', num_before: 50, num_after: 0 })
    const shown = found.find(one => one.sender_id === hal.id)!
    const { sender_full_name, sender_email, avatar_url } = shown
    assert.equal(sender_full_name, standIn.sender_full_name)
    assert.match(sender_email, new RegExp(`^user${hal.id}@`))
    assert.equal(avatar_url, standIn.avatar_url)
    const stream_id = shown.stream_id!
    await hal.call(messages.send, { type: 'channel', to: stream_id, topic: 'rain', content: 'still' })
    await hal.call(reactions.add, { message_id: shown.id, emoji_name: 'tada' })
    await hal.call(typing.set, { op: 'start', type: 'stream', stream_id, topic: 'rain' })
    const [message, reaction, typed] = await hear()
    assert.equal(message!.message.sender_full_name, unknown)
    assert.equal(message!.message.sender_email, sender_email)
    assert.deepEqual(reaction!.user, { user_id: hal.id, email: sender_email, full_name: unknown })
    assert.deepEqual(typed!.sender, { user_id: hal.id, email: sender_email })
    const plain = await cat.call(messages.get, { message_id: shown.id })
    assert.equal(plain.message.sender_full_name, 'hal example')
  })

  test('presence of strangers is neither told nor listed', async () => {
    const hear = await listen(guest, ['presence'])
    await hal.call(presence.update, { status: 'active' })
    await cat.call(presence.update, { status: 'active' })
    assert.deepEqual(
      (await hear()).map(event => event.user_id),
      [cat.id],
    )
    await guest.refused(presence.ofUser, { user_id_or_email: String(hal.id) }, 'BAD_REQUEST')
    const { presences } = await guest.call(presence.update, { status: 'active', slim_presence: true })
    assert.ok(presences![cat.id] && !presences![hal.id])
    const all = await guest.call(presence.list, {})
    assert.ok(all.presences['cat@example.com'] && !all.presences['hal@example.com'])
    const registered = await fetched(guest, ['presence'], { slim_presence: true })
    assert.ok(registered.presences[cat.id] && !registered.presences[hal.id])
    assert.ok((await amy.call(presence.list, {})).presences['hal@example.com'])
  })
})

describe('PATCH /users/{user_id}', () => {
  test('with another role come and go the addresses of others', async () => {
    await bob.call(settings.update, { email_address_visibility: 3 })
    const hear = await listen(amy, ['realm_user'])
    const addresses = async () =>
      (await hear())
        .filter(({ person }) => person.user_id === bob.id && 'delivery_email' in person)
        .map(({ person }) => person.delivery_email)
    await daemon.owner.call(users.update, { user_id: amy.id, role: 200 })
    assert.deepEqual(await addresses(), ['bob@example.com'])
    await daemon.owner.call(users.update, { user_id: amy.id, role: 400 })
    assert.deepEqual(await addresses(), [null])
  })
})
