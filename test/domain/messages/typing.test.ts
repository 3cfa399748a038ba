// Typing notifications: told to those concerned, never stored.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { events } from '../../../daemon/api/events.ts'
import { messages } from '../../../daemon/api/messages/messages.ts'
import { typing as api } from '../../../daemon/api/messages/typing.ts'
import { organization } from '../../../daemon/api/organization/organization.ts'
import { userGroups } from '../../../daemon/api/people/user-groups.ts'
import { typing } from '../../../daemon/domain/messages/typing.ts'
import { sharedDaemon } from '../../support/daemon.ts'
import { threePeople } from '../../support/domain-world.ts'
import { people, person } from '../../support/world.ts'

describe('POST /typing', () => {
  const daemon = sharedDaemon()

  test('tells the recipients, and the sender, once each', async () => {
    const { owner } = daemon()
    const amy = await person(daemon(), 'amy')
    const queues = await Promise.all(
      [owner, amy].map(async caller => ({
        caller,
        ...(await caller.call(events.register, { event_types: ['typing'] })),
      })),
    )
    for (const op of ['start', 'stop'] as const)
      await owner.call(api.set, { op, type: 'direct', to: [amy.id, amy.id, owner.id] })
    for (const { caller, queue_id } of queues) {
      const { events: heard } = await caller.call(events.get, { queue_id, dont_block: true })
      const expected = ['start', 'stop'].map((op, index) => ({
        id: heard[index]!.id,
        type: 'typing',
        op,
        message_type: 'direct',
        sender: { user_id: owner.id, email: owner.email },
        recipients: [
          { user_id: owner.id, email: owner.email },
          { user_id: amy.id, email: amy.email },
        ],
      }))
      assert.deepEqual(heard, expected)
    }
  })

  test('makes one event for all who may know everyone, however many they are', () => {
    const { world, amy } = threePeople()
    const others = Array.from({ length: 50 }, (_, i) => world.account(`person${i}`).id)
    const signals = typing.commands.set!(world.context(amy), { op: 'start', type: 'direct', to: others } as never)
      .signals!
    const [all, guests] = [...signals]
    assert.equal([...all!.to].length, 51)
    assert.equal(all!.personal, undefined)
    assert.deepEqual([...guests!.to], [])
  })

  test('keeps no state: the journal does not grow', async () => {
    const { owner, data } = daemon()
    const journal = () => readFileSync(join(data, 'journal.ndjson'), 'utf8')
    const before = journal()
    await owner.call(api.set, { op: 'start', to: [owner.id] })
    assert.equal(journal(), before)
  })

  test('direct is the default, and needs at least one recipient', async () => {
    const { owner } = daemon()
    await owner.call(api.set, { op: 'stop', to: [owner.id] })
    for (const to of [undefined, [], Array(301).fill(owner.id)])
      assert.match((await owner.refused(api.set, { op: 'start', to }, 'BAD_REQUEST')).msg, /^to/)
  })

  test('a recipient that does not exist is refused, and its place named', async () => {
    const { owner } = daemon()
    for (const [to, place] of [
      [[999], 'to[0]'],
      [[owner.id, 999], 'to[1]'],
      [[owner.id, owner.id, 999], 'to[2]'],
    ] as const) {
      const { msg } = await owner.refused(api.set, { op: 'start', to }, 'BAD_REQUEST')
      assert.ok(msg.startsWith(place), msg)
    }
  })

  test('needs no right to send direct messages', async () => {
    const { owner } = daemon()
    const [ann, ben] = await people(daemon(), 'typing-ann', 'typing-ben')
    const { user_groups } = await owner.call(userGroups.list, {})
    const group = (name: string) => user_groups.find(one => one.name === name)!.id
    const permit = (name: string) =>
      owner.call(organization.update, { direct_message_permission_group: { new: group(name) } })
    await permit('role:nobody')
    await ann.call(api.set, { op: 'start', to: [ben.id] })
    await ann.refused(messages.send, { type: 'direct', to: [ben.id], content: 'x' }, 'BAD_REQUEST')
    await permit('role:everyone')
  })

  test('`to` is always a list, even for one recipient', async () => {
    const { owner } = daemon()
    assert.match(
      (await owner.refused(api.set, { op: 'start', to: owner.id }, 'BAD_REQUEST')).msg,
      /^to: must be a list/,
    )
  })

  test('`private` is no longer accepted', async () => {
    await daemon().owner.refused(api.set, { op: 'start', type: 'private', to: [2] }, 'BAD_REQUEST')
  })

  test('a channel message without stream_id or topic gives BAD_REQUEST', async () => {
    const { owner } = daemon()
    for (const type of ['stream', 'channel']) {
      assert.match((await owner.refused(api.set, { op: 'start', type, topic: 'x' }, 'BAD_REQUEST')).msg, /^stream_id/)
      assert.match(
        (await owner.refused(api.set, { op: 'start', type, stream_id: 1 }, 'BAD_REQUEST')).msg,
        /^topic|^stream_id/,
      )
    }
  })
})

test('that a message is edited is told to subscribers who can read it', () => {
  const { world, amy, bob, cat } = threePeople()
  const plans = world.channel('plans', [amy, bob], { inviteOnly: true, historyPublic: false })
  const id = world.send(amy, plans, 'a secret', 'x')
  world.subscribe(cat, plans)
  for (const reader of [bob, cat]) world.heard(reader)
  world.run(amy, 'set-typing-status-for-message-edit', { message_id: id, op: 'start' })
  assert.deepEqual(
    [bob, cat].map(reader => world.heard(reader).map(({ type }) => type)),
    [['typing_edit_message'], []],
  )
})
