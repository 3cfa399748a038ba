// Operations without their service, the probe of public servers, and which apps are too old.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { settings } from '../../daemon/api/people/settings.ts'
import { sharedDaemon } from '../support/daemon.ts'
import { fetched } from '../support/world.ts'

const daemon = sharedDaemon({ flags: ['--memory'] })

describe('operations whose service is not configured', () => {
  for (const [line, open] of [
    ['POST /calls/zoom/create', false],
    ['GET /messages/summary', false],
    ['POST /jwt/fetch_api_key', true],
  ] as const)
    test(`${line} is refused with a reason`, async () => {
      const { owner, anonymous } = daemon()
      const [method, path] = line.split(' ') as [string, string]
      const refused = await owner.raw(method, `/api/v1${path}`)
      assert.deepEqual([refused.status, refused.body.code], [400, 'BAD_REQUEST'])
      const stranger = await anonymous.raw(method, `/api/v1${path}`)
      assert.equal(stranger.status, open ? 400 : 401)
    })

  test('no path of a push service is known', async () => {
    const { status, body } = await daemon().owner.raw('POST', '/api/v1/remotes/push/register')
    assert.deepEqual([status, body.result], [404, 'error'])
  })
})

describe('/health', () => {
  test('answers as the public server does', async () => {
    const { status, body } = await daemon().anonymous.raw('GET', '/health')
    assert.deepEqual([status, body], [200, { result: 'success', msg: '' }])
  })
})

describe('/compatibility', () => {
  for (const [agent, status] of [
    ['ZulipMobile/26.22.145 (Android 10)', 200],
    ['ZulipMobile/16.2.96 (Android 9)', 200],
    ['ZulipMobile/16.2.95 (Android 9)', 400],
    ['ZulipMobile/16 (Android 9)', 400],
    ['ZulipMobile/1.0 (iPhone OS 12)', 200],
    ['ZulipMobile (Android 9)', 200],
    ['ZulipInvalid/5.0', 400],
    ['ZulipPython/0.9', 200],
    ['curl/8.5.0', 200],
  ] as const)
    test(`${agent} gets ${status}`, async () => {
      const answer = await daemon().anonymous.raw('GET', '/compatibility', { headers: { 'User-Agent': agent } })
      assert.equal(answer.status, status, answer.text)
      assert.equal(answer.body.result, status === 200 ? 'success' : 'error')
    })

  test('asks for a User-Agent', async () => {
    const { status, body } = await daemon().anonymous.raw('GET', '/compatibility')
    assert.deepEqual([status, body.code], [400, 'BAD_REQUEST'])
  })
})

describe('POST /zcommand', () => {
  test('changes a setting once and says how to change it back', async () => {
    const { owner } = daemon()
    for (const [command, setting, value] of [
      ['/dark', 'color_scheme', 2],
      ['/light', 'color_scheme', 3],
      ['/fluid-width', 'fluid_layout_width', true],
      ['/fixed-width', 'fluid_layout_width', false],
    ] as const) {
      const changed = await owner.call(settings.command, { command })
      assert.match(changed.msg!, /^Changed to (.*)! To revert \1, type `\/[a-z-]+`\.$/)
      assert.equal((await fetched(owner, ['user_settings'])).user_settings[setting], value)
      assert.match(
        (await owner.call(settings.command, { command })).msg!,
        /^You are still in (?:dark theme|light theme|fluid width mode|fixed width mode)\.$/,
      )
    }
    const ping = await owner.raw('POST', '/api/v1/zcommand', { query: 'command=/ping' })
    assert.deepEqual(ping.body, { result: 'success', msg: '' })
    for (const command of ['dark', '/dance', '/', '/constructor'])
      await owner.refused(settings.command, { command }, 'BAD_REQUEST')
  })
})
