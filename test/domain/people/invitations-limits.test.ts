// Limits on invitations: how many are mailed in a day, how many links an account has, and what they name.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { invitations as api } from '../../../daemon/api/people/invitations.ts'
import { Control } from '../../support/control.ts'
import { startDaemon } from '../../support/daemon.ts'
import { DomainWorld } from '../../support/domain-world.ts'

describe('POST /invites', () => {
  test('mails 1,000 invitations a day, those that were revoked or resent included', async t => {
    const flags = ['--memory', '--clock', 'frozen@2030-01-01T12:00:00Z']
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
  test('names at most 1,000 channels and groups, and fewer for many addresses', () => {
    const world = new DomainWorld()
    const send = (params: Record<string, unknown>) => world.refused(world.owner, 'send-invites', params).message
    const stream_ids = Array.from({ length: 1000 }, (_, n) => n + 1)
    assert.equal(
      send({ invitee_emails: 'a@example.com', stream_ids, group_ids: [1] }),
      'stream_ids: must name at most 1000 channels, together with group_ids',
    )
    const channels = Array.from({ length: 40 }, (_, n) => world.channel(`channel ${n}`, []).id)
    const addresses = (count: number) => Array.from({ length: count }, (_, n) => `${n}@a.com`).join()
    assert.equal(
      send({ invitee_emails: addresses(501), stream_ids: channels }),
      'invitee_emails: must name at most 500 addresses for 40 channels and groups; send several requests',
    )
    world.run(world.owner, 'send-invites', { invitee_emails: addresses(500), stream_ids: [...channels, ...channels] })
    assert.deepEqual([...world.state.invitations.values()][0]!.channelIds, channels)
  })
})

describe('POST /invites/multiuse', () => {
  test('an account has at most 1,000 open links, and room again when one is revoked', () => {
    const world = new DomainWorld()
    const make = 'create-invite-link'
    for (let i = 0; i < 1000; i++) world.run(world.owner, make, {})
    assert.match(world.refused(world.owner, make, {}).message, /^You can have 1000 open invitation links/)
    world.run(world.owner, 'revoke-invite-link', { invite_id: 1 })
    world.run(world.owner, make, {})
  })
})
