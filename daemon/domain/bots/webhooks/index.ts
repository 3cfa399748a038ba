// Webhooks: deliveries that wait, what became of the others, and sending one again; and the payloads of other services.

import { webhooks as api } from '../../../api/bots/webhooks.ts'
import type { WebhookFact } from '../../model/facts/bots.ts'
import type { WebhookDelivery } from '../../model/rows/messages.ts'
import { conflict, missing, missingOwn } from '../../refusal.ts'
import { type Context, resource } from '../../resource.ts'
import * as may from '../../rules/index.ts'
import { seconds } from '../../values/time.ts'
import { receivePayload } from './incoming.ts'
import { incomingWebhookBots } from './integrations.ts'
import { isOutgoing, mayReceive, newDelivery, roomFor, tooMany } from './trigger.ts'

export const webhooks = resource(api)<WebhookFact>({
  commands: {
    post: receivePayload,

    log(ctx, { bot_id, status }) {
      may.check(may.useBots, ctx)
      const { webhookDeliveries } = ctx.state
      if (bot_id !== undefined && !looksAfter(ctx, bot_id)) throw missing('bot_id', 'bot of yours', bot_id)
      const rows = bot_id === undefined ? [...webhookDeliveries.values()] : webhookDeliveries.where('bot', bot_id)
      return {
        reply: {
          deliveries: rows
            .filter(row => (status === undefined || row.status === status) && looksAfter(ctx, row.botId))
            .sort((a, b) => b.id - a.id)
            .map(present),
        },
      }
    },

    redeliver(ctx, { delivery_id }) {
      may.check(may.useBots, ctx)
      const old = ctx.state.webhookDeliveries.get(delivery_id)
      if (!old || !looksAfter(ctx, old.botId)) throw missingOwn('delivery_id', 'delivery', delivery_id)
      if (!isOutgoing(ctx.state.users.get(old.botId))) throw conflict('delivery_id', 'the bot is deactivated')
      if (!ctx.state.messages.has(old.messageId)) throw conflict('delivery_id', 'the message has been deleted')
      if (!mayReceive(ctx.state, old.botId, old.messageId))
        throw conflict('delivery_id', 'the bot or its owner can no longer read the message')
      if (roomFor(ctx.state, old.botId) <= 0) throw conflict('delivery_id', tooMany)
      const delivery = { ...newDelivery(ctx, old.botId, old.messageId, old.trigger), again: true }
      return { facts: [{ type: 'webhook.asked', delivery }], reply: { delivery_id: delivery.id } }
    },
  },

  apply: {
    'webhook.asked': (state, { delivery }) => state.webhookDeliveries.put(delivery),
    'webhook.attempted': (state, { delivery, forgotten = [] }) => {
      state.webhookDeliveries.put(delivery)
      for (const id of forgotten) state.webhookDeliveries.remove(id)
    },
  },

  announce: { 'webhook.asked': () => [], 'webhook.attempted': () => [] },

  sections: { realm_incoming_webhook_bots: () => ({ realm_incoming_webhook_bots: incomingWebhookBots }) },
})

function looksAfter(ctx: Context, botId: number): boolean {
  const bot = ctx.state.users.get(botId)
  return bot?.bot !== undefined && may.administerBot.allows(ctx, bot)
}

function present(row: WebhookDelivery) {
  return {
    id: row.id,
    bot_id: row.botId,
    message_id: row.messageId,
    trigger: row.trigger,
    status: row.status,
    attempts: row.attempts,
    timestamp: seconds(row.queued),
    next_attempt: row.due === null ? null : seconds(row.due),
    http_status: row.httpStatus ?? null,
    error: row.error ?? null,
    response: row.response ?? null,
  }
}
