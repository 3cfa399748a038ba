// Queues of accounts that lose access: nothing that happens afterwards reaches a poll that was already waiting.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { subscriptions } from '../../daemon/api/channels/subscriptions.ts'
import { events } from '../../daemon/api/events.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { keys } from '../../daemon/api/people/keys.ts'
import { users } from '../../daemon/api/people/users.ts'
import { Control } from '../support/control.ts'
import { Caller, sharedDaemon } from '../support/daemon.ts'
import { person } from '../support/world.ts'

describe('GET /events that waits', () => {
  const daemon = sharedDaemon({ flags: ['--control', '--durability', 'os'] })

  async function waitingPoll(caller: Caller, channel: string) {
    await daemon().owner.call(subscriptions.subscribe, {
      subscriptions: [{ name: channel }],
      principals: [caller.id, daemon().owner.id],
    })
    const { queue_id } = await caller.call(events.register, { event_types: ['message'], fetch_event_types: [] })
    const poll = caller.call(events.get, { queue_id, last_event_id: -1 })
    await new Control(daemon()).waiting(queue_id)
    return { queue_id, poll }
  }

  const send = (to: string) =>
    daemon().owner.call(messages.send, { type: 'channel', to: [to] as never, topic: 'after', content: 'secret' })

  test('ends with no event when the account is deactivated, and its queues are gone', async () => {
    const amy = await person(daemon(), 'amy')
    const { queue_id, poll } = await waitingPoll(amy, 'ended')
    await daemon().owner.call(users.deactivate, { user_id: amy.id })
    await send('ended')
    assert.deepEqual((await poll).events, [])
    const { queues } = await new Control(daemon()).call('GET', '/queues')
    assert.deepEqual(
      queues.filter((queue: { queue_id: string }) => queue.queue_id === queue_id),
      [],
    )
  })

  test('ends with no event when the key changes; the new key goes on with the queue', async () => {
    const bob = await person(daemon(), 'bob')
    const { queue_id, poll } = await waitingPoll(bob, 'renewed')
    const { api_key } = await bob.call(keys.regenerate, {})
    await send('renewed')
    assert.deepEqual((await poll).events, [])
    const renewed = new Caller(daemon().url, bob.email, api_key, bob.id)
    const { events: heard } = await renewed.call(events.get, { queue_id, last_event_id: -1 })
    assert.equal(heard.length, 1)
  })
})
