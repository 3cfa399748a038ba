// Event queues of all accounts.

import { bool, endpoint, int, listOf, nullable, optional, record, text } from '../define.ts'
import { account, milliseconds, shortText } from '../shapes/control.ts'

const queue = record({
  queue_id: text,
  user: nullable(text),
  event_types: nullable(listOf(text)),
  pending: int,
  last_event_id: int,
  acknowledged: int,
  waiting: bool,
  last_seen: milliseconds,
  expires: milliseconds,
})

export const allQueues = {
  list: endpoint({
    id: 'list-queues',
    method: 'GET',
    path: '/queues',
    access: 'control',
    since: 1,
    summary: 'List the event queues of all accounts, or of one',
    params: { user: optional(account, 'only queues of this account') },
    reply: { queues: listOf(queue) },
    refusals: ['BAD_REQUEST'],
    cli: {
      name: 'queues list',
      flags: { user: 'of' },
      examples: ['natter queues list', 'natter queues list --of echo-bot@example.com --json'],
      shows: 'queues',
      columns: ['queue_id', 'user', 'pending', 'waiting', 'last_seen', 'event_types', 'expires', 'last_event_id'],
    },
  }),
  expire: endpoint({
    id: 'expire-queues',
    method: 'POST',
    path: '/queues/expire',
    access: 'control',
    since: 1,
    summary: 'Expire event queues: one, those of an account, or all',
    params: {
      queue_id: optional(shortText, 'the queue; all queues if omitted'),
      user: optional(account, 'only queues of this account'),
    },
    reply: { expired: listOf(text) },
    refusals: ['BAD_REQUEST'],
    cli: {
      name: 'queues expire',
      args: ['queue_id'],
      flags: { user: 'of' },
      examples: ['natter queues expire --of amy@example.com', 'natter queues expire'],
      shows: 'expired',
    },
  }),
}
