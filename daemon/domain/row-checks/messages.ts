// Shapes of the rows of messages, and of what people prepare, plan and mark around them.

import { bool, eitherOf, listOf, maybe, nullable, oneOf, text } from '../../api/define.ts'
import {
  count,
  fileName,
  highestId,
  id,
  integerFrom,
  label,
  longText,
  row,
  textLike,
  time,
  trueOnly,
  tuple,
  rowUserId as userId,
} from '../../api/shapes/rows.ts'
import type { FlagSet } from '../model/message-flags-table.ts'
import type { Details, Message } from '../model/message-store/index.ts'
import type { Attachment, Draft, Reminder, SavedSnippet, ScheduledMessage } from '../model/personal-records.ts'
import type { WebhookDelivery } from '../model/webhook-deliveries.ts'
import { reactionType } from './people.ts'
import type { Describes } from './same.ts'

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
const details = row({
  mentioned: maybe(listOf(userId)),
  topicMentioned: maybe(listOf(userId)),
  alerted: maybe(listOf(userId)),
  topicLinks: maybe(listOf(row({ text: longText, url: longText }))),
  edits: maybe(listOf(edit)),
  reactions: maybe(listOf(row({ type: reactionType, code: label, name: label, userId }))),
  submessages: maybe(listOf(row({ id, senderId: userId, msgType: label, content: longText }))),
  sentTo: maybe(count),
})
true satisfies Describes<typeof details, Omit<Details, 'text'>>

/** Kept in 32 bits. */
const sentAt = integerFrom(0, 2 ** 32 - 1)
const sumOfMarks = integerFrom(0, 63)

export const message = row({
  id,
  senderId: userId,
  channelId: maybe(id),
  topic: maybe(label),
  conversationId: maybe(id),
  time: sentAt,
  client: label,
  content: longText,
  html: longText,
  marks: sumOfMarks,
  details: maybe(details),
})
true satisfies Describes<typeof message, Omit<Message, 'details'> & { details?: Omit<Details, 'text'> }>

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
true satisfies Describes<typeof messageFlags, { userId: number } & Partial<Record<FlagSet, number[]>>>

export const savedSnippet = row({ id, userId, title: label, content: longText, dateCreated: time })
true satisfies Describes<typeof savedSnippet, SavedSnippet>

export const draft = row({
  id,
  userId,
  kind: oneOf('', 'stream', 'private'),
  to: listOf(count),
  topic: longText,
  content: longText,
  timestamp: time,
})
true satisfies Describes<typeof draft, Draft>

export const scheduledMessage = row({
  id,
  userId,
  target: eitherOf(row({ channelId: id, topic: label }), row({ userIds: listOf(userId) })),
  content: longText,
  html: longText,
  due: time,
  failed: bool,
  reason: maybe(longText),
  client: label,
  readBySender: bool,
})
true satisfies Describes<typeof scheduledMessage, ScheduledMessage>

export const reminder = row({
  id,
  userId,
  messageId: nullable(id),
  note: longText,
  content: longText,
  html: longText,
  due: time,
  failed: bool,
})
true satisfies Describes<typeof reminder, Reminder>

/** Sent as a header, as it is. */
const contentType = textLike(/^[\x20-\x7e\xa0-\uffff]*$/)

export const attachment = row({
  id,
  userId,
  name: label,
  path: label,
  file: fileName,
  size: count,
  contentType,
  width: maybe(count),
  height: maybe(count),
  created: time,
  messages: listOf(row({ id, time })),
})
true satisfies Describes<typeof attachment, Attachment>

export const webhookDelivery = row({
  id,
  botId: userId,
  messageId: id,
  trigger: oneOf('mention', 'direct_message'),
  queued: time,
  status: oneOf('waiting', 'delivered', 'failed'),
  attempts: count,
  again: maybe(bool),
  due: nullable(time),
  httpStatus: maybe(count),
  error: maybe(longText),
  response: maybe(longText),
})
true satisfies Describes<typeof webhookDelivery, WebhookDelivery>
