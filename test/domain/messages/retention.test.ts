// Retention: what is older than the channel, or the organization, keeps goes by itself.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { roles } from '../../../daemon/domain/model/roles.ts'
import { DomainWorld } from '../../support/domain-world.ts'

const day = 86_400_000

function world(retention: number) {
  const world = new DomainWorld()
  const { organization } = world.state
  world.state.organization = {
    ...organization,
    settings: { ...organization.settings, message_retention_days: retention },
  }
  const amy = world.account('amy', roles.member)
  const channels = {
    inherits: world.channel('inherits', [amy]),
    forever: world.channel('forever', [amy], { retentionDays: -1 }),
    twoDays: world.channel('two days', [amy], { retentionDays: 2 }),
  }
  const send = () => ({
    inherits: world.send(amy, channels.inherits, 't', 'hi'),
    forever: world.send(amy, channels.forever, 't', 'hi'),
    twoDays: world.send(amy, channels.twoDays, 't', 'hi'),
    direct: world.run(amy, 'send-message', { type: 'direct', to: [amy.id], content: 'hi' }).id as number,
  })
  const left = (ids: Record<string, number>) =>
    Object.entries(ids)
      .filter(([, id]) => world.state.messages.has(id))
      .map(([name]) => name)
  return { world, amy, channels, send, left }
}

describe('message_retention_days', () => {
  test('realm_default, unlimited and a number of days are honoured, and direct messages follow the organization', () => {
    const { world: it, send, left } = world(5)
    const first = send()
    it.now += 2 * day - 1000
    it.runJobs()
    assert.deepEqual(left(first), ['inherits', 'forever', 'twoDays', 'direct'])
    it.now += 1000
    it.runJobs()
    assert.deepEqual(left(first), ['inherits', 'forever', 'direct'])
    const second = send()
    it.now += 3 * day
    it.runJobs()
    assert.deepEqual([left(first), left(second)], [['forever'], ['inherits', 'forever', 'direct']])
  })

  test('an organization that keeps everything loses only what channels do not keep', () => {
    const { world: it, send, left } = world(-1)
    const ids = send()
    it.now += 1000 * day
    it.runJobs()
    assert.deepEqual(left(ids), ['inherits', 'forever', 'direct'])
  })

  test('deletes in batches, without events', () => {
    const { world: it, amy, channels } = world(-1)
    const ids = Array.from({ length: 450 }, () => it.send(amy, channels.twoDays, 't', 'hi'))
    it.heard(amy)
    it.now += 2 * day
    it.runJobs()
    assert.deepEqual([ids.some(id => it.state.messages.has(id)), it.heard(amy)], [false, []])
  })

  test('a shorter period takes effect at once', () => {
    const { world: it, send, left, channels } = world(-1)
    const ids = send()
    it.now += 10 * day
    it.runJobs()
    it.state.channels.put({ ...it.state.channels.get(channels.inherits.id)!, retentionDays: 7 })
    it.runJobs()
    assert.deepEqual(left(ids), ['forever', 'direct'])
  })
  test('the owner of a file hears that the message that linked it is gone', () => {
    const { world: it, amy, channels } = world(-1)
    const attachment = {
      id: 1,
      userId: amy.id,
      name: 'a',
      path: '1/a/b/a',
      file: 'f',
      size: 3,
      contentType: 'text/plain',
    }
    it.state.attachments.put({ ...attachment, created: it.now, messages: [] })
    const id = it.send(amy, channels.twoDays, 't', '[a](/user_uploads/1/a/b/a)')
    assert.deepEqual(
      it.state.attachments.get(1)!.messages.map(message => message.id),
      [id],
    )
    it.heard(amy)
    it.now += 2 * day
    it.runJobs()
    const news = it.heard(amy).filter(event => event.type === 'attachment')
    assert.deepEqual(
      news.map(event => [event.op, event.attachment.messages]),
      [['update', []]],
    )
  })
})
