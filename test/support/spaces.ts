// A space of a test's daemon, with callers and its control plane.

import { Control } from './control.ts'
import { Caller, type TestDaemon } from './daemon.ts'

export interface TestSpace {
  readonly name: string
  readonly url: string
  readonly token: string
  readonly control: Control
  readonly owner: Caller
  /** By the part of the address before the @. */
  as(name: string): Caller
}

interface Account {
  readonly user_id: number
  readonly email: string
  readonly api_key: string
}

export async function openSpace(daemon: TestDaemon, params: object = {}): Promise<TestSpace> {
  return spaceOf(await new Control(daemon).call('POST', '/spaces', params))
}

export function spaceOf(shown: Record<string, any>): TestSpace {
  const { name, url, control_token: token, owner, accounts, level } = shown
  const callerOf = ({ user_id, email, api_key }: Account) => new Caller(url, email, api_key, user_id, level)
  return {
    name,
    url,
    token,
    control: new Control({ url, ready: { control_token: token } }),
    owner: callerOf(owner),
    as: wanted => callerOf(accounts.find(({ email }: Account) => email.split('@', 1)[0] === wanted)),
  }
}
