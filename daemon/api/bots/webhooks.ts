// Webhooks: what natterd posts to a bot's server, the log of deliveries, and what other services post to natterd.

import {
  bool,
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
  secret,
  text,
  textUpTo,
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

const { flags, match_content, match_subject, ...posted } = message.properties
const payload = record({ ...posted, rendered_content: text })

/** Unix shell patterns, matched with the name of an event. */
const events = listOf(textUpTo(100), 100)

/** Characters of a payload; a body has no more bytes than that. */
const longestPayload = 1024 * 1024

export const webhooks = {
  post: endpoint({
    id: 'post-webhook',
    route: 'POST /external/{integration}',
    access: 'key',
    since: 1,
    summary:
      'Post a message as another service does, with the API key of a bot in the address and the payload as the body',
    params: {
      integration: inPath(
        textUpTo(100),
        'the service: slack_incoming, json, or any name, whose payload is shown as it is',
      ),
      api_key: required(secret, 'the API key of an incoming webhook bot'),
      stream: optional(text, 'name or ID of the channel; without it the owner of the bot gets a direct message'),
      topic: optional(text, 'the topic, in place of the one that the integration chooses'),
      only_events: optional(events, 'post only events whose name matches one of these patterns, such as pull_*'),
      exclude_events: optional(events, 'post no event whose name matches one of these patterns'),
      payload: optional(
        textUpTo(longestPayload),
        'the payload, if it is not the body itself: JSON in a field of a form',
      ),
      event: optional(textUpTo(200), 'the name of the event; services send it in a header such as X-GitHub-Event'),
    },
    reply: { ok: maybe(bool) },
    cli: {
      name: 'webhooks post',
      done: 'posted to {integration}',
      args: ['integration', 'payload'],
      flags: { api_key: 'bot-key', stream: 'channel' },
      examples: [
        `natter webhooks post slack_incoming '{"text":"Deployed"}' --bot-key "$KEY" --channel general`,
        `natter webhooks post grafana '{"status":"firing"}' --bot-key "$KEY" --channel general --topic disk`,
      ],
    },
  }),
  notify: endpoint({
    id: 'svc-outgoing-webhook',
    route: 'POST /svc-outgoing-webhook',
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
      response_not_required: maybe(bool),
    },
    cli: {
      // There is nothing to call; this shows what natterd sent.
      name: 'webhooks requests',
      args: [],
      examples: ['natter webhooks requests', 'natter webhooks requests --json'],
    },
  }),
  // OPEN: the specification has no delivery log; these two endpoints are natter's own.
  log: endpoint({
    id: 'get-webhook-deliveries',
    route: 'GET /webhook_deliveries',
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
      columns: ['id', 'status', 'trigger', 'bot_id', 'message_id', 'attempts', 'http_status', 'timestamp', 'error'],
    },
  }),
  redeliver: endpoint({
    id: 'redeliver-webhook',
    route: 'POST /webhook_deliveries/{delivery_id}/redeliver',
    since: 417,
    notOnPublicServers: true,
    summary: 'Repeat a delivery to an outgoing webhook bot',
    params: { delivery_id: inPath(natural, 'ID of the delivery, from the log') },
    reply: { delivery_id: int },
    cli: {
      name: 'webhooks redeliver',
      examples: ['natter webhooks redeliver 1', 'natter webhooks redeliver 1 --json'],
    },
  }),
}
