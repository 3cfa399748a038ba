// Everything that explains a failed test, in one answer.

import { controlEndpoint } from '../control-endpoint.ts'
import { anything, int, keyed, listOf, milliseconds, nullable, record, text } from '../define.ts'
import { call, clockReply, delivery, loggedEvent } from '../shapes/control.ts'

const answered = { ...call, properties: { ...call.properties, answer: nullable(text) } } as typeof call

const queueWithEvents = record({
  queue_id: text,
  user: nullable(text),
  event_types: nullable(listOf(text)),
  narrow: listOf(anything),
  last_seen: milliseconds,
  // Of many or long events only the newest are listed.
  pending: int,
  events: listOf(keyed(anything)),
})

export const report = {
  make: controlEndpoint({
    id: 'make-report',
    route: 'GET /report',
    summary:
      'Print calls with their answers, events, unread events by queue, faults, mails, webhooks and the clock in one answer',
    reply: {
      version: text,
      clock: record(clockReply),
      calls: listOf(answered),
      events: listOf(loggedEvent),
      queues: listOf(queueWithEvents),
      faults: listOf(keyed(anything)),
      mails: listOf(keyed(anything)),
      webhooks: listOf(delivery),
    },
    cli: {
      name: 'report',
      examples: ['natter report --json', "natter report --jq '.calls[-1]'"],
      timeout: 120_000,
    },
  }),
}
