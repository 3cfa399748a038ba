// Channels, subscriptions, default channels and folders, as the public server answers.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Caller, sharedDaemon } from '../support/daemon.ts'
import { listen, person } from '../support/world.ts'
import { type Case, cases, ok } from './support/cases.ts'

let owner: Caller
let admin: Caller
let amy: Caller
let bob: Caller
let guest: Caller
let open = 0
let closed = 0
let folder = 0
let starters = 0
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

const ofGroup = () => `PATCH /default_stream_groups/${starters}`
const inGroup = () => `PATCH /default_stream_groups/${starters}/streams`
const defaults: readonly Case[] = [
  ['members cannot add one', asAmy, 'POST /default_streams', {}, denied],
  ['members cannot remove one', asAmy, 'DELETE /default_streams', {}, denied],
  ['members cannot create a group', asAmy, 'POST /default_stream_groups/create', {}, denied],
  ['members cannot edit a group', asAmy, ofGroup, {}, denied],
  ['members cannot change a group', asAmy, inGroup, {}, denied],
  ['members cannot delete a group', asAmy, () => `DELETE /default_stream_groups/${starters}`, {}, denied],
  ['a channel is needed', asOwner, 'POST /default_streams', {}, missing('stream_id')],
  ['a private channel is none', asOwner, 'POST /default_streams', () => ({ stream_id: closed }), bad],
  ['a channel is added', asOwner, 'POST /default_streams', () => ({ stream_id: open }), {}],
  ['a second time changes nothing', asOwner, 'POST /default_streams', () => ({ stream_id: open }), {}],
  ['a default channel cannot be in a group', asOwner, inGroup, { op: 'add', stream_names: ['open'] }, bad],
  ['a default channel cannot become private', asOwner, update, { is_private: true }, bad],
  ['it is removed', asOwner, 'DELETE /default_streams', () => ({ stream_id: open }), {}],
  ['a second time changes nothing', asOwner, 'DELETE /default_streams', () => ({ stream_id: open }), {}],
  [
    'a group with this name exists',
    asOwner,
    'POST /default_stream_groups/create',
    { group_name: 'starters', description: 'd', stream_names: [] },
    bad,
  ],
  [
    'a blank name is refused',
    asOwner,
    'POST /default_stream_groups/create',
    { group_name: '', description: 'd', stream_names: [] },
    bad,
  ],
  [
    'a long name is refused',
    asOwner,
    'POST /default_stream_groups/create',
    { group_name: long(100), description: 'd', stream_names: [] },
    bad,
  ],
  ['op is needed', asOwner, inGroup, { stream_names: ['open'] }, missing('op')],
  ['op is add or remove', asOwner, inGroup, { op: 'invalid', stream_names: ['open'] }, bad],
  ['names are needed', asOwner, inGroup, { op: 'add' }, missing('stream_names')],
  [
    'an unknown group is refused',
    asOwner,
    'PATCH /default_stream_groups/9999/streams',
    { op: 'add', stream_names: [] },
    bad,
  ],
  ['a channel is added to it', asOwner, inGroup, { op: 'add', stream_names: ['open'] }, {}],
  ['not twice', asOwner, inGroup, { op: 'add', stream_names: ['open'] }, bad],
  ['an unknown channel is refused', asOwner, inGroup, { op: 'remove', stream_names: ['nowhere'] }, bad],
  ['a channel that is not in it is refused', asOwner, inGroup, { op: 'remove', stream_names: ['fresh'] }, bad],
  ['a channel is removed', asOwner, inGroup, { op: 'remove', stream_names: ['open'] }, {}],
  ['a change is needed', asOwner, ofGroup, {}, bad],
  ['an empty description is no change', asOwner, ofGroup, { new_description: '' }, bad],
  ['the name it has is refused', asOwner, ofGroup, { new_group_name: 'starters' }, bad],
  ['a description is changed', asOwner, ofGroup, { new_description: 'new' }, {}],
  ['a name is changed', asOwner, ofGroup, { new_group_name: 'beginners' }, {}],
  ['an unknown group cannot be edited', asOwner, 'PATCH /default_stream_groups/9999', { new_description: 'x' }, bad],
  ['an unknown group cannot be deleted', asOwner, 'DELETE /default_stream_groups/9999', {}, bad],
]

const ofFolder = () => `PATCH /channel_folders/${folder}`
const makeFolder = 'POST /channel_folders/create'
const folders: readonly Case[] = [
  ['members cannot create one, whatever they send', asAmy, makeFolder, {}, denied],
  ['members cannot edit one', asAmy, ofFolder, { name: 'x' }, denied],
  ['members cannot reorder them', asAmy, 'PATCH /channel_folders', {}, denied],
  ['a name is needed', asOwner, makeFolder, { description: '' }, missing('name')],
  ['an empty name is refused', asOwner, makeFolder, { name: '', description: '' }, bad],
  ['a name that is taken is refused', asOwner, makeFolder, { name: 'Beds', description: '' }, bad],
  ['in another case too', asOwner, makeFolder, { name: 'bEDS', description: '' }, bad],
  ['a long name is refused', asOwner, makeFolder, { name: long(61), description: '' }, bad],
  ['a long description is refused', asOwner, makeFolder, { name: 'x', description: long(1025) }, bad],
  [
    'a folder is created',
    asOwner,
    makeFolder,
    { name: 'Trees', description: '**tall**' },
    { channel_folder_id: (id: unknown) => typeof id === 'number' },
  ],
  [
    'guests list them',
    asGuest,
    'GET /channel_folders',
    {},
    { channel_folders: [{ name: 'Beds' }, { rendered_description: '<p><strong>tall</strong></p>' }] },
  ],
  ['an unknown folder is refused', asOwner, 'PATCH /channel_folders/999', { name: 'x' }, bad],
  ['an empty name is refused for an old one', asOwner, ofFolder, { name: '' }, bad],
  ['a name that is taken too', asOwner, ofFolder, { name: 'trees' }, bad],
  ['its own name changes nothing', asOwner, ofFolder, { name: 'Beds' }, {}],
  ['an empty description is taken', asOwner, ofFolder, { description: '' }, {}],
  ['an order without all is refused', asOwner, 'PATCH /channel_folders', () => ({ order: [folder] }), bad],
  [
    'an order with an unknown one is taken',
    asOwner,
    'PATCH /channel_folders',
    () => ({ order: [folder, folder + 1, 99] }),
    {},
  ],
  [
    'an order with one twice is taken',
    asOwner,
    'PATCH /channel_folders',
    () => ({ order: [folder, folder, folder + 1] }),
    {},
  ],
  ['they are reordered', asOwner, 'PATCH /channel_folders', () => ({ order: [folder + 1, folder] }), {}],
  [
    'and listed in that order',
    asAmy,
    'GET /channel_folders',
    {},
    {
      channel_folders: [
        { name: 'Trees', order: 0 },
        { name: 'Beds', order: 1 },
      ],
    },
  ],
  ['a folder with channels cannot be archived', asAmy, update, () => ({ folder_id: folder }), {}],
  ['not until they are gone', asOwner, ofFolder, { is_archived: true }, bad],
  ['an empty one can', asOwner, () => `PATCH /channel_folders/${folder + 1}`, { is_archived: true }, {}],
  ['and is left out', asAmy, 'GET /channel_folders', {}, { channel_folders: [{ name: 'Beds' }] }],
  [
    'unless asked for',
    asAmy,
    'GET /channel_folders',
    { include_archived: true },
    { channel_folders: [{ is_archived: true }, {}] },
  ],
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

function events(): void {
  test('every change of a channel has its own event, under the old name up to the renaming', async () => {
    const { id } = await ok(amy, create, { name: 'before', subscribers: [amy.id] })
    const heard = await listen(bob, ['stream', 'default_streams'])
    await ok(owner, `PATCH /streams/${id}`, {
      new_name: 'after',
      description: 'd',
      is_private: false,
      is_default_stream: true,
      message_retention_days: 3,
      topics_policy: 'allow_empty_topic',
      folder_id: folder,
      can_send_message_group: { new: members },
    })
    assert.deepEqual(
      (await heard()).map(({ type, name, property }) => (type === 'stream' ? `${name} ${property}` : type)),
      [
        'before topics_policy',
        'before invite_only',
        'default_streams',
        'before message_retention_days',
        'before description',
        'before name',
        'after folder_id',
        'after can_send_message_group',
      ],
    )
    await ok(owner, 'DELETE /default_streams', { stream_id: id })
  })

  test('what is set to the value it has is announced, except topics policy and permissions', async () => {
    const { id } = await ok(amy, create, { name: 'same', description: 'd', subscribers: [amy.id] })
    const heard = await listen(bob, ['stream'])
    await ok(amy, `PATCH /streams/${id}`, {
      description: 'd',
      folder_id: null,
      is_private: false,
      topics_policy: 'inherit',
    })
    assert.deepEqual(
      (await heard()).map(({ property }) => property),
      ['invite_only', 'description', 'folder_id'],
    )
  })

  test('both older words for who may post are sent when one of them changes', async () => {
    const { id } = await ok(amy, create, { name: 'words', subscribers: [amy.id] })
    const { realm_user_groups } = await ok(amy, 'POST /register', { fetch_event_types: ['realm_user_groups'] })
    const moderators = realm_user_groups.find((group: { name: string }) => group.name === 'role:moderators').id
    const heard = await listen(bob, ['stream'])
    await ok(amy, `PATCH /streams/${id}`, { can_send_message_group: { new: moderators } })
    assert.deepEqual(
      (await heard()).map(({ property, value }) => [property, value]),
      [
        ['can_send_message_group', moderators],
        ['stream_post_policy', 4],
        ['is_announcement_only', false],
      ],
    )
  })

  test('a new channel is announced before it says so itself, after direct messages to people', async () => {
    const { id } = await ok(owner, create, { name: 'news', subscribers: [owner.id, bob.id] })
    await ok(owner, 'PATCH /realm', { new_stream_announcements_stream_id: id })
    const heard = await listen(bob, ['message'])
    await ok(amy, subscribe, { ...sub('open', 'brandnew'), principals: [bob.id], announce: true })
    assert.deepEqual(
      (await heard()).map(({ message }) => [message.type, message.subject]),
      [
        ['private', ''],
        ['stream', 'new channels'],
        ['stream', 'channel events'],
      ],
    )
  })

  test('channels that the same people know of share one event about subscribers', async () => {
    for (const name of ['p1', 'p2', 'with guest']) await ok(amy, create, { name, subscribers: [] })
    await ok(amy, subscribe, { ...sub('with guest'), principals: [guest.id] })
    const [heard, guests] = [await listen(owner, ['subscription']), await listen(guest, ['subscription'])]
    await ok(amy, subscribe, { ...sub('p1', 'p2', 'with guest'), principals: [bob.id] })
    assert.deepEqual(
      (await heard()).map(({ op, stream_ids, user_ids }) => [op, stream_ids.length, user_ids]),
      [
        ['peer_add', 1, [bob.id]],
        ['peer_add', 2, [bob.id]],
      ],
    )
    assert.deepEqual(
      (await guests()).map(({ stream_ids }) => stream_ids.length),
      [1],
    )
  })

  test('groups of default channels are listed by name, and so are their channels', async () => {
    const heard = await listen(amy, ['default_stream_groups'])
    const group = { description: '', stream_names: ['p2', 'p1'] }
    await ok(owner, 'POST /default_stream_groups/create', { group_name: 'aaa', ...group })
    const [{ default_stream_groups } = {} as any] = await heard()
    assert.deepEqual(
      default_stream_groups.map((one: { name: string }) => one.name),
      ['aaa', 'beginners'],
    )
    const ids = await Promise.all(
      ['p1', 'p2'].map(async stream => (await ok(amy, 'GET /get_stream_id', { stream })).stream_id),
    )
    assert.deepEqual(default_stream_groups[0].streams, ids)
  })

  test('a channel without subscribers says nothing', async () => {
    const heard = await listen(owner, ['message'], { all_public_streams: true })
    await ok(amy, create, { name: 'silent', subscribers: [], announce: true })
    assert.deepEqual(await heard(), [])
  })
}

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
    await ok(owner, 'POST /default_stream_groups/create', {
      group_name: 'starters',
      description: 'd',
      stream_names: [],
    })
    const { realm_default_stream_groups, realm_user_groups } = await ok(owner, 'POST /register', {
      fetch_event_types: ['default_stream_groups', 'realm_user_groups'],
    })
    starters = realm_default_stream_groups[0].id
    members = realm_user_groups.find((group: { name: string }) => group.name === 'role:members').id
  })
  describe('POST /channels/create', () => cases(creating))
  describe('POST /users/me/subscriptions', () => cases(subscribing))
  describe('PATCH /users/me/subscriptions', () => cases(changing))
  describe('DELETE /users/me/subscriptions', () => cases(leaving))
  describe('PATCH /streams/{stream_id}', () => cases(updating))
  describe('properties of a subscription', () => cases(properties))
  describe('default channels', () => cases(defaults))
  describe('channel folders', () => cases(folders))
  describe('reading channels', () => cases(reading))
  describe('events and notices', events)
})
