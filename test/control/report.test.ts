// The report on a failed test has a bound, however many queues there are.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { events } from '../../daemon/api/events.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { sharedDaemon } from '../support/daemon.ts'
import { openSpace } from '../support/spaces.ts'

const daemon = sharedDaemon({ flags: ['--memory'] })

test('a report has the newest unread events, a share for each queue, and how many there are', async () => {
  const { owner, control } = await openSpace(daemon())
  for (const type of ['message', 'message', 'presence'])
    await owner.call(events.register, { event_types: [type], apply_markdown: true })
  const me = { type: 'direct' as const, to: [owner.id] }
  // Each has 80,000 characters of HTML.
  const large = '```spoiler\n```\n'.repeat(660)
  for (let i = 0; i < 60; i++) await owner.call(messages.send, { ...me, content: `${i}\n${large}` })
  const { queues } = await control.call('GET', '/report')
  const [first, second, third] = queues
  for (const { pending, events: listed } of [first, second]) {
    assert.equal(pending, 60)
    assert.ok(listed.length > 10 && listed.length < 59, `${listed.length} events`)
    assert.match(listed.at(-1).message.content, /^<p>59</)
  }
  assert.deepEqual([third.pending, third.events], [0, []])
})
