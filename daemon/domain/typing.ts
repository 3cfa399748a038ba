// Typing notifications: signals only. The server keeps no typing state.

import type { ParamsOf } from '../api/define.ts'
import { typing as api } from '../api/typing.ts'
import { badRequest } from './refusal.ts'
import { type Announcement, type Context, resource } from './resource.ts'
import type { User } from './state.ts'

type Params = ParamsOf<typeof api.set>

export const typing = resource(api)<never>({
  commands: {
    set: (ctx, params) => ({
      signals: [params.type === 'direct' ? direct(ctx, params) : inChannel(ctx, params)],
      reply: {},
    }),
  },
  apply: {},
  announce: {},
})

function direct(ctx: Context, { op, to }: Params): Announcement {
  if (!to || to.length === 0) throw badRequest('to: at least one recipient is needed for a direct message')
  const named = to.map((id, index) => person(ctx, id, index))
  const people = [...new Map([ctx.actor, ...named].map(user => [user.id, user])).values()]
  return {
    to: people.filter(user => user.active).map(user => user.id),
    event: {
      type: 'typing',
      op,
      message_type: 'direct',
      sender: shown(ctx.actor),
      recipients: people.sort((a, b) => a.id - b.id).map(shown),
    },
  }
}

function inChannel(_ctx: Context, { stream_id, topic }: Params): Announcement {
  if (stream_id === undefined) throw badRequest('stream_id is needed for a channel')
  if (topic === undefined) throw badRequest('topic is needed for a channel')
  throw badRequest('stream_id: no such channel')
}

function person(ctx: Context, id: number, index: number): User {
  const user = ctx.state.users.get(id)
  if (!user) throw badRequest(`to[${index}]: no user has the ID ${id}`)
  return user
}

function shown(user: User) {
  return { user_id: user.id, email: user.email }
}
