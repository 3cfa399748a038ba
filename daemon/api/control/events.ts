// The log of events: every announcement and its recipients, with an event queue or without.

import { controlEndpoint } from '../control-endpoint.ts'
import { int, listOf, maybe, optional } from '../define.ts'
import {
  account,
  call,
  delivery,
  loggedEvent,
  pattern,
  range,
  shortText,
  waitIfEmpty,
  waitReply,
  within,
} from '../shapes/control.ts'

export const eventLog = {
  list: controlEndpoint({
    id: 'list-events',
    route: 'GET /events',
    summary: 'List the newest events of all accounts, each with its recipients and the queues it was put into',
    params: {
      user: optional(account, 'only events for this account'),
      type: optional(shortText, 'only events of this type'),
      queue: optional(shortText, 'only events that were put into the event queue with this ID'),
      ...range,
      within: waitIfEmpty,
    },
    reply: { events: listOf(loggedEvent), last_id: int },
    cli: {
      name: 'events list',
      flags: { user: 'of' },
      alone: true,
      log: { of: 'events', follow: { field: 'last_id', param: 'since' } },
      examples: [
        'natter events list --follow',
        'natter events list --type message --of amy',
        'natter events list --queue 4f1c --json',
      ],
      shows: 'events',
    },
  }),
  wait: controlEndpoint({
    id: 'wait',
    route: 'POST /wait',
    reads: true,
    summary: 'Wait for an event, a call or a webhook delivery: exit code 0 when it came, 8 when it did not',
    params: {
      event: optional(pattern, 'fields that the event must have; "/ok|done/i" is a pattern'),
      call: optional(pattern, 'fields that the call must have'),
      webhook: optional(pattern, 'fields that the delivery must have'),
      user: optional(account, 'only events for this account'),
      since: range.since,
      within,
    },
    reply: waitReply({ event: maybe(loggedEvent), call: maybe(call), webhook: maybe(delivery) }),
    cli: {
      name: 'events wait',
      args: ['event'],
      flags: { user: 'of' },
      examples: [
        `natter events wait '{"type":"message","message":{"content":"/done/"}}' --within 30s`,
        `natter events wait --call '{"endpoint":"send-message","status":200}'`,
      ],
      unmet: 'nothing that matches came',
      timeout: 660_000,
    },
  }),
  clear: controlEndpoint({
    id: 'clear-events',
    route: 'DELETE /events',
    summary: 'Clear the log of events',
    cli: {
      name: 'events clear',
      done: 'cleared the log of events',
      examples: ['natter events clear', 'natter events clear --json'],
    },
  }),
}
