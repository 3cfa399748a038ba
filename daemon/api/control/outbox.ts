// Mails and push notifications that the daemon wrote.

import { controlEndpoint } from '../control-endpoint.ts'
import { int, listOf, maybe, milliseconds, optional, record, text } from '../define.ts'
import { Type } from '../shape-builders.ts'
import { range, shortText } from '../shapes/control.ts'

const mail = Type.Object({
  id: int,
  time: milliseconds,
  to: text,
  subject: text,
  text,
  /** The device, if it is a push notification. */
  push: maybe(record({ kind: text, token: text })),
})

export const outbox = {
  list: controlEndpoint({
    id: 'list-mails',
    route: 'GET /outbox',
    summary: 'List the mails and push notifications that the daemon wrote',
    params: {
      to: optional(shortText, 'only mails to this address'),
      subject: optional(shortText, 'only mails with this subject'),
      ...range,
    },
    reply: { mails: listOf(mail), last_id: int },
    cli: {
      name: 'outbox',
      examples: ['natter outbox', 'natter outbox --to amy@example.com --json'],
      shows: 'mails',
    },
  }),
  clear: controlEndpoint({
    id: 'clear-mails',
    route: 'DELETE /outbox',
    summary: 'Clear the outbox',
    cli: {
      name: 'outbox clear',
      done: 'cleared the outbox',
      examples: ['natter outbox clear', 'natter outbox clear --json'],
    },
  }),
}
