// The log of requests to the servers of outgoing webhook bots.

import { controlEndpoint } from '../control-endpoint.ts'
import { int, listOf, maybe, optional } from '../define.ts'
import { delivery, deliveryFilter, id, range, waitReply, within } from '../shapes/control.ts'

export const webhookRequests = {
  list: controlEndpoint({
    id: 'list-webhook-requests',
    route: 'GET /webhooks',
    summary: 'List deliveries to the servers of all outgoing webhook bots, oldest first, with the requests sent',
    params: { ...deliveryFilter, bot_id: optional(id, 'only deliveries to the bot with this ID'), ...range },
    reply: { deliveries: listOf(delivery), last_id: int },
    cli: {
      name: 'webhooks requests',
      flags: { bot: 'of' },
      examples: [
        'natter webhooks requests',
        'natter webhooks requests --of echo-bot@example.com --status failed --json',
      ],
      shows: 'deliveries',
      columns: [
        'id',
        'time',
        'status',
        'bot',
        'trigger',
        'message_id',
        'attempts',
        'http_status',
        'error',
        'next_attempt',
      ],
    },
  }),
  wait: controlEndpoint({
    id: 'wait-for-webhook-request',
    route: 'POST /webhooks/wait',
    reads: true,
    summary: 'Wait for a delivery that was tried: exit code 0 when there is one, 8 when there is none',
    params: { ...deliveryFilter, since: range.since, within },
    reply: waitReply({ webhook: maybe(delivery) }),
    cli: {
      name: 'webhooks wait',
      flags: { bot: 'of' },
      examples: [
        'natter webhooks wait --of echo-bot@example.com --status delivered',
        'natter webhooks wait --status failed --within 30s --json',
      ],
      shows: 'webhook',
      unmet: 'no such delivery was tried',
      timeout: 660_000,
    },
  }),
}
