// The view that callers have of an organization: the same before and after a restart.

import assert from 'node:assert/strict'
import { events } from '../../../daemon/api/events.ts'
import { messages } from '../../../daemon/api/messages/messages.ts'
import type { Caller } from '../../support/daemon.ts'

/** Everything that a client gets when it starts, and the newest messages, for each of the callers. */
export async function viewsOf(callers: readonly Caller[]): Promise<unknown[]> {
  const views: unknown[] = []
  for (const caller of callers) views.push(await viewOf(caller))
  return views
}

async function viewOf(caller: Caller): Promise<unknown> {
  const { queue_id, ...state } = await caller.call(events.register, { all_public_streams: false })
  await caller.call(events.delete, { queue_id: queue_id! })
  const { messages: newest } = await caller.call(messages.list, { anchor: 'newest', num_before: 500 })
  // Each daemon has a port of its own, and messages of the system name it.
  return JSON.parse(JSON.stringify({ state, newest }).replace(/http:\/\/127\.0\.0\.1:\d+/g, 'http://natter'))
}

/** Says where they differ, and how. */
export function assertSameViews(
  callers: readonly Caller[],
  before: readonly unknown[],
  after: readonly unknown[],
): void {
  for (const [index, { email }] of callers.entries())
    assert.deepEqual(after[index], before[index], `a restart changes what ${email} sees`)
}
