import assert from 'node:assert/strict'
import { test } from 'node:test'
import { collectRows, rowsForCopy } from '../../../daemon/domain/model/saved-rows.ts'
import { State } from '../../../daemon/domain/model/state.ts'
import { World } from '../../support/in-process.ts'

test('a copy has no invitation and no change of an address, whose links would work in the first world', () => {
  const world = new World()
  const { owner, state } = world
  world.run(owner, 'create-invite-link', { invite_as: owner.role })
  world.run(owner, 'send-invites', { invitee_emails: 'new@example.com', stream_ids: [] })
  world.run(owner, 'update-settings', { email: 'other@example.com' })
  const tokens = [...state.invitations.values(), ...state.emailChanges.values()].map(({ token }) => token)
  assert.equal(tokens.length, 3)
  const rows = collectRows(rowsForCopy(state.save()))
  for (const token of tokens) assert.ok(!JSON.stringify(rows).includes(token))
  const copy = State.load(rows)
  assert.equal(copy.users.size, state.users.size)
  assert.equal(copy.invitations.nextId, state.invitations.nextId, 'IDs are not used twice')
  assert.equal(state.invitations.size, 2, 'the first world keeps its own')
})
