// Muted users: personal records; only their owner gets the events.

import { mutedUsers as api } from '../../api/people/muted-users.ts'
import { readMessagesFrom } from '../messages/message-flags/read-state.ts'
import type { MutedUserFact } from '../model/facts/people.ts'
import { mutedUserKey } from '../model/keys.ts'
import type { State } from '../model/state.ts'
import { conflict, invalid, missing } from '../refusal.ts'
import { type Announcement, type Context, resource } from '../resource.ts'
import * as may from '../rules/index.ts'
import { seconds } from '../values/time.ts'

export const mutedUsers = resource(api)<MutedUserFact>({
  commands: {
    mute(ctx, { muted_user_id: mutedId }) {
      const userId = ctx.actor.id
      if (mutedId === userId) throw invalid('muted_user_id', 'you cannot mute yourself')
      if (isMuted(ctx, mutedId)) throw conflict('muted_user_id', `user ${mutedId} is already muted`)
      return {
        facts: [
          ...readMessagesFrom(ctx.state, userId, mutedId),
          { type: 'user.muted', userId, mutedId, since: seconds(ctx.now) },
        ],
        reply: {},
      }
    },

    unmute(ctx, { muted_user_id: mutedId }) {
      if (!isMuted(ctx, mutedId)) throw conflict('muted_user_id', `user ${mutedId} is not muted`)
      return { facts: [{ type: 'user.unmuted', userId: ctx.actor.id, mutedId }], reply: {} }
    },
  },

  apply: {
    'user.muted': (state, { userId, mutedId, since }) => state.mutedUsers.put({ userId, mutedId, since }),
    'user.unmuted': (state, fact) => state.mutedUsers.remove(mutedUserKey(fact)),
  },

  announce: {
    'user.muted': (state, { userId }) => announceMutes(state, userId),
    'user.unmuted': (state, { userId }) => announceMutes(state, userId),
  },

  sections: { muted_users: ({ state, actor }) => ({ muted_users: present(state, actor.id) }) },
})

function isMuted(ctx: Context, mutedId: number): boolean {
  const user = ctx.state.users.get(mutedId)
  if (!user || !may.accessUser.allows(ctx, user)) throw missing('muted_user_id', 'user', mutedId)
  return ctx.state.mutedUsers.has(mutedUserKey({ userId: ctx.actor.id, mutedId }))
}

function announceMutes(state: State, userId: number): Announcement[] {
  return [{ to: [userId], event: { type: 'muted_users', muted_users: present(state, userId) } }]
}

function present(state: State, userId: number) {
  return state.mutedUsers.where('user', userId).map(({ mutedId, since }) => ({ id: mutedId, timestamp: since }))
}
