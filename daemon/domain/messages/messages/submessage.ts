// Parts of widgets: what is said to a poll or a list, kept with its message.

import type { ParamsOf } from '../../../api/define.ts'
import type { messages as api } from '../../../api/messages/messages.ts'
import { visibilityAfterTakingPart } from '../../channels/topics/visibility.ts'
import type { SubmessageAdded } from '../../model/facts/messages.ts'
import { conflict, invalid, Refusal } from '../../refusal.ts'
import type { Context } from '../../resource.ts'
import { checkChangeable } from './access.ts'
import { submessageId } from './send.ts'

export function submessage(ctx: Context, params: ParamsOf<typeof api.submessage>) {
  const { state, actor } = ctx
  const message = state.messages.get(checkChangeable(ctx, params.message_id))!
  const parts = message.details?.submessages ?? []
  if (parts.length === 0 && message.senderId !== actor.id)
    throw new Refusal('Only the author of a message can add a widget to it.', { kind: 'forbidden' })
  try {
    JSON.parse(params.content)
  } catch {
    throw invalid('content', 'must be valid JSON')
  }
  if (parts.length >= 1000) throw conflict('message_id', 'this widget has reached its largest size')
  const id = submessageId(message.id, parts.length)
  const part = { id, senderId: actor.id, msgType: params.msg_type, content: params.content }
  const added: SubmessageAdded = { type: 'submessage.added', messageId: message.id, submessage: part }
  return { facts: [...visibilityAfterTakingPart(ctx, message.id), added], reply: {} }
}
