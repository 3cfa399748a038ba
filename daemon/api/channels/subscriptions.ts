// Subscriptions: who is subscribed to which channel, and each subscriber's settings for it.

import {
  bool,
  channelId,
  channelName,
  defaulted,
  eitherOf,
  endpoint,
  inPath,
  listOf,
  maybe,
  oneOf,
  optional,
  people,
  record,
  required,
  text,
  userId,
} from '../define.ts'
import { creationParams, namesByUser, subscription } from '../shapes/channels.ts'

// OPEN: the public server takes the channels to subscribe to as objects only; here a name alone is enough.
const wanted = eitherOf(channelName, record({ name: text, description: maybe(text), color: maybe(text) }))

/** Checked in the domain, so that the refusal can name an unknown property. */
const property = text
const deprecatedWords = { in_home_view: 'is_muted, with the opposite value' }
const value = eitherOf(bool, text)

export const subscriptions = {
  list: endpoint({
    id: 'get-subscriptions',
    route: 'GET /users/me/subscriptions',
    summary: 'List the channels you are subscribed to',
    params: {
      include_subscribers: defaulted(
        oneOf('true', 'false', 'partial'),
        'false',
        'include the subscribers of each channel',
      ),
    },
    reply: { subscriptions: listOf(subscription) },
    cli: {
      name: 'subscriptions list',
      examples: ['natter subscriptions list', 'natter subscriptions list --include-subscribers true --json'],
      columns: ['stream_id', 'name', 'description', 'is_muted', 'pin_to_top'],
    },
  }),
  subscribe: endpoint({
    id: 'subscribe',
    route: 'POST /users/me/subscriptions',
    callers: 'not guests',
    summary: 'Subscribe yourself or others to channels, creating those that do not exist',
    concerns: { channels: ['subscriptions'] },
    params: {
      subscriptions: required(listOf(wanted), 'channels: names, or objects with name, description and color'),
      principals: optional(people, 'who to subscribe, by ID or email; you if omitted'),
      authorization_errors_fatal: defaulted(
        bool,
        true,
        'refuse the whole call if you cannot subscribe to one of the channels',
        { off: 'skip channels you cannot subscribe to' },
      ),
      ...creationParams,
    },
    reply: {
      subscribed: namesByUser,
      already_subscribed: namesByUser,
      unauthorized: maybe(listOf(text)),
      new_subscription_messages_sent: maybe(bool),
    },
    refusals: ['UNAUTHORIZED_PRINCIPAL', 'REQUEST_VARIABLE_INVALID'],
    cli: {
      says: 'subscribed',
      creates: 'subscriptions',
      name: 'subscribe',
      flags: {
        principals: 'to',
        folder_id: 'folder',
        invite_only: 'private',
        is_web_public: 'web-public',
        is_default_stream: 'default',
      },
      examples: [
        'natter subscribe general lunch',
        'natter subscribe lunch --to amy@example.com,bob@example.com',
        'natter subscribe secrets --private',
      ],
    },
  }),
  unsubscribe: endpoint({
    id: 'unsubscribe',
    route: 'DELETE /users/me/subscriptions',
    summary: 'Unsubscribe yourself or others from channels',
    concerns: { channels: ['subscriptions'] },
    params: {
      subscriptions: required(listOf(channelName), 'channel names'),
      principals: optional(people, 'who to unsubscribe, by ID or email; you if omitted'),
    },
    reply: { removed: listOf(text), not_removed: listOf(text) },
    cli: {
      says: 'unsubscribed',
      channels: 'subscriptions',
      name: 'unsubscribe',
      flags: { principals: 'to' },
      examples: ['natter unsubscribe random', 'natter unsubscribe random --to amy@example.com'],
    },
  }),
  change: endpoint({
    id: 'update-subscriptions',
    route: 'PATCH /users/me/subscriptions',
    summary: 'Subscribe to some channels and unsubscribe from others in one call',
    concerns: { channels: ['add', 'delete'] },
    params: {
      add: optional(listOf(wanted), 'channels to subscribe to'),
      delete: optional(listOf(channelName), 'names of the channels to unsubscribe from'),
      principals: optional(people, 'who to subscribe and unsubscribe, by ID or email; you if omitted'),
    },
    reply: {
      subscribed: namesByUser,
      already_subscribed: namesByUser,
      new_subscription_messages_sent: bool,
      removed: listOf(text),
      not_removed: listOf(text),
    },
    cli: {
      name: 'subscriptions edit-list',
      flags: { principals: 'to' },
      examples: [
        'natter subscriptions edit-list --add lunch --delete general',
        'natter subscriptions edit-list --add lunch,football --json',
      ],
    },
  }),
  status: endpoint({
    id: 'get-subscription-status',
    route: 'GET /users/{user_id}/subscriptions/{stream_id}',
    since: 12,
    summary: 'Check whether a user is subscribed to a channel',
    params: { user_id: inPath(userId, 'the user'), stream_id: inPath(channelId, 'the channel') },
    reply: { is_subscribed: bool },
    cli: {
      name: 'subscriptions status',
      examples: ['natter subscriptions status me general', 'natter subscriptions status amy@example.com id:3 --json'],
    },
  }),
  ofUser: endpoint({
    id: 'get-user-channels',
    route: 'GET /users/{user_id}/channels',
    since: 440,
    summary: 'List the channels that a user is subscribed to, as far as you may know of them',
    params: { user_id: inPath(userId, 'the user') },
    reply: { subscribed_channel_ids: listOf(channelId) },
    cli: {
      name: 'subscriptions of',
      examples: ['natter subscriptions of amy@example.com', 'natter subscriptions of me --json'],
    },
  }),
  properties: endpoint({
    id: 'update-subscription-settings',
    route: 'POST /users/me/subscriptions/properties',
    summary: 'Set the color, mute, pin and notifications of channels you are subscribed to',
    params: {
      subscription_data: required(
        listOf(record({ stream_id: channelId, property, value }), 1000),
        'up to 1000 changes, such as {"stream_id": 12, "property": "pin_to_top", "value": true}',
        { deprecatedWords },
      ),
    },
    cli: {
      name: 'subscriptions edit-many',
      args: [],
      done: 'edited your subscriptions',
      examples: [
        'natter subscriptions edit-many --subscription-data \'[{"stream_id":1,"property":"is_muted","value":true}]\'',
        'natter subscriptions edit-many --subscription-data \'[{"stream_id":1,"property":"color","value":"#f00"}]\'',
      ],
    },
  }),
  property: endpoint({
    id: 'update-subscription-property',
    route: 'PATCH /users/me/subscriptions/{stream_id}',
    summary: 'Set the color, mute, pin or a notification of one channel you are subscribed to',
    params: {
      stream_id: inPath(channelId, 'the channel'),
      property: required(property, 'the property: color, is_muted, pin_to_top, desktop_notifications …', {
        deprecatedWords,
      }),
      value: required(value, 'a color as #rrggbb, true or false'),
    },
    cli: {
      name: 'subscriptions edit',
      done: 'set {property} of {stream_id}',
      examples: [
        'natter subscriptions edit general pin_to_top true',
        'natter subscriptions edit general color "#76ce90"',
      ],
    },
  }),
}
