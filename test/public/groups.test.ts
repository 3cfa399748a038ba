// User groups, and what people keep for themselves: views, alert words, muted users, onboarding steps.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Caller, sharedDaemon } from '../support/daemon.ts'
import { listen, person } from '../support/world.ts'
import { type Case, cases, ok } from './support/cases.ts'

let owner: Caller
let amy: Caller
let bob: Caller
let guest: Caller
let team = 0
let inner = 0
let system: Record<string, number> = {}

const asOwner = () => owner
const asAmy = () => amy
const asBob = () => bob
const asGuest = () => guest
const bad = { status: 400, code: 'BAD_REQUEST' }
const missing = (var_name: string) => ({ status: 400, code: 'REQUEST_VARIABLE_MISSING', var_name })

const create = 'POST /user_groups/create'
const named = (name: string) => ({ name, description: '', members: [] })
const creating: readonly Case[] = [
  ['a name is needed', asAmy, create, { description: '', members: [] }, missing('name')],
  ['a description is needed', asAmy, create, { name: 'x', members: [] }, missing('description')],
  ['members are needed', asAmy, create, { name: 'x', description: '' }, missing('members')],
  ['an unknown member is refused', asAmy, create, { name: 'x', description: '', members: [1111] }, bad],
  ['a name that is taken is refused', asAmy, create, named('team'), bad],
  ['another case of it is not', asAmy, create, named('TEAM'), {}],
  ['a name of 101 characters is refused', asAmy, create, named('x'.repeat(101)), bad],
  ['a name of 100 characters is taken', asAmy, create, named('x'.repeat(100)), {}],
  ...['', ' ', '@test', 'role:manager', 'user:1', 'stream:1', 'channel:1'].map(
    (name): Case => [`the name "${name}" is refused`, asAmy, create, named(name), bad],
  ),
  ['guests cannot create groups', asGuest, create, named('g'), bad],
  ['an unknown subgroup is refused', asAmy, create, { ...named('s'), subgroups: [999] }, bad],
  ['an unknown group of a setting is refused', asAmy, create, { ...named('s'), can_join_group: 123456 }, bad],
  [
    'an unknown member of a setting is refused',
    asAmy,
    create,
    { ...named('s'), can_join_group: { direct_members: [1111], direct_subgroups: [] } },
    bad,
  ],
  [
    'an unknown subgroup of a setting is refused',
    asAmy,
    create,
    { ...named('s'), can_join_group: { direct_members: [], direct_subgroups: [999, 3] } },
    bad,
  ],
  [
    'an empty setting is nobody',
    asAmy,
    create,
    { ...named('nobody joins'), can_join_group: { direct_members: [], direct_subgroups: [] } },
    {},
  ],
]

const edit = () => `PATCH /user_groups/${team}`
const editing: readonly Case[] = [
  ['a change is needed', asAmy, edit, {}, bad],
  ['an unknown group is refused', asAmy, 'PATCH /user_groups/123456', { name: 'x' }, bad],
  ['others cannot change it', asBob, edit, { name: 'x' }, bad],
  ['guests are told that they cannot use groups', asGuest, edit, {}, bad],
  [
    'system groups cannot be changed',
    asOwner,
    () => `PATCH /user_groups/${system['role:members']}`,
    { name: 'x' },
    bad,
  ],
  ['a name is changed', asAmy, edit, { name: 'crew' }, {}],
  ['and the same again', asAmy, edit, { name: 'crew' }, {}],
  ['a name that is taken is refused', asAmy, edit, { name: 'inner' }, bad],
  ...['', 'x'.repeat(101), '@test', 'role:x', 'user:1', 'stream:1', 'channel:1'].map(
    (name): Case => [`the name "${name.slice(0, 9)}" is refused`, asAmy, edit, { name }, bad],
  ),
  [
    'an old value that is not the current one is refused',
    asAmy,
    edit,
    () => ({ can_join_group: { new: 3, old: 4 } }),
    { status: 400, code: 'EXPECTATION_MISMATCH' },
  ],
  ['deactivated true has no effect', asAmy, edit, { deactivated: true }, {}],
  [
    'a group in use cannot be deactivated',
    asAmy,
    () => `PATCH /user_groups/${team}`,
    () => ({ can_join_group: { new: inner } }),
    {},
  ],
  [
    'which says where',
    asAmy,
    () => `POST /user_groups/${inner}/deactivate`,
    {},
    () => ({
      status: 400,
      code: 'CANNOT_DEACTIVATE_GROUP_IN_USE',
      objections: [{ type: 'user_group', group_id: team, settings: ['can_join_group'] }],
    }),
  ],
  ['one in use no longer can', asAmy, edit, () => ({ can_join_group: { new: system['role:nobody'] } }), {}],
  ['it is deactivated', asAmy, () => `POST /user_groups/${inner}/deactivate`, {}, {}],
  ['not twice', asAmy, () => `POST /user_groups/${inner}/deactivate`, {}, bad],
  [
    'it cannot be a subgroup',
    asAmy,
    () => `POST /user_groups/${team}/members`,
    () => ({ add_subgroups: [inner] }),
    bad,
  ],
  ['it cannot be the value of a setting', asAmy, edit, () => ({ can_join_group: { new: inner } }), bad],
  ['its members are not listed', asAmy, () => `GET /user_groups/${inner}/members`, {}, bad],
  ['it can be renamed', asAmy, () => `PATCH /user_groups/${inner}`, { name: 'core' }, {}],
  ['and reactivated', asAmy, () => `PATCH /user_groups/${inner}`, { deactivated: false }, {}],
]

const ofTeam = () => `POST /user_groups/${team}/members`
const members: readonly Case[] = [
  ['something to do is needed', asAmy, ofTeam, {}, bad],
  ['empty lists are nothing to do', asAmy, ofTeam, { add: [], delete: [] }, bad],
  ['an unknown user is refused', asAmy, ofTeam, { add: [1111] }, bad],
  ['a member is not added twice', asAmy, ofTeam, () => ({ add: [amy.id] }), bad],
  ['one who is none is not removed', asAmy, ofTeam, () => ({ delete: [bob.id] }), bad],
  ['others cannot join', asBob, ofTeam, () => ({ add: [bob.id] }), bad],
  ['others cannot add anyone', asBob, ofTeam, () => ({ add: [guest.id] }), bad],
  ['a member is added', asAmy, ofTeam, () => ({ add: [bob.id] }), {}],
  ['and leaves', asBob, ofTeam, () => ({ delete: [bob.id] }), {}],
  ['a subgroup is added', asAmy, ofTeam, () => ({ add_subgroups: [inner] }), {}],
  ['not twice', asAmy, ofTeam, () => ({ add_subgroups: [inner] }), bad],
  ['a circle is refused', asAmy, () => `POST /user_groups/${inner}/subgroups`, () => ({ add: [team] }), bad],
  [
    'a group is no subgroup of its own',
    asAmy,
    () => `POST /user_groups/${inner}/subgroups`,
    () => ({ add: [inner] }),
    bad,
  ],
  ['subgroups are listed', asBob, () => `GET /user_groups/${team}/subgroups`, {}, () => ({ subgroups: [inner] })],
  [
    'of moderators there are two',
    asBob,
    () => `GET /user_groups/${system['role:moderators']}/subgroups`,
    {},
    () => ({ subgroups: [system['role:owners'], system['role:administrators']] }),
  ],
  [
    'one of them directly',
    asBob,
    () => `GET /user_groups/${system['role:moderators']}/subgroups`,
    { direct_subgroup_only: true },
    () => ({ subgroups: [system['role:administrators']] }),
  ],
  [
    'owners are moderators',
    asBob,
    () => `GET /user_groups/${system['role:moderators']}/members`,
    {},
    () => ({ members: [owner.id] }),
  ],
  [
    'but not directly',
    asBob,
    () => `GET /user_groups/${system['role:moderators']}/members`,
    { direct_member_only: true },
    { members: [] },
  ],
  [
    'whether one is a member',
    asBob,
    () => `GET /user_groups/${system['role:administrators']}/members/${owner.id}`,
    {},
    { is_user_group_member: true },
  ],
  [
    'whether directly',
    asBob,
    () => `GET /user_groups/${system['role:administrators']}/members/${owner.id}`,
    { direct_member_only: true },
    { is_user_group_member: false },
  ],
  ['of an unknown user nothing is said', asBob, () => `GET /user_groups/${team}/members/1111`, {}, bad],
  ['of an unknown group nothing is said', asBob, () => `GET /user_groups/123456/members/${bob.id}`, {}, bad],
  ['guests list no groups', asGuest, 'GET /user_groups', {}, bad],
  ['something to do is needed for subgroups', asAmy, () => `POST /user_groups/${team}/subgroups`, {}, bad],
  ['a subgroup is removed', asAmy, () => `POST /user_groups/${team}/subgroups`, () => ({ delete: [inner] }), {}],
  ['not twice', asAmy, () => `POST /user_groups/${team}/subgroups`, () => ({ delete: [inner] }), bad],
]

const view = 'POST /navigation_views'
const views: readonly Case[] = [
  ['a fragment is needed', asAmy, view, { is_pinned: true }, missing('fragment')],
  ['is_pinned is needed', asAmy, view, { fragment: 'inbox' }, missing('is_pinned')],
  ['a blank fragment is refused', asAmy, view, { fragment: '', is_pinned: true }, bad],
  ['a built-in view has no name', asAmy, view, { fragment: 'inbox', is_pinned: true, name: 'Mine' }, bad],
  ['a custom one needs a name', asAmy, view, { fragment: 'narrow/is/alerted', is_pinned: true }, bad],
  ['a custom one is added', asAmy, view, { fragment: 'narrow/is/alerted', is_pinned: true, name: 'Alerts' }, {}],
  ['not twice', asAmy, view, { fragment: 'narrow/is/alerted', is_pinned: true, name: 'Again' }, bad],
  ['a name is not taken twice', asAmy, view, { fragment: 'narrow/is/dm', is_pinned: true, name: 'Alerts' }, bad],
  ['a built-in one is added', asAmy, view, { fragment: 'recent', is_pinned: false }, {}],
  [
    'they are listed',
    asAmy,
    'GET /navigation_views',
    {},
    {
      navigation_views: [
        { fragment: 'narrow/is/alerted', name: 'Alerts' },
        { fragment: 'recent', name: null },
      ],
    },
  ],
  ['a name is changed', asAmy, 'PATCH /navigation_views/narrow/is/alerted', { name: 'Watched' }, {}],
  ['that of a built-in one is not', asAmy, 'PATCH /navigation_views/recent', { name: 'Mine' }, bad],
  [
    'an unknown one is not found',
    asAmy,
    'PATCH /navigation_views/nothing',
    { is_pinned: true },
    { status: 404, code: 'BAD_REQUEST' },
  ],
  ['one is deleted', asAmy, 'DELETE /navigation_views/narrow/is/alerted', {}, {}],
  ['not twice', asAmy, 'DELETE /navigation_views/narrow/is/alerted', {}, { status: 404, code: 'BAD_REQUEST' }],
]

const words: readonly Case[] = [
  ['a list is needed', asAmy, 'POST /users/me/alert_words', {}, missing('alert_words')],
  ['a word of 101 characters is refused', asAmy, 'POST /users/me/alert_words', { alert_words: ['x'.repeat(101)] }, bad],
  [
    'words are added without spaces around them',
    asAmy,
    'POST /users/me/alert_words',
    { alert_words: ['one ', '\n two'] },
    { alert_words: ['one', 'two'] },
  ],
  [
    'another case is the same word',
    asAmy,
    'POST /users/me/alert_words',
    { alert_words: ['ONE'] },
    { alert_words: ['one', 'two'] },
  ],
  [
    'empty words are left out',
    asAmy,
    'POST /users/me/alert_words',
    { alert_words: ['', ' '] },
    { alert_words: ['one', 'two'] },
  ],
  [
    'they are removed in any case',
    asAmy,
    'DELETE /users/me/alert_words',
    { alert_words: ['Two'] },
    { alert_words: ['one'] },
  ],
  [
    'unknown ones are not missed',
    asAmy,
    'DELETE /users/me/alert_words',
    { alert_words: ['none'] },
    { alert_words: ['one'] },
  ],
]

const mutes: readonly Case[] = [
  ['one cannot mute oneself', asAmy, () => `POST /users/me/muted_users/${amy.id}`, {}, bad],
  ['nor an unknown user', asAmy, 'POST /users/me/muted_users/9999', {}, bad],
  ['one who is not muted is not unmuted', asAmy, () => `DELETE /users/me/muted_users/${bob.id}`, {}, bad],
  ['a user is muted', asAmy, () => `POST /users/me/muted_users/${bob.id}`, {}, {}],
  ['not twice', asAmy, () => `POST /users/me/muted_users/${bob.id}`, {}, bad],
  ['and unmuted', asAmy, () => `DELETE /users/me/muted_users/${bob.id}`, {}, {}],
]

const step = 'POST /users/me/onboarding_steps'
const steps: readonly Case[] = [
  ['a step is needed', asAmy, step, {}, missing('onboarding_step')],
  ['an unknown one is refused', asAmy, step, { onboarding_step: 'invalid' }, bad],
  ['one is marked', asAmy, step, { onboarding_step: 'intro_inbox_view_modal' }, {}],
  ['and again', asAmy, step, { onboarding_step: 'intro_inbox_view_modal' }, {}],
]

function events(): void {
  test('a new group comes first, then its subgroups', async () => {
    const heard = await listen(bob, ['user_group'])
    const { group_id } = await ok(amy, create, { ...named('outer'), subgroups: [inner] })
    const [added, more] = await heard()
    assert.deepEqual([added!.op, added!.group.id, added!.group.direct_subgroup_ids], ['add', group_id, []])
    assert.deepEqual([more!.op, more!.direct_subgroup_ids], ['add_subgroups', [inner]])
  })

  test('each change of a group has an event of its own', async () => {
    const heard = await listen(bob, ['user_group'])
    await ok(amy, `PATCH /user_groups/${team}`, {
      name: 'band',
      description: 'loud',
      can_join_group: { new: system['role:members'] },
    })
    assert.deepEqual(
      (await heard()).map(({ op, data }) => [op, Object.keys(data).join()]),
      [
        ['update', 'name'],
        ['update', 'description'],
        ['update', 'can_join_group'],
      ],
    )
  })

  test('people who were added to a group get a message, and people who joined do not', async () => {
    const heard = await listen(bob, ['message'])
    await ok(amy, `POST /user_groups/${team}/members`, { add: [bob.id] })
    assert.equal((await heard()).length, 1)
    await ok(bob, `POST /user_groups/${team}/members`, { delete: [bob.id] })
    await ok(bob, `POST /user_groups/${team}/members`, { add: [bob.id] })
    assert.deepEqual(await heard(), [])
  })
}

describe('groups and personal records', () => {
  sharedDaemon({ flags: ['--memory'] }, async daemon => {
    owner = daemon.owner
    amy = await person(daemon, 'amy')
    bob = await person(daemon, 'bob')
    guest = await person(daemon, 'guest', { role: 600 })
    const { user_groups } = await ok(owner, 'GET /user_groups')
    system = Object.fromEntries(user_groups.map(({ name, id }: { name: string; id: number }) => [name, id]))
    const group = { description: '', members: [amy.id] }
    team = (await ok(amy, create, { name: 'team', ...group })).group_id
    inner = (await ok(amy, create, { name: 'inner', ...group })).group_id
  })
  describe('POST /user_groups/create', () => cases(creating))
  describe('PATCH /user_groups/{user_group_id}', () => cases(editing))
  describe('members and subgroups', () => cases(members))
  describe('navigation views', () => cases(views))
  describe('alert words', () => cases(words))
  describe('muted users', () => cases(mutes))
  describe('POST /users/me/onboarding_steps', () => cases(steps))
  describe('events', events)
})
