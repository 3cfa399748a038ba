// Explanations: why an account received a message or did not, and why a call was answered as it was.

import { controlEndpoint } from '../control-endpoint.ts'
import { bool, int, listOf, maybe, messageId, milliseconds, nullable, optional, record, text } from '../define.ts'
import { account, call, delivery, id } from '../shapes/control.ts'

const step = record({
  step: text,
  ok: nullable(bool),
  says: text,
  rule: maybe(text),
  law: maybe(text),
})

export const explainedQueue = record({
  queue_id: text,
  /** Name of the program that registered it. */
  client: nullable(text),
  /** Whether the event was put into the queue. */
  received: nullable(bool),
  ended: maybe(text),
  steps: listOf(step),
})

export const why = {
  explain: controlEndpoint({
    id: 'explain',
    route: 'GET /why',
    summary: 'Explain why an account received a message or not, or why a call was refused, step by step',
    params: {
      message: optional(messageId, 'the ID of a message'),
      user: optional(
        account,
        'the account that received the message or did not; without it, one step for each account',
      ),
      call: optional(id, 'the ID of a call, as natter requests list shows it; instead of message and user'),
    },
    reply: {
      summary: text,
      complete: bool,
      steps: listOf(step),
      received: maybe(nullable(bool)),
      message_id: maybe(int),
      user: maybe(text),
      user_id: maybe(int),
      sent: maybe(milliseconds),
      position: maybe(nullable(int)),
      queues: maybe(listOf(explainedQueue)),
      webhooks: maybe(listOf(delivery)),
      call: maybe(call),
    },
    cli: {
      name: 'why',
      args: ['message', 'user'],
      examples: ['natter why 3 amy', 'natter why 3', 'natter why 3 echo-bot --json', 'natter why --call 1'],
      says: 'explanation',
    },
  }),
}
