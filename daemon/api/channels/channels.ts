// Channels: create, read, change, archive.

import {
  bool,
  channelId,
  channelName,
  copySpan,
  defaulted,
  endpoint,
  folderId,
  inPath,
  int,
  listOf,
  maybe,
  nullable,
  optional,
  record,
  required,
  text,
  userId,
} from '../define.ts'
import { channel, creationParams, permissionsAbout, pushAbout, retention, topicsPolicy } from '../shapes/channels.ts'
import { channelPermissions, groupValue } from '../shapes/permission-settings.ts'
import { mapTable } from '../tables.ts'

const change = record({ new: groupValue, old: maybe(nullable(groupValue)) })

export const channels = {
  list: endpoint({
    id: 'get-streams',
    route: 'GET /streams',
    summary: 'List channels',
    params: {
      include_public: defaulted(bool, true, 'include public channels', { off: 'leave out public channels' }),
      include_web_public: defaulted(bool, false, 'include web-public channels'),
      include_subscribed: defaulted(bool, true, 'include channels you are subscribed to', {
        off: 'leave out channels you are subscribed to',
      }),
      include_owner_subscribed: defaulted(bool, false, "for bots: include the channels of the bot's owner"),
      include_can_access_content: defaulted(bool, false, 'include every channel whose content you can access'),
      include_all: defaulted(bool, false, 'include every channel you can see'),
      include_all_active: defaulted(bool, false, 'old name of include_all', { deprecated: 'use include_all' }),
      include_default: defaulted(bool, false, 'add is_default to each channel'),
      exclude_archived: defaulted(bool, true, 'leave out archived channels', { off: 'include archived channels' }),
    },
    reply: { streams: listOf(channel) },
    cli: {
      name: 'channels list',
      examples: ['natter channels list', 'natter channels list --include-all --no-exclude-archived --json'],
      columns: ['stream_id', 'name', 'description', 'invite_only', 'subscriber_count', 'stream_weekly_traffic'],
    },
  }),
  show: endpoint({
    id: 'get-stream-by-id',
    route: 'GET /streams/{stream_id}',
    since: 132,
    summary: 'Show a channel',
    params: { stream_id: inPath(channelId, 'the channel') },
    reply: { stream: channel },
    cli: {
      name: 'channels show',
      examples: ['natter channels show general', 'natter channels show id:3 --json'],
    },
  }),
  id: endpoint({
    id: 'get-stream-id',
    route: 'GET /get_stream_id',
    summary: 'Get the ID of a channel by its name',
    params: { stream: required(channelName, 'the name of the channel') },
    reply: { stream_id: int },
    cli: {
      name: 'channels id',
      examples: ['natter channels id general', 'natter channels id engineering --json'],
    },
  }),
  create: endpoint({
    id: 'create-channel',
    route: 'POST /channels/create',
    callers: 'not guests',
    since: 417,
    summary: 'Create a channel and subscribe people to it',
    concerns: { channels: ['name'] },
    params: {
      name: required(channelName, 'the name, at most 60 characters'),
      description: optional(text, 'the description, in Markdown, at most 1024 characters'),
      subscribers: required(listOf(userId), 'who to subscribe; can be an empty list'),
      ...creationParams,
    },
    reply: { id: int },
    refusals: ['UNAUTHORIZED_PRINCIPAL', 'CHANNEL_ALREADY_EXISTS', 'REQUEST_VARIABLE_INVALID'],
    cli: {
      // A channel without its creator is seldom wanted.
      defaults: { subscribers: ['me'] },
      name: 'channels create',
      done: 'created channel {name} (ID {id})',
      args: ['name'],
      flags: { folder_id: 'folder', invite_only: 'private', is_web_public: 'web-public', is_default_stream: 'default' },
      examples: [
        'natter channels create lunch --subscribers amy@example.com,bob@example.com',
        'natter channels create secrets --private --subscribers me --description "Between us"',
      ],
      shows: 'id',
    },
  }),
  update: endpoint({
    id: 'update-stream',
    route: 'PATCH /streams/{stream_id}',
    summary: 'Edit the settings of a channel',
    params: {
      stream_id: inPath(channelId, 'the channel'),
      new_name: optional(text, 'the new name, at most 60 characters'),
      description: optional(text, 'the new description, in Markdown, at most 1024 characters'),
      is_private: optional(bool, 'whether it is private'),
      is_web_public: optional(bool, 'whether it can be read without an account'),
      history_public_to_subscribers: optional(
        bool,
        'private channels only: whether new subscribers see earlier messages',
      ),
      is_default_stream: optional(bool, 'whether new accounts are subscribed to it'),
      message_retention_days: optional(retention, 'days until messages are deleted; `realm_default` or `unlimited`', {
        jsonOnPublicServers: true,
      }),
      is_archived: optional(bool, 'false unarchives the channel; true is ignored'),
      folder_id: optional(nullable(folderId), 'the channel folder; null for none'),
      topics_policy: optional(topicsPolicy, 'which topics are allowed'),
      ...mapTable(channelPermissions, name =>
        optional(change, `${permissionsAbout[name]}: {"new": …, "old": …}`, copySpan(channelPermissions[name])),
      ),
      default_push_notifications: optional(bool, pushAbout, { since: 507 }),
    },
    refusals: ['UNAUTHORIZED_PRINCIPAL', 'CHANNEL_ALREADY_EXISTS', 'REQUEST_VARIABLE_INVALID', 'EXPECTATION_MISMATCH'],
    cli: {
      name: 'channels edit',
      done: 'edited channel {stream_id}',
      flags: {
        new_name: 'name',
        folder_id: 'folder',
        is_private: 'private',
        is_web_public: 'web-public',
        is_default_stream: 'default',
        is_archived: 'archived',
      },
      examples: [
        'natter channels edit random --name brunch',
        'natter channels edit random --private --history-public-to-subscribers',
        'natter channels edit random --can-send-message-group \'{"new": 3}\'',
      ],
    },
  }),
  archive: endpoint({
    id: 'archive-stream',
    route: 'DELETE /streams/{stream_id}',
    summary: 'Archive a channel',
    params: { stream_id: inPath(channelId, 'the channel') },
    cli: {
      name: 'channels archive',
      done: 'archived channel {stream_id}',
      destroys: { question: 'Archive the channel {stream_id}?', when: 'typed' },
      examples: ['natter channels archive random', 'natter channels archive id:3'],
    },
  }),
  members: endpoint({
    id: 'get-subscribers',
    route: 'GET /streams/{stream_id}/members',
    summary: 'List the subscribers of a channel',
    params: { stream_id: inPath(channelId, 'the channel') },
    reply: { subscribers: listOf(int) },
    cli: {
      name: 'channels members',
      says: 'people',
      examples: ['natter channels members general', 'natter channels members id:3 --json'],
    },
  }),
  email: endpoint({
    id: 'get-stream-email-address',
    route: 'GET /streams/{stream_id}/email_address',
    since: 226,
    summary: 'Show the email address of a channel; always empty, since natter does not receive mail',
    params: {
      stream_id: inPath(channelId, 'the channel'),
      sender_id: optional(userId, 'the sender of the messages: you or a bot you own'),
    },
    reply: { email: text },
    cli: {
      name: 'channels email',
      examples: ['natter channels email general', 'natter channels email general --sender-id me'],
    },
  }),
}
