// Outgoing webhooks: what natterd posts to a bot's server, and the log of deliveries.

import { Type } from '@sinclair/typebox'
import {
  endpoint,
  inPath,
  int,
  listOf,
  maybe,
  natural,
  nullable,
  oneOf,
  optional,
  record,
  required,
  text,
  timestamp,
  userId,
} from '../define.ts'
import { message } from '../shapes/messages.ts'

const delivery = record({
  id: int,
  bot_id: int,
  message_id: int,
  trigger: oneOf('mention', 'direct_message'),
  status: oneOf('waiting', 'delivered', 'failed'),
  attempts: int,
  timestamp,
  next_attempt: nullable(timestamp),
  http_status: nullable(int),
  error: nullable(text),
  response: nullable(text),
})

const payload = Type.Object({
  ...Type.Omit(message, ['flags', 'match_content', 'match_subject']).properties,
  rendered_content: text,
})

export const webhooks = {
  notify: endpoint({
    id: 'svc-outgoing-webhook',
    method: 'POST',
    path: '/svc-outgoing-webhook',
    access: 'anyone',
    summary: 'The JSON that an outgoing webhook bot receives when a message triggers it',
    served: 'outgoing',
    params: {
      bot_email: required(text, 'the bot’s email'),
      bot_full_name: required(text, 'the bot’s name'),
      data: required(text, 'the message as written, in Markdown'),
      trigger: required(oneOf('mention', 'direct_message'), 'what triggered the bot'),
      token: required(text, 'secret of the bot, which proves that the request comes from this server'),
      message: required(payload, 'the message'),
    },
    // OPEN: what the bot's server must return is not shown; this is what it may.
    reply: {
      content: maybe(text),
      widget_content: maybe(text),
      response_string: maybe(text),
      response_not_required: maybe(Type.Boolean()),
    },
    cli: {
      // There is nothing to call; this shows what natterd sent.
      name: 'webhooks requests',
      examples: ['natter webhooks requests', 'natter webhooks requests --json'],
    },
  }),
  // OPEN: the specification has no delivery log; these two endpoints are natter's own.
  log: endpoint({
    id: 'get-webhook-deliveries',
    method: 'GET',
    path: '/webhook_deliveries',
    since: 417,
    notOnPublicServers: true,
    summary: 'List deliveries to the outgoing webhook bots you can manage, newest first',
    params: {
      bot_id: optional(userId, 'only deliveries to this bot'),
      status: optional(oneOf('waiting', 'delivered', 'failed'), 'only deliveries with this status'),
    },
    reply: { deliveries: listOf(delivery) },
    cli: {
      name: 'webhooks deliveries',
      flags: { bot_id: 'bot' },
      examples: ['natter webhooks deliveries', 'natter webhooks deliveries --status failed --json'],
      shows: 'deliveries',
      columns: ['id', 'status', 'trigger', 'bot_id', 'message_id', 'attempts', 'http_status', 'timestamp', 'error'],
    },
  }),
  redeliver: endpoint({
    id: 'redeliver-webhook',
    method: 'POST',
    path: '/webhook_deliveries/{delivery_id}/redeliver',
    since: 417,
    notOnPublicServers: true,
    summary: 'Repeat a delivery to an outgoing webhook bot',
    params: { delivery_id: inPath(natural, 'ID of the delivery, from the log') },
    reply: { delivery_id: int },
    cli: {
      name: 'webhooks redeliver',
      args: ['delivery_id'],
      examples: ['natter webhooks redeliver 7', 'natter webhooks redeliver 7 --json'],
    },
  }),
}
