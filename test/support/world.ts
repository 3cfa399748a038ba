// Making of worlds: people who call the API, and what they hear.

import { events } from '../../daemon/api/events.ts'
import type { Caller, TestDaemon } from './daemon.ts'

/** New members called by these names, with addresses at example.com. */
export async function people<const N extends readonly string[]>(
  daemon: TestDaemon,
  ...names: N
): Promise<{ [I in keyof N]: Caller }> {
  const callers = await Promise.all(names.map(name => daemon.user(name)))
  return callers as { [I in keyof N]: Caller }
}

/** Events of these types that come to the caller's new queue from now on, at each asking the new ones. */
export async function listen(caller: Caller, types: readonly string[], capabilities: Record<string, boolean> = {}) {
  const { queue_id } = await caller.call(events.register, {
    event_types: [...types],
    client_capabilities: capabilities,
    include_subscribers: 'true',
  })
  let last = -1
  return async (): Promise<Record<string, any>[]> => {
    const reply = await caller.call(events.get, { queue_id, last_event_id: last, dont_block: true })
    last = reply.events.at(-1)?.id ?? last
    return reply.events.map(({ id, ...event }) => event)
  }
}
