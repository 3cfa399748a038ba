// Custom profile fields: what the specification says of them.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { bots } from '../../../daemon/api/bots/bots.ts'
import { profileFields as api } from '../../../daemon/api/people/profile-fields.ts'
import { users } from '../../../daemon/api/people/users.ts'
import { Caller, sharedDaemon, type TestDaemon } from '../../support/daemon.ts'
import { fetched, listen, person } from '../../support/world.ts'

let daemon: TestDaemon
let owner: Caller
let amy: Caller
sharedDaemon({}, async started => {
  daemon = started
  owner = daemon.owner
  amy = await person(daemon, 'amy')
})

const options = { r: { text: 'Red', order: '1' }, g: { text: 'Green', order: '2' } }
let count = 0

async function field(field_type: 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8, more: object = {}): Promise<number> {
  const { id } = await owner.call(api.create, { field_type, name: `Field ${++count}`, ...more })
  return id
}

async function profileOf(caller: Caller): Promise<Record<string, unknown>> {
  return (await caller.call(users.me, {})).profile_data!
}

describe('POST /realm/profile_fields', () => {
  test('creates a field of each type and tells everyone the whole list', async () => {
    const heard = await listen(amy, ['custom_profile_fields'])
    await field(1, { hint: 'how?', required: true, display_in_profile_summary: true, editable_by_user: false })
    const [told] = await heard()
    const { custom_fields } = await amy.call(api.list, {})
    assert.deepEqual(told, { type: 'custom_profile_fields', fields: custom_fields })
    assert.deepEqual(custom_fields.at(-1), {
      id: 1,
      type: 1,
      order: 1,
      name: 'Field 1',
      hint: 'how?',
      field_data: '',
      required: true,
      editable_by_user: false,
      display_in_profile_summary: true,
    })
    for (const type of [2, 4, 5, 6, 8, 8] as const) await field(type)
    await field(3, { field_data: options })
    await field(7, { field_data: { subtype: 'custom', url_pattern: 'https://x.example/%(username)s' } })
    const built = await field(7, { name: '', field_data: { subtype: 'github' } })
    const state = await fetched(amy, ['custom_profile_fields'])
    assert.equal(state.custom_profile_fields.find((one: any) => one.id === built).name, 'GitHub username')
    assert.equal(state.custom_profile_field_types.PRONOUNS.id, 8)
  })

  test('refuses people who are no administrators, and what does not fit', async () => {
    await amy.refused(api.create, { field_type: 1, name: 'Mine' }, 'UNAUTHORIZED_PRINCIPAL')
    await field(1, { name: 'Once' })
    for (const bad of [
      { field_type: 1, name: 'Once' },
      { field_type: 1, name: ' ' },
      { field_type: 1 },
      { field_type: 1, name: 'x'.repeat(41) },
      { field_type: 1, name: 'Hint', hint: 'x'.repeat(81) },
      { field_type: 9, name: 'Nine' },
      { field_type: 3, name: 'More', field_data: { a: { text: 'A', order: '1', more: '2' } } },
      { field_type: 3, name: 'None' },
      { field_type: 3, name: 'Empty', field_data: {} },
      { field_type: 3, name: 'Same', field_data: { a: { text: 'A', order: '1' }, b: { text: 'A', order: '2' } } },
      { field_type: 3, name: 'Bad', field_data: { a: { text: 'A', order: 1 } } },
      { field_type: 3, name: 'Bad', field_data: { a: 'A' } },
      { field_type: 7, name: 'Bad', field_data: { subtype: 'unknown' } },
      { field_type: 7, name: 'Bad', field_data: { subtype: 'custom', url_pattern: 'https://x.example/' } },
      { field_type: 7, name: 'Bad', field_data: { subtype: 'custom', url_pattern: 'javascript:%(username)s' } },
      { field_type: 2, name: 'Long', display_in_profile_summary: true },
      { field_type: 6, name: 'People', display_in_profile_summary: true },
    ])
      await owner.refused(api.create, bad, 'BAD_REQUEST')
  })

  test('at most two fields are in the summary', async () => {
    const second = await field(4, { display_in_profile_summary: true })
    await owner.refused(api.create, { field_type: 1, name: 'Third', display_in_profile_summary: true }, 'BAD_REQUEST')
    await owner.call(api.update, { field_id: second, display_in_profile_summary: true, hint: 'still' })
    await owner.call(api.update, { field_id: second, display_in_profile_summary: false })
  })
})

describe('PATCH /users/me/profile_data', () => {
  test('takes each type’s values, renders text, and tells users who know the person', async () => {
    const bob = await person(daemon, 'bob')
    const heard = await listen(bob, ['realm_user'])
    const [short, long, list, date, link, people, account] = [
      await field(1),
      await field(2),
      await field(3, { field_data: options }),
      await field(4),
      await field(5),
      await field(6),
      await field(7, { field_data: { subtype: 'custom', url_pattern: 'https://x.example/%(username)s' } }),
    ]
    await amy.call(api.set, {
      data: [
        { id: short, value: ' <b>hi</b> ' },
        { id: long, value: 'long' },
        { id: list, value: 'r' },
        { id: date, value: '2024-02-29' },
        { id: link, value: 'https://example.com/amy' },
        { id: people, value: [bob.id, bob.id] },
        { id: account, value: 'amy' },
      ],
    })
    const profile = await profileOf(amy)
    assert.deepEqual(profile[short], { value: '<b>hi</b>', rendered_value: '<p>&lt;b&gt;hi&lt;/b&gt;</p>' })
    assert.deepEqual(profile[people], { value: `[${bob.id}]` })
    assert.deepEqual(profile[list], { value: 'r' })
    const told = await heard()
    assert.equal(told.length, 7)
    assert.deepEqual(told[0], {
      type: 'realm_user',
      op: 'update',
      person: { user_id: amy.id, custom_profile_field: { id: short, ...(profile[short] as object) } },
    })
    await amy.call(api.set, {
      data: [
        { id: short, value: '' },
        { id: list, value: 'r' },
      ],
    })
    await amy.call(api.clear, { data: [date] })
    assert.deepEqual(
      (await heard()).map(event => event.person.custom_profile_field),
      [
        { id: short, value: '', rendered_value: '' },
        { id: date, value: null },
      ],
    )
    const { members } = await bob.call(users.list, { user_ids: [amy.id], include_custom_profile_fields: true })
    assert.deepEqual(members[0]!.profile_data, await profileOf(amy))
  })

  test('refuses bad values, unknown fields, fields that are not theirs to edit, and bots; all or nothing', async () => {
    const [short, list, date, link, people, locked] = [
      await field(1),
      await field(3, { field_data: options }),
      await field(4),
      await field(5),
      await field(6),
      await field(1, { editable_by_user: false }),
    ]
    for (const bad of [
      { id: short, value: 'x'.repeat(51) },
      { id: short, value: [1] },
      { id: list, value: 'blue' },
      { id: date, value: '2023-02-29' },
      { id: date, value: 'yesterday' },
      { id: link, value: 'not a link' },
      { id: link, value: 'javascript:alert(1)' },
      { id: link, value: 'data:text/html,hello' },
      { id: people, value: [9999] },
      { id: people, value: 'amy' },
      { id: locked, value: 'x' },
      { id: 9999, value: 'x' },
    ])
      await amy.refused(api.set, { data: [{ id: short, value: 'good' }, bad] }, 'BAD_REQUEST')
    assert.ok(!(short in (await profileOf(amy))))
    await owner.call(api.set, { data: [{ id: locked, value: 'mine' }] })
    const bot = await owner.call(bots.create, { full_name: 'Some bot', short_name: 'some' })
    const caller = new Caller(daemon.url, 'some-bot@example.com', bot.api_key)
    await caller.refused(api.set, { data: [{ id: short, value: 'x' }] }, 'BAD_REQUEST')
    await caller.refused(api.clear, { data: [short] }, 'BAD_REQUEST')
  })
})

describe('DELETE /users/me/profile_data', () => {
  test('empties fields; what is empty already is no matter', async () => {
    const id = await field(8)
    await amy.call(api.set, { data: [{ id, value: 'they' }] })
    await amy.call(api.clear, { data: [id] })
    await amy.call(api.clear, { data: [id] })
    assert.ok(!(id in (await profileOf(amy))))
  })
})

describe('PATCH /users/{user_id}, profile_data', () => {
  test('administrators set any field of others', async () => {
    const id = await field(1, { editable_by_user: false })
    await owner.call(users.update, { user_id: amy.id, profile_data: [{ id, value: 'given' }] })
    assert.equal(((await profileOf(amy))[id] as any).value, 'given')
    await owner.call(users.update, { user_id: amy.id, profile_data: [{ id, value: '' }] })
    assert.ok(!(id in (await profileOf(amy))))
  })
})

describe('PATCH /realm/profile_fields/{field_id}', () => {
  test('removing an option removes the values that used it', async () => {
    const id = await field(3, { field_data: options })
    await amy.call(api.set, { data: [{ id, value: 'r' }] })
    const heard = await listen(amy, ['realm_user', 'custom_profile_fields'])
    await owner.call(api.update, { field_id: id, field_data: { g: options.g } })
    assert.deepEqual(
      (await heard()).map(event => event.type),
      ['custom_profile_fields', 'realm_user'],
    )
    assert.ok(!(id in (await profileOf(amy))))
  })

  test('is for administrators; built-in accounts keep their name', async () => {
    const id = await field(7, { field_data: { subtype: 'twitter' } })
    await amy.refused(api.update, { field_id: id, required: true }, 'UNAUTHORIZED_PRINCIPAL')
    await owner.call(api.update, { field_id: id, required: true })
    await owner.refused(api.update, { field_id: id, name: 'Other' }, 'BAD_REQUEST')
    await owner.refused(api.update, { field_id: 9999, name: 'Other' }, 'BAD_REQUEST')
  })
})

describe('PATCH /realm/profile_fields', () => {
  test('orders all fields, and refuses a list that is not all of them', async () => {
    const ids = (await owner.call(api.list, {})).custom_fields.map(one => one.id)
    await owner.call(api.reorder, { order: [...ids].reverse() })
    assert.deepEqual(
      (await amy.call(api.list, {})).custom_fields.map(one => one.id),
      [...ids].reverse(),
    )
    await owner.refused(api.reorder, { order: ids.slice(1) }, 'BAD_REQUEST')
    await owner.call(api.reorder, { order: [ids[0]!, 9999, ...ids] })
    const { custom_fields } = await amy.call(api.list, {})
    assert.deepEqual(
      custom_fields.map(one => [one.id, one.order]),
      ids.map((id, index) => [id, index + 2]),
      'the last place of an ID counts, and unknown ones are places',
    )
    await amy.refused(api.reorder, { order: ids }, 'UNAUTHORIZED_PRINCIPAL')
  })
})

describe('DELETE /realm/profile_fields/{field_id}', () => {
  test('deletes the field and every value', async () => {
    const id = await field(1)
    await amy.call(api.set, { data: [{ id, value: 'gone soon' }] })
    await amy.refused(api.delete, { field_id: id }, 'UNAUTHORIZED_PRINCIPAL')
    await owner.call(api.delete, { field_id: id })
    await owner.refused(api.delete, { field_id: id }, 'BAD_REQUEST')
    assert.ok(!(id in (await profileOf(amy))))
  })
})
