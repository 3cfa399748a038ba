// Deleting messages, editing notifications, and parts of widgets.

import type { ParamsOf } from '../../api/define.ts'
import type { messages as api } from '../../api/messages.ts'
import { filesOf } from '../attachments.ts'
import type { Message } from '../message-store/index.ts'
import { deleteAnyMessage, deleteOwnMessage } from '../permissions.ts'
import { badRequest } from '../refusal.ts'
import type { Announcement, Context } from '../resource.ts'
import { userSetting } from '../settings-lookup.ts'
import type { State } from '../state.ts'
import { visibilityAfterTakingPart } from '../topic-visibility.ts'
import { changeable } from './access.ts'
import { readersBeyond } from './announce.ts'
import type { MessagesDeleted, SubmessageAdded } from './facts.ts'
import { topicShown } from './present.ts'
import { submessageId } from './send.ts'
import { checkEditing, isOlder } from './update.ts'

export function remove(ctx: Context, { message_id }: ParamsOf<typeof api.delete>) {
  const message = ctx.state.messages.get(changeable(ctx, message_id))!
  const channel = message.channelId === undefined ? undefined : ctx.state.channels.get(message.channelId)
  if (!deleteAnyMessage.allows(ctx, channel)) {
    if (!isOwn(ctx, message)) throw badRequest(`message_id: ${deleteAnyMessage.sentence}`)
    if (!deleteOwnMessage.allows(ctx, channel)) throw badRequest(`message_id: ${deleteOwnMessage.sentence}`)
    if (isOlder(ctx, message.time, 'message_content_delete_limit_seconds'))
      throw badRequest('message_id: the time limit for deleting this message has passed')
  }
  return { facts: [deletion(ctx.state, [message.id], ctx.actor.id)], reply: {} }
}

/** The fact that messages of one topic or conversation, ascending, are gone. */
export function deletion(state: State, ids: readonly number[], userId: number | null): MessagesDeleted {
  const { topic, thread } = state.messages.place(ids.at(-1)!)
  const { channelId, conversationId } = thread
  const files = filesOf(state, ids)
  const links = files.length > 0 && { files }
  if (conversationId !== 0) return { type: 'messages.deleted', ids, place: { conversationId }, userId, ...links }
  const also = readersBeyond(state, state.channels.get(channelId)!, ids)
  const place = { channelId, topic }
  return { type: 'messages.deleted', ids, place, userId, ...(also.length > 0 && { also }), ...links }
}

function isOwn({ state, actor }: Context, { senderId }: Message): boolean {
  return senderId === actor.id || state.users.get(senderId)?.bot?.ownerId === actor.id
}

export function typing(ctx: Context, { message_id, op }: ParamsOf<typeof api.typing>) {
  const { state, actor } = ctx
  const message = state.messages.get(changeable(ctx, message_id))!
  checkEditing(ctx, message, 0)
  const direct = message.channelId === undefined
  if (!userSetting(actor, direct ? 'send_private_typing_notifications' : 'send_stream_typing_notifications'))
    throw badRequest('You have turned off typing notifications')
  const people = direct
    ? state.conversations.get(message.conversationId!)!.userIds
    : [...state.subscriptions.followers(message.channelId!)]
  // So many could not be looked at anyway.
  if (!direct && people.length > 100) return { reply: {} }
  const to = people.filter(id => {
    const user = state.users.get(id)!
    return user.active && userSetting(user, 'receives_typing_notifications')
  })
  const event = { type: 'typing_edit_message', op, sender_id: actor.id, message_id }
  const inChannel = (topic: string) => ({
    ...event,
    recipient: { type: 'channel', channel_id: message.channelId, topic },
  })
  const signal: Announcement = {
    to,
    event: direct
      ? { ...event, recipient: { type: 'direct', user_ids: people } }
      : ({ capabilities }) =>
          capabilities.has('stream_typing_notifications')
            ? inChannel(topicShown(message.topic, capabilities.has('empty_topic_name')))
            : null,
  }
  return { signals: [signal], reply: {} }
}

export function submessage(ctx: Context, params: ParamsOf<typeof api.submessage>) {
  const { state, actor } = ctx
  const message = state.messages.get(changeable(ctx, params.message_id))!
  const parts = message.details?.submessages ?? []
  if (parts.length === 0 && message.senderId !== actor.id)
    throw badRequest('message_id: only the author of a message can attach a widget to it')
  try {
    JSON.parse(params.content)
  } catch {
    throw badRequest('content is not valid JSON')
  }
  if (parts.length >= 1000) throw badRequest('message_id: this widget cannot take more')
  const id = submessageId(message.id, parts.length)
  const part = { id, senderId: actor.id, msgType: params.msg_type, content: params.content }
  const added: SubmessageAdded = { type: 'submessage.added', messageId: message.id, submessage: part }
  return { facts: [...visibilityAfterTakingPart(ctx, message.id), added], reply: {} }
}
