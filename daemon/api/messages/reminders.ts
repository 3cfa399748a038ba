// Reminders: direct messages from the notification bot at a time you choose.

import {
  bool,
  endpoint,
  inPath,
  int,
  listOf,
  messageId,
  nullable,
  oneOf,
  optional,
  record,
  text,
  timestamp,
} from '../define.ts'

export const reminder = record({
  reminder_id: int,
  type: oneOf('private'),
  to: listOf(int),
  content: text,
  rendered_content: text,
  scheduled_delivery_timestamp: timestamp,
  failed: bool,
  reminder_target_message_id: nullable(int),
})

export const reminders = {
  list: endpoint({
    id: 'get-reminders',
    route: 'GET /reminders',
    since: 399,
    summary: 'List your reminders',
    reply: { reminders: listOf(reminder) },
    cli: {
      name: 'reminders list',
      examples: ['natter reminders list', 'natter reminders list --json'],
      columns: ['reminder_id', 'scheduled_delivery_timestamp', 'content', 'reminder_target_message_id', 'failed'],
    },
  }),
  create: endpoint({
    id: 'create-message-reminder',
    route: 'POST /reminders',
    since: 381,
    summary: 'Create a reminder for a message, or for a note',
    params: {
      // The spec has both optional; public servers do not.
      message_id: optional(messageId, 'the message; if omitted, the reminder has only the note', {
        requiredByPublicServers: true,
      }),
      scheduled_delivery_timestamp: optional(timestamp, 'when to send it; default in one hour', {
        requiredByPublicServers: true,
      }),
      note: optional(text, 'text of the reminder, at most 1000 characters'),
    },
    reply: { reminder_id: int },
    cli: {
      name: 'reminders create',
      done: 'created reminder {reminder_id}',
      args: ['message_id'],
      flags: { scheduled_delivery_timestamp: 'at' },
      examples: [
        'natter reminders create 3 --at +2h --note "Answer this"',
        'natter reminders create --note "Water the plants" --at "tomorrow 9:00"',
      ],
    },
  }),
  delete: endpoint({
    id: 'delete-reminder',
    route: 'DELETE /reminders/{reminder_id}',
    since: 399,
    summary: 'Delete a reminder',
    params: { reminder_id: inPath(int, 'the reminder') },
    cli: {
      name: 'reminders delete',
      done: 'deleted reminder {reminder_id}',
      examples: ['natter reminders delete 1', 'natter reminders delete 1 --json'],
    },
  }),
}
