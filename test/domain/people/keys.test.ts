// API keys: replacing one's own, and the two development endpoints that give them out.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { keys } from '../../../daemon/api/people/keys.ts'
import { users } from '../../../daemon/api/people/users.ts'
import { Caller, sharedDaemon, startDaemon } from '../../support/daemon.ts'
import { person } from '../../support/world.ts'

const daemon = sharedDaemon()

describe('POST /users/me/api_key/regenerate', () => {
  test('gives a new key of 32 letters and digits; the old one is refused', async () => {
    const eve = await person(daemon(), 'eve')
    const { api_key } = await eve.call(keys.regenerate, {})
    assert.match(api_key, /^[A-Za-z0-9]{32}$/)
    await eve.refused(users.me, {}, 'INVALID_API_KEY')
    await new Caller(daemon().url, eve.email, api_key).call(users.me, {})
  })
})

describe('keys without a password', () => {
  test('are refused unless the daemon runs with --dev-auth', async () => {
    await daemon().anonymous.refused(keys.devFetch, { username: 'amy@example.com' }, 'BAD_REQUEST')
    await daemon().anonymous.refused(keys.devUsers, {}, 'BAD_REQUEST')
  })
})

describe('POST /dev_fetch_api_key and GET /dev_list_users', () => {
  test('give out the keys of active people', async t => {
    const daemon = await startDaemon(t, { flags: ['--dev-auth'] })
    const amy = await person(daemon, 'amy')
    const { api_key, user_id } = await daemon.anonymous.call(keys.devFetch, { username: 'Amy@example.com' })
    assert.deepEqual([api_key, user_id], [amy.key, amy.id])
    const { direct_admins, direct_users } = await daemon.anonymous.call(keys.devUsers, {})
    assert.deepEqual(direct_admins, [{ email: 'owner@example.com', realm_url: daemon.url }])
    assert.deepEqual(direct_users, [{ email: 'amy@example.com', realm_url: daemon.url }])
    await daemon.anonymous.refused(keys.devFetch, { username: 'none@example.com' }, 'AUTHENTICATION_FAILED')
    await daemon.owner.call(users.deactivate, { user_id: amy.id })
    await daemon.anonymous.refused(keys.devFetch, { username: 'amy@example.com' }, 'USER_DEACTIVATED')
  })
})
