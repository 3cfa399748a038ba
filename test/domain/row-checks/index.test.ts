// Rows that a client sends: they are small, and must not make work that is not.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { problemInRow } from '../../../daemon/api/checking.ts'
import { collectRows } from '../../../daemon/domain/model/saved-rows.ts'
import { State } from '../../../daemon/domain/model/state.ts'
import { checkState, checkTogether, loadChecked } from '../../../daemon/domain/row-checks/index.ts'
import { sectionRows } from '../../../daemon/domain/row-checks/sections.ts'
import { threePeople } from '../../support/domain-world.ts'
import { World } from '../../support/in-process.ts'
import { processorTime } from '../../support/processor-time.ts'

const rest = async () => {}

function rowsOf(change: (world: World) => void): Record<string, unknown[]> {
  const world = new World()
  change(world)
  return collectRows(world.state.save())
}

describe('rows of a file', () => {
  test('leave room for the IDs and versions of later calls', async () => {
    const groups = rowsOf(({ state }) => {
      const group = state.groups.find('name', 'role:nobody')!
      state.groups.put({ ...group, id: 2 ** 28, name: 'the last one', system: false })
    })
    const full: Record<string, Record<string, unknown[]>> = {
      channels: rowsOf(({ state }) => Object.assign(state.channels, { save: () => [{ last_id: 2 ** 28 }] })),
      // The row has the ID, and the head does not know of it.
      groups: { ...groups, groups: groups.groups!.with(0, { last_id: 1 }) },
      messages: rowsOf(({ state }) => {
        const [head] = state.messages.save()
        Object.assign(state.messages, { save: () => [{ ...(head as object), last_id: 2 ** 28 }] })
      }),
      presence: rowsOf(({ state, owner }) =>
        state.presence.put({ userId: owner.id, active: 1, connected: 1, updateId: 2 ** 48 }),
      ),
      users: rowsOf(({ state, owner }) => state.users.put({ ...owner, avatar: { ...owner.avatar, version: 2 ** 48 } })),
    }
    for (const [section, rows] of Object.entries(full))
      await assert.rejects(
        loadChecked(rows, rest),
        new RegExp(
          `^Error: ${section}: (the highest ID|updateId|version), \\d+, leaves no room for later ones; give at most \\d+$`,
        ),
      )
    const users = rowsOf(({ state, owner }) => state.users.put({ ...owner, id: 5_000_000, email: 'far@example.com' }))
    await assert.rejects(loadChecked(users, rest), /^Error: users: the highest ID, 5000000, .* give at most 2500000$/)
  })

  test('leave room in a store for longer than where it begins', () => {
    const { state, owner } = new World()
    const draft = (id: number) =>
      state.drafts.put({ id, userId: owner.id, kind: '', to: [], topic: '', content: 'x', timestamp: 1 })
    draft(2 ** 27)
    for (const _ of checkTogether(state, 'new'));
    draft(2 ** 27 + 1)
    assert.throws(() => [...checkTogether(state, 'new')], /^Error: drafts: the highest ID, 134217729, leaves no room/)
    checkState(state, 1)
    assert.throws(() => checkState(state, 2 ** 48), /^Error: the journal is at position 281474976710656, which leaves/)
    draft(2 ** 28)
    assert.throws(() => checkState(state, 1), /^Error: drafts: the highest ID, 268435456, .* give at most 201326592$/)
  })
})

test('a state without accounts has no rows at all', () => {
  checkState(new State(), 1)
  const state = new State()
  state.linkifiers.put({ id: 1, pattern: '(', template: 'https://example.com', order: 1 } as never)
  assert.throws(() => checkState(state, 1), /^Error: users: there are rows of an organization, but no accounts$/)
})

test('a row that calls could not answer with is refused', () => {
  const edit = { userId: 1, time: 1 }
  const { messages, profileFields } = sectionRows
  for (const details of [
    { edits: [{ ...edit, prevContent: 'x' }] },
    { edits: [{ ...edit, prevHtml: 'x' }] },
    { submessages: [{ id: 1, senderId: 1, msgType: 'widget', content: '{' }] },
  ])
    assert.match(messages.problem!({ conversationId: 1, details }) ?? '', /^details: /)
  for (const data of ['', 'null', '[]']) assert.match(profileFields.problem!({ type: 3, data }) ?? '', /^data: /)
  assert.equal(profileFields.problem!({ type: 1, data: '' }), undefined)
})

describe('rows that a client sends', () => {
  test('have user IDs near the number of users', async () => {
    const rows = rowsOf(({ state, owner }) => state.users.put({ ...owner, id: 2_500_000, email: 'far@example.com' }))
    await assert.rejects(
      loadChecked(rows, rest, { isSent: true }),
      /^Error: users: the ID 2500000 is too high for the number of rows; give IDs up to 50\d\d\d$/,
    )
    await loadChecked(rows, rest)
  })

  test('have at most 2,000 subgroups', async () => {
    const ids = Array.from({ length: 64 }, (_, n) => 1000 + n)
    const rows = rowsOf(({ state }) => {
      const group = state.groups.find('name', 'role:nobody')!
      for (const id of ids) {
        const subgroups = ids.filter(other => other < id)
        state.groups.put({ ...group, id, name: `group ${id}`, system: false, subgroups })
      }
    })
    await assert.rejects(
      loadChecked(rows, rest, { isSent: true }),
      /^Error: groups: there are 20\d\d subgroups in them, and at most 2000 are allowed$/,
    )
    await loadChecked(rows, rest)
  })

  test('have descriptions and profiles that can be shown in one answer', async () => {
    const formula = `$$${'x'.repeat(196)}$$`
    const described = rowsOf(({ state, owner }) => {
      const folder = { description: formula, creatorId: owner.id, dateCreated: 0, archived: false }
      for (let id = 1; id <= 51; id++) state.channelFolders.put({ ...folder, id, name: `folder ${id}`, order: id })
    })
    await assert.rejects(
      loadChecked(described, rest, { isSent: true }),
      /^Error: channels: the descriptions, with those of folders, can have 200000 characters with formatting/,
    )
    await loadChecked(described, rest)

    const profiles = rowsOf(({ state, owner }) => {
      const profile = Object.fromEntries(Array.from({ length: 51 }, (_, i) => [i + 1, formula]))
      state.users.put({ ...owner, profile })
    })
    await assert.rejects(
      loadChecked(profiles, rest, { isSent: true }),
      /^Error: users: the profiles can have 200000 characters with formatting/,
    )
  })

  test('name at most 100 people and groups in a setting', async () => {
    const value = { direct_members: [], direct_subgroups: Array.from({ length: 101 }, () => 1) }
    const rows = rowsOf(({ state }) => {
      const { permissions } = state.organization
      state.organization = { ...state.organization, permissions: { ...permissions, can_access_all_users_group: value } }
    })
    await assert.rejects(
      loadChecked(rows, rest, { isSent: true }),
      /^Error: organization: can_access_all_users_group names 101 people and groups; give at most 100$/,
    )
    await loadChecked(rows, rest)
  })

  test('have at most 1,000 spans in a subscription', async () => {
    const { world, amy } = threePeople()
    const { state } = world
    const row = state.subscriptions.get(world.channel('general', [amy]).id, amy.id)!
    const former = Array.from({ length: 1000 }, (_, at) => [2 * at, 2 * at + 2] as const)
    state.subscriptions.put({ ...row, spans: [...former, [2000]] })
    const rows = collectRows(state.save())
    await assert.rejects(
      loadChecked(rows, rest, { isSent: true }),
      /^Error: subscriptions: there are 1001 spans in a row/,
    )
    await loadChecked(rows, rest)
  })
})

test('a row with a million mistakes is refused by one of the first', async () => {
  const row = { id: 1, details: { edits: Array.from({ length: 1_000_000 }, () => ({})) } }
  const took = await processorTime(() =>
    assert.match(problemInRow('', sectionRows.messages.row, row) ?? '', /^\["details"\]\["edits"\]\[\d+\]/),
  )
  // All of them together took five seconds.
  assert.ok(took < 2000, `${took} ms`)
})
