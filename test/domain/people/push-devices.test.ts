// Devices for push notifications: kept, forgotten, and notified through the outbox.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { bots } from '../../../daemon/api/bots/bots.ts'
import { pushDevices as api } from '../../../daemon/api/people/push-devices.ts'
import { users } from '../../../daemon/api/people/users.ts'
import { Control } from '../../support/control.ts'
import { Caller, sharedDaemon, type TestDaemon } from '../../support/daemon.ts'
import { fetched, person } from '../../support/world.ts'

let daemon: TestDaemon
let amy: Caller
let bob: Caller

sharedDaemon({ flags: ['--control'] }, async started => {
  daemon = started
  amy = await person(daemon, 'amy')
  bob = await person(daemon, 'bob')
})

const app = { appid: 'org.example.chat' }

async function notified(): Promise<string[]> {
  const { mails } = await new Control(daemon).call('GET', '/outbox')
  return mails.flatMap(({ push }: { push?: { kind: string; token: string } }) =>
    push ? `${push.kind} ${push.token}` : [],
  )
}

describe('push devices', () => {
  test('a token is registered once, whatever its case, and removed once', async () => {
    await amy.call(api.addApple, { token: 'C0FFEE', ...app })
    await amy.call(api.addApple, { token: 'c0ffee', ...app })
    await amy.call(api.removeApple, { token: 'c0ffEE' })
    await amy.refused(api.removeApple, { token: 'c0ffee' }, 'BAD_REQUEST')
    await amy.call(api.addAndroid, { token: 'Device one' })
    await amy.call(api.addAndroid, { token: 'Device one' })
    await amy.refused(api.removeAndroid, { token: 'device one' }, 'BAD_REQUEST')
    await amy.refused(api.removeApple, { token: 'd0' }, 'BAD_REQUEST')
    await amy.call(api.removeAndroid, { token: 'Device one' })
  })

  test('bad tokens and apps are refused', async () => {
    for (const token of ['', 'a'.repeat(4097)]) await amy.refused(api.addAndroid, { token }, 'BAD_REQUEST')
    for (const token of ['', 'xyz', 'abc', 'a'.repeat(4098)]) {
      await amy.refused(api.addApple, { token, ...app }, 'BAD_REQUEST')
      await amy.refused(api.removeApple, { token }, 'BAD_REQUEST')
    }
    for (const appid of ['', "'; DROP", 'org example'])
      await amy.refused(api.addApple, { token: 'c0', appid }, 'BAD_REQUEST')
  })

  test('bots have no devices', async () => {
    const { api_key, user_id } = await bob.call(bots.create, { full_name: 'Helper', short_name: 'helper' })
    const { user } = await bob.call(users.show, { user_id })
    const bot = new Caller(daemon.url, user.email, api_key, user_id)
    await bot.refused(api.addAndroid, { token: 'x' }, 'BAD_REQUEST')
    await bot.refused(api.test, {}, 'BAD_REQUEST')
    await bot.refused(api.register, account, 'BAD_REQUEST')
  })

  test('a test notification goes to one device or to all; without a device nothing is sent', async () => {
    await bob.call(api.test, {})
    assert.deepEqual(await notified(), [])
    await bob.call(api.addApple, { token: 'aa', ...app })
    await bob.call(api.addAndroid, { token: 'bb' })
    await bob.call(api.test, { token: 'bb' })
    assert.deepEqual(await notified(), ['fcm bb'])
    await bob.call(api.test, {})
    assert.deepEqual(await notified(), ['fcm bb', 'apns aa', 'fcm bb'])
    await amy.refused(api.test, { token: 'bb' }, 'INVALID_PUSH_DEVICE_TOKEN')
  })

  const account = {
    token_kind: 'fcm',
    push_account_id: 2408,
    push_public_key: 'key',
    bouncer_public_key: 'key',
    encrypted_push_registration: 'data',
  } as const

  test('a device for encrypted notifications is pending, and registering it again changes nothing', async () => {
    assert.deepEqual((await fetched(amy, ['push_device'])).push_devices, {})
    for (let round = 0; round < 2; round++) await amy.call(api.register, account)
    assert.deepEqual((await fetched(amy, ['push_device'])).push_devices, {
      2408: { status: 'pending', error_code: null },
    })
    assert.deepEqual((await fetched(bob, ['push_device'])).push_devices, {})
    const wrong = await amy.raw('POST', '/api/v1/mobile_push/register', { query: 'token_kind=pager' })
    assert.equal(wrong.status, 400)
  })

  test('an account has 100 of them', async () => {
    const cat = await person(daemon, 'cat')
    for (let id = 0; id < 100; id++) await cat.call(api.register, { ...account, push_account_id: id })
    await cat.refused(api.register, account, 'BAD_REQUEST')
  })
})
