// Avatars: the caller's own picture, and the check of any picture. The fact belongs to users.

import { sizeOf, type Upload } from '../../api/define.ts'
import { avatars as api } from '../../api/people/avatars.ts'
import { checkQuota } from '../files/attachments.ts'
import { checkImage } from '../files/images.ts'
import { limits } from '../limits.ts'
import type { State, User } from '../model/state.ts'
import { type Context, type Outcome, resource, type Tools } from '../resource.ts'
import * as may from '../rules/index.ts'
import { avatarUrl, defaultAvatar } from './users/present.ts'

export const avatars = resource(api)<never, { readonly upload: { readonly file: string | undefined } }>({
  prepare: { upload: async (tools, { file }, state) => ({ file: await keepAvatar(tools, file, state) }) },
  commands: {
    upload: (ctx, _params, { file }) => changeAvatar(ctx, file),
    delete: ctx => changeAvatar(ctx, undefined),
  },
  apply: {},
  announce: {},
})

/** Read and checked before it is kept: what is no image never reaches the store. */
export async function keepAvatar(tools: Tools, file: Upload | undefined, state: State): Promise<string | undefined> {
  if (!file) return undefined
  checkImage('file', file, limits.imageMiB)
  if (tools.server) checkQuota(state, tools.server, sizeOf(file))
  return tools.keepFile(file)
}

function changeAvatar(ctx: Context, file: string | undefined): Outcome<{ avatar_url: string }> {
  may.check(may.changeAvatar, ctx)
  const { actor } = ctx
  const version = actor.avatar.version + 1
  const avatar: User['avatar'] = file === undefined ? defaultAvatar(ctx.state, version) : { version, file }
  // Without an upload there is nothing to remove.
  const isRepeated = file === actor.avatar.file && avatar.jdenticon === actor.avatar.jdenticon
  if (isRepeated && file === undefined && ctx.server.level.rules.avatarDeletedOnce)
    return { reply: { avatar_url: avatarUrl(actor) } }
  return {
    facts: [{ type: 'user.avatar-changed', userId: actor.id, avatar }],
    // Otherwise one account could fill the disk, a picture at a time.
    ...(actor.avatar.file !== undefined && { dropped: [actor.avatar.file] }),
    reply: { avatar_url: avatarUrl({ ...actor, avatar }) },
  }
}
