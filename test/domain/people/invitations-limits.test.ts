// The limit on invitations that an organization can mail in a day.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { invitations as api } from '../../../daemon/api/people/invitations.ts'
import { Control } from '../../support/control.ts'
import { startDaemon } from '../../support/daemon.ts'

describe('POST /invites', () => {
  test('mails 1,000 invitations a day, those that were revoked or resent included', async t => {
    const flags = ['--control', '--clock', 'frozen@2030-01-01T12:00:00Z', '--durability', 'os']
    const daemon = await startDaemon(t, { flags })
    const { owner } = daemon
    const invite = (hundred: number) => ({
      invitee_emails: Array.from({ length: 100 }, (_, i) => `guest${hundred}-${i}@example.com`).join(','),
      stream_ids: [],
    })
    for (let hundred = 0; hundred < 10; hundred++) await owner.call(api.send, invite(hundred))
    const [first] = (await owner.call(api.list, {})).invites
    const { daily_limit_reached } = await owner.refused(api.send, invite(10), 'INVITATION_FAILED')
    assert.equal(daily_limit_reached, true)
    await owner.refused(api.resend, { invite_id: first!.id }, 'INVITATION_FAILED')
    await owner.call(api.revoke, { invite_id: first!.id })
    await owner.refused(api.send, { invitee_emails: 'one@example.com', stream_ids: [] }, 'INVITATION_FAILED')
    await new Control(daemon).advance('12h')
    await owner.call(api.send, invite(10))
  })
})
