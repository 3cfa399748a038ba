// Keys without a password, on a daemon for development.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { keys } from '../../../daemon/api/people/keys.ts'
import { users } from '../../../daemon/api/people/users.ts'
import { startDaemon } from '../../support/daemon.ts'
import { person } from '../../support/world.ts'

describe('POST /dev_fetch_api_key and GET /dev_list_users', () => {
  test('give out the keys of active people', async t => {
    const daemon = await startDaemon(t, { flags: ['--dev-auth'] })
    const amy = await person(daemon, 'amy')
    const { api_key, user_id } = await daemon.nobody.call(keys.devFetch, { username: 'Amy@example.com' })
    assert.deepEqual([api_key, user_id], [amy.key, amy.id])
    const { direct_admins, direct_users } = await daemon.nobody.call(keys.devUsers, {})
    assert.deepEqual(direct_admins, [{ email: 'owner@example.com', realm_url: daemon.url }])
    assert.deepEqual(direct_users, [{ email: 'amy@example.com', realm_url: daemon.url }])
    await daemon.nobody.refused(keys.devFetch, { username: 'none@example.com' }, 'AUTHENTICATION_FAILED')
    await daemon.owner.call(users.deactivate, { user_id: amy.id })
    await daemon.nobody.refused(keys.devFetch, { username: 'amy@example.com' }, 'USER_DEACTIVATED')
  })
})
