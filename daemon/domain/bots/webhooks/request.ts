// The request to the server of a bot: JSON of our own, or the form that Slack made common.

import { presentRead } from '../../messages/messages/present.ts'
import type { Message } from '../../model/message-store/index.ts'
import type { WebhookDelivery } from '../../model/rows/messages.ts'
import type { OutgoingService, User } from '../../model/state.ts'
import type { Surroundings } from '../../resource.ts'
import { isOutgoing, mayReceive } from './trigger.ts'

export interface WebhookRequest {
  readonly url: string
  readonly contentType: string
  readonly body: string
}

/** null: there is nothing to send any more, because the bot or the message is gone. */
export function buildRequest(
  ctx: Surroundings,
  delivery: WebhookDelivery,
): WebhookRequest | { refused: string } | null {
  const bot = ctx.state.users.get(delivery.botId)
  const message = ctx.state.messages.get(delivery.messageId)
  if (!bot || !isOutgoing(bot) || !message) return null
  if ((delivery.again || delivery.attempts > 0) && !mayReceive(ctx.state, bot.id, message.id)) return null
  const service = bot.bot!.service as OutgoingService
  if (service.interface === 1)
    return {
      url: service.url,
      contentType: 'application/json',
      body: JSON.stringify(payload(ctx, bot, message, delivery)),
    }
  if (message.channelId === undefined)
    return { refused: 'The Slack-compatible interface does not know direct messages' }
  return {
    url: service.url,
    contentType: 'application/x-www-form-urlencoded',
    body: new URLSearchParams(slackForm(ctx, bot, message, delivery)).toString(),
  }
}

function payload(ctx: Surroundings, bot: User, message: Message, { trigger }: WebhookDelivery) {
  const { flags, ...shown } = presentRead(
    ctx.state,
    message,
    {
      applyMarkdown: false,
      clientGravatar: false,
      emptyTopic: true,
      pairsRenumbered: ctx.server.level.rules.pairsRenumbered,
    },
    [],
  )
  const avatar = shown.avatar_url!
  return {
    bot_email: bot.email,
    bot_full_name: bot.fullName,
    data: message.content,
    trigger,
    token: ctx.keys.deriveToken(bot),
    message: {
      ...shown,
      rendered_content: message.html,
      // The server of a bot does not know what our own addresses are relative to.
      avatar_url: avatar.startsWith('/') ? ctx.server.url + avatar : avatar,
    },
  }
}

function slackForm(ctx: Surroundings, bot: User, message: Message, { trigger }: WebhookDelivery) {
  const { state, server } = ctx
  const sender = state.users.get(message.senderId)!
  return {
    token: ctx.keys.deriveToken(bot),
    team_id: 'T1',
    team_domain: /^\w+:\/\/([^/]+)/.exec(server.url)?.[1] ?? server.url,
    channel_id: `C${message.channelId}`,
    channel_name: state.channels.get(message.channelId!)!.name,
    thread_ts: String(message.time),
    timestamp: String(message.time),
    user_id: `U${sender.id}`,
    user_name: sender.fullName,
    text: message.content,
    trigger_word: trigger,
    service_id: String(bot.id),
  }
}
