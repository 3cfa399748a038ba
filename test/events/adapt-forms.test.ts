// Events for clients that asked for different forms, and how often each is written.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Adapter, buildClient } from '../../daemon/events/adapt.ts'
import { registration } from '../support/in-process.ts'

test('an event that is the same for several forms is written once', () => {
  let written = 0
  const event = { type: 'realm_emoji', op: 'update', toJSON: () => ({ type: 'realm_emoji', count: ++written }) }
  const other = { type: 'realm_emoji', op: 'add' }
  const adapter = new Adapter({ to: [1], event: client => (client.singleEmoji ? other : event) })
  const forms = [[], ['bulk_message_deletion'], ['empty_topic_name'], ['individual_emoji_changes']] as const
  const texts = forms.map(capabilities => {
    const client = buildClient({ ...registration([...capabilities]), includeSubscribers: 'false' })
    return adapter.textsFor(client, 1).map(text => JSON.parse(`{${text}`).count)
  })
  assert.deepEqual(texts, [[1], [1], [1], [undefined]])
})
