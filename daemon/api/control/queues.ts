// Event queues of all accounts.

import { controlEndpoint } from '../control-endpoint.ts'
import {
  anything,
  bool,
  int,
  listOf,
  maybe,
  milliseconds,
  nullable,
  optional,
  record,
  required,
  text,
} from '../define.ts'
import { account, shortText, waitReply, within } from '../shapes/control.ts'

const queue = record({
  queue_id: text,
  user: nullable(text),
  client: nullable(text),
  event_types: nullable(listOf(text)),
  narrow: listOf(anything),
  pending: int,
  last_event_id: int,
  acknowledged: int,
  waiting: bool,
  last_seen: milliseconds,
  expires: milliseconds,
})

export const allQueues = {
  list: controlEndpoint({
    id: 'list-queues',
    route: 'GET /queues',
    summary:
      'List the event queues of all accounts, or of one: by which client, what they ask for, what waits in them, and the last poll',
    params: { user: optional(account, 'only queues of this account') },
    reply: { queues: listOf(queue) },
    cli: {
      name: 'queues list',
      flags: { user: 'of' },
      examples: ['natter queues list', 'natter queues list --of echo-bot@example.com --json'],
      columns: [
        'user',
        'client',
        'pending',
        'waiting',
        'last_seen',
        'narrow',
        'event_types',
        'queue_id',
        'expires',
        'last_event_id',
      ],
    },
  }),
  wait: controlEndpoint({
    id: 'wait-for-poll',
    route: 'POST /queues/wait',
    reads: true,
    summary: 'Wait until an account listens, with a poll that waits for events: exit code 0 when it does, 8 when not',
    params: { user: required(account, 'the account, such as a bot under test'), within },
    reply: waitReply({ queue: maybe(queue) }),
    cli: {
      name: 'queues wait',
      examples: ['natter queues wait echo-bot', 'natter queues wait echo-bot@example.com --within 30s --json'],
      shows: 'queue',
      unmet: 'the account did not poll for events',
      timeout: 660_000,
    },
  }),
  expire: controlEndpoint({
    id: 'expire-queues',
    route: 'POST /queues/expire',
    summary: 'Expire event queues: one, those of an account, or all',
    params: {
      queue_id: optional(shortText, 'the queue; all queues if omitted'),
      user: optional(account, 'only queues of this account'),
    },
    reply: { expired: listOf(text) },
    cli: {
      name: 'queues expire',
      args: ['queue_id'],
      flags: { user: 'of' },
      examples: ['natter queues expire --of amy@example.com', 'natter queues expire'],
      shows: 'expired',
      none: 'no queue to expire',
    },
  }),
}
