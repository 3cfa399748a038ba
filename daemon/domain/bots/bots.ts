// Bots: creating, changing and deactivating them. Their facts are those of users.

import integrations from '../../../data/integrations.json' with { type: 'json' }
import { bots as api } from '../../api/bots/bots.ts'
import type { ParamsOf } from '../../api/define.ts'
import { limits } from '../limits.ts'
import type { BotPart, UserFact } from '../model/facts/people.ts'
import { channelByName } from '../model/lookups.ts'
import type { Bot } from '../model/state.ts'
import { keepAvatar } from '../people/avatars.ts'
import { leaving } from '../people/users/activity.ts'
import { checkBotName, checkFreeEmail } from '../people/users/checks.ts'
import { newAccount } from '../people/users/index.ts'
import { avatarUrl } from '../people/users/present.ts'
import { nameFacts, roleFacts } from '../people/users/update.ts'
import { full, invalid, missing, needed } from '../refusal.ts'
import { type Context, resource } from '../resource.ts'
import * as may from '../rules/index.ts'
import { type BotUser, presentBot, presentDefaults } from './present.ts'
import { newKey, withNewToken, withSecrets } from './secrets.ts'

interface Prepared {
  readonly create: { readonly avatar: string | undefined }
  readonly update: { readonly avatar: string | undefined }
}

export const bots = resource(api)<never, Prepared>({
  prepare: {
    create: async (tools, { file }, state) => ({ avatar: await keepAvatar(tools, file, state) }),
    update: async (tools, { file }, state) => ({ avatar: await keepAvatar(tools, file, state) }),
  },

  commands: {
    list(ctx) {
      may.check(may.useBots, ctx)
      const mine = ctx.state.users.where('botOwner', ctx.actor.id).filter(bot => bot.active) as BotUser[]
      return {
        reply: {
          bots: mine.map(user => ({
            username: user.email,
            full_name: user.fullName,
            api_key: ctx.keys.deriveKey(user),
            avatar_url: avatarUrl(user),
            ...presentDefaults(ctx.state, user.bot, ctx.actor),
          })),
        },
      }
    },

    create(ctx, params, { avatar }) {
      may.check(may.useBots, ctx)
      may.check(may.createBot, ctx, params.bot_type)
      if (ctx.state.users.where('botOwner', ctx.actor.id).length >= limits.bots)
        throw full('You', limits.bots, 'bots', 'Deactivated ones count.')
      const bot: Bot = {
        type: params.bot_type,
        ownerId: ctx.actor.id,
        system: false,
        ...service(params),
        defaults: {
          sendingChannelId: channel(ctx, 'default_sending_stream', params.default_sending_stream) ?? null,
          eventsChannelId:
            channel(ctx, 'default_events_register_stream', params.default_events_register_stream) ?? null,
          allPublic: params.default_all_public_streams ?? false,
        },
      }
      const user = newAccount(ctx, {
        email: checkAddress(ctx, params.short_name),
        fullName: checkBotName(ctx.state, params.full_name),
        bot,
        ...(avatar !== undefined && { avatar: { version: 1, file: avatar } }),
      })
      return {
        facts: [{ type: 'user.created', user }],
        reply: {
          user_id: user.id,
          api_key: ctx.keys.deriveKey(user),
          avatar_url: avatarUrl(user),
          ...presentDefaults(ctx.state, bot, ctx.actor),
        },
      }
    },

    update(ctx, { role, ...params }, { avatar }) {
      const user = findBot(ctx, params.bot_id)
      const facts: UserFact[] = [
        ...roleFacts(ctx, user, role),
        ...nameFacts(ctx, user, params.full_name?.trim()),
        ...addressFacts(ctx, user, params.short_name),
      ]
      if (avatar !== undefined)
        facts.push({
          type: 'user.avatar-changed',
          userId: user.id,
          avatar: { version: user.avatar.version + 1, file: avatar },
        })
      const { bot, changed } = reconfigure(ctx, user, params)
      if (changed.length > 0)
        facts.push({
          type: 'bot.configured',
          userId: user.id,
          bot,
          changed,
          ...(changed.includes('owner') && { formerOwnerId: user.bot.ownerId }),
        })
      // The former owner knows the old key.
      if (changed.includes('owner')) facts.push(newKey(user))
      const replaced = avatar === undefined ? undefined : user.avatar.file
      return {
        facts,
        ...(replaced !== undefined && { dropped: [replaced] }),
        reply: afterwards(ctx, user, bot, facts, params),
      }
    },

    deactivate(ctx, { bot_id }) {
      const user = findBot(ctx, bot_id, may.deactivateBot)
      return { facts: user.active ? leaving(ctx, user) : [], reply: {} }
    },

    key: (ctx, { bot_id }) => ({ reply: { api_key: ctx.keys.deriveKey(findBot(ctx, bot_id)) } }),

    regenerateKey(ctx, { bot_id }) {
      const user = findBot(ctx, bot_id)
      const fact = newKey(user)
      return { facts: [fact], reply: { api_key: ctx.keys.deriveKey({ ...user, keyVersion: fact.keyVersion }) } }
    },
  },

  apply: {},
  announce: {},

  sections: {
    realm_bot(ctx) {
      const seen: object[] = []
      for (const user of ctx.state.users.values())
        if (user.bot && !user.bot.system && may.administerBot.allows(ctx, user))
          seen.push(withSecrets(ctx, user, presentBot(ctx.state, user as BotUser, ctx.actor)))
      return { realm_bots: seen }
    },
  },
})

function findBot(ctx: Context, id: number, rule = may.administerBot): BotUser {
  may.check(may.useBots, ctx)
  const user = ctx.state.users.get(id)
  if (!user?.bot || user.bot.system) throw missing('bot_id', 'bot', id)
  if (user.canCreateUsers) may.insist(rule, ctx, user)
  else may.check(rule, ctx, user)
  return user as BotUser
}

function addressFacts(ctx: Context, user: BotUser, shortName: string | undefined): UserFact[] {
  if (shortName === undefined || `${shortName.trim()}-bot@${ctx.state.organization.emailDomain}` === user.email)
    return []
  return [{ type: 'user.email-changed', userId: user.id, from: user.email, to: checkAddress(ctx, shortName) }]
}

function checkAddress(ctx: Context, shortName: string): string {
  const name = shortName.trim()
  if (!/^[\w.+-]+$/.test(name))
    throw invalid('short_name', 'can contain only letters, digits and the characters _ . + -')
  return checkFreeEmail(ctx.state, 'short_name', `${name}-bot@${ctx.state.organization.emailDomain}`)
}

function service(params: ParamsOf<typeof api.create>): Pick<Bot, 'service'> {
  const { bot_type, payload_url, interface_type, service_name, config_data = {} } = params
  if (bot_type === 3 && payload_url === undefined) throw needed('payload_url', 'for an outgoing webhook bot')
  if (bot_type === 3) return { service: { url: checkUrl('payload_url', payload_url!), interface: interface_type } }
  // OPEN: which embedded bots exist is not shown; natter has none to offer.
  if (bot_type === 4) throw invalid('bot_type', 'embedded bots are not enabled')
  if (bot_type === 2 && service_name) {
    if (!integrations.includes(service_name)) throw missing('service_name', 'integration', service_name)
    return { service: { name: service_name, config: config_data } }
  }
  return {}
}

/** Some clients send the address as JSON. */
function checkUrl(param: string, given: string): string {
  const text = given.startsWith('"') && given.endsWith('"') ? given.slice(1, -1) : given
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw invalid(param, 'must be a URL that begins with http:// or https://')
  return text
}

function outgoingUrl({ service }: Bot): string | null {
  return service && 'url' in service ? service.url : null
}

/** undefined: not given; null: none. */
function channel(ctx: Context, param: string, name: string | undefined): number | null | undefined {
  if (name === undefined) return undefined
  if (name === '') return null
  const found = channelByName(ctx.state, name)
  if (!found || !may.seeContent.allows(ctx, found)) throw missing(param, 'channel', name)
  return found.id
}

function reconfigure(
  ctx: Context,
  user: BotUser,
  params: ParamsOf<typeof api.update>,
): { bot: Bot; changed: BotPart[] } {
  const old = user.bot
  const before = old.defaults ?? { sendingChannelId: null, eventsChannelId: null, allPublic: false }
  const sending = channel(ctx, 'default_sending_stream', params.default_sending_stream)
  const events = channel(ctx, 'default_events_register_stream', params.default_events_register_stream)
  const ownerId = params.bot_owner_id === undefined ? old.ownerId : newOwner(ctx, user, params.bot_owner_id)
  const service = changedService(old, params)
  const bot = {
    ...old,
    ownerId,
    ...(ownerId !== old.ownerId || params.regenerate_token ? withNewToken(service) : service),
    defaults: {
      sendingChannelId: sending === undefined ? before.sendingChannelId : sending,
      eventsChannelId: events === undefined ? before.eventsChannelId : events,
      allPublic: params.default_all_public_streams ?? before.allPublic,
    },
  }
  const changed: BotPart[] = []
  if (bot.ownerId !== old.ownerId) changed.push('owner')
  if (JSON.stringify(bot.service) !== JSON.stringify(old.service)) changed.push('service')
  if (bot.defaults.sendingChannelId !== before.sendingChannelId) changed.push('sending')
  if (bot.defaults.eventsChannelId !== before.eventsChannelId) changed.push('events')
  if (bot.defaults.allPublic !== before.allPublic) changed.push('allPublic')
  return { bot, changed }
}

function changedService({ service }: Bot, params: ParamsOf<typeof api.update>): Pick<Bot, 'service'> {
  const { service_payload_url, service_interface, config_data } = params
  if (service && 'url' in service)
    return {
      service: {
        ...service,
        url: service_payload_url === undefined ? service.url : checkUrl('service_payload_url', service_payload_url),
        interface: service_interface ?? service.interface,
      },
    }
  if (service_payload_url !== undefined || service_interface !== undefined)
    throw invalid('service_payload_url', 'only outgoing webhooks have one')
  if (params.regenerate_token) throw invalid('regenerate_token', 'only outgoing webhooks have a token')
  if (service && config_data) return { service: { ...service, config: { ...service.config, ...config_data } } }
  return service ? { service } : {}
}

function newOwner(ctx: Context, user: BotUser, id: number): number {
  if (id === user.bot.ownerId) return id
  const owner = ctx.state.users.get(id)
  if (!owner?.active || owner.bot) throw invalid('bot_owner_id', 'must be the ID of an active person')
  may.insist(may.handOverBot, ctx, { bot: user, to: owner })
  return id
}

/** Of the service it repeats what was sent, as public servers do. */
function afterwards(
  ctx: Context,
  user: BotUser,
  bot: Bot,
  facts: readonly UserFact[],
  { service_interface = 1, service_payload_url, config_data }: Partial<ParamsOf<typeof api.update>>,
) {
  const avatar = facts.find(fact => fact.type === 'user.avatar-changed')?.avatar ?? user.avatar
  const owner = bot.ownerId === null ? undefined : ctx.state.users.get(bot.ownerId)
  return {
    full_name: facts.find(fact => fact.type === 'user.renamed')?.fullName ?? user.fullName,
    avatar_url: avatarUrl({ ...user, avatar }),
    service_interface,
    service_payload_url: service_payload_url === undefined ? null : outgoingUrl(bot),
    config_data: config_data ?? null,
    ...(owner && { bot_owner: owner.email }),
    ...presentDefaults(ctx.state, bot, ctx.actor),
  }
}
