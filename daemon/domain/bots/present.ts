// Bots as their owners see them, but for their secrets.

import type { Bot, State, User } from '../model/state.ts'
import { avatarUrl } from '../people/users/present.ts'

export type BotUser = User & { readonly bot: Bot }

/** With empty places for the secrets: `secrets.ts` fills them. */
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

function channelName(state: State, id: number | null | undefined): string | null {
  return typeof id === 'number' ? (state.channels.get(id)?.name ?? null) : null
}
