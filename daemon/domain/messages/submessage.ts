// Parts of widgets: what is said to a poll or a list, kept with its message.

import type { ParamsOf } from '../../api/define.ts'
import type { messages as api } from '../../api/messages/messages.ts'
import { visibilityAfterTakingPart } from '../channels/topic-visibility.ts'
import type { SubmessageAdded } from '../model/facts/messages.ts'
import { badRequest } from '../refusal.ts'
import type { Context } from '../resource.ts'
import { changeable } from './access.ts'
import { submessageId } from './send.ts'

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
