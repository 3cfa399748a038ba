// User status: a line of text and an emoji next to a user's name.

import { bool, emojiName, endpoint, inPath, maybe, oneOf, optional, record, text, userId } from '../define.ts'

const reactionType = oneOf('unicode_emoji', 'realm_emoji', 'svc_extra_emoji')

const statusParams = {
  status_text: optional(text, 'the text, at most 60 characters; empty to clear it'),
  emoji_name: optional(emojiName, 'name of an emoji; empty to clear it'),
  emoji_code: optional(text, 'code of the emoji; looked up by name if omitted'),
  reaction_type: optional(reactionType, 'kind of the emoji; looked up by name if omitted'),
}

export const userStatus = {
  update: endpoint({
    id: 'update-status',
    route: 'POST /users/me/status',
    callers: 'humans',
    summary: 'Set your status',
    params: {
      ...statusParams,
      away: optional(bool, 'whether to be invisible', { deprecated: 'edit the setting presence_enabled' }),
    },
    cli: {
      name: 'status edit',
      done: 'set your status',
      args: ['status_text'],
      flags: { emoji_name: 'emoji' },
      examples: ['natter status edit "In a meeting" --emoji calendar', 'natter status edit ""'],
    },
  }),
  updateFor: endpoint({
    id: 'update-status-for-user',
    route: 'POST /users/{user_id}/status',
    since: 407,
    summary: 'Set the status of another user (administrators)',
    params: { user_id: inPath(userId, 'whose'), ...statusParams },
    cli: {
      name: 'status edit-for',
      done: 'set the status of {user_id}',
      args: ['user_id', 'status_text'],
      flags: { emoji_name: 'emoji' },
      examples: [
        'natter status edit-for amy@example.com "On leave" --emoji palm_tree',
        'natter status edit-for amy@example.com ""',
      ],
    },
  }),
  get: endpoint({
    id: 'get-user-status',
    route: 'GET /users/{user_id}/status',
    since: 262,
    summary: 'Show the status of a user',
    params: { user_id: inPath(userId, 'whose') },
    reply: {
      status: record({
        status_text: maybe(text),
        emoji_name: maybe(text),
        emoji_code: maybe(text),
        reaction_type: maybe(reactionType),
        away: maybe(bool),
      }),
    },
    cli: {
      name: 'status show',
      examples: ['natter status show amy@example.com', 'natter status show amy@example.com --json'],
    },
  }),
}
