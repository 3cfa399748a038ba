// Parts of widgets: what is said to a poll or a list, kept with its message.

import type { ParamsOf } from '../../../api/define.ts'
import type { messages as api } from '../../../api/messages/messages.ts'
import { visibilityAfterTakingPart } from '../../channels/topics/visibility.ts'
import type { SubmessageAdded } from '../../model/facts/messages.ts'
import type { Submessage } from '../../model/message-store/index.ts'
import { conflict, invalid, Refusal } from '../../refusal.ts'
import type { Context } from '../../resource.ts'
import { checkChangeable } from './access.ts'
import { submessageId } from './send.ts'
import { checkWidgetData } from './widget-checks.ts'

export function submessage(ctx: Context, params: ParamsOf<typeof api.submessage>) {
  const { state, actor } = ctx
  const message = state.messages.get(checkChangeable(ctx, params.message_id))!
  const parts = message.details?.submessages ?? []
  const isAuthor = message.senderId === actor.id
  if (!isAuthor && !parts.some(part => part.senderId === message.senderId))
    throw new Refusal('Only the author of a message can add a widget to it.', { kind: 'forbidden' })
  checkWidgetData(widgetType(parts), parseJson(params.content), isAuthor)
  if (parts.length >= 1000) throw conflict('message_id', 'this widget has reached its largest size')
  const id = submessageId(message.id, parts.length)
  const part = { id, senderId: actor.id, msgType: params.msg_type, content: params.content }
  const added: SubmessageAdded = { type: 'submessage.added', messageId: message.id, submessage: part }
  return { facts: [...visibilityAfterTakingPart(ctx, message.id), added], reply: {} }
}

function parseJson(content: string): unknown {
  try {
    return JSON.parse(content)
  } catch {
    throw invalid('content', 'must be valid JSON')
  }
}

/** The kind of the widget, as its first part says. */
function widgetType(parts: readonly Submessage[]): string | undefined {
  const first = parts.find(part => part.msgType === 'widget')
  if (!first) return undefined
  const content = JSON.parse(first.content) as { readonly widget_type?: unknown } | null
  return typeof content?.widget_type === 'string' ? content.widget_type : undefined
}
