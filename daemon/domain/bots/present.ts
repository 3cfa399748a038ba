// Bots as their owners see them. Secrets are set in at the last moment, and never kept.

import type { Surroundings } from '../resource.ts'
import type { Bot, State, User } from '../state.ts'
import { avatarUrl } from '../users/present.ts'

export type BotUser = User & { readonly bot: Bot }

/** With empty places for the secrets: see `withSecrets`. */
export function presentBot(state: State, user: BotUser) {
  return {
    user_id: user.id,
    email: user.email,
    full_name: user.fullName,
    bot_type: user.bot.type,
    is_active: user.active,
    api_key: '',
    owner_id: user.bot.ownerId,
    avatar_url: avatarUrl(user),
    ...presentDefaults(state, user.bot),
    services: presentServices(user.bot),
  }
}

export function presentDefaults(state: State, { defaults }: Bot) {
  return {
    default_sending_stream: channelName(state, defaults?.sendingChannelId),
    default_events_register_stream: channelName(state, defaults?.eventsChannelId),
    default_all_public_streams: defaults?.allPublic ?? false,
  }
}

export function presentServices({ type, service }: Bot): object[] {
  if (!service || type === 2) return []
  if ('url' in service) return [{ base_url: service.url, interface: service.interface, token: '' }]
  return [{ service_name: service.name, config_data: service.config }]
}

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

function channelName(state: State, id: number | null | undefined): string | null {
  return typeof id === 'number' ? (state.channels.get(id)?.name ?? null) : null
}
