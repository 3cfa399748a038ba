// Changes of one's own address, as users of the public server know them: a link that the new address gets confirms them.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Control } from '../support/control.ts'
import { type Caller, sharedDaemon, type TestDaemon } from '../support/daemon.ts'
import { mailWith } from '../support/outbox.ts'
import { person } from '../support/world.ts'
import { ask, ok } from './support/cases.ts'

let daemon: TestDaemon
let owner: Caller

describe('changing one’s address', () => {
  sharedDaemon({ flags: ['--control'] }, async started => {
    daemon = started
    owner = daemon.owner
  })

  test('takes effect when it is confirmed, once, and the former address is told', async () => {
    const eve = await person(daemon, 'eve')
    const token = await request(eve, 'eve.new@example.com')
    assert.equal(await addressOf(eve), 'eve@example.com')
    await ok(daemon.anonymous, 'POST /settings/email/confirm', { token })
    assert.equal(await addressOf(eve), 'eve.new@example.com')
    await mailWith(daemon, /To: eve@example\.com.*eve\.new@example\.com/s)
    assert.equal(await confirm(token), 'BAD_REQUEST')
  })

  test('ends with a newer request', async () => {
    const fay = await person(daemon, 'fay')
    const older = await request(fay, 'fay.1@example.com')
    const newer = await request(fay, 'fay.2@example.com')
    assert.equal(await confirm(older), 'BAD_REQUEST')
    await ok(daemon.anonymous, 'POST /settings/email/confirm', { token: newer })
    assert.equal(await addressOf(fay), 'fay.2@example.com')
  })

  test('ends after a day', async () => {
    const gil = await person(daemon, 'gil')
    const token = await request(gil, 'gil.new@example.com')
    await new Control(daemon).advance('25h')
    assert.equal(await confirm(token), 'BAD_REQUEST')
  })

  test('is refused when changes are disabled meanwhile, but not to administrators', async () => {
    const [hal, ida] = [await person(daemon, 'hal'), await person(daemon, 'ida', { role: 200 })]
    const token = await request(hal, 'hal.new@example.com')
    await ok(owner, 'PATCH /realm', { email_changes_disabled: true })
    assert.equal(await confirm(token), 'BAD_REQUEST')
    assert.equal((await ask(hal, 'PATCH /settings', { email: 'hal.2@example.com' })).body.code, 'BAD_REQUEST')
    await ok(ida, 'PATCH /settings', { email: 'ida.new@example.com' })
    await ok(owner, 'PATCH /realm', { email_changes_disabled: false })
  })

  test('is refused when the account is deactivated meanwhile', async () => {
    const jim = await person(daemon, 'jim')
    const token = await request(jim, 'jim.new@example.com')
    await ok(owner, `DELETE /users/${jim.id}`)
    assert.equal(await confirm(token), 'USER_DEACTIVATED')
  })

  test('is refused when someone else has the address by then', async () => {
    const [kim, lou] = [await person(daemon, 'kim'), await person(daemon, 'lou')]
    const [first, second] = [await request(kim, 'both@example.com'), await request(lou, 'Both@example.com')]
    await ok(daemon.anonymous, 'POST /settings/email/confirm', { token: second })
    assert.equal(await confirm(first), 'BAD_REQUEST')
  })

  test('is refused when the organization forbids the address by then', async () => {
    const max = await person(daemon, 'max')
    await ok(owner, 'PATCH /realm', { disallow_disposable_email_addresses: false })
    const token = await request(max, 'max@mailinator.com')
    await ok(owner, 'PATCH /realm', { disallow_disposable_email_addresses: true })
    assert.equal(await confirm(token), 'BAD_REQUEST')
  })
})

async function request(caller: Caller, email: string): Promise<string> {
  await ok(caller, 'PATCH /settings', { email })
  return (await mailWith(daemon, new RegExp(`To: ${email}.*confirm-email ([0-9a-f-]{36})`, 's')))[1]!
}

async function confirm(token: string): Promise<string | undefined> {
  return (await ask(daemon.anonymous, 'POST /settings/email/confirm', { token })).body.code
}

async function addressOf(caller: Caller): Promise<string> {
  return (await ok(owner, `GET /users/${caller.id}`)).user.delivery_email
}
