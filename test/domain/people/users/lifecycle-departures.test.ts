// Events for others when an account and its bots are deactivated.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { roles } from '../../../../daemon/domain/model/roles.ts'
import type { Announcement } from '../../../../daemon/domain/resource.ts'
import { threePeople } from '../../../support/domain-world.ts'

test('with many bots in many private channels, others hear of some of them channel by channel', () => {
  const { world, amy } = threePeople()
  const bot = { type: 1, ownerId: amy.id, system: false } as never
  const bots = Array.from({ length: 15 }, (_, n) => world.join(roles.member, { email: `b${n}@example.com`, bot }))
  const channels = Array.from({ length: 90 }, (_, n) => world.channel(`c${n}`, [amy, ...bots], { inviteOnly: true }))
  const heard = new Map<number, number>()
  let accounts = 0
  world.tell = ({ event }: Announcement) => {
    const { type, op, user_ids, person } = (
      typeof event === 'function' ? event({ archivedChannels: true } as never) : event
    ) as Record<string, any>
    if (type === 'subscription' && op === 'peer_remove') heard.set(user_ids[0], (heard.get(user_ids[0]) ?? 0) + 1)
    if (type === 'realm_user' && person.is_active === false) accounts++
  }
  world.run(amy, 'deactivate-own-user', {})
  assert.equal(heard.get(amy.id), channels.length)
  assert.equal(
    [...heard.values()].reduce((a, b) => a + b),
    990,
  )
  assert.equal(accounts, 16)
})
