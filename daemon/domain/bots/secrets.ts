// Keys and tokens of bots: set into what their owners see at the last moment, and never kept.

import type { User } from '../model/state.ts'
import type { Surroundings } from '../resource.ts'

/** Fills the empty places of a record, or of the part of one that an event tells. */
export function withSecrets<B extends { api_key?: string; services?: object[] }>(
  { keyOf, tokenOf }: Pick<Surroundings, 'keyOf' | 'tokenOf'>,
  user: User,
  bot: B,
): B {
  return {
    ...bot,
    ...('api_key' in bot && { api_key: keyOf(user) }),
    ...(bot.services && {
      services: bot.services.map(service => ('token' in service ? { ...service, token: tokenOf(user) } : service)),
    }),
  }
}
