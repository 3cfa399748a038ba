// Rows of messages, and of what people prepare, plan and mark around them.

import { bool, eitherOf, listOf, maybe, nullable, oneOf, text } from '../../../api/define.ts'
import {
  anyTime,
  count,
  fileName,
  highestId,
  id,
  integerFrom,
  label,
  longText,
  type RowOf,
  row,
  textLike,
  time,
  trueOnly,
  tuple,
  rowUserId as userId,
} from '../../../api/shapes/rows.ts'
import { emojiFields } from './people.ts'

/** Its time is in seconds. */
const edit = row({
  userId,
  time,
  prevContent: maybe(longText),
  prevHtml: maybe(longText),
  prevTopic: maybe(label),
  topic: maybe(label),
  prevChannelId: maybe(id),
  channelId: maybe(id),
})
export type Edit = RowOf<typeof edit>

const reaction = row({ ...emojiFields, userId })
export type Reaction = RowOf<typeof reaction>

const submessage = row({ id, senderId: userId, msgType: label, content: longText })
export type Submessage = RowOf<typeof submessage>

/** What only some messages have. */
const details = row({
  /** Users mentioned by name or through a group, ascending. */
  mentioned: maybe(listOf(userId)),
  /** Who took part in the topic when it was mentioned as a whole, ascending. */
  topicMentioned: maybe(listOf(userId)),
  /** Users one of whose alert words it contains, ascending. */
  alerted: maybe(listOf(userId)),
  topicLinks: maybe(listOf(row({ text: longText, url: longText }))),
  /** Oldest first. */
  edits: maybe(listOf(edit)),
  /** In the order they were made. */
  reactions: maybe(listOf(reaction)),
  submessages: maybe(listOf(submessage)),
  /** The channel it was sent to, once it has been moved out of it: who received it follows from there. */
  sentTo: maybe(count),
})
export type SavedDetails = RowOf<typeof details>

/** Seconds, kept in 32 bits. */
const sentAt = integerFrom(0, 2 ** 32 - 1)
const sumOfMarks = integerFrom(0, 63)

export const message = row({
  id,
  senderId: userId,
  /** Where it is: a channel and a topic, or a direct conversation. */
  channelId: maybe(id),
  topic: maybe(label),
  conversationId: maybe(id),
  time: sentAt,
  /** Name of the program it was sent with. */
  client: label,
  content: longText,
  html: longText,
  marks: sumOfMarks,
  details: maybe(details),
})
export type SavedMessage = RowOf<typeof message>

/** A message of a file beside the snapshot that is no longer there. */
export const deletedMessage = row({ id, deleted: trueOnly() })

/** A place is a conversation, or a channel and a topic. */
export const messagesHead = row({
  last_id: integerFrom(0, highestId),
  places: listOf(eitherOf(id, tuple(id, label))),
  clients: listOf(label, 0x10000),
  files: listOf(nullable(text), highestId / 2 ** 14 + 1),
})

const runs = listOf(id)

export const messageFlags = row({
  userId,
  read: maybe(runs),
  unread: maybe(runs),
  starred: maybe(runs),
  collapsed: maybe(runs),
  historical: maybe(runs),
  gained: maybe(runs),
  lost: maybe(runs),
})
export type SavedFlags = RowOf<typeof messageFlags>

export const savedSnippet = row({ id, userId, title: label, content: longText, dateCreated: time })
export type SavedSnippet = RowOf<typeof savedSnippet>

export const draft = row({
  id,
  userId,
  kind: oneOf('', 'stream', 'private'),
  to: listOf(count),
  topic: longText,
  content: longText,
  /** Seconds, of the last edit. */
  timestamp: anyTime,
})
export type Draft = RowOf<typeof draft>

/** A message that waits for its time. */
export const scheduledMessage = row({
  id,
  userId,
  /** In a conversation: everyone, its author too, ascending. */
  target: eitherOf(row({ channelId: id, topic: label }), row({ userIds: listOf(userId) })),
  content: longText,
  html: longText,
  /** Seconds. */
  due: time,
  failed: bool,
  /** Why it was not sent. */
  reason: maybe(longText),
  /** The program it was written with. */
  client: label,
  readBySender: bool,
})
export type ScheduledMessage = RowOf<typeof scheduledMessage>

export const reminder = row({
  id,
  userId,
  /** null: there is none. */
  messageId: nullable(id),
  note: longText,
  /** As it was when the reminder was made: sent when the message cannot be read any more. */
  content: longText,
  html: longText,
  /** Seconds. */
  due: time,
  failed: bool,
})
export type Reminder = RowOf<typeof reminder>

/** Sent as a header, as it is. */
const contentType = textLike(/^[\x20-\x7e\xa0-\uffff]*$/)

/** An uploaded file. */
export const attachment = row({
  id,
  userId,
  name: label,
  /** `1/4f/…/name.txt`, hard to guess; its address is this behind `/user_uploads/`. */
  path: label,
  /** Name of the file beside the store. */
  file: fileName,
  size: count,
  contentType,
  /** Of pictures, in pixels. */
  width: maybe(count),
  height: maybe(count),
  /** Milliseconds. */
  created: time,
  /** Those that link it, ascending; times are seconds. */
  messages: listOf(row({ id, time })),
})
export type Attachment = RowOf<typeof attachment>

/** One call to the server of a bot. */
export const webhookDelivery = row({
  id,
  botId: userId,
  messageId: id,
  trigger: oneOf('mention', 'direct_message'),
  /** Milliseconds. */
  queued: time,
  status: oneOf('waiting', 'delivered', 'failed'),
  attempts: count,
  /** Asked for once more by a person. */
  again: maybe(bool),
  /** Milliseconds of the next attempt; null when there will be none. */
  due: nullable(time),
  httpStatus: maybe(count),
  error: maybe(longText),
  /** How the answer began. */
  response: maybe(longText),
})
export type WebhookDelivery = RowOf<typeof webhookDelivery>
