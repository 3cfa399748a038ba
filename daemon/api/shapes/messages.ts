// Messages as the API shows them.

import { bool, eitherOf, int, listOf, maybe, nullable, oneOf, record, text, timestamp, userId } from '../define.ts'
import { reaction } from '../messages/reactions.ts'

/** In characters. Longer content and topics of messages are cut, not refused. */
export const longestContent = 10_000
export const longestTopic = 60
/** Files that are shared by one message; later ones are not. */
export const mostFiles = 100

const person = record({ id: int, email: text, full_name: text, is_mirror_dummy: bool })

const edit = record({
  user_id: nullable(int),
  timestamp: int,
  prev_content: maybe(text),
  prev_rendered_content: maybe(text),
  prev_topic: maybe(text),
  topic: maybe(text),
  prev_stream: maybe(int),
  stream: maybe(int),
})

const submessage = record({ msg_type: text, content: text, message_id: int, sender_id: int, id: int })

/** One version of a message. */
export const historyEntry = record({
  topic: text,
  content: text,
  rendered_content: text,
  timestamp,
  user_id: nullable(userId),
  prev_topic: maybe(text),
  prev_content: maybe(text),
  prev_rendered_content: maybe(text),
  content_html_diff: maybe(text),
  prev_stream: maybe(int),
  stream: maybe(int),
})

export const message = record({
  id: int,
  type: oneOf('stream', 'private'),
  stream_id: maybe(int),
  subject: text,
  content: text,
  content_type: oneOf('text/html', 'text/x-markdown'),
  display_recipient: eitherOf(text, listOf(person)),
  recipient_id: int,
  sender_id: int,
  sender_email: text,
  sender_full_name: text,
  sender_realm_str: text,
  avatar_url: nullable(text),
  client: text,
  is_me_message: bool,
  timestamp: int,
  last_edit_timestamp: maybe(int),
  last_moved_timestamp: maybe(int),
  edit_history: maybe(listOf(edit)),
  reactions: listOf(reaction),
  submessages: listOf(submessage),
  topic_links: listOf(record({ text, url: text })),
  flags: maybe(listOf(text)),
  match_content: maybe(text),
  match_subject: maybe(text),
})
