// Mails and push notifications that the daemon wrote.

import { Type } from '@sinclair/typebox'
import { endpoint, int, listOf, maybe, milliseconds, optional, record, text } from '../define.ts'
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
  list: endpoint({
    id: 'list-mails',
    method: 'GET',
    path: '/outbox',
    access: 'control',
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
  clear: endpoint({
    id: 'clear-mails',
    method: 'DELETE',
    path: '/outbox',
    access: 'control',
    summary: 'Clear the outbox',
    cli: {
      name: 'outbox clear',
      done: 'cleared the outbox',
      examples: ['natter outbox clear', 'natter outbox clear --json'],
    },
  }),
}
