// Making of worlds: accounts through the API, as their own callers.

import { users } from '../../daemon/api/users.ts'
import { Caller, type TestDaemon } from './daemon.ts'

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
