// Default channels and channel folders, as the public server answers.

import { describe } from 'node:test'
import { type Caller, sharedDaemon } from '../support/daemon.ts'
import { person } from '../support/world.ts'
import { type Case, cases, ok } from './support/cases.ts'

let owner: Caller
let amy: Caller
let guest: Caller
let open = 0
let closed = 0
let folder = 0
let starters = 0

const asOwner = () => owner
const asAmy = () => amy
const asGuest = () => guest
const bad = { status: 400, code: 'BAD_REQUEST' }
const denied = { status: 400, code: 'UNAUTHORIZED_PRINCIPAL' }
const missing = (var_name: string) => ({ status: 400, code: 'REQUEST_VARIABLE_MISSING', var_name })
const long = (length: number) => 'x'.repeat(length)

const update = () => `PATCH /streams/${open}`

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

describe('default channels and folders', () => {
  sharedDaemon({ flags: ['--memory'] }, async daemon => {
    owner = daemon.owner
    await person(daemon, 'admin', { role: 200 })
    amy = await person(daemon, 'amy')
    await person(daemon, 'bob')
    guest = await person(daemon, 'guest', { role: 600 })
    open = (await ok(amy, 'POST /channels/create', { name: 'open', subscribers: [amy.id] })).id
    closed = (await ok(amy, 'POST /channels/create', { name: 'closed', subscribers: [amy.id], invite_only: true })).id
    folder = (await ok(owner, 'POST /channel_folders/create', { name: 'Beds', description: '' })).channel_folder_id
    await ok(owner, 'POST /default_stream_groups/create', {
      group_name: 'starters',
      description: 'd',
      stream_names: [],
    })
    const { realm_default_stream_groups } = await ok(owner, 'POST /register', {
      fetch_event_types: ['default_stream_groups'],
    })
    starters = realm_default_stream_groups[0].id
  })
  describe('default channels', () => cases(defaults))
  describe('channel folders', () => cases(folders))
})
