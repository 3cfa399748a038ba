// Events about bots, for their owner and the administrators.

import type { BotPart } from '../model/facts/people.ts'
import type { State, User } from '../model/state.ts'
import type { Announcement, Event } from '../resource.ts'
import { administrators, everyone } from '../rules/audiences.ts'
import { administerBot, isAdministrator } from '../rules/index.ts'
import { type BotUser, presentBot, presentDefaults, presentServices } from './present.ts'

/** Nothing for accounts that are no bots. */
export function announceBotAdded(state: State, user: User): Announcement[] {
  return isBot(user) ? [botEvent(user, keepers(state, user), 'add', presentBot(state, user))] : []
}

export function announceBotUpdated(state: State, user: User, changes: object): Announcement[] {
  return isBot(user) ? [botEvent(user, keepers(state, user), 'update', { user_id: user.id, ...changes })] : []
}

/** From a level on; later the objects of bots have no address any more. */
export function announceBotAddress(state: State, user: User): Announcement[] {
  return announceBotUpdated(state, user, { email: user.email }).map(({ event, ...announcement }) => ({
    ...announcement,
    event: ({ level }) => (level.rules.botAddressTold ? (event as Event) : null),
  }))
}

export function announceBotReconfigured(
  state: State,
  user: User,
  changed: readonly BotPart[],
  formerOwnerId: number | null | undefined,
): Announcement[] {
  if (!isBot(user)) return []
  const defaults = presentDefaults(state, user.bot)
  const changes = {
    ...(changed.includes('service') && { services: presentServices(user.bot) }),
    ...(changed.includes('sending') && { default_sending_stream: defaults.default_sending_stream }),
    ...(changed.includes('events') && {
      default_events_register_stream: defaults.default_events_register_stream,
    }),
    ...(changed.includes('allPublic') && { default_all_public_streams: defaults.default_all_public_streams }),
  }
  const news = changed.includes('owner') ? botHandedOver(state, user, formerOwnerId) : []
  return Object.keys(changes).length > 0 ? [...news, ...announceBotUpdated(state, user, changes)] : news
}

/** Administrators keep seeing the bot. Of others, the former owner loses it, and the new owner gets all of it. */
export function botHandedOver(state: State, user: User, formerOwnerId: number | null | undefined): Announcement[] {
  if (!isBot(user)) return []
  const { ownerId } = user.bot
  const plain = (id: number | null | undefined) =>
    typeof id === 'number' && !isAdministrator(state.users.get(id)!) ? [id] : []
  const administers = (id: number) => administerBot.allows({ state, actor: state.users.get(id)! }, user)
  const lost = plain(formerOwnerId)
  const gained = plain(ownerId).filter(administers)
  const others = keepers(state, user).filter(id => !lost.includes(id) && !gained.includes(id))
  return [
    ...lost.map(id => botEvent(user, [id], 'delete', { user_id: user.id })),
    ...gained.map(id => botEvent(user, [id], 'add', presentBot(state, user))),
    botEvent(user, others, 'update', { user_id: user.id, owner_id: ownerId }),
    {
      to: everyone(state),
      event: { type: 'realm_user', op: 'update', person: { user_id: user.id, bot_owner_id: ownerId } },
    },
  ]
}

/** An account began or ceased to look after bots of others, because its role changed. */
export function announceBotSight(state: State, before: User, after: User): Announcement[] {
  const news: Announcement[] = []
  for (const bot of state.users.values()) {
    if (!isBot(bot)) continue
    const saw = administerBot.allows({ state, actor: before }, bot)
    const sees = administerBot.allows({ state, actor: after }, bot)
    if (sees && !saw) news.push(botEvent(bot, [after.id], 'add', presentBot(state, bot, after)))
    if (saw && !sees) news.push(botEvent(bot, [after.id], 'delete', { user_id: bot.id }))
  }
  return news
}

function botEvent(user: BotUser, to: readonly number[], op: string, bot: object): Announcement {
  return { to, event: { type: 'realm_bot', op, bot }, secretsOf: user.id }
}

/** The bot itself got another role: who may not administer it any more loses it, who may now gets it whole. */
export function announceBotReach(state: State, before: User, after: User): Announcement[] {
  if (!isBot(before) || !isBot(after)) return []
  const had = keepers(state, before)
  const have = keepers(state, after)
  const lost = had.filter(id => !have.includes(id))
  const gained = have.filter(id => !had.includes(id))
  return [
    ...(lost.length > 0 ? [botEvent(after, lost, 'delete', { user_id: after.id })] : []),
    ...(gained.length > 0 ? [botEvent(after, gained, 'add', presentBot(state, after))] : []),
  ]
}

/** Users who may administer it; the owner alone, when the bot would give away the name of a private channel. */
function keepers(state: State, user: BotUser): number[] {
  const { bot } = user
  const { sendingChannelId = null, eventsChannelId = null } = bot.defaults ?? {}
  const secret = [sendingChannelId, eventsChannelId].some(id => id !== null && state.channels.get(id)?.inviteOnly)
  const owner = bot.ownerId === null ? [] : [bot.ownerId]
  const people = secret ? owner : [...new Set([...owner, ...administrators(state)])]
  return people.filter(id => administerBot.allows({ state, actor: state.users.get(id)! }, user))
}

function isBot(user: User): user is BotUser {
  return user.bot !== undefined && !user.bot.system
}
