// Organizations of one daemon at different feature levels, and the events that clients get there.

import assert from 'node:assert/strict'
import { events as api } from '../../daemon/api/events.ts'
import { type Caller, sharedDaemon } from './daemon.ts'
import { openSpace, type TestSpace } from './spaces.ts'

/** Opens spaces of one daemon, with the content of the preset `dev`; each test gets its own. */
export function levelSpaces(): (level: number | string, params?: object) => Promise<TestSpace> {
  const daemon = sharedDaemon({ flags: ['--memory', '--preset', 'dev', '--max-spaces', '500'] })
  return (level, params = {}) => openSpace(daemon(), { level, ...params })
}

export interface Listener {
  readonly state: Record<string, any>
  /** Every event so far that was not returned before. */
  next(): Promise<Record<string, any>[]>
}

/** Registers a queue. */
export async function listen(caller: Caller, params: Record<string, unknown> = {}): Promise<Listener> {
  const reply = await caller.try(api.register, params)
  assert.equal(reply.body.result, 'success', reply.text)
  const state = reply.body as Record<string, any>
  let last = -1
  return {
    state,
    async next() {
      const { events } = await caller.call(api.get, { queue_id: state.queue_id, last_event_id: last, dont_block: true })
      last = events.at(-1)?.id ?? last
      return events
    },
  }
}
