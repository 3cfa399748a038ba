// User status: text and emoji beside a name.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { userStatus as api } from '../../../daemon/api/people/user-status.ts'
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

const tada = { emoji_name: 'tada', emoji_code: '1f389', reaction_type: 'unicode_emoji' }

describe('POST /users/me/status', () => {
  test('text and emoji are set and cleared apart, and what was sent is told', async () => {
    const heard = await listen(bob, ['user_status'])
    await amy.call(api.update, { status_text: ' At lunch ', emoji_name: 'tada' })
    assert.deepEqual((await bob.call(api.get, { user_id: amy.id })).status, { status_text: 'At lunch', ...tada })
    await amy.call(api.update, { status_text: '' })
    await amy.call(api.update, { status_text: '' })
    assert.deepEqual((await fetched(bob, ['user_status'])).user_status, { [amy.id]: tada })
    await amy.call(api.update, { emoji_name: '' })
    assert.deepEqual((await bob.call(api.get, { user_id: amy.id })).status, {})
    const event = { type: 'user_status', user_id: amy.id }
    assert.deepEqual(await heard(), [
      { ...event, status_text: 'At lunch', ...tada },
      { ...event, status_text: '' },
      { ...event, status_text: '' },
      { ...event, emoji_name: '', emoji_code: '', reaction_type: 'unicode_emoji' },
    ])
  })

  test('nothing at all, too long a text, an unknown emoji or a code without a name are refused', async () => {
    for (const params of [
      {},
      { status_text: 'x'.repeat(61) },
      { emoji_name: 'no_such_emoji' },
      { emoji_name: 'tada', emoji_code: '1f44d', reaction_type: 'unicode_emoji' },
      { emoji_code: '1f389' },
    ])
      await amy.refused(api.update, params, 'BAD_REQUEST')
  })

  test('away is the opposite of presence_enabled', async () => {
    await bob.call(api.update, { away: true })
    assert.deepEqual((await amy.call(api.get, { user_id: bob.id })).status, { away: true })
    await bob.call(api.update, { away: false })
    assert.deepEqual((await amy.call(api.get, { user_id: bob.id })).status, {})
  })
})

describe('POST /users/{user_id}/status', () => {
  test('is for administrators, and for people only', async () => {
    await bob.refused(api.updateFor, { user_id: amy.id, status_text: 'x' }, 'BAD_REQUEST')
    await daemon.owner.call(api.updateFor, { user_id: amy.id, status_text: 'On leave' })
    assert.equal((await bob.call(api.get, { user_id: amy.id })).status.status_text, 'On leave')
    await daemon.owner.refused(api.updateFor, { user_id: 1, status_text: 'x' }, 'BAD_REQUEST')
    await daemon.owner.refused(api.updateFor, { user_id: 9999, status_text: 'x' }, 'BAD_REQUEST')
    await daemon.owner.refused(api.updateFor, { user_id: amy.id }, 'BAD_REQUEST')
  })
})

describe('GET /users/{user_id}/status', () => {
  test('an unknown user is refused', async () => {
    await amy.refused(api.get, { user_id: 9999 }, 'BAD_REQUEST')
  })
})
