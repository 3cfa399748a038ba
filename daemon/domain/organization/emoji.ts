// Custom emoji: files beside the store, soft deletion, so that old reactions keep their picture.

import { sizeOf } from '../../api/define.ts'
import { emoji as api } from '../../api/organization/emoji.ts'
import { checkQuota } from '../files/attachments.ts'
import { checkImage } from '../files/images.ts'
import { extractStill } from '../files/still-images.ts'
import { limits } from '../limits.ts'
import { isBuiltInEmoji } from '../markdown/emoji-names.ts'
import { emojiUrl } from '../markdown/organization-content.ts'
import type { EmojiFact } from '../model/facts/organization.ts'
import type { CustomEmoji } from '../model/rows/organization.ts'
import type { State } from '../model/state.ts'
import { full, invalid, missingOwn, taken } from '../refusal.ts'
import { type Announcement, resource } from '../resource.ts'
import { everyone } from '../rules/audiences.ts'
import * as may from '../rules/index.ts'

interface Prepared {
  readonly upload: Pick<CustomEmoji, 'file' | 'still'>
}

export const customEmoji = resource(api)<EmojiFact, Prepared>({
  prepare: {
    // OPEN: pictures are kept as they came, not scaled to 64 by 64 (avatars not to 100 and 500); clients scale them
    // anyway, and a decoder and encoder for four formats would weigh more than the daemon.
    async upload(tools, { emoji_name, file }, state, actor) {
      checkName({ state, actor: actor! }, emoji_name)
      checkImage('file', file, limits.imageMiB, 'emoji')
      if (tools.server) checkQuota(state, tools.server, sizeOf(file))
      const still = extractStill((await file.received?.read()) ?? file.bytes)
      return {
        file: await tools.keepFile(file),
        ...(still && { still: await tools.keepFile(still) }),
      }
    },
  },

  commands: {
    list: ({ state }) => ({ reply: { emoji: present(state) } }),

    upload(ctx, { emoji_name }, files) {
      // OPEN: the public server does not limit the number of custom emoji. Here deactivated emoji count too: old reactions need them, so
      // they stay, and every client gets all of them when it registers.
      if (ctx.state.emoji.size >= limits.customEmoji)
        throw full('The organization', limits.customEmoji, 'custom emoji', 'Deactivated ones count.')
      const emoji: CustomEmoji = {
        id: ctx.state.emoji.nextId,
        name: checkName(ctx, emoji_name),
        authorId: ctx.actor.id,
        ...files,
        deactivated: false,
      }
      return { facts: [{ type: 'emoji.added', emoji }], reply: {} }
    },

    deactivate(ctx, { emoji_name }) {
      const emoji = ctx.state.emoji.find('activeName', emoji_name)
      if (!emoji) throw missingOwn('emoji_name', 'custom emoji', emoji_name)
      may.check(may.deactivateEmoji, ctx, emoji)
      return { facts: [{ type: 'emoji.deactivated', id: emoji.id }], reply: {} }
    },
  },

  apply: {
    'emoji.added': (state, { emoji }) => state.emoji.put(emoji),
    'emoji.deactivated': (state, { id }) => state.emoji.put({ ...state.emoji.get(id)!, deactivated: true }),
  },

  announce: {
    'emoji.added': (state, { emoji }) => emojiNews(state, { op: 'add', emoji: presentOne(emoji) }),
    'emoji.deactivated': (state, { id }) =>
      emojiNews(state, { op: 'update_one', emoji_id: String(id), data: { deactivated: true } }),
  },

  sections: { realm_emoji: ({ state }) => ({ realm_emoji: present(state) }) },
})

function checkName(asker: may.Asker, given: string): string {
  may.check(may.addEmoji, asker)
  const name = given.trim().replaceAll(' ', '_')
  if (!/^[a-z0-9_-]*[a-z0-9]$/.test(name))
    throw invalid(
      'emoji_name',
      'can contain only lower-case letters, digits, - and _, and must end in a letter or digit',
    )
  if (asker.state.emoji.find('activeName', name)) throw taken('emoji_name', name)
  if (isBuiltInEmoji(name)) may.check(may.overrideEmoji, asker)
  return name
}

/** The change alone, for clients that can do with it; all custom emoji for the others. */
function emojiNews(state: State, change: object): Announcement[] {
  const whole = { type: 'realm_emoji', op: 'update', realm_emoji: present(state) }
  const single = { type: 'realm_emoji', ...change }
  return [{ to: everyone(state), event: client => (client.singleEmoji ? single : whole) }]
}

function present(state: State) {
  return Object.fromEntries([...state.emoji.values()].map(emoji => [String(emoji.id), presentOne(emoji)]))
}

function presentOne(emoji: CustomEmoji) {
  const { id, name, authorId, deactivated } = emoji
  return {
    id: String(id),
    name,
    source_url: emojiUrl(emoji),
    still_url: emoji.still === undefined ? null : emojiUrl({ file: emoji.still }),
    deactivated,
    author_id: authorId,
  }
}
