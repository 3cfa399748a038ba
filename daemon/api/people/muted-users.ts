// Muted users: people whose messages you do not want to see.

import { endpoint, inPath, userId } from '../define.ts'

export const mutedUsers = {
  mute: endpoint({
    id: 'mute-user',
    route: 'POST /users/me/muted_users/{muted_user_id}',
    since: 48,
    summary: 'Mute a user',
    params: { muted_user_id: inPath(userId, 'whom') },
    cli: {
      name: 'mutes add',
      done: 'muted {muted_user_id}',
      examples: ['natter mutes add bob@example.com', 'natter mutes add id:6'],
    },
  }),
  unmute: endpoint({
    id: 'unmute-user',
    route: 'DELETE /users/me/muted_users/{muted_user_id}',
    since: 48,
    summary: 'Unmute a user',
    params: { muted_user_id: inPath(userId, 'whom') },
    cli: {
      name: 'mutes remove',
      done: 'unmuted {muted_user_id}',
      examples: ['natter mutes remove bob@example.com', 'natter mutes remove id:6'],
    },
  }),
}
