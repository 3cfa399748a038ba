// Rows of a file whose texts are longer than a call may send.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DomainWorld } from '../../support/domain-world.ts'

test('scheduled messages and reminders are cut to the length of a message when they fall due', () => {
  const world = new DomainWorld()
  const user = world.account('amy')
  const due = world.now / 1000 + 60
  world.run(user, 'create-scheduled-message', {
    type: 'direct',
    to: [user.id],
    content: 'x',
    scheduled_delivery_timestamp: due,
  })
  const { first } = world.state.scheduledMessages
  world.state.scheduledMessages.put({ ...first!, content: '@**amy** '.repeat(40_000) })
  const { id, userId } = first!
  world.state.reminders.put({
    id,
    userId,
    messageId: null,
    note: '@**amy** '.repeat(40_000),
    content: 'x',
    html: 'x',
    due,
    failed: false,
  })
  world.heard(user)
  world.now += 60_000
  world.runJobs()
  const sent = world.heard(user).filter(({ type }) => type === 'message')
  assert.equal(sent.length, 2)
  for (const { message } of sent)
    assert.match(world.state.messages.get(message.id)!.content, /^[\s\S]{9,9990}\[message truncated\]$/)
})
