// The clock of the server, which in a test is often frozen or moved: a relative time on the command line refers to it.

import { serverTime } from '../base/headers.ts'
import type { Account } from '../base/profile.ts'
import type { ReadNow } from '../base/times.ts'
import { type Answer, type CallOptions, send } from './client.ts'

/** Asks the server once, by a call that needs no account. */
export function createClock({ site, from }: Account, options: CallOptions): ReadNow {
  const request = { method: 'GET', path: '/api/v1/server_settings', fields: new Map<string, string>() }
  let answer: Promise<Answer> | undefined
  return async () => {
    answer ??= send(site === undefined ? { from } : { site, from }, request, options)
    return serverTime((await answer).headers) ?? new Date()
  }
}
