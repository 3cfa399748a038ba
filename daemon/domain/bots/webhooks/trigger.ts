// Finds the outgoing webhook bots that a message calls.

import { limits } from '../../limits.ts'
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
  const room = new Map<number, number>()
  const hasRoom = (botId: number) => {
    const owner = ctx.state.users.get(botId)!.bot!.ownerId ?? botId
    const left = room.get(owner) ?? roomFor(ctx.state, botId)
    room.set(owner, left - 1)
    return left > 0
  }
  // The log forgets when a call ends. What is refused until then must not fill the memory.
  let loggable = 2 * deliveriesKept - ctx.state.webhookDeliveries.count('finished', 1)
  return [...new Set(called)]
    .sort((a, b) => a - b)
    .flatMap((botId): WebhookDelivery | [] => {
      if (hasRoom(botId)) return newDelivery(ctx, botId, messageId, trigger)
      if (loggable-- <= 0) return []
      const error = `Not sent: ${tooMany}`
      return { ...newDelivery(ctx, botId, messageId, trigger), status: 'failed', due: null, error }
    })
}

/** Finished deliveries that are remembered. */
export const deliveriesKept = 1000

export const tooMany = `the bots of its owner have ${limits.waitingDeliveries} deliveries waiting`

/** How many more deliveries can wait for the bots of this bot’s owner. */
export function roomFor({ users, webhookDeliveries }: State, botId: number): number {
  const ownerId = users.get(botId)?.bot?.ownerId ?? null
  const ids = ownerId === null ? [botId] : users.where('botOwner', ownerId).map(({ id }) => id)
  const waiting = ids.reduce((sum, id) => sum + webhookDeliveries.count('waitingFor', id), 0)
  return limits.waitingDeliveries - waiting
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
