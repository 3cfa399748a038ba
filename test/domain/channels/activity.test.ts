// Channels in which nothing was said for long: is_recently_active, and who hears of it.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { roles } from '../../../daemon/domain/model/roles.ts'
import type { Channel, User } from '../../../daemon/domain/model/state.ts'
import { DomainWorld } from '../../support/domain-world.ts'

const day = 86_400_000

function world() {
  const it = new DomainWorld()
  const amy = it.account('amy')
  const bob = it.account('bob')
  const admin = it.account('ada', roles.administrator)
  const open = it.channel('open', [amy])
  const secret = it.channel('secret', [amy], { inviteOnly: true })
  const pass = (days: number) => {
    it.now += days * day
    it.runJobs()
  }
  const active = () =>
    it
      .section(amy, 'stream')
      .streams.filter((stream: any) => stream.is_recently_active)
      .map(({ name }: any) => name)
  const heard = (user: User) =>
    it
      .heard(user)
      .filter(({ property }) => property === 'is_recently_active')
      .map(({ stream_id, value }) => [stream_id, value])
  return { it, amy, bob, admin, open, secret, pass, active, heard }
}

const told = (value: boolean, ...channels: Channel[]) => channels.map(({ id }) => [id, value])

describe('is_recently_active', () => {
  test('new channels are active; 180 days without a message end it, for everyone who knows of the channel', () => {
    const { bob, admin, open, secret, pass, active, heard } = world()
    pass(179)
    assert.deepEqual(active(), ['open', 'secret'])
    pass(1)
    assert.deepEqual(active(), [])
    assert.deepEqual(heard(admin), told(false, open, secret))
    assert.deepEqual(heard(bob), told(false, open))
    pass(30)
    assert.deepEqual(heard(admin), [])
  })

  test('what is said puts it off, and wakes a quiet channel at once', () => {
    const { it, amy, bob, open, secret, pass, active, heard } = world()
    pass(100)
    it.send(amy, open, 't', 'hi')
    pass(100)
    assert.deepEqual(active(), ['open'])
    pass(80)
    assert.deepEqual(active(), [])
    heard(amy)
    it.send(amy, it.state.channels.get(secret.id)!, 't', 'hi')
    assert.deepEqual([active(), heard(amy)], [['secret'], told(true, secret)])
    it.send(amy, secret, 't', 'again')
    assert.deepEqual([heard(amy), heard(bob)], [[], told(false, open)])
  })

  test('a moved message wakes its new channel at once; a deleted one no longer counts from the next day on', () => {
    const { it, amy, open, secret, pass, active } = world()
    pass(180)
    const quiet = { send_notification_to_old_thread: false, send_notification_to_new_thread: false }
    const message_id = it.send(amy, it.state.channels.get(open.id)!, 't', 'hi')
    it.run(amy, 'update-message', { message_id, stream_id: secret.id, ...quiet })
    assert.deepEqual(active(), ['open', 'secret'])
    pass(1)
    assert.deepEqual(active(), ['secret'])
    it.subscribe(it.owner, secret)
    it.run(it.owner, 'delete-message', { message_id })
    pass(1)
    assert.deepEqual(active(), [])
  })
})
