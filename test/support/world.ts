// Makes the people a test needs through the API, and what they say and hear.

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { events } from '../../daemon/api/events.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { users } from '../../daemon/api/people/users.ts'
import { keysFrom } from '../../daemon/io/keys.ts'
import { Control } from './control.ts'
import { Caller, type TestDaemon } from './daemon.ts'

export interface PersonOptions {
  /** As the API numbers them; 400, a member, when absent. */
  readonly role?: number
}

/** A new account, `<name>@example.com`, and its caller. */
export async function person(daemon: TestDaemon, name: string, { role = 400 }: PersonOptions = {}): Promise<Caller> {
  const email = `${name}@example.com`
  const password = `${name} has a long password`
  const { user_id } = await daemon.owner.call(users.create, { email, password, full_name: `${name} example` })
  const key = await keyOf(daemon, user_id, { username: email, password })
  if (role !== 400) {
    const { body } = await daemon.owner.raw('PATCH', `/api/v1/users/${user_id}?role=${role}`)
    assert.equal(body.result, 'success', JSON.stringify(body))
  }
  return new Caller(daemon.url, email, key, user_id)
}

/** The first key of an account. From the secret of the store or the control plane, if it has one: checking a password takes longer. */
async function keyOf(daemon: TestDaemon, id: number, login: { username: string; password: string }): Promise<string> {
  const file = join(daemon.data, 'secret')
  if (existsSync(file)) return keysFrom(readFileSync(file, 'utf8').trim()).deriveKey({ id, keyVersion: 1 })
  if (!daemon.ready.control_token) return (await daemon.anonymous.call(users.fetchApiKey, login)).api_key
  return (await new Control(daemon).call('GET', `/accounts/${login.username}`)).account.api_key
}

type Listening = Parameters<Caller['call']>[1] & { readonly event_types?: string[] }

/** Registers a queue; the function returned gives the events since then, without their IDs. */
export async function listen(caller: Caller, types: string[], options: Partial<Listening> = {}) {
  const { queue_id } = await caller.call(events.register, { event_types: types, fetch_event_types: [], ...options })
  let last = -1
  return async () => {
    const reply = await caller.call(events.get, { queue_id, last_event_id: last, dont_block: true })
    last = reply.events.at(-1)?.id ?? last
    return reply.events.map(({ id, ...event }) => event as Record<string, any>)
  }
}

/** What `register` reports for these types. */
export async function fetched(caller: Caller, types: string[], options: object = {}): Promise<Record<string, any>> {
  return caller.call(events.register, { event_types: [], fetch_event_types: types, ...options })
}

/** New members called by these names, one after the other: their IDs ascend. */
export async function people<const N extends readonly string[]>(
  daemon: TestDaemon,
  ...names: N
): Promise<{ [I in keyof N]: Caller }> {
  const callers: Caller[] = []
  for (const name of names) callers.push(await person(daemon, name))
  return callers as { [I in keyof N]: Caller }
}

/** Sends a direct message; gives its ID. */
export async function direct(from: Caller, to: Caller | readonly Caller[], content: string): Promise<number> {
  const ids = [to].flat().map(caller => caller.id)
  return (await from.call(messages.send, { type: 'direct', to: ids, content })).id
}
