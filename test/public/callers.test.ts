// The accounts that may call an operation at all, as clients of the public server know it: refused before anything about parameters.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Caller, sharedDaemon, type TestDaemon } from '../support/daemon.ts'
import { send } from '../support/http.ts'
import { person } from '../support/world.ts'
import { ask, cases, ok } from './support/cases.ts'

let daemon: TestDaemon
let amy: Caller
let guest: Caller
let bot: Caller

const refused = { status: 400, code: 'BAD_REQUEST' }

const forHumanMembers = [
  'POST /invites',
  'GET /invites',
  'DELETE /invites/1',
  'POST /invites/1/resend',
  'POST /invites/multiuse',
  'DELETE /invites/multiuse/1',
  'POST /realm/emoji/own',
  'POST /bots',
  'GET /bots',
  'PATCH /bots/1',
  'POST /bots/1/api_key/regenerate',
]

describe('callers', () => {
  sharedDaemon({ flags: ['--memory'] }, async started => {
    daemon = started
    amy = await person(daemon, 'amy')
    guest = await person(daemon, 'gus', { role: 600 })
    bot = await newBot('robot')
  })
  describe('bots', bots)
  describe('guests', guests)
  describe('members', members)
  describe('a posted form that names another method', overriding)
})

async function newBot(short_name: string): Promise<Caller> {
  const { user_id, api_key } = await ok(amy, 'POST /bots', { full_name: short_name, short_name })
  return new Caller(daemon.url, `${short_name}-bot@example.com`, api_key, user_id)
}

function bots(): void {
  for (const line of [
    'POST /users/me/apns_device_token',
    'DELETE /users/me/apns_device_token',
    'POST /users/me/android_gcm_reg_id',
    'DELETE /users/me/android_gcm_reg_id',
    'POST /mobile_push/test_notification',
    'POST /mobile_push/register',
    'POST /users/me/onboarding_steps',
    'POST /users/me/presence',
    'POST /users/me/status',
    'POST /users/1/status',
    'PATCH /settings',
    'PATCH /settings/display',
    'PATCH /settings/notifications',
    'PATCH /users/me/profile_data',
    'DELETE /users/me/profile_data',
    ...forHumanMembers,
  ])
    cases([[`${line} is not for them`, () => bot, line, {}, refused]])
}

function guests(): void {
  for (const line of forHumanMembers) cases([[`${line} is not for them`, () => guest, line, {}, refused]])
}

function members(): void {
  cases([
    ['POST /users is not for them', () => amy, 'POST /users', {}, { status: 400, code: 'UNAUTHORIZED_PRINCIPAL' }],
  ])
}

function overriding(): void {
  test('is carried out by that one', async () => {
    const fields = { method: 'PATCH', full_name: 'Fred' }
    const body = await ok(amy, `POST /bots/${bot.id}`, fields)
    assert.deepEqual([body.full_name, body.ignored_parameters_unsupported], ['Fred', ['method']])
  })

  test('is refused when the path does not take it', async () => {
    assert.equal((await ask(amy, `POST /bots/${bot.id}`, { method: 'PUT' })).status, 405)
    const { status, body } = await ask(amy, `POST /bots/${bot.id}`, { method: 'toString' })
    assert.equal(status, 405)
    assert.match(body.msg, /^This path does not take toString; use /)
  })

  test('is carried out as it was sent when its content type is not that of a form', async () => {
    const { status } = await send(`${daemon.url}/api/v1/bots/${bot.id}`, {
      method: 'POST',
      auth: amy.auth,
      headers: { 'Content-Type': 'text/plain' },
      body: 'method=PATCH&full_name=Fay',
    })
    assert.equal(status, 405)
  })
}
