// Custom profile fields, as the public server answers.

import { describe } from 'node:test'
import { type Caller, sharedDaemon } from '../support/daemon.ts'
import { person } from '../support/world.ts'
import { type Case, cases } from './support/cases.ts'

let owner: Caller
let amy: Caller

const asOwner = () => owner
const asAmy = () => amy
const bad = { status: 400, code: 'BAD_REQUEST' }
const denied = { status: 400, code: 'UNAUTHORIZED_PRINCIPAL' }
const missing = (var_name: string) => ({ status: 400, code: 'REQUEST_VARIABLE_MISSING', var_name })

const field = 'POST /realm/profile_fields'
const options = { a: { text: 'A', order: '1' }, b: { text: 'B', order: '2' } }
const fields: readonly Case[] = [
  ['members cannot add one, whatever they send', asAmy, field, {}, denied],
  ['a type is needed', asOwner, field, { name: 'x' }, missing('field_type')],
  ['an unknown type is refused', asOwner, field, { name: 'x', field_type: 1000 }, bad],
  ['a name is needed', asOwner, field, { field_type: 1 }, bad],
  ['a blank name is refused', asOwner, field, { name: ' ', field_type: 1 }, bad],
  ['a name of 41 characters is refused', asOwner, field, { name: 'x'.repeat(41), field_type: 1 }, bad],
  ['a hint of 81 characters is refused', asOwner, field, { name: 'x', hint: 'x'.repeat(81), field_type: 1 }, bad],
  ['a field is added', asOwner, field, { name: 'Phone', hint: 'number', field_type: 1 }, { id: 1 }],
  ['not twice', asOwner, field, { name: 'Phone', field_type: 1 }, bad],
  ['data of other types is ignored', asOwner, field, { name: 'Data', field_type: 1, field_data: { a: 1 } }, { id: 2 }],
  ['a list needs options', asOwner, field, { name: 'List', field_type: 3 }, bad],
  ['no empty ones', asOwner, field, { name: 'List', field_type: 3, field_data: {} }, bad],
  ['options that are none are refused', asOwner, field, { name: 'List', field_type: 3, field_data: 'invalid' }, bad],
  ['an option needs a text', asOwner, field, { name: 'List', field_type: 3, field_data: { a: { order: '1' } } }, bad],
  ['an option needs an order', asOwner, field, { name: 'List', field_type: 3, field_data: { a: { text: 'A' } } }, bad],
  [
    'an empty order is none',
    asOwner,
    field,
    { name: 'List', field_type: 3, field_data: { a: { text: 'A', order: '' } } },
    bad,
  ],
  [
    'an empty key is refused',
    asOwner,
    field,
    { name: 'List', field_type: 3, field_data: { '': { text: 'A', order: '1' } } },
    bad,
  ],
  [
    'an option has no more',
    asOwner,
    field,
    { name: 'List', field_type: 3, field_data: { a: { text: 'A', order: '1', more: '2' } } },
    bad,
  ],
  [
    'two alike are refused',
    asOwner,
    field,
    { name: 'List', field_type: 3, field_data: { a: options.a, b: options.a } },
    bad,
  ],
  ['a list is added', asOwner, field, { name: 'List', field_type: 3, field_data: options }, { id: 3 }],
  ['an unknown account is refused', asOwner, field, { field_type: 7, field_data: { subtype: 'none' } }, bad],
  [
    'an own account needs a pattern',
    asOwner,
    field,
    { name: 'Own', field_type: 7, field_data: { subtype: 'custom' } },
    bad,
  ],
  [
    'with a name in it',
    asOwner,
    field,
    { name: 'Own', field_type: 7, field_data: { subtype: 'custom', url_pattern: 'https://x.example/' } },
    bad,
  ],
  [
    'an own account is added',
    asOwner,
    field,
    { name: 'Own', field_type: 7, field_data: { subtype: 'custom', url_pattern: 'https://x.example/%(username)s' } },
    { id: 4 },
  ],
  ['a known account brings its name', asOwner, field, { field_type: 7, field_data: { subtype: 'github' } }, { id: 5 }],
  ['not twice', asOwner, field, { field_type: 7, field_data: { subtype: 'github' } }, bad],
  [
    'long text is not in the summary',
    asOwner,
    field,
    { name: 'Long', field_type: 2, display_in_profile_summary: true },
    bad,
  ],
  ['people are not either', asOwner, field, { name: 'People', field_type: 6, display_in_profile_summary: true }, bad],
  ['its name cannot be changed', asOwner, 'PATCH /realm/profile_fields/5', { name: 'GitHub' }, bad],
  [
    'its account cannot be changed',
    asOwner,
    'PATCH /realm/profile_fields/5',
    { field_data: { subtype: 'twitter' } },
    bad,
  ],
  [
    'what it has can be sent beside the summary',
    asOwner,
    'PATCH /realm/profile_fields/5',
    { name: 'GitHub username', hint: '', field_data: { subtype: 'github' }, display_in_profile_summary: true },
    {},
  ],
  ['an unknown field is refused', asOwner, 'PATCH /realm/profile_fields/99', { name: 'x' }, bad],
  ['a blank name is refused for an old one', asOwner, 'PATCH /realm/profile_fields/1', { name: '' }, bad],
  ['a name that is taken is refused', asOwner, 'PATCH /realm/profile_fields/1', { name: 'List' }, bad],
  ['an empty hint is taken', asOwner, 'PATCH /realm/profile_fields/1', { hint: '' }, {}],
  [
    'a second field is in the summary',
    asOwner,
    'PATCH /realm/profile_fields/1',
    { display_in_profile_summary: true },
    {},
  ],
  ['a third is not', asOwner, 'PATCH /realm/profile_fields/2', { display_in_profile_summary: true }, bad],
  ['an order without all is refused', asOwner, 'PATCH /realm/profile_fields', { order: [1, 2] }, bad],
  ['members cannot reorder them', asAmy, 'PATCH /realm/profile_fields', {}, denied],
  ['an order counts from 0', asOwner, 'PATCH /realm/profile_fields', { order: [5, 4, 3, 2, 1] }, {}],
  [
    'as it is listed',
    asAmy,
    'GET /realm/profile_fields',
    {},
    {
      custom_fields: [
        { id: 5, order: 0 },
        { id: 4, order: 1 },
        { id: 3, order: 2 },
        { id: 2, order: 3 },
        { id: 1, order: 4 },
      ],
    },
  ],
  [
    'unknown and repeated IDs are places',
    asOwner,
    'PATCH /realm/profile_fields',
    { order: [1, 99, 1, 2, 3, 4, 5] },
    {},
  ],
  [
    'of which the last counts',
    asAmy,
    'GET /realm/profile_fields',
    {},
    { custom_fields: [{ id: 1, order: 2 }, { id: 2, order: 3 }, {}, {}, {}] },
  ],
  ['an option that is none is refused', asAmy, 'PATCH /users/me/profile_data', { data: [{ id: 3, value: 'z' }] }, bad],
  ['an unknown field is refused', asAmy, 'PATCH /users/me/profile_data', { data: [{ id: 99, value: 'z' }] }, bad],
  [
    'a text of 51 characters is refused',
    asAmy,
    'PATCH /users/me/profile_data',
    { data: [{ id: 1, value: 'x'.repeat(51) }] },
    bad,
  ],
  ['a value is taken', asAmy, 'PATCH /users/me/profile_data', { data: [{ id: 3, value: 'a' }] }, {}],
  ['and removed', asAmy, 'DELETE /users/me/profile_data', { data: [3] }, {}],
  ['removed again', asAmy, 'DELETE /users/me/profile_data', { data: [3] }, {}],
  ['an empty option is refused', asAmy, 'PATCH /users/me/profile_data', { data: [{ id: 3, value: '' }] }, bad],
  ['an empty text is a value', asAmy, 'PATCH /users/me/profile_data', { data: [{ id: 1, value: '' }] }, {}],
  ['no value is refused', asAmy, 'PATCH /users/me/profile_data', { data: [{ id: 1, value: null }] }, bad],
  ['which is shown', asAmy, 'GET /users/me', {}, { profile_data: { 1: { value: '', rendered_value: '' } } }],
  [
    'an administrator removes it with an empty one',
    asOwner,
    () => `PATCH /users/${amy.id}`,
    {
      profile_data: [
        { id: 1, value: '' },
        { id: 3, value: '' },
      ],
    },
    {},
  ],
  ['and it is gone', asAmy, 'GET /users/me', {}, { profile_data: { 1: undefined } }],
  ['an unknown field is not', asAmy, 'DELETE /users/me/profile_data', { data: [99] }, bad],
  ['an unknown field cannot be deleted', asOwner, 'DELETE /realm/profile_fields/99', {}, bad],
  ['members cannot delete one', asAmy, 'DELETE /realm/profile_fields/1', {}, denied],
]

describe('profile fields', () => {
  sharedDaemon({ flags: ['--memory'] }, async daemon => {
    owner = daemon.owner
    await person(daemon, 'admin', { role: 200 })
    amy = await person(daemon, 'amy')
  })
  describe('custom profile fields', () => cases(fields))
})
