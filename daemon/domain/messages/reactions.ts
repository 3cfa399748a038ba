// Emoji reactions.

import type { ParamsOf } from '../../api/define.ts'
import { reactions as api } from '../../api/messages/reactions.ts'
import { visibilityAfterTakingPart } from '../channels/topics/visibility.ts'
import { limits } from '../limits.ts'
import { emojiByName, isEmojiCode, isEmojiPair, noSuchEmoji } from '../markdown/emoji-names.ts'
import type { ReactionAdded, ReactionRemoved } from '../model/facts/messages.ts'
import { hasRow } from '../model/message-reader.ts'
import type { Reaction } from '../model/message-store/index.ts'
import type { Emoji } from '../model/rows/people.ts'
import type { State } from '../model/state.ts'
import { presentAuthor } from '../people/users/present.ts'
import { full, inQuotes, invalid, inWords, missing, neededOneOf, Refusal } from '../refusal.ts'
import { type Announcement, type Context, type Event, resource } from '../resource.ts'
import { splitByAccess } from '../rules/audiences.ts'
import { checkChangeable } from './messages/access.ts'
import { listConcerned } from './messages/audience.ts'
import { presentReaction, tidy } from './messages/present.ts'

const types: readonly string[] = ['unicode_emoji', 'realm_emoji', 'svc_extra_emoji'] satisfies Emoji['type'][]

export const reactions = resource(api)<ReactionAdded | ReactionRemoved>({
  commands: {
    add(ctx, params) {
      const id = checkChangeable(ctx, params.message_id)
      const existing = ctx.state.messages.details(id)?.reactions ?? []
      const reaction = { ...emojiToAdd(ctx, params, existing), userId: ctx.actor.id }
      if (existing.some(other => isSame(other, reaction)))
        throw new Refusal('You have already reacted with this emoji.', { code: 'REACTION_ALREADY_EXISTS' })
      if (existing.length >= limits.reactionsPerMessage)
        throw full('A message', limits.reactionsPerMessage, 'reactions', 'Send a message instead.')
      checkOwnReactions(ctx, existing)
      const historical = !hasRow(ctx.state, ctx.actor.id, id)
      const added: ReactionAdded = { type: 'reaction.added', messageId: id, reaction, historical }
      return { facts: [...visibilityAfterTakingPart(ctx, id), added], reply: {} }
    },

    remove(ctx, params) {
      const id = checkChangeable(ctx, params.message_id)
      const own = (ctx.state.messages.details(id)?.reactions ?? []).filter(({ userId }) => userId === ctx.actor.id)
      const reaction = reactionToRemove(ctx.state, params, own)
      return { facts: [{ type: 'reaction.removed', messageId: id, reaction }], reply: {} }
    },
  },

  apply: {
    'reaction.added': (state, { messageId, reaction, historical }) => {
      if (historical) state.messageFlags.add(reaction.userId, 'historical', [messageId, messageId])
      change(state, messageId, before => [...before, reaction])
    },
    'reaction.removed': (state, { messageId, reaction }) =>
      change(state, messageId, before => before.filter(other => !isSame(other, reaction))),
  },

  announce: {
    'reaction.added': (state, fact) => news(state, fact, 'add'),
    'reaction.removed': (state, fact) => news(state, fact, 'remove'),
  },
})

function news(state: State, { messageId, reaction }: ReactionAdded | ReactionRemoved, op: 'add' | 'remove') {
  const user = state.users.get(reaction.userId)!
  const { known, strangers } = splitByAccess(state, user, listConcerned(state, messageId))
  const event = (isStranger: boolean): Event => {
    const { email, full_name } = presentAuthor(state, user, false, isStranger)
    return {
      type: 'reaction',
      op,
      message_id: messageId,
      ...presentReaction(reaction),
      user: { user_id: user.id, email, full_name },
    }
  }
  const announcements: Announcement[] = [{ to: known, event: event(false) }]
  if (strangers.length > 0) announcements.push({ to: strangers, event: event(true) })
  return announcements
}

function change(state: State, id: number, changed: (before: readonly Reaction[]) => Reaction[]): void {
  const details = state.messages.details(id)
  state.messages.setDetails(id, tidy({ ...details, reactions: changed(details?.reactions ?? []) }))
}

function isSame(a: Reaction, b: Reaction): boolean {
  return a.type === b.type && a.code === b.code && a.userId === b.userId
}

function checkOwnReactions({ state, actor }: Context, existing: readonly Reaction[]): void {
  if (existing.length < limits.reactionsPerAccount) return
  const account = actor.bot?.ownerId ?? actor.id
  const own = existing.filter(({ userId }) => (state.users.get(userId)?.bot?.ownerId ?? userId) === account)
  if (own.length >= limits.reactionsPerAccount)
    throw full('You', limits.reactionsPerAccount, 'reactions to one message, your bots included', 'Remove some first.')
}

function emojiToAdd(
  { state }: Context,
  { emoji_name, emoji_code, reaction_type }: ParamsOf<typeof api.add>,
  existing: readonly Reaction[],
): Emoji {
  const found = emojiByName(state, emoji_name)
  const code = emoji_code ?? found?.code
  const type = reaction_type ?? (emoji_code === undefined ? found?.type : 'unicode_emoji')
  if (type !== undefined && !types.includes(type)) throw invalid('reaction_type', `must be ${inWords(types, 'or')}`)
  // A reaction that others have keeps its name, even of an emoji that has been deactivated since.
  const joined = existing.find(other => other.type === type && other.code === code)
  if (joined) return { type: joined.type, code: joined.code, name: joined.name }
  if (code === undefined || type === undefined) throw noSuchEmoji(state, emoji_name)
  const emoji = { type: type as Emoji['type'], code, name: found?.name ?? emoji_name }
  if (!isEmojiPair(state, emoji))
    throw invalid('emoji_code', `${inQuotes(code)} is not the code of ${inQuotes(emoji_name)}`)
  return emoji
}

function reactionToRemove(
  state: State,
  { emoji_name, emoji_code, reaction_type }: ParamsOf<typeof api.remove>,
  own: readonly Reaction[],
): Reaction {
  if (emoji_name === undefined && emoji_code === undefined) throw neededOneOf('emoji_name', 'emoji_code')
  const found = emoji_name === undefined ? undefined : emojiByName(state, emoji_name)
  const code = emoji_code ?? found?.code
  const type = reaction_type ?? (emoji_code === undefined ? found?.type : 'unicode_emoji')
  const mine = own.find(
    reaction =>
      (reaction.type === type && reaction.code === code) ||
      // The emoji may have been deactivated since; then its name alone still finds the reaction.
      (emoji_code === undefined && reaction.name === emoji_name && (reaction_type ?? reaction.type) === reaction.type),
  )
  if (mine) return mine
  if (reaction_type !== undefined && !types.includes(reaction_type))
    throw invalid('reaction_type', `must be ${inWords(types, 'or')}`)
  if (code === undefined || type === undefined) throw noSuchEmoji(state, emoji_name!)
  if (!isEmojiCode(state, type as Emoji['type'], code)) throw missing('emoji_code', 'emoji', code)
  throw new Refusal('You have not reacted with this emoji.', { code: 'REACTION_DOES_NOT_EXIST' })
}
