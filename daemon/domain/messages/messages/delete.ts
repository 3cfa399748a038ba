// Deleting a message.

import type { ParamsOf } from '../../../api/define.ts'
import type { messages as api } from '../../../api/messages/messages.ts'
import type { Message } from '../../model/message-store/index.ts'
import { Refusal } from '../../refusal.ts'
import type { Context } from '../../resource.ts'
import { deleteAnyMessage, deleteOwnMessage, forbidden } from '../../rules/index.ts'
import { checkChangeable } from './access.ts'
import { isOlder } from './ages.ts'
import { deletion } from './deletion-facts.ts'

export function remove(ctx: Context, { message_id }: ParamsOf<typeof api.delete>) {
  const message = ctx.state.messages.get(checkChangeable(ctx, message_id))!
  const channel = message.channelId === undefined ? undefined : ctx.state.channels.get(message.channelId)
  if (!deleteAnyMessage.allows(ctx, channel)) {
    if (!isOwn(ctx, message)) throw forbidden(deleteAnyMessage, channel)
    if (!deleteOwnMessage.allows(ctx, channel)) throw forbidden(deleteOwnMessage, channel)
    if (isOlder(ctx, message.time, 'message_content_delete_limit_seconds'))
      throw new Refusal('The time limit for deleting this message has passed.', { kind: 'forbidden' })
  }
  return { facts: [deletion(ctx.state, [message.id], ctx.actor.id)], reply: {} }
}

function isOwn({ state, actor }: Context, { senderId }: Message): boolean {
  return senderId === actor.id || state.users.get(senderId)?.bot?.ownerId === actor.id
}
