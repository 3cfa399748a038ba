// The level dial of a real daemon: how a level is chosen, and that a queue keeps the level of its registration.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { events } from '../../daemon/api/events.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { reactions } from '../../daemon/api/messages/reactions.ts'
import { server } from '../../daemon/api/organization/server.ts'
import { users } from '../../daemon/api/people/users.ts'
import { Control } from '../support/control.ts'
import { launch, newStoreFolder, sharedDaemon, spawnDaemon } from '../support/daemon.ts'
import { openSpace } from '../support/spaces.ts'

const daemon = sharedDaemon({ flags: ['--memory', '--preset', 'dev', '--level', '12.0', '--max-spaces', '40'] })

describe('natterd --level', () => {
  test('sets the level and the version that the server reports', async () => {
    const settings = await daemon().owner.call(server.settings, {})
    assert.deepEqual([settings.svc_feature_level, settings.svc_version], [498, '12.0-natter'])
    assert.equal(daemon().ready.level, 498)
  })

  for (const wrong of ['416', '510', '10.0', '12', 'newest', '-1'])
    test(`refuses ${wrong} and says what to give`, async () => {
      const child = spawnDaemon('', { flags: ['--memory', `--level=${wrong}`] })
      let said = ''
      child.stderr!.setEncoding('utf8').on('data', text => {
        said += text
      })
      const code = await new Promise(resolve => child.once('close', resolve))
      assert.equal(code, 2)
      assert.match(said, /--level takes a level from 417 to 509, a release \(11\.0, 12\.0, 12\.1\) or latest, not '/)
    })
})

describe('the level of a space', () => {
  const versions = [
    [417, 417, '11.0-dev'],
    ['11.0', 421, '11.0'],
    [424, 424, '11.0'],
    [425, 425, '12.0-dev'],
    [499, 499, '12.0'],
    ['12.1', 500, '12.1'],
    [502, 502, '13.0-dev'],
    ['latest', 509, '13.0-dev'],
  ] as const
  for (const [level, number, version] of versions)
    test(`${level} is ${number} with version ${version}`, async () => {
      const space = await openSpace(daemon(), { level })
      const settings = await space.owner.call(server.settings, {})
      assert.deepEqual([settings.svc_feature_level, settings.svc_version], [number, `${version}-natter`])
    })

  test('is that of the daemon unless the space or its seed names another', async () => {
    const levelOf = async (params: object) =>
      (await (await openSpace(daemon(), params)).owner.call(server.settings, {})).svc_feature_level
    assert.equal(await levelOf({}), 498)
    assert.equal(await levelOf({ preset: 'empty', seed: { level: '11.0' } }), 421)
    assert.equal(await levelOf({ preset: 'empty', seed: { level: '11.0' }, level: 450 }), 450)
    const { name } = await openSpace(daemon(), { level: 443 })
    assert.equal(await levelOf({ from: name }), 443)
  })

  test('must exist', async () => {
    const wrong = await new Control(daemon()).try('POST', '/spaces', { level: 600 })
    assert.match(String(wrong.body.msg), /^level: must be a level from 417 to 509/)
    const seed = await new Control(daemon()).try('POST', '/spaces', { seed: { level: '9.0' } })
    assert.match(String(seed.body.msg), /level must be a level from 417 to 509/)
  })
})

describe('a store at another level', () => {
  test('opens, and queues registered before keep the form of their events', async t => {
    const data = newStoreFolder()
    const first = await launch(data, { flags: ['--level', 'latest'] })
    t.after(() => first.process.kill('SIGKILL'))
    const { queue_id } = await first.owner.call(events.register, { event_types: ['reaction'] })
    assert.equal((await first.owner.call(users.me, {})).is_imported_stub, false)
    await first.stop()
    const second = await launch(data)
    t.after(() => second.process.kill('SIGKILL'))
    assert.equal('is_imported_stub' in (await second.owner.call(users.me, {})), false)
    const { queue_id: newer } = await second.owner.call(events.register, { event_types: ['reaction'] })
    const { id } = await second.owner.call(messages.send, { type: 'direct', to: [second.owner.id], content: 'hi' })
    await second.owner.call(reactions.add, { message_id: id, emoji_name: 'tada' })
    const seen = async (queue: string) =>
      (await second.owner.call(events.get, { queue_id: queue, last_event_id: -1, dont_block: true })).events.map(
        event => 'user' in event,
      )
    assert.deepEqual([await seen(queue_id), await seen(newer)], [[false], [true]])
    await second.stop()
  })
})
