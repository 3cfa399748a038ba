// Messages: send, read, edit, move and delete.

import {
  bool,
  channelId,
  defaulted,
  eitherOf,
  endpoint,
  inPath,
  int,
  keyed,
  listOf,
  markdown,
  maybe,
  messageId,
  natural,
  nullable,
  num,
  oneOf,
  optional,
  record,
  required,
  since,
  termsOf,
  text,
  topicName,
} from '../define.ts'
import { attachment } from '../files/uploads.ts'
import { historyEntry, longestContent, longestTopic, message } from '../shapes/messages.ts'
import { narrowParam, narrowTerm, olderTerms } from '../shapes/narrow.ts'

const which = inPath(messageId, 'the message')
const asHtml = defaulted(bool, true, 'return content as HTML instead of Markdown', {
  off: 'return content as Markdown',
})
const emptyTopic = defaulted(bool, false, 'return the empty topic as an empty string')

export const messages = {
  send: endpoint({
    id: 'send-message',
    route: 'POST /messages',
    summary: 'Send a message to a channel or to users',
    params: {
      type: required(oneOf('direct', 'channel', 'stream', 'private'), 'direct message or channel message', {
        deprecatedWords: { private: 'direct' },
      }),
      to: optional(
        eitherOf(int, listOf(eitherOf(int, text)), text),
        'a channel by name or ID; or users, as a list of IDs or of email addresses',
      ),
      content: required(markdown, 'the content, in Markdown', { cut: longestContent }),
      topic: optional(topicName, 'the topic, for a channel message', { alias: 'subject', cut: longestTopic }),
      queue_id: optional(text, 'your event queue whose event includes local_id'),
      local_id: optional(text, 'your ID for the message, returned in the event of queue_id'),
      read_by_sender: optional(
        bool,
        'whether to mark it as read for you; by default, only if sent from an interactive client',
      ),
      widget_content: optional(text, 'a widget, as JSON'),
      forged: optional(text, 'for bridges, which send for others on some public servers; `yes` and `true` are refused'),
      sender: optional(text, 'for bridges: the user they send for; any value is refused'),
      time: optional(num, 'for bridges: when it was sent; it has no effect'),
    },
    reply: {
      id: messageId,
      automatic_new_visibility_policy: maybe(oneOf(2, 3)),
      message_url: since(508, text, 'leftOut'),
      message_link: since(508, text, 'leftOut'),
    },
    refusals: ['STREAM_DOES_NOT_EXIST', 'STREAM_WILDCARD_MENTION_NOT_ALLOWED', 'TOPIC_WILDCARD_MENTION_NOT_ALLOWED'],
    cli: {
      name: 'send',
      done: 'sent message {id}',
      args: ['content'],
      files: 'content',
      examples: [
        "natter send '#general>lunch' 'Hello, all'",
        "natter send '#general>reports' 'The numbers of May' --file may.pdf",
        "natter send 'Hello, both' --to amy@example.com,bob@example.com",
        'git log -1 | natter send --channel general --topic commits',
      ],
      shows: 'id',
    },
  }),
  list: endpoint({
    id: 'get-messages',
    route: 'GET /messages',
    summary: 'Get messages: the newest, or those around an anchor',
    concerns: 'everywhere',
    params: {
      anchor: optional(text, 'a message ID, or newest, oldest or first_unread; required unless message_ids is given'),
      anchor_date: optional(text, 'for anchor=date: a time in ISO 8601, in UTC unless it says otherwise', {
        since: 445,
      }),
      include_anchor: defaulted(bool, true, 'include the anchor itself', { off: 'leave out the anchor itself' }),
      num_before: optional(natural, 'number of messages before the anchor'),
      num_after: optional(natural, 'number of messages after the anchor'),
      narrow: narrowParam,
      client_gravatar: defaulted(bool, true, 'let avatar_url be null for users of the avatar provider', {
        off: 'always return avatar_url',
      }),
      apply_markdown: asHtml,
      use_first_unread_anchor: defaulted(bool, false, 'old form of anchor=first_unread', {
        deprecated: 'use anchor=first_unread',
      }),
      message_ids: optional(listOf(natural), 'get these messages instead of a range'),
      allow_empty_topic_name: emptyTopic,
    },
    reply: {
      messages: listOf(message),
      // The anchor after the newest message is larger than the safe integers.
      anchor: maybe(num),
      found_anchor: bool,
      found_oldest: bool,
      found_newest: bool,
      history_limited: bool,
    },
    refusals: ['BAD_NARROW'],
    cli: {
      history: true,
      // HTML is for browsers.
      defaults: { apply_markdown: false, allow_empty_topic_name: true },
      name: 'messages list',
      flags: { num_before: 'before', num_after: 'after' },
      examples: [
        'natter messages list --channel general --before 50',
        'natter messages list --anchor first_unread --after 50 --narrow is:dm --json',
        'natter messages list --channel general --since 2030-01-01 --until 2030-02-01 --ndjson',
      ],
      shows: 'messages',
    },
  }),
  get: endpoint({
    id: 'get-message',
    route: 'GET /messages/{message_id}',
    summary: 'Get one message',
    params: {
      message_id: which,
      apply_markdown: asHtml,
      allow_empty_topic_name: emptyTopic,
    },
    reply: { message, raw_content: text },
    cli: {
      defaults: { apply_markdown: false },
      name: 'messages show',
      examples: ['natter messages show 3', 'natter messages show 3 --apply-markdown --json'],
      shows: 'message',
    },
  }),
  update: endpoint({
    id: 'update-message',
    route: 'PATCH /messages/{message_id}',
    summary: 'Edit the content of a message, or move it to another topic or channel',
    params: {
      message_id: which,
      content: optional(markdown, 'the new content, in Markdown', { cut: longestContent }),
      topic: optional(topicName, 'the topic to move to', { alias: 'subject', cut: longestTopic }),
      stream_id: optional(channelId, 'the channel to move to'),
      propagate_mode: defaulted(
        oneOf('change_one', 'change_later', 'change_all'),
        'change_one',
        'which messages of the topic to change: only this one, this and later ones, or all',
      ),
      send_notification_to_old_thread: defaulted(bool, false, 'post a notice in the old topic'),
      send_notification_to_new_thread: defaulted(bool, true, 'post a notice in the new topic', {
        off: 'do not post a notice in the new topic',
      }),
      prev_content_sha256: optional(
        text,
        'SHA-256 of the content you are editing; the call is refused if it has changed',
      ),
    },
    reply: { detached_uploads: listOf(attachment) },
    refusals: [
      'EXPECTATION_MISMATCH',
      'MOVE_MESSAGES_TIME_LIMIT_EXCEEDED',
      'STREAM_WILDCARD_MENTION_NOT_ALLOWED',
      'TOPIC_WILDCARD_MENTION_NOT_ALLOWED',
    ],
    cli: {
      shortcuts: [
        {
          summary: 'Move a message to another topic or channel, alone or with other messages of its topic',
          params: [
            'message_id',
            'topic',
            'stream_id',
            'send_notification_to_old_thread',
            'send_notification_to_new_thread',
          ],
          cli: {
            name: 'messages move',
            args: ['message_id', '@place'],
            counts: 'moved',
            done: 'moved {count}',
            flags: {
              stream_id: 'channel',
              send_notification_to_old_thread: 'notify-old',
              send_notification_to_new_thread: 'notify-new',
            },
            examples: [
              'natter messages move 3 --topic dinner',
              "natter messages move 3 '#random>dinner' --later",
              'natter messages move 3 --channel random --topic dinner --all --no-notify-new',
            ],
          },
          switches: [
            { name: 'all', about: 'move all messages of its topic', sets: { propagate_mode: 'change_all' } },
            {
              name: 'later',
              about: 'also move the later messages of its topic',
              sets: { propagate_mode: 'change_later' },
            },
          ],
        },
      ],
      name: 'messages edit',
      done: 'edited message {message_id}',
      args: ['message_id', 'content'],
      flags: { stream_id: 'channel' },
      examples: [
        'natter messages edit 12 "Hello again"',
        'natter messages edit 3 --topic dinner --propagate-mode change_all',
      ],
    },
  }),
  delete: endpoint({
    id: 'delete-message',
    route: 'DELETE /messages/{message_id}',
    summary: 'Delete a message',
    params: { message_id: which },
    cli: {
      name: 'messages delete',
      done: 'deleted message {message_id}',
      destroys: { question: 'Delete message {message_id}?', when: 'typed' },
      examples: ['natter messages delete 3', 'natter messages delete 3 --json'],
    },
  }),
  history: endpoint({
    id: 'get-message-history',
    route: 'GET /messages/{message_id}/history',
    summary: 'Get the edit history of a message',
    params: { message_id: which, allow_empty_topic_name: emptyTopic },
    reply: { message_history: listOf(historyEntry) },
    cli: {
      name: 'messages history',
      examples: ['natter messages history 3', 'natter messages history 3 --json'],
      columns: ['timestamp', 'user_id', 'topic', 'content'],
    },
  }),
  render: endpoint({
    id: 'render-message',
    route: 'POST /messages/render',
    reads: true,
    summary: 'Render Markdown as HTML',
    params: { content: required(markdown, 'the Markdown to render') },
    reply: { rendered: text },
    cli: {
      name: 'messages render',
      examples: ['natter messages render "**Hi**"', 'cat notes.md | natter messages render -'],
      shows: 'rendered',
    },
  }),
  matches: endpoint({
    id: 'check-messages-match-narrow',
    route: 'GET /messages/matches_narrow',
    summary: 'Check which messages match a narrow',
    params: {
      msg_ids: required(listOf(messageId), 'the messages'),
      narrow: required(nullable(termsOf(narrowTerm)), 'the terms to match', { deprecatedWords: olderTerms }),
    },
    reply: { messages: keyed(record({ match_content: text, match_subject: text })) },
    refusals: ['BAD_NARROW'],
    cli: {
      name: 'messages matches',
      args: ['msg_ids'],
      examples: [
        'natter messages matches 12 13 --narrow \'[["has","link"]]\'',
        'natter messages matches 12 --narrow \'[["search","lunch"]]\' --json',
      ],
    },
  }),
  receipts: endpoint({
    id: 'get-read-receipts',
    route: 'GET /messages/{message_id}/read_receipts',
    since: 137,
    summary: 'List who has read a message',
    params: { message_id: which },
    reply: { user_ids: listOf(int) },
    cli: {
      name: 'messages receipts',
      says: 'people',
      examples: ['natter messages receipts 3', 'natter messages receipts 3 --json'],
    },
  }),
  report: endpoint({
    id: 'report-message',
    route: 'POST /messages/{message_id}/report',
    since: 382,
    summary: 'Report a message to the moderators',
    params: {
      message_id: which,
      report_type: required(oneOf('spam', 'harassment', 'inappropriate', 'norms', 'other'), 'the reason'),
      description: optional(text, 'details, at most 1000 characters; required for `other`'),
    },
    cli: {
      name: 'messages report',
      done: 'reported message {message_id} to the moderators',
      examples: [
        'natter messages report 3 spam',
        'natter messages report 3 other --description "This is not ours to share"',
      ],
    },
  }),
  typing: endpoint({
    id: 'set-typing-status-for-message-edit',
    route: 'POST /messages/{message_id}/typing',
    since: 351,
    summary: 'Notify others that you started or stopped editing a message',
    params: { message_id: which, op: required(oneOf('start', 'stop'), 'whether you started or stopped editing') },
    cli: {
      name: 'messages typing',
      done: 'sent the notification',
      examples: ['natter messages typing 12 start', 'natter messages typing 12 stop'],
    },
  }),
  submessage: endpoint({
    id: 'add-submessage',
    route: 'POST /submessage',
    summary: 'Add data to the widget of a message, such as a vote in a poll',
    params: {
      message_id: required(messageId, 'the message'),
      msg_type: required(text, 'the kind of data; always `widget`'),
      content: required(text, 'JSON'),
    },
    cli: {
      name: 'messages submessage',
      done: 'added to message {message_id}',
      args: ['message_id', 'content'],
      defaults: { msg_type: 'widget' },
      examples: [
        'natter messages submessage 12 \'{"type":"vote","key":"canned,0","vote":1}\'',
        'natter messages submessage 12 \'{"type":"new_option","idx":1,"option":"Soup"}\' --json',
      ],
    },
  }),
}
