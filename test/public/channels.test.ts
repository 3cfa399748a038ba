// Channels and subscriptions, as the public server answers.

import { describe } from 'node:test'
import { type Caller, sharedDaemon } from '../support/daemon.ts'
import { person } from '../support/world.ts'
import { type Case, cases, ok } from './support/cases.ts'

let owner: Caller
let admin: Caller
let amy: Caller
let bob: Caller
let guest: Caller
let open = 0
let closed = 0
let folder = 0
let members = 0

const asOwner = () => owner
const asAdmin = () => admin
const asAmy = () => amy
const asBob = () => bob
const asGuest = () => guest
const bad = { status: 400, code: 'BAD_REQUEST' }
const denied = { status: 400, code: 'UNAUTHORIZED_PRINCIPAL' }
const missing = (var_name: string) => ({ status: 400, code: 'REQUEST_VARIABLE_MISSING', var_name })
const long = (length: number) => 'x'.repeat(length)

const create = 'POST /channels/create'
const creating: readonly Case[] = [
  ['a name is needed', asAmy, create, { subscribers: [] }, missing('name')],
  ['subscribers are needed', asAmy, create, { name: 'x' }, missing('subscribers')],
  ['a blank name is refused', asAmy, create, { name: ' ', subscribers: [] }, bad],
  ['a name of 61 characters is refused', asAmy, create, { name: long(61), subscribers: [] }, bad],
  ['a name of 60 characters is taken', asAmy, create, { name: long(60), subscribers: [] }, {}],
  ['a name with a line break is refused', asAmy, create, { name: 'a\nb', subscribers: [] }, bad],
  ['a noncharacter in a name is refused', asAmy, create, { name: 'a\ufffeb', subscribers: [] }, bad],
  [
    'a description of 1,025 characters is refused',
    asAmy,
    create,
    { name: 'd', description: long(1025), subscribers: [] },
    bad,
  ],
  [
    'a name that exists in another case is taken',
    asAmy,
    create,
    { name: 'OPEN', subscribers: [] },
    { status: 409, code: 'CHANNEL_ALREADY_EXISTS', channel_name: 'OPEN' },
  ],
  ['guests cannot create channels', asGuest, create, { name: 'g', subscribers: [] }, bad],
  ['guests are told so before a missing name', asGuest, create, {}, bad],
  ['an unknown subscriber is refused', asAmy, create, { name: 'u', subscribers: [9999] }, bad],
  ['members cannot set a retention', asAmy, create, { name: 'r', subscribers: [], message_retention_days: 9 }, denied],
  ['administrators cannot either', asAdmin, create, { name: 'r', subscribers: [], message_retention_days: 9 }, denied],
  ['owners can', asOwner, create, { name: 'r', subscribers: [], message_retention_days: 9 }, {}],
  [
    'a retention of 0 days is refused',
    asOwner,
    create,
    { name: 'r0', subscribers: [], message_retention_days: 0 },
    { status: 400, code: 'REQUEST_VARIABLE_INVALID' },
  ],
  [
    'members cannot make a default channel',
    asAmy,
    create,
    { name: 'df', subscribers: [], is_default_stream: true },
    bad,
  ],
  [
    'a default channel cannot be private',
    asOwner,
    create,
    { name: 'df', subscribers: [], is_default_stream: true, invite_only: true },
    bad,
  ],
  ['administrators can make one', asAdmin, create, { name: 'df', subscribers: [], is_default_stream: true }, {}],
  ['web-public channels must be enabled', asOwner, create, { name: 'w', subscribers: [], is_web_public: true }, bad],
  ['an unknown folder is refused', asAmy, create, { name: 'f', subscribers: [], folder_id: 999 }, bad],
  ['a known folder is taken', asAmy, create, () => ({ name: 'f', subscribers: [], folder_id: folder }), {}],
  ['an unknown topics policy is refused', asAmy, create, { name: 't', subscribers: [], topics_policy: 'none' }, bad],
  [
    'a known topics policy is taken',
    asAmy,
    create,
    { name: 't', subscribers: [], topics_policy: 'allow_empty_topic' },
    {},
  ],
  ['an unknown group is refused', asAmy, create, { name: 'p', subscribers: [], can_send_message_group: 999 }, bad],
  [
    'members cannot let others delete messages',
    asAmy,
    create,
    () => ({ name: 'p', subscribers: [], can_delete_any_message_group: members }),
    bad,
  ],
]

const subscribe = 'POST /users/me/subscriptions'
const sub = (...names: string[]) => ({ subscriptions: names.map(name => ({ name })) })
const subscribing: readonly Case[] = [
  ['subscriptions are needed', asAmy, subscribe, {}, missing('subscriptions')],
  ['guests are told that they cannot, before a missing parameter', asGuest, subscribe, {}, bad],
  ['an empty name is refused', asAmy, subscribe, sub(''), bad],
  ['a name of 61 characters is refused', asAmy, subscribe, sub(long(61)), bad],
  ['a name with NUL is refused', asAmy, subscribe, sub('abc\0'), bad],
  ['an entry without a name is refused', asAmy, subscribe, { subscriptions: [{ bogus: 'foo' }] }, bad],
  ['a name that is no text is refused', asAmy, subscribe, { subscriptions: [{ name: {} }] }, bad],
  ['a color that is none is refused', asAmy, subscribe, { subscriptions: [{ name: 'c', color: '#0g0g0g' }] }, bad],
  ['a color is taken', asAmy, subscribe, { subscriptions: [{ name: 'c', color: '#afafaf' }] }, {}],
  ['principals that are neither are refused', asAmy, subscribe, { ...sub('c'), principals: [{}] }, bad],
  ['an unknown principal is refused', asAmy, subscribe, { ...sub('c'), principals: [9999] }, bad],
  ['an unknown address is refused', asAmy, subscribe, { ...sub('c'), principals: ['no@example.com'] }, bad],
  [
    'a new channel is subscribed to and created',
    asAmy,
    subscribe,
    sub('fresh'),
    () => ({ subscribed: { [amy.id]: ['fresh'] }, already_subscribed: {}, new_subscription_messages_sent: true }),
  ],
  [
    'a second time it is already subscribed to',
    asAmy,
    subscribe,
    sub('FRESH'),
    () => ({ subscribed: {}, already_subscribed: { [amy.id]: ['fresh'] } }),
  ],
  ['a private channel of others is refused', asBob, subscribe, sub('closed'), bad],
  [
    'or listed, if errors are not fatal',
    asBob,
    subscribe,
    { ...sub('closed', 'fresh'), authorization_errors_fatal: false },
    () => ({ unauthorized: ['closed'], subscribed: { [bob.id]: ['fresh'] } }),
  ],
  [
    'others can be subscribed by address',
    asAmy,
    subscribe,
    () => ({ ...sub('open'), principals: [admin.email] }),
    () => ({ subscribed: { [admin.id]: ['open'] } }),
  ],
  [
    'without messages nothing is said of them',
    asAmy,
    subscribe,
    { ...sub('quiet'), send_new_subscription_messages: false },
    { new_subscription_messages_sent: (value: unknown) => value === undefined },
  ],
]

const change = 'PATCH /users/me/subscriptions'
const changing: readonly Case[] = [
  ['principals of another type are refused', asAmy, change, { add: [{ name: 'x' }], principals: [{}] }, bad],
  [
    'others are subscribed too',
    asAmy,
    change,
    () => ({ add: [{ name: 'changed' }], principals: [bob.id] }),
    () => ({ subscribed: { [bob.id]: ['changed'] } }),
  ],
  ['nothing to do is refused', asAmy, change, {}, bad],
  ['an empty list is nothing to do', asAmy, change, { add: [], delete: [] }, bad],
  ['an entry without a name is refused', asAmy, change, { add: [{ bogus: 'foo' }] }, bad],
  ['an object in place of a name is refused', asAmy, change, { delete: [{ name: 'x' }] }, bad],
  ['an empty name is refused', asAmy, change, { delete: [''] }, bad],
  ['a name of 61 characters is refused', asAmy, change, { delete: [long(61)] }, bad],
  ['an unknown channel is refused', asAmy, change, { delete: ['nowhere'] }, bad],
  ['a channel is added', asAmy, change, { add: [{ name: 'one' }] }, () => ({ subscribed: { [amy.id]: ['one'] } })],
  ['and deleted', asAmy, change, { delete: ['one'] }, { removed: ['one'], not_removed: [] }],
]

const leave = 'DELETE /users/me/subscriptions'
const leaving: readonly Case[] = [
  ['subscriptions are needed', asAmy, leave, {}, missing('subscriptions')],
  ['an unknown channel is refused', asAmy, leave, { subscriptions: ['nowhere'] }, bad],
  [
    'a channel of others is not removed',
    asBob,
    leave,
    { subscriptions: ['open'] },
    { removed: [], not_removed: ['open'] },
  ],
  ['others cannot be removed', asBob, leave, () => ({ subscriptions: ['open'], principals: [amy.id] }), bad],
  ['an unknown user is refused', asOwner, leave, { subscriptions: ['open'], principals: [9999] }, bad],
  [
    'administrators remove others',
    asAdmin,
    leave,
    () => ({ subscriptions: ['fresh'], principals: [bob.id] }),
    { removed: ['fresh'] },
  ],
  [
    'a second time they are not removed',
    asAdmin,
    leave,
    () => ({ subscriptions: ['fresh'], principals: [bob.id] }),
    { removed: [], not_removed: ['fresh'] },
  ],
]

const update = () => `PATCH /streams/${open}`
const updating: readonly Case[] = [
  ['an unknown channel is refused', asOwner, 'PATCH /streams/9999', { description: 'x' }, bad],
  [
    'a channel that one may not know of looks the same',
    asBob,
    () => `PATCH /streams/${closed}`,
    { description: 'x' },
    bad,
  ],
  ['members cannot change the channels of others', asBob, update, { description: 'x' }, bad],
  ['its creator can', asAmy, update, { description: 'a\nmulti\nline' }, {}],
  ['line breaks became spaces', asAmy, () => `GET /streams/${open}`, {}, { stream: { description: 'a multi line' } }],
  ['a description of 1,025 characters is refused', asAmy, update, { description: long(1025) }, bad],
  ['an empty one is taken', asAmy, update, { description: '' }, {}],
  ['the name it has is refused', asAmy, update, { new_name: 'open' }, bad],
  ['another case of it is taken', asAmy, update, { new_name: 'oPEN' }, {}],
  ['and back, with spaces around', asAmy, update, { new_name: ' open ' }, {}],
  [
    'a name that is taken is refused',
    asAmy,
    update,
    { new_name: 'closed ' },
    { status: 409, code: 'CHANNEL_ALREADY_EXISTS' },
  ],
  ['an empty name is refused', asAmy, update, { new_name: '' }, bad],
  ['a long name is refused', asAmy, update, { new_name: long(61) }, bad],
  ['a name with a line break is refused', asAmy, update, { new_name: 'test\n\rname' }, bad],
  ['a public channel cannot protect its history', asAmy, update, { history_public_to_subscribers: false }, bad],
  ['not even if it is made public', asAmy, update, { is_private: false, history_public_to_subscribers: false }, bad],
  ['a private channel cannot be web-public', asAmy, update, { is_private: true, is_web_public: true }, bad],
  ['is_archived true does nothing', asAmy, update, { is_archived: true }, {}],
  ['a channel that is not archived cannot be unarchived', asAmy, update, { is_archived: false }, bad],
  ['members cannot make it a default channel', asAmy, update, { is_default_stream: true }, bad],
  ['members cannot change its retention', asAmy, update, { message_retention_days: 2 }, denied],
  ['owners can', asOwner, update, { message_retention_days: 2 }, {}],
  [
    'a word that is none is refused',
    asOwner,
    update,
    { message_retention_days: 'invalid' },
    { code: 'REQUEST_VARIABLE_INVALID', status: 400 },
  ],
  ['-1 is refused', asOwner, update, { message_retention_days: -1 }, { code: 'REQUEST_VARIABLE_INVALID', status: 400 }],
  ['0 is refused', asOwner, update, { message_retention_days: 0 }, { code: 'REQUEST_VARIABLE_INVALID', status: 400 }],
  ['unlimited is a word', asOwner, update, { message_retention_days: 'unlimited' }, {}],
  ['realm_default is one too', asOwner, update, { message_retention_days: 'realm_default' }, {}],
  ['an unknown folder is refused', asAmy, update, { folder_id: 999 }, bad],
  ['a folder is taken', asAmy, update, () => ({ folder_id: folder }), {}],
  ['and taken away', asAmy, update, { folder_id: null }, {}],
  ['an unknown topics policy is refused', asAmy, update, { topics_policy: 2 }, bad],
  [
    'an old value that is not the current one is refused',
    asAmy,
    update,
    () => ({ can_send_message_group: { new: members, old: 1 } }),
    { status: 400, code: 'EXPECTATION_MISMATCH' },
  ],
  ['a group value is taken', asAmy, update, () => ({ can_send_message_group: { new: members } }), {}],
  [
    'members cannot set who deletes messages',
    asAmy,
    update,
    () => ({ can_delete_any_message_group: { new: members } }),
    bad,
  ],
  [
    'administrators without access change the description',
    asAdmin,
    () => `PATCH /streams/${closed}`,
    { description: 'x' },
    {},
  ],
  ['but not who has access', asAdmin, () => `PATCH /streams/${closed}`, { is_private: false }, bad],
  [
    'and not who can subscribe',
    asAdmin,
    () => `PATCH /streams/${closed}`,
    () => ({ can_subscribe_group: { new: members } }),
    bad,
  ],
  ['members cannot archive the channels of others', asBob, () => `DELETE /streams/${open}`, {}, bad],
  ['an unknown channel cannot be archived', asOwner, 'DELETE /streams/9999', {}, bad],
]

const property = () => `PATCH /users/me/subscriptions/${open}`
const several = 'POST /users/me/subscriptions/properties'
const wish = (property: string, value: unknown) => () => ({ subscription_data: [{ stream_id: open, property, value }] })
const properties: readonly Case[] = [
  ['a color is taken', asAmy, property, { property: 'color', value: '#c2c2c2' }, {}],
  ['a property that is none is refused', asAmy, property, { property: 'invalid', value: 'x' }, bad],
  [
    'an unknown channel is refused',
    asAmy,
    'PATCH /users/me/subscriptions/9999',
    { property: 'is_muted', value: true },
    bad,
  ],
  ['a channel of others is refused', asBob, property, { property: 'is_muted', value: true }, bad],
  ...[
    'is_muted',
    'in_home_view',
    'pin_to_top',
    'desktop_notifications',
    'audible_notifications',
    'push_notifications',
    'email_notifications',
    'wildcard_mentions_notify',
  ].flatMap((name): Case[] => [
    [`${name} takes true`, asAmy, several, wish(name, true), {}],
    [`${name} takes false`, asAmy, several, wish(name, false), {}],
    [`${name} takes no text`, asAmy, several, wish(name, 'bad'), bad],
  ]),
  ['a color takes no boolean', asAmy, several, wish('color', false), bad],
  ['a color takes no other text', asAmy, several, wish('color', 'red'), bad],
  ['a channel is needed', asAmy, several, { subscription_data: [{ property: 'color', value: '#ffffff' }] }, bad],
  ['a value is needed', asAmy, several, () => ({ subscription_data: [{ property: 'color', stream_id: open }] }), bad],
  ['the data is needed', asAmy, several, {}, missing('subscription_data')],
]

const reading: readonly Case[] = [
  ['an ID by name', asAmy, 'GET /get_stream_id', { stream: 'OPEN' }, () => ({ stream_id: open })],
  ['an unknown name is refused', asAmy, 'GET /get_stream_id', { stream: 'wrongname' }, bad],
  ['a name is needed', asAmy, 'GET /get_stream_id', {}, missing('stream')],
  ['a channel by ID', asAmy, () => `GET /streams/${open}`, {}, { stream: { name: 'open' } }],
  ['an unknown ID is refused', asAmy, 'GET /streams/9999', {}, bad],
  ['a private channel of others looks the same', asBob, () => `GET /streams/${closed}`, {}, bad],
  ['administrators know of it', asAdmin, () => `GET /streams/${closed}`, {}, { stream: { name: 'closed' } }],
  ['guests do not know public channels', asGuest, () => `GET /streams/${open}`, {}, bad],
  ['nor their subscribers', asGuest, () => `GET /streams/${open}/members`, {}, bad],
  [
    'administrators list the subscribers of a private channel',
    asAdmin,
    () => `GET /streams/${closed}/members`,
    {},
    () => ({ subscribers: [amy.id] }),
  ],
  ['others do not', asBob, () => `GET /streams/${closed}/members`, {}, bad],
  ['subscribed channels alone', asGuest, 'GET /streams', { include_public: false }, { streams: [] }],
  [
    'the address of a private channel is for those who can read it',
    asAdmin,
    () => `GET /streams/${closed}/email_address`,
    {},
    bad,
  ],
  [
    'a sender that is not one’s own is refused',
    asAmy,
    () => `GET /streams/${open}/email_address`,
    () => ({ sender_id: bob.id }),
    bad,
  ],
  [
    'subscriptions say is_muted and in_home_view',
    asAmy,
    'GET /users/me/subscriptions',
    {},
    {
      subscriptions: (list: { in_home_view: boolean; is_muted: boolean }[]) =>
        list.every(one => one.in_home_view === !one.is_muted),
    },
  ],
]

describe('channels', () => {
  sharedDaemon({ flags: ['--memory'] }, async daemon => {
    owner = daemon.owner
    admin = await person(daemon, 'admin', { role: 200 })
    amy = await person(daemon, 'amy')
    bob = await person(daemon, 'bob')
    guest = await person(daemon, 'guest', { role: 600 })
    open = (await ok(amy, 'POST /channels/create', { name: 'open', subscribers: [amy.id] })).id
    closed = (await ok(amy, 'POST /channels/create', { name: 'closed', subscribers: [amy.id], invite_only: true })).id
    folder = (await ok(owner, 'POST /channel_folders/create', { name: 'Beds', description: '' })).channel_folder_id
    const { realm_user_groups } = await ok(owner, 'POST /register', {
      fetch_event_types: ['realm_user_groups'],
    })
    members = realm_user_groups.find((group: { name: string }) => group.name === 'role:members').id
  })
  describe('POST /channels/create', () => cases(creating))
  describe('POST /users/me/subscriptions', () => cases(subscribing))
  describe('PATCH /users/me/subscriptions', () => cases(changing))
  describe('DELETE /users/me/subscriptions', () => cases(leaving))
  describe('PATCH /streams/{stream_id}', () => cases(updating))
  describe('properties of a subscription', () => cases(properties))
  describe('reading channels', () => cases(reading))
})
