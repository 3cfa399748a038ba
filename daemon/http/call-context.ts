// The context of a command: the call as it knows it, beside the parameters.

import { limits } from '../domain/limits.ts'
import type { User } from '../domain/model/state.ts'
import type { Context } from '../domain/resource.ts'
import { cutText } from '../local/text-parts.ts'
import type { EdgeParts } from './edge-parts.ts'
import type { Answering } from './exchange.ts'
import type { Incoming } from './incoming.ts'
import type { FieldMap } from './parameters.ts'
import { readUserAgent } from './user-agent.ts'

/** It has no actor only for endpoints that anyone may call, whose commands do not use it. */
export function buildContext(
  { engine, now, random, keys, server }: EdgeParts,
  request: Incoming,
  fields: FieldMap,
  actor: User | undefined,
  dialect: Answering['dialect'],
): Context {
  const named = fields.get('client')
  const agent = typeof named === 'string' ? named : readUserAgent(request.headers['user-agent'] ?? '').name
  return {
    actor: actor!,
    state: engine.state,
    now: now(),
    client: cutText(agent || 'Unspecified', limits.clientName, ''),
    dialect,
    random,
    keys,
    server,
  }
}
