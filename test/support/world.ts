// Making of worlds: accounts through the API, as their own callers.

import { after, before } from 'node:test'
import { events } from '../../daemon/api/events.ts'
import { users } from '../../daemon/api/users.ts'
import { Caller, type DaemonOptions, startDaemon, type TestDaemon } from './daemon.ts'

const password = 'correct horse battery'

/** A new member called by this name, with an address at example.com. */
export async function person(daemon: TestDaemon, name: string): Promise<Caller> {
  const email = `${name}@example.com`
  const { user_id } = await daemon.owner.call(users.create, { email, password, full_name: `${name} Example` })
  const { api_key } = await daemon.nobody.call(users.fetchApiKey, { username: email, password })
  return new Caller(daemon.url, email, api_key, user_id)
}

export async function people<const N extends readonly string[]>(
  daemon: TestDaemon,
  ...names: N
): Promise<{ [I in keyof N]: Caller }> {
  const callers = await Promise.all(names.map(name => person(daemon, name)))
  return callers as { [I in keyof N]: Caller }
}

/** One daemon for all tests of a file or suite: call it at their level, ask it inside the tests. */
export function sharedDaemon(options: DaemonOptions = {}): () => TestDaemon {
  let daemon: TestDaemon | undefined
  const ends: (() => Promise<void>)[] = []
  before(async () => {
    daemon = await startDaemon({ after: (end: () => Promise<void>) => ends.push(end) } as never, options)
  })
  after(async () => {
    for (const end of ends) await end()
  })
  return () => daemon!
}

/** Events of these types that come to the caller's new queue from now on. */
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
