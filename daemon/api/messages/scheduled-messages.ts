// Scheduled messages: sent at a later time by the daemon's clock.

import {
  bool,
  channelId,
  eitherOf,
  endpoint,
  inPath,
  int,
  listOf,
  markdown,
  maybe,
  oneOf,
  optional,
  record,
  required,
  text,
  timestamp,
  topicName,
  userId,
} from '../define.ts'
import { longestContent, longestTopic } from '../shapes/messages.ts'

export const scheduledMessage = record({
  scheduled_message_id: int,
  type: oneOf('stream', 'private'),
  to: eitherOf(int, listOf(int)),
  topic: maybe(text),
  content: text,
  rendered_content: text,
  scheduled_delivery_timestamp: timestamp,
  failed: bool,
})

const kind = oneOf('direct', 'channel', 'stream', 'private')
const deprecatedWords = { private: 'direct' }
const recipients = eitherOf(listOf(userId), channelId)
const asForSending = [
  'STREAM_DOES_NOT_EXIST',
  'STREAM_WILDCARD_MENTION_NOT_ALLOWED',
  'TOPIC_WILDCARD_MENTION_NOT_ALLOWED',
] as const
const which = inPath(int, 'the scheduled message')

export const scheduledMessages = {
  list: endpoint({
    id: 'get-scheduled-messages',
    route: 'GET /scheduled_messages',
    since: 173,
    summary: 'List your scheduled messages, including those that could not be sent',
    reply: { scheduled_messages: listOf(scheduledMessage) },
    cli: {
      name: 'scheduled list',
      examples: ['natter scheduled list', 'natter scheduled list --json'],
      columns: ['scheduled_message_id', 'scheduled_delivery_timestamp', 'to', 'topic', 'content', 'failed'],
      recipients: 'to',
    },
  }),
  create: endpoint({
    id: 'create-scheduled-message',
    route: 'POST /scheduled_messages',
    since: 179,
    summary: 'Schedule a message',
    params: {
      type: required(kind, 'direct message or channel message', { deprecatedWords }),
      to: required(recipients, 'the channel, or a list of users'),
      content: required(markdown, 'the content, in Markdown', { cut: longestContent }),
      topic: optional(topicName, 'the topic, for a channel message', { alias: 'subject', cut: longestTopic }),
      scheduled_delivery_timestamp: required(timestamp, 'when to send it'),
      read_by_sender: optional(
        bool,
        'whether to mark it as read for you; by default, only if sent from an interactive client',
      ),
    },
    reply: { scheduled_message_id: int },
    refusals: asForSending,
    cli: {
      name: 'scheduled create',
      done: 'scheduled message {scheduled_message_id}',
      args: ['content'],
      flags: { scheduled_delivery_timestamp: 'at' },
      examples: [
        'natter scheduled create "Lunch?" --channel general --topic lunch --at +2h',
        'natter scheduled create "Good morning" --to amy@example.com,bob@example.com --at "tomorrow 9:00"',
        'echo "Happy new year" | natter scheduled create - --channel general --topic greetings --at 2030-01-01T00:00Z',
      ],
    },
  }),
  update: endpoint({
    id: 'update-scheduled-message',
    route: 'PATCH /scheduled_messages/{scheduled_message_id}',
    since: 184,
    summary: 'Edit the content, recipients or time of a scheduled message',
    params: {
      scheduled_message_id: which,
      type: optional(kind, 'direct message or channel message; if it changes, `to` is required', { deprecatedWords }),
      to: optional(recipients, 'the channel, or a list of users'),
      content: optional(markdown, 'the new content, in Markdown', { cut: longestContent }),
      topic: optional(topicName, 'the topic; required if the type changes to a channel message', {
        alias: 'subject',
        cut: longestTopic,
      }),
      scheduled_delivery_timestamp: optional(timestamp, 'when to send it; required if sending it has failed'),
    },
    refusals: asForSending,
    cli: {
      name: 'scheduled edit',
      done: 'edited scheduled message {scheduled_message_id}',
      flags: { scheduled_delivery_timestamp: 'at' },
      examples: [
        'natter scheduled edit 1 --content "Lunch at one?"',
        'natter scheduled edit 1 --at "friday 17:30"',
        'natter scheduled edit 1 --channel general --topic lunch',
      ],
    },
  }),
  delete: endpoint({
    id: 'delete-scheduled-message',
    route: 'DELETE /scheduled_messages/{scheduled_message_id}',
    since: 173,
    summary: 'Delete a scheduled message',
    params: { scheduled_message_id: which },
    cli: {
      name: 'scheduled delete',
      done: 'deleted scheduled message {scheduled_message_id}',
      examples: ['natter scheduled delete 1', 'natter scheduled delete 1 --json'],
    },
  }),
}
