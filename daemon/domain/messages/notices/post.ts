// Messages from the notification bot, as facts to be added to a command's own.

import type { Fact } from '../../facts.ts'
import type { LatestMessage } from '../../markdown/index.ts'
import type { MessageSent } from '../../model/facts/messages.ts'
import { organizationSetting } from '../../model/settings.ts'
import type { Channel, State, User } from '../../model/state.ts'
import type { Surroundings } from '../../resource.ts'
import { sentBySystem } from '../messages/send.ts'

/** A direct message to each of these people. */
export function directNotice(
  ctx: Surroundings,
  to: readonly number[],
  content: string,
  bot = notificationBot(ctx.state),
): MessageSent[] {
  // Rendered for its reader: it may link places that the bot cannot see.
  return to.map(id =>
    sentBySystem(ctx, bot, { people: [bot.id, id].sort((a, b) => a - b) }, content, {
      reader: ctx.state.users.get(id),
    }),
  )
}

/**
 * A message in a channel; in one that has only the empty topic, the topic given is dropped. For callers that need
 * no notification it is already read.
 */
export function channelNotice(
  ctx: Surroundings,
  channel: Channel,
  topic: string,
  content: string,
  readBy: readonly number[] = [],
  latestMessage?: LatestMessage,
): MessageSent[] {
  const kept = channel.topicsPolicy === 'empty_topic_only' ? '' : topic
  return [sentBySystem(ctx, notificationBot(ctx.state), { channel, topic: kept }, content, { readBy, latestMessage })]
}

/** A notice about the channel itself, where the organization wants such notices. */
export function channelEventNotice(
  ctx: Surroundings,
  channel: Channel,
  content: string,
  readBy: readonly number[] = [],
): Fact[] {
  const { channelNoticesChosen } = ctx.server.level.rules
  if (channelNoticesChosen && !organizationSetting(ctx.state, 'send_channel_events_messages')) return []
  return channelNotice(ctx, channel, 'channel events', content, readBy)
}

export function notificationBot(state: State): User {
  for (const user of state.users.values()) if (user.bot?.system) return user
  throw new Error('there is no notification bot')
}
