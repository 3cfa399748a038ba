// Deletes, with an account that an administrator deactivates, its name and avatar, and messages that it sent.

import type { ParamsOf } from '../../../api/define.ts'
import type { users as api } from '../../../api/people/users.ts'
import type { Fact } from '../../facts.ts'
import { deleteByPlace } from '../../messages/messages/deletion-facts.ts'
import type { User } from '../../model/state.ts'
import type { Context } from '../../resource.ts'
import * as may from '../../rules/index.ts'
import { hasProviderAvatar } from './present.ts'

export type Deletions = NonNullable<ParamsOf<typeof api.deactivate>['actions']>

export function deletesMessages(actions: Deletions): boolean {
  const { delete_public_channel_messages, delete_private_channel_messages, delete_direct_messages } = actions
  return delete_public_channel_messages || delete_private_channel_messages || delete_direct_messages || false
}

export function deleteAccountData(ctx: Context, user: User, actions: Deletions): Fact[] {
  return [
    ...(actions.delete_profile ? deleteProfile(user) : []),
    ...(deletesMessages(actions) ? deleteMessages(ctx, user, actions) : []),
  ]
}

function deleteProfile(user: User): Fact[] {
  const { id: userId, avatar } = user
  const fullName = user.bot ? 'Deactivated bot' : 'Deleted user'
  return [
    ...(user.fullName === fullName ? [] : [{ type: 'user.renamed', userId, fullName } as const]),
    ...(hasProviderAvatar(user)
      ? []
      : [{ type: 'user.avatar-changed', userId, avatar: { version: avatar.version + 1 } } as const]),
  ]
}

/** Messages that the administrator cannot read go too. */
function deleteMessages(ctx: Context, user: User, actions: Deletions): Fact[] {
  const { messages, channels } = ctx.state
  const isChosen = (id: number) => {
    const { channelId, conversationId } = messages.place(id).thread
    if (conversationId !== 0) return actions.delete_direct_messages
    return channels.get(channelId)!.inviteOnly
      ? actions.delete_private_channel_messages
      : actions.delete_public_channel_messages
  }
  const ids = messages.bySender(user.id).slice().filter(isChosen)
  return deleteByPlace(ctx.state, ids, ctx.actor.id, id => may.seeMessage.allows(ctx, id))
}
