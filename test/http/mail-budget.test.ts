// Limits on the mails that an account can cause and an address can get; with rate limits off.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { invitations } from '../../daemon/api/people/invitations.ts'
import { settings } from '../../daemon/api/people/settings.ts'
import { users } from '../../daemon/api/people/users.ts'
import { Control } from '../support/control.ts'
import { type Caller, sharedDaemon } from '../support/daemon.ts'
import { person } from '../support/world.ts'

describe('mail', () => {
  const daemon = sharedDaemon({ flags: ['--memory', '--clock', 'frozen@2030-01-01T00:00:00Z'] })
  const control = () => new Control(daemon())
  const mailsTo = async (to: string) => (await control().call('GET', `/outbox?to=${encodeURIComponent(to)}`)).mails
  const change = async (caller: Caller, email: string) => {
    const { status, body } = await caller.try(settings.update, { email })
    return status === 200 ? 'success' : `${status} ${body.code}`
  }
  const invite = (caller: Caller, ...emails: string[]) =>
    caller.try(invitations.send, { invitee_emails: emails.join(','), stream_ids: [] })

  test('confirms two new addresses an hour and five a day for one account, a guest or not', async () => {
    const gus = await person(daemon(), 'gus', { role: 600 })
    const asked: string[] = []
    const ask = async (times: number) => {
      for (let n = 0; n < times; n++) asked.push(await change(gus, `target${asked.length}@example.org`))
      return asked.splice(-times)
    }
    const hit = '429 RATE_LIMIT_HIT'
    assert.deepEqual(await ask(4), ['success', 'success', 'success', 'success'].fill(hit, 2))
    await control().advance('1h')
    assert.deepEqual(await ask(3), ['success', 'success', hit])
    await control().advance('1h')
    assert.deepEqual(await ask(2), ['success', hit])
    await control().advance('1h')
    assert.deepEqual(await ask(1), [hit])
    await control().advance('21h')
    assert.deepEqual(await ask(1), ['success'])
    // What was refused was not kept, and the answer says when to try again.
    const { headers, body } = await gus.try(settings.update, { email: 'late@example.org' })
    assert.ok(body['retry-after'] === undefined || Number(headers['retry-after']) > 0)
  })

  test('goes to one address five times a day, from any caller and by any endpoint', async () => {
    const { owner } = daemon()
    const victim = 'victim@example.org'
    assert.equal((await invite(owner, victim)).status, 200)
    const [invitation] = (await owner.call(invitations.list, {})).invites.filter(
      one => 'email' in one && one.email === victim,
    )
    for (let n = 0; n < 2; n++) await owner.call(invitations.resend, { invite_id: invitation!.id })
    await owner.call(invitations.revoke, { invite_id: invitation!.id })
    for (const name of ['una', 'ulf', 'uwe', 'udo'])
      await change(await person(daemon(), name), name === 'ulf' ? victim.toUpperCase() : victim)
    assert.equal((await invite(owner, 'other@example.org', victim)).body.code, 'RATE_LIMIT_HIT')
    assert.equal([...(await mailsTo(victim)), ...(await mailsTo(victim.toUpperCase()))].length, 5)
    assert.equal((await mailsTo('other@example.org')).length, 0)
    assert.equal((await invite(owner, 'other@example.org')).status, 200)
  })

  test('invites 200 people a day for one member; another member still can', async () => {
    const [may, max] = [await person(daemon(), 'may'), await person(daemon(), 'max')]
    const hundred = (from: number) => Array.from({ length: 100 }, (_, n) => `new${from + n}@example.net`)
    assert.equal((await invite(may, ...hundred(0))).status, 200)
    assert.equal((await invite(may, ...hundred(100))).status, 200)
    assert.equal((await invite(may, 'one-more@example.net')).body.code, 'RATE_LIMIT_HIT')
    assert.equal((await invite(max, 'one-more@example.net')).status, 200)
  })

  test('of a deactivation goes out in any case', async () => {
    const { owner } = daemon()
    const eva = await person(daemon(), 'eva')
    const notice = { user_id: eva.id!, deactivation_notification_comment: 'Goodbye' }
    for (let n = 0; n < 7; n++) {
      await owner.call(users.deactivate, notice)
      await owner.call(users.reactivate, { user_id: eva.id! })
    }
    assert.equal((await mailsTo('eva@example.com')).length, 7)
  })

  test('has fresh budgets after a reset', async () => {
    const { owner } = daemon()
    for (let round = 0; round < 2; round++) {
      for (const email of ['a@example.org', 'b@example.org']) assert.equal(await change(owner, email), 'success')
      assert.equal(await change(owner, 'c@example.org'), '429 RATE_LIMIT_HIT')
      await control().call('POST', '/reset')
    }
  })
})

describe('an address that is hidden', () => {
  const daemon = sharedDaemon({ flags: ['--memory'] })

  test('shows neither in invitations nor in a change of address; its owner gets a mail', async () => {
    const hal = await person(daemon(), 'hal')
    await hal.call(settings.update, { email_address_visibility: 4 })
    const mel = await person(daemon(), 'mel')
    const answers = async (email: string) => [
      (await mel.try(settings.update, { email })).text,
      (await mel.try(invitations.send, { invitee_emails: email, stream_ids: [] })).text,
      JSON.stringify(
        (await mel.call(invitations.list, {})).invites.map(invite => ('email' in invite ? invite.email : '')),
      ),
    ]
    assert.deepEqual(
      (await answers('hal@example.com')).map(text => text.replaceAll('hal@', 'nil@')).slice(0, 2),
      (await answers('nil@example.com')).slice(0, 2),
    )
    const { mails } = await new Control(daemon()).call('GET', '/outbox?to=hal@example.com')
    assert.equal(mails.length, 2)
    for (const { text } of mails) {
      assert.match(text, /Your account there has this address|You already have an account/)
      assert.doesNotMatch(text, /confirm-email|\/join\//)
    }
    // Whose address one may see is said, as before.
    const ann = await person(daemon(), 'ann')
    assert.match((await ann.try(settings.update, { email: 'mel@example.com' })).text, /mel@example\.com/)
    const refused = await ann.refused(
      invitations.send,
      { invitee_emails: 'mel@example.com', stream_ids: [] },
      'INVITATION_FAILED',
    )
    assert.match(JSON.stringify(refused), /already has an account/)
  })

  test('a placeholder is reserved, with an account or without', async () => {
    const { owner } = daemon()
    const placeholders = [`user${owner.id}@example.com`, 'user987654@example.com']
    const replies = await Promise.all(
      placeholders.map(async email => [
        (await owner.try(settings.update, { email })).text.replaceAll(email, '#'),
        (await owner.try(invitations.send, { invitee_emails: email, stream_ids: [] })).text.replaceAll(email, '#'),
      ]),
    )
    assert.deepEqual(replies[0], replies[1])
  })
})
