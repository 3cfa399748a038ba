// Finds the outgoing webhook bots that a message calls.

import { nextDeliveryId } from '../../messages/messages/compose.ts'
import type { WebhookDelivery } from '../../model/rows/messages.ts'
import type { State, User } from '../../model/state.ts'
import type { Surroundings } from '../../resource.ts'
import { seeMessage } from '../../rules/index.ts'

/** Messages of bots trigger no webhook: two bots would never stop answering each other. */
export function calledBy(
  ctx: Surroundings,
  sender: User,
  messageId: number,
  people: readonly number[],
  trigger: WebhookDelivery['trigger'],
): WebhookDelivery[] {
  if (sender.bot) return []
  const called = people.filter(id => isOutgoing(ctx.state.users.get(id)))
  if (called.length === 0) return []
  return [...new Set(called)].sort((a, b) => a - b).map(botId => newDelivery(ctx, botId, messageId, trigger))
}

export function newDelivery(
  ctx: Surroundings,
  botId: number,
  messageId: number,
  trigger: WebhookDelivery['trigger'],
): WebhookDelivery {
  return {
    id: nextDeliveryId(ctx),
    botId,
    messageId,
    trigger,
    queued: ctx.now,
    status: 'waiting',
    attempts: 0,
    due: ctx.now,
  }
}

/**
 * Whether the bot can read the message where it is now, and so can its owner if it is in a channel. Asked of everything
 * but the first attempt, since a message can be moved and an account can lose access meanwhile.
 */
export function mayReceive(state: State, botId: number, messageId: number): boolean {
  const bot = state.users.get(botId)
  if (!bot || !seeMessage.allows({ state, actor: bot }, messageId)) return false
  const ownerId = bot.bot?.ownerId
  const owner = typeof ownerId === 'number' ? state.users.get(ownerId) : undefined
  if (!owner || state.messages.get(messageId)?.channelId === undefined) return true
  return seeMessage.allows({ state, actor: owner }, messageId)
}

export function isOutgoing(user: User | undefined): boolean {
  const bot = user?.active ? user.bot : undefined
  return bot?.type === 3 && bot.service !== undefined && 'url' in bot.service
}
