// The calls of a bot: made again while the server is away, in their order, and each carried out once. The same for `natter bot run` and
// for tests.

import { keyHeader } from '../api/idempotency.ts'
import type { Request } from './bot.ts'
import { isPassingStatus } from './following.ts'
import type { Client } from './index.ts'
import { Repeater, type RepeaterOptions } from './repeater.ts'
import { NatterError } from './sender.ts'

export interface BotCalls {
  readonly request: Request
  /** Repeats what `request` is asked for. */
  readonly repeater: Repeater
}

export function createBotCalls(client: Client, options: Omit<RepeaterOptions, 'isPassing'>): BotCalls {
  const repeater = new Repeater({ ...options, isPassing })
  const change = (method: string, path: string, params: object, idempotencyKey: string) =>
    client.request(method, path, { ...params }, { idempotencyKey }).catch(error => {
      // Some calls take no key; a server that refuses it has done nothing.
      if (error.parameter === keyHeader && error.kind !== 'conflict') return client.request(method, path, { ...params })
      throw error
    })
  const request: Request = (method, path, params = {}) =>
    method === 'GET'
      ? repeater.read(() => client.request(method, path, params))
      : repeater.change(key => change(method, path, params, key))
  return { request, repeater }
}

/** The server is away, or has too much to do. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof NatterError) || error.status === 500) return false
  return error.status === 0 || isPassingStatus(error.status)
}
