// Bots as their owners see them, but for their secrets.

import type { Bot, State, User } from '../model/state.ts'
import { avatarUrl } from '../people/users/present.ts'
import { seeMetadata } from '../rules/index.ts'

export type BotUser = User & { readonly bot: Bot }

/** With empty places for the secrets: `secrets.ts` fills them. By default as its owner sees it. */
export function presentBot(state: State, user: BotUser, reader = findOwner(state, user.bot)) {
  return {
    user_id: user.id,
    email: user.email,
    full_name: user.fullName,
    bot_type: user.bot.type,
    is_active: user.active,
    api_key: '',
    owner_id: user.bot.ownerId,
    avatar_url: avatarUrl(user),
    ...presentDefaults(state, user.bot, reader),
    services: presentServices(user.bot),
  }
}

export function presentDefaults(state: State, bot: Bot, reader = findOwner(state, bot)) {
  const { defaults } = bot
  return {
    default_sending_stream: channelName(state, defaults?.sendingChannelId, reader),
    default_events_register_stream: channelName(state, defaults?.eventsChannelId, reader),
    default_all_public_streams: defaults?.allPublic ?? false,
  }
}

function findOwner(state: State, { ownerId }: Bot): User | undefined {
  return ownerId === null ? undefined : state.users.get(ownerId)
}

export function presentServices({ type, service }: Bot): object[] {
  if (!service || type === 2) return []
  if ('url' in service) return [{ base_url: service.url, interface: service.interface, token: '' }]
  return [{ service_name: service.name, config_data: service.config }]
}

/** A channel that the reader has lost access to may have been renamed since. */
function channelName(state: State, id: number | null | undefined, reader: User | undefined): string | null {
  const channel = typeof id === 'number' ? state.channels.get(id) : undefined
  const isKnown = channel && (reader ? seeMetadata.allows({ state, actor: reader }, channel) : !channel.inviteOnly)
  return isKnown ? channel.name : null
}
