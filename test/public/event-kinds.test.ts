// The events that follow an action, their order and their fields, as the public server sends them.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Caller, sharedDaemon, type TestDaemon } from '../support/daemon.ts'
import { person } from '../support/world.ts'
import { ask, type Fields, ok } from './support/cases.ts'

let daemon: TestDaemon
let owner: Caller
let amy: Caller
let bob: Caller
let guest: Caller
const groups: Record<string, number> = {}

const capabilities = {
  notification_settings_null: false,
  bulk_message_deletion: true,
  user_avatar_url_field_optional: false,
  stream_typing_notifications: true,
  user_settings_object: false,
  linkifier_url_template: true,
  user_list_incomplete: false,
  include_deactivated_groups: false,
  archived_channels: false,
  empty_topic_name: true,
}

/** Every event that a client of this user gets about an action. */
async function eventsOf(
  who: Caller,
  action: () => Promise<unknown>,
  more: Fields = {},
): Promise<Record<string, any>[]> {
  const client_capabilities = { ...capabilities, ...more }
  const { queue_id } = await ok(who, 'POST /register', { fetch_event_types: [], client_capabilities })
  await action()
  const { events } = await ok(who, 'GET /events', { queue_id, last_event_id: -1, dont_block: true })
  await ok(who, 'DELETE /events', { queue_id })
  return events
}

/** Type and operation of each, and what changes. */
function kinds(events: readonly Record<string, any>[]): string[] {
  return events.map(({ type, op, property, person, bot, data }) => {
    const changed = property ?? Object.keys(person ?? bot ?? data ?? {}).filter(key => key !== 'user_id')
    return [type, op, op?.startsWith('update') && String(changed)].filter(Boolean).join(' ')
  })
}

type Row = readonly [title: string, who: () => Caller, action: () => Promise<unknown>, events: string[], more?: Fields]

function follow(rows: readonly Row[]): void {
  for (const [title, who, action, events, more] of rows)
    test(title, async () => assert.deepEqual(kinds(await eventsOf(who(), action, more)), events))
}

const create = (name: string, more: Fields = {}) =>
  ok(owner, 'POST /channels/create', { name, subscribers: [], ...more }).then(({ id }) => id as number)
const people = (name: string, principals: readonly Caller[]) => ({
  subscriptions: [{ name }],
  principals: principals.map(({ id }) => id),
  send_new_subscription_messages: false,
})
const add = (name: string, ...who: Caller[]) => ok(owner, 'POST /users/me/subscriptions', people(name, who))
const remove = (name: string, ...who: Caller[]) =>
  ok(owner, 'DELETE /users/me/subscriptions', { subscriptions: [name], principals: who.map(({ id }) => id) })

function channels(): void {
  let empty = 0
  let followed = 0
  test('making the channels', async () => {
    empty = await create('empty')
    followed = await create('followed', { subscribers: [amy.id] })
  })
  const archive = (id: () => number) => () => ok(owner, `DELETE /streams/${id()}`)
  const unarchive = (id: () => number) => () => ok(owner, `PATCH /streams/${id()}`, { is_archived: false })
  const knows = { archived_channels: true }
  follow([
    [
      'archiving, to a client that knows archived channels',
      () => amy,
      archive(() => empty),
      ['stream update is_archived'],
      knows,
    ],
    ['unarchiving, to that client', () => amy, unarchive(() => empty), ['stream update is_archived'], knows],
    ['archiving, to other clients', () => amy, archive(() => empty), ['stream delete']],
    ['unarchiving a channel without subscribers', () => amy, unarchive(() => empty), ['stream create']],
    ['archiving a channel that one follows', () => amy, archive(() => followed), ['stream delete', 'message']],
    ['unarchiving it', () => amy, unarchive(() => followed), ['stream create', 'subscription add', 'message']],
    [
      'a web-public channel, to a guest',
      () => guest,
      () => create('open', { is_web_public: true, subscribers: [owner.id] }),
      ['stream create', 'subscription peer_add'],
    ],
    [
      'a change of a web-public channel, to a guest',
      () => guest,
      async () => {
        const { stream_id } = await ok(owner, 'GET /get_stream_id', { stream: 'open' })
        await ok(owner, `PATCH /streams/${stream_id}`, { description: 'for all' })
      },
      ['stream update description'],
    ],
    [
      'a public channel that a guest joins and leaves',
      () => guest,
      async () => {
        await add('followed', guest)
        await remove('followed', guest)
      },
      ['stream create', 'subscription add', 'subscription remove', 'stream delete'],
    ],
  ])
}

function linkifiers(): void {
  const ids: number[] = []
  const pattern = (word: string) => ({ pattern: `${word}(?P<id>[0-9]+)`, url_template: 'https://example.com/{id}' })
  const made = (word: string) => async () => ids.push((await ok(owner, 'POST /realm/filters', pattern(word))).id)
  const order = (ordered: () => number[]) => () =>
    ok(owner, 'PATCH /realm/linkifiers', { ordered_linkifier_ids: ordered() })
  follow([
    ['the order of none', () => amy, order(() => []), []],
    ['a first one', () => amy, made('a'), ['realm_linkifiers']],
    ['a second one', () => amy, made('b'), ['realm_linkifiers']],
    ['another order', () => amy, order(() => [ids[1]!, ids[0]!]), ['realm_linkifiers']],
    ['the same order again', () => amy, order(() => [ids[1]!, ids[0]!]), ['realm_linkifiers']],
  ])
  for (const template of ['https://example.com/%%', 'https://example.com/%%(foo)s', 'https://example.com/%ab/%', '$x$'])
    test(`takes the address ${template}`, async () => {
      await ok(owner, 'POST /realm/filters', { pattern: `t${template.length}x`, url_template: template })
    })
  for (const template of [
    'https://example.com/{foo',
    'https://example.com/{{}',
    'https://example.com/{//foo}',
    '{bar++}',
  ])
    test(`refuses the address ${template}`, async () =>
      assert.equal((await ask(owner, 'POST /realm/filters', { pattern: 'y', url_template: template })).status, 400))
}

function limitedGuests(): void {
  let zoe: Caller
  test('limiting whom guests know of', async () => {
    zoe = await person(daemon, 'zoe')
    await create('shared', { subscribers: [guest.id, bob.id] })
    await create('zoes', { subscribers: [zoe.id] })
    await ok(owner, 'PATCH /realm', { can_access_all_users_group: { new: groups['role:members'] } })
  })
  follow([
    [
      'another user joins a channel of the guest',
      () => guest,
      () => add('shared', zoe),
      ['realm_user add', 'subscription peer_add'],
    ],
    ['and leaves it', () => guest, () => remove('shared', zoe), ['subscription peer_remove', 'realm_user remove']],
    [
      'the guest joins a channel of another user',
      () => guest,
      () => add('zoes', guest),
      ['stream create', 'subscription add', 'realm_user add'],
    ],
    [
      'and leaves it again',
      () => guest,
      () => remove('zoes', guest),
      ['subscription remove', 'stream delete', 'realm_user remove'],
    ],
    ['an unknown user changes a name', () => guest, () => ok(zoe, 'PATCH /settings', { full_name: 'Zoe Z.' }), []],
  ])

  test('an account that the guest does not know: one event for each setting that lists it', async () => {
    const listed = { direct_members: [zoe.id, amy.id], direct_subgroups: [] }
    const { group_id } = await ok(zoe, 'POST /user_groups/create', { name: 'zoes', description: '', members: [zoe.id] })
    await ok(owner, 'PATCH /realm', {
      can_create_groups: { new: { ...listed, direct_subgroups: [groups['role:members']] } },
    })
    const settings = ['can_add_members_group', 'can_manage_group']
    const groupEvents = settings.map(name => `user_group update ${name}`)
    const expected = (op: string) => [
      ...Array.from({ length: 3 }, () => `user_group ${op}`),
      ...groupEvents,
      'realm update_dict default',
    ]
    const gone = await eventsOf(guest, () => ok(owner, `DELETE /users/${zoe.id}`))
    assert.deepEqual(kinds(gone), expected('remove_members'))
    assert.deepEqual(gone[3], {
      ...gone[3],
      group_id,
      data: { can_add_members_group: { direct_members: [], direct_subgroups: [] } },
    })
    const back = await eventsOf(guest, () => ok(owner, `POST /users/${zoe.id}/reactivate`))
    assert.deepEqual(kinds(back), expected('add_members'))
    await ok(owner, 'PATCH /realm', {
      can_access_all_users_group: { new: groups['role:everyone'] },
      can_create_groups: { new: groups['role:members'] },
    })
  })
}

function accounts(): void {
  const role = (value: number) => () => ok(owner, `PATCH /users/${bob.id}`, { role: value })
  const left = 'user_group remove_members'
  const joined = 'user_group add_members'
  let secret = 0
  test('making a channel that members do not see', async () => {
    secret = await create('secret', { invite_only: true, subscribers: [amy.id, owner.id] })
  })
  follow([
    [
      'becoming an administrator',
      () => bob,
      role(200),
      ['realm_user update role', left, joined, left, 'stream create', 'subscription peer_add'],
    ],
    [
      'becoming a member again',
      () => bob,
      role(400),
      ['realm_user update role', left, joined, joined, 'stream delete'],
    ],
    ['becoming a moderator', () => bob, role(300), ['realm_user update role', left, joined, left]],
    ['and a member again', () => bob, role(400), ['realm_user update role', left, joined, joined]],
    [
      'a permission that shows a private channel',
      () => bob,
      () => {
        const only = { direct_members: [bob.id], direct_subgroups: [] }
        return ok(owner, `PATCH /streams/${secret}`, { can_subscribe_group: { new: only } })
      },
      ['stream create', 'subscription peer_add'],
    ],
    [
      'a permission that hides it',
      () => bob,
      () => ok(owner, `PATCH /streams/${secret}`, { can_subscribe_group: { new: groups['role:nobody'] } }),
      ['stream delete'],
    ],
    [
      'a time zone',
      () => bob,
      () => ok(bob, 'PATCH /settings', { timezone: 'America/Denver' }),
      ['user_settings update timezone', 'update_display_settings', 'realm_user update email,timezone'],
    ],
    [
      'an address that others no longer see',
      () => bob,
      () => ok(bob, 'PATCH /settings', { email_address_visibility: 5 }),
      [
        'user_settings update email_address_visibility',
        'realm_user update new_email',
        'realm_user update avatar_url,avatar_url_medium,avatar_source,avatar_version',
      ],
    ],
    [
      'who sees an address, among those who do not',
      () => bob,
      () => ok(bob, 'PATCH /settings', { email_address_visibility: 4 }),
      ['user_settings update email_address_visibility'],
    ],
    [
      'away, although one is away',
      () => bob,
      async () => {
        await ok(bob, 'POST /users/me/status', { away: true })
        await ok(bob, 'POST /users/me/status', { away: true })
      },
      ['user_settings update presence_enabled', 'update_global_notifications', 'user_status'].flatMap((kind, _, all) =>
        kind === all[0] ? [...all, ...all] : [],
      ),
    ],
  ])
}

describe('events as the public server sends them', () => {
  sharedDaemon({ flags: ['--memory'] }, async started => {
    daemon = started
    owner = daemon.owner
    amy = await person(daemon, 'amy')
    bob = await person(daemon, 'bob')
    guest = await person(daemon, 'guest', { role: 600 })
    const { user_groups } = await ok(owner, 'GET /user_groups')
    for (const { id, name } of user_groups) groups[name] = id
    await ok(owner, 'PATCH /realm', { enable_spectator_access: true })
  })
  describe('about channels', channels)
  describe('about linkifiers', linkifiers)
  describe('to guests who know some people only', limitedGuests)
  describe('about accounts', accounts)
})
