// User status: text and emoji beside a name.

import type { ParamsOf } from '../../api/define.ts'
import { userStatus as api } from '../../api/people/user-status.ts'
import type { Fact } from '../facts.ts'
import { limits } from '../limits.ts'
import { emojiByName, isEmojiPair, noSuchEmoji } from '../markdown/emoji-names.ts'
import type { UserStatusFact } from '../model/facts/people.ts'
import type { Emoji } from '../model/rows/people.ts'
import { userSetting } from '../model/settings.ts'
import type { State, User } from '../model/state.ts'
import { missing, needed, neededOneOf } from '../refusal.ts'
import { type Announcement, type Context, resource } from '../resource.ts'
import { accessAudience } from '../rules/audiences.ts'
import * as may from '../rules/index.ts'
import { clean } from '../values/text.ts'
import { toggleVisibility } from './presence.ts'
import { settingsFact } from './settings/index.ts'

type Given = Omit<ParamsOf<typeof api.update>, 'away'>

export const userStatus = resource(api)<UserStatusFact>({
  commands: {
    update(ctx, { away, ...given }) {
      may.check(may.haveStatus, ctx)
      if (away === undefined && Object.keys(given).length === 0) throw neededOneOf('status_text', 'emoji_name')
      const fact = statusFact(ctx.state, ctx.actor, given)
      if (away === undefined) return { facts: [fact], reply: {} }
      const told: Fact = { ...fact, away }
      const setting = settingsFact(ctx.actor, { presence_enabled: !away })
      return { facts: [setting, told], ...toggleVisibility(ctx, !away), reply: {} }
    },

    updateFor(ctx, { user_id, ...given }) {
      may.check(may.administer, ctx)
      if (!ctx.server.level.rules.statusesByAdminBots) may.check(may.haveStatus, ctx)
      const user = findUser(ctx, user_id)
      if (Object.keys(given).length === 0) throw neededOneOf('status_text', 'emoji_name')
      return { facts: [statusFact(ctx.state, user, given)], reply: {} }
    },

    get: (ctx, { user_id }) => ({ reply: { status: present(ctx.state, findUser(ctx, user_id)) } }),
  },

  apply: {
    'user-status.set': (state, { status }) => state.userStatuses.put(status),
  },

  announce: {
    'user-status.set': (state, { status, changed, away }) => [
      {
        to: accessAudience(state, state.users.get(status.userId)!),
        event: {
          type: 'user_status',
          user_id: status.userId,
          ...(away !== undefined && { away }),
          ...(changed.includes('text') && { status_text: status.text }),
          ...(changed.includes('emoji') && wireEmoji(status.emoji)),
        },
      },
    ],
  },

  sections: {
    user_status(ctx) {
      const statuses: Record<string, object> = {}
      for (const user of ctx.state.users.values()) {
        const status = present(ctx.state, user)
        if (user.active && Object.keys(status).length > 0 && may.accessUser.allows(ctx, user))
          statuses[String(user.id)] = status
      }
      return { user_status: statuses }
    },
  },
})

/** The events for a user who did not know of the account before. */
export function statusNews(state: State, user: User, to: readonly number[]): Announcement[] {
  const status = user.active ? present(state, user) : {}
  return Object.keys(status).length > 0 ? [{ to, event: { type: 'user_status', user_id: user.id, ...status } }] : []
}

/** Made for a status that stays the same too: its event goes out with every call. */
function statusFact(state: State, user: User, given: Given): UserStatusFact {
  const old = state.userStatuses.get(user.id) ?? { userId: user.id, text: '' }
  const text = given.status_text === undefined ? old.text : clean('status_text', given.status_text, limits.statusText)
  const emoji = checkEmoji(state, given, old.emoji)
  const changed: ('text' | 'emoji')[] = []
  if (given.status_text !== undefined) changed.push('text')
  if (given.emoji_name !== undefined) changed.push('emoji')
  return { type: 'user-status.set', status: { userId: user.id, text, ...(emoji && { emoji }) }, changed }
}

function checkEmoji(state: State, given: Given, old: Emoji | undefined): Emoji | undefined {
  const { emoji_name: name, emoji_code, reaction_type } = given
  if (name === '') return undefined
  if (name === undefined) {
    if (emoji_code || reaction_type) throw needed('emoji_name', 'with emoji_code and reaction_type')
    return old
  }
  const known = emojiByName(state, name)
  const type = reaction_type ?? known?.type
  const code = emoji_code ?? known?.code
  const emoji = type && code ? { type, code, name: known?.name ?? name } : undefined
  if (!emoji || !isEmojiPair(state, emoji)) throw noSuchEmoji(state, name)
  return emoji
}

function wireEmoji(emoji: Emoji | undefined) {
  return { emoji_name: emoji?.name ?? '', emoji_code: emoji?.code ?? '', reaction_type: emoji?.type ?? 'unicode_emoji' }
}

/** Only what is set. Whether a person is invisible is part of a status that they have, or had. */
function present(state: State, user: User) {
  const status = state.userStatuses.get(user.id)
  if (!status) return {}
  return {
    ...(status.text && { status_text: status.text }),
    ...(status.emoji && wireEmoji(status.emoji)),
    ...(!userSetting(user, 'presence_enabled') && { away: true }),
  }
}

function findUser(ctx: Context, id: number): User {
  const user = ctx.state.users.get(id)
  if (!user?.active || user.bot || !may.accessUser.allows(ctx, user)) throw missing('user_id', 'active person', id)
  return user
}
