// Personal flags of messages: read, starred, collapsed.

import {
  bool,
  channelId,
  defaulted,
  endpoint,
  int,
  listOf,
  maybe,
  messageId,
  natural,
  nullable,
  oneOf,
  optional,
  required,
  text,
  topicName,
} from '../define.ts'
import { narrowParam } from '../shapes/narrow.ts'

const op = required(oneOf('add', 'remove'), 'add or remove the flag')
const flag = required(text, 'read, starred or collapsed')
/** What a client that comes back after a long time may mark read at once. */
const mostMarked = 100_000
const ignored = maybe(listOf(int))

export const messageFlags = {
  update: endpoint({
    id: 'update-message-flags',
    route: 'POST /messages/flags',
    summary: 'Add a flag to messages, or remove it',
    params: { messages: required(listOf(messageId, mostMarked), 'the IDs of the messages'), op, flag },
    reply: { messages: listOf(int), ignored_because_not_subscribed_channels: ignored },
    cli: {
      name: 'flags',
      args: ['op', 'flag', 'messages'],
      skips: 'messages',
      examples: ['natter flags add read 2 3', 'natter flags remove starred 3'],
      shows: 'messages',
    },
  }),
  updateNarrow: endpoint({
    id: 'update-message-flags-for-narrow',
    route: 'POST /messages/flags/narrow',
    since: 155,
    summary: 'Add a flag to the messages that match a narrow, or remove it',
    concerns: 'everywhere',
    params: {
      anchor: required(text, 'a message ID, or newest, oldest or first_unread'),
      anchor_date: optional(text, 'for anchor=date: a time in ISO 8601, in UTC unless it says otherwise', {
        since: 445,
      }),
      include_anchor: defaulted(bool, true, 'include the anchor itself', { off: 'leave out the anchor itself' }),
      num_before: required(natural, 'number of messages before the anchor; the server can lower it'),
      num_after: required(natural, 'number of messages after the anchor; the server can lower it'),
      narrow: { ...narrowParam, requiredByPublicServers: true },
      op,
      flag,
    },
    reply: {
      processed_count: int,
      updated_count: int,
      first_processed_id: nullable(int),
      last_processed_id: nullable(int),
      found_oldest: bool,
      found_newest: bool,
      ignored_because_not_subscribed_channels: ignored,
    },
    refusals: ['BAD_NARROW'],
    cli: {
      name: 'flags narrow',
      args: ['op', 'flag'],
      flags: { num_before: 'before', num_after: 'after' },
      examples: [
        'natter flags narrow add read --anchor oldest --before 0 --after 1000 --narrow \'[["channel","general"]]\'',
        'natter flags narrow remove starred --anchor newest --before 100 --after 0 --narrow \'[["is","starred"]]\'',
      ],
    },
  }),
  markAll: endpoint({
    id: 'mark-all-as-read',
    route: 'POST /mark_all_as_read',
    deprecated: 'use POST /messages/flags/narrow',
    summary: 'Mark all messages as read',
    concerns: 'everywhere',
    reply: { complete: bool },
    cli: { name: 'flags read-all', examples: ['natter flags read-all', 'natter flags read-all --json'] },
  }),
  markChannel: endpoint({
    id: 'mark-stream-as-read',
    route: 'POST /mark_stream_as_read',
    deprecated: 'use POST /messages/flags/narrow',
    summary: 'Mark a channel as read',
    params: { stream_id: required(channelId, 'the channel') },
    cli: {
      name: 'flags read-channel',
      done: 'marked {stream_id} as read',
      examples: ['natter flags read-channel general', 'natter flags read-channel id:3'],
    },
  }),
  markTopic: endpoint({
    id: 'mark-topic-as-read',
    route: 'POST /mark_topic_as_read',
    deprecated: 'use POST /messages/flags/narrow',
    summary: 'Mark a topic as read',
    params: { stream_id: required(channelId, 'the channel'), topic_name: required(topicName, 'the topic') },
    cli: {
      name: 'flags read-topic',
      done: 'marked {topic_name} as read',
      args: ['topic_name'],
      flags: { stream_id: 'channel' },
      examples: ["natter flags read-topic '#general>hello'", 'natter flags read-topic hello --channel general --json'],
    },
  }),
}
