// Muted users: people whose messages one does not want to see.

import { endpoint, inPath, userId } from './define.ts'

export const mutedUsers = {
  mute: endpoint({
    id: 'mute-user',
    method: 'POST',
    path: '/users/me/muted_users/{muted_user_id}',
    access: 'user',
    since: 48,
    summary: 'Mute somebody',
    params: { muted_user_id: inPath(userId, 'whom') },
    reply: {},
    refusals: ['BAD_REQUEST'],
    cli: {
      name: 'users mute',
      args: ['muted_user_id'],
      examples: ['natter users mute bob@example.com', 'natter users mute id:12'],
    },
  }),
  unmute: endpoint({
    id: 'unmute-user',
    method: 'DELETE',
    path: '/users/me/muted_users/{muted_user_id}',
    access: 'user',
    since: 48,
    summary: 'Hear somebody again',
    params: { muted_user_id: inPath(userId, 'whom') },
    reply: {},
    refusals: ['BAD_REQUEST'],
    cli: {
      name: 'users unmute',
      args: ['muted_user_id'],
      examples: ['natter users unmute bob@example.com', 'natter users unmute id:12'],
    },
  }),
}
