// Muted users.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { mutedUsers } from '../../../daemon/api/people/muted-users.ts'
import { type Caller, sharedDaemon, type TestDaemon } from '../../support/daemon.ts'
import { fetched, listen, person } from '../../support/world.ts'

let daemon: TestDaemon
let amy: Caller
let bob: Caller

sharedDaemon({}, async started => {
  daemon = started
  amy = await person(daemon, 'amy')
  bob = await person(daemon, 'bob')
})

describe('POST and DELETE /users/me/muted_users/{muted_user_id}', () => {
  test('mutes once, unmutes once, and tells the list to its owner only', async () => {
    const heard = await listen(amy, ['muted_users'])
    const others = await listen(bob, ['muted_users'])
    await amy.call(mutedUsers.mute, { muted_user_id: bob.id })
    await amy.refused(mutedUsers.mute, { muted_user_id: bob.id }, 'BAD_REQUEST')
    const { muted_users } = await fetched(amy, ['muted_users'])
    assert.deepEqual(muted_users[0].id, bob.id)
    await amy.call(mutedUsers.unmute, { muted_user_id: bob.id })
    await amy.refused(mutedUsers.unmute, { muted_user_id: bob.id }, 'BAD_REQUEST')
    assert.deepEqual(await heard(), [
      { type: 'muted_users', muted_users },
      { type: 'muted_users', muted_users: [] },
    ])
    assert.deepEqual(await others(), [])
  })

  test('oneself and unknown users cannot be muted; bots can', async () => {
    await amy.refused(mutedUsers.mute, { muted_user_id: amy.id }, 'BAD_REQUEST')
    await amy.refused(mutedUsers.mute, { muted_user_id: 9999 }, 'BAD_REQUEST')
    await amy.call(mutedUsers.mute, { muted_user_id: 1 })
  })
})
