// Bots: accounts for programs, managed by their owners.

import {
  bool,
  defaulted,
  endpoint,
  inPath,
  int,
  keyed,
  listOf,
  maybe,
  named,
  nullable,
  optional,
  record,
  required,
  text,
  upload,
  userId,
} from '../define.ts'
import { role, roleAbout } from '../people/users.ts'

const interfaces = named({ generic: 1, slack: 2 })

const defaultFields = {
  default_sending_stream: nullable(text),
  default_events_register_stream: nullable(text),
  default_all_public_streams: bool,
}

const defaults = {
  default_sending_stream: optional(text, 'name of the channel the bot sends to; empty for none'),
  default_events_register_stream: optional(text, 'name of the channel the bot listens to; empty for none'),
  default_all_public_streams: optional(bool, 'whether the bot listens to all public channels'),
}

const botId = inPath(userId, 'the bot')

export const bots = {
  list: endpoint({
    id: 'get-bots',
    route: 'GET /bots',
    callers: 'human members',
    summary: 'List your active bots; the reply includes their API keys',
    reply: {
      bots: listOf(record({ username: text, full_name: text, api_key: text, avatar_url: text, ...defaultFields })),
    },
    cli: {
      name: 'bots list',
      examples: ['natter bots list', 'natter bots list --fields username,api_key'],
      columns: ['username', 'full_name', 'default_sending_stream', 'default_all_public_streams'],
    },
  }),
  create: endpoint({
    id: 'create-bot',
    route: 'POST /bots',
    callers: 'human members',
    summary: 'Create a bot',
    params: {
      full_name: required(text, 'the full name'),
      short_name: required(text, 'the first part of the email address: NAME-bot@…'),
      bot_type: defaulted(
        named({ generic: 1, incoming: 2, outgoing: 3, embedded: 4 }),
        1,
        '1 generic, 2 incoming webhook, 3 outgoing webhook, 4 embedded',
      ),
      payload_url: optional(text, 'URL that an outgoing webhook posts to'),
      interface_type: defaulted(interfaces, 1, 'payload format of an outgoing webhook: 1 generic, 2 Slack-style'),
      service_name: optional(text, 'name of the integration or embedded bot'),
      config_data: optional(keyed(text), 'configuration: text values by name'),
      ...defaults,
      file: optional(upload, 'the avatar'),
    },
    reply: { user_id: int, api_key: text, avatar_url: text, ...defaultFields },
    refusals: ['BAD_IMAGE', 'REALM_UPLOAD_QUOTA'],
    cli: {
      name: 'bots create',
      args: ['short_name', 'full_name'],
      flags: { bot_type: 'type', file: 'avatar' },
      examples: [
        'natter bots create builds "Build Bot"',
        'natter bots create weather "Weather Bot" --type outgoing --payload-url https://bots.example.com/weather --json',
      ],
    },
  }),
  update: endpoint({
    id: 'update-bot',
    route: 'PATCH /bots/{bot_id}',
    callers: 'human members',
    summary: 'Edit a bot you own (administrators: any bot)',
    params: {
      bot_id: botId,
      full_name: optional(text, 'the new name'),
      short_name: optional(text, 'the new name in its address: NAME-bot@…', { since: 447 }),
      role: optional(role, roleAbout),
      bot_owner_id: optional(
        userId,
        'the new owner, whose role is not above yours; the bot gets a new API key and webhook token',
      ),
      service_payload_url: optional(text, 'URL that an outgoing webhook posts to'),
      service_interface: optional(interfaces, 'payload format of an outgoing webhook: 1 generic, 2 Slack-style'),
      regenerate_token: defaulted(bool, false, 'replace the token that an outgoing webhook carries'),
      config_data: optional(keyed(text), 'configuration: text values by name'),
      ...defaults,
      file: optional(upload, 'the avatar'),
    },
    reply: {
      full_name: text,
      avatar_url: text,
      service_interface: int,
      service_payload_url: nullable(text),
      config_data: nullable(keyed(text)),
      bot_owner: maybe(text),
      ...defaultFields,
    },
    refusals: ['UNAUTHORIZED_PRINCIPAL', 'BAD_IMAGE', 'REALM_UPLOAD_QUOTA'],
    cli: {
      name: 'bots edit',
      flags: { bot_owner_id: 'owner', file: 'avatar' },
      // Without those of the service: as on public servers, they are only what the call sent.
      columns: ['full_name', 'avatar_url', 'bot_owner', ...Object.keys(defaultFields)],
      examples: [
        'natter bots edit deploy-bot@example.com --full-name "Deploy Robot"',
        'natter bots edit id:10 --owner amy@example.com --json',
      ],
    },
  }),
  deactivate: endpoint({
    id: 'deactivate-bot',
    route: 'DELETE /bots/{bot_id}',
    summary: 'Deactivate a bot you own (administrators: any bot)',
    params: { bot_id: botId },
    cli: {
      name: 'bots deactivate',
      done: 'deactivated bot {bot_id}',
      examples: ['natter bots deactivate deploy-bot@example.com', 'natter bots deactivate id:10 --json'],
    },
  }),
  key: endpoint({
    id: 'get-bot-api-key',
    route: 'GET /bots/{bot_id}/api_key',
    summary: 'Get the API key of a bot you own',
    params: { bot_id: botId },
    reply: { api_key: text },
    cli: {
      name: 'bots key',
      examples: ['natter bots key deploy-bot@example.com', 'natter bots key id:10 --json'],
    },
  }),
  regenerateKey: endpoint({
    id: 'regenerate-bot-api-key',
    route: 'POST /bots/{bot_id}/api_key/regenerate',
    callers: 'human members',
    summary: 'Generate a new API key for a bot you own; the old key stops working',
    params: { bot_id: botId },
    reply: { api_key: text },
    cli: {
      name: 'bots regenerate-key',
      examples: ['natter bots regenerate-key deploy-bot@example.com', 'natter bots regenerate-key id:10 --json'],
      shows: 'api_key',
    },
  }),
}
