// Keys and tokens of bots: set into what their owners see at the last moment, and never kept.

import type { Bot, User } from '../model/state.ts'
import type { Context, Surroundings } from '../resource.ts'
import { administerBot } from '../rules/index.ts'

/**
 * The next version of the account's key; the one before it stops working.
 * OPEN: on the public server a bot keeps its key when it changes hands; here it gets a new one, so that the former owner cannot act as it.
 */
export function newKey({ id, keyVersion }: User) {
  return { type: 'user.key-regenerated', userId: id, keyVersion: keyVersion + 1 } as const
}

/** The same service with the next version of its token; services that are not outgoing have none. */
export function withNewToken({ service }: Pick<Bot, 'service'>): Pick<Bot, 'service'> {
  if (!service) return {}
  return { service: 'url' in service ? { ...service, tokenVersion: (service.tokenVersion ?? 0) + 1 } : service }
}

/** Fills the empty places of a record, or of the part of one that an event tells. */
export function withSecrets<B extends { api_key?: string; services?: object[] }>(
  { keys }: Pick<Surroundings, 'keys'>,
  user: User,
  bot: B,
): B {
  return {
    ...bot,
    ...('api_key' in bot && { api_key: keys.deriveKey(user) }),
    ...(bot.services && {
      services: bot.services.map(service =>
        'token' in service ? { ...service, token: keys.deriveToken(user) } : service,
      ),
    }),
  }
}

/** The bot of an event with its secrets, if the reader still administers it; else the bot as it is. */
export function revealSecrets<B extends { api_key?: string; services?: object[] }>(
  { state, keys, actor }: Context,
  botId: number,
  bot: B,
): B {
  const user = state.users.get(botId)
  const reader = state.users.get(actor.id)
  return user && reader && administerBot.allows({ state, actor: reader }, user) ? withSecrets({ keys }, user, bot) : bot
}
