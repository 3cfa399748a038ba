// Keys and tokens of bots: set into what their owners see at the last moment, and never kept.

import type { User } from '../model/state.ts'
import type { Surroundings } from '../resource.ts'

/** Fills the empty places of a record, or of the part of one that an event tells. */
export function withSecrets<B extends { api_key?: string; services?: object[] }>(
  { keys }: Pick<Surroundings, 'keys'>,
  user: User,
  bot: B,
): B {
  return {
    ...bot,
    ...('api_key' in bot && { api_key: keys.keyOf(user) }),
    ...(bot.services && {
      services: bot.services.map(service => ('token' in service ? { ...service, token: keys.tokenOf(user) } : service)),
    }),
  }
}
