// Avatars: one's own picture. The fact is that of users.

import { avatars as api } from '../api/avatars.ts'
import { keepAvatar } from './bots/index.ts'
import * as may from './permissions.ts'
import { type Context, type Outcome, resource } from './resource.ts'
import type { User } from './state.ts'
import { avatarUrl } from './users/present.ts'

export const avatars = resource(api)<never, { readonly upload: { readonly file: string | undefined } }>({
  prepare: { upload: async (tools, { file }) => ({ file: await keepAvatar(tools, file) }) },
  commands: {
    upload: (ctx, _params, { file }) => changed(ctx, file),
    delete: ctx => changed(ctx, undefined),
  },
  apply: {},
  announce: {},
})

function changed(ctx: Context, file: string | undefined): Outcome<{ avatar_url: string }> {
  may.check(may.changeAvatar, ctx, undefined)
  const { actor } = ctx
  // Without an upload there is none to take away.
  if (file === undefined && actor.avatar.file === undefined) return { reply: { avatar_url: avatarUrl(actor) } }
  const avatar: User['avatar'] = { version: actor.avatar.version + 1, ...(file !== undefined && { file }) }
  return {
    facts: [{ type: 'user.avatar-changed', userId: actor.id, avatar }],
    reply: { avatar_url: avatarUrl({ ...actor, avatar }) },
  }
}
