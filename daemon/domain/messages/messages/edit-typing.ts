// Telling others that one edits a message: a signal, like that of typing a new one.

import type { ParamsOf } from '../../../api/define.ts'
import type { messages as api } from '../../../api/messages/messages.ts'
import { userSetting } from '../../model/settings.ts'
import { Refusal } from '../../refusal.ts'
import type { Announcement, Context } from '../../resource.ts'
import { topicShown } from '../../values/topic-names.ts'
import { checkChangeable } from './access.ts'
import { listConcerned } from './audience.ts'
import { checkEditing } from './update.ts'

export function typing(ctx: Context, { message_id, op }: ParamsOf<typeof api.typing>) {
  const { state, actor } = ctx
  const message = state.messages.get(checkChangeable(ctx, message_id))!
  checkEditing(ctx, message, 0)
  const direct = message.channelId === undefined
  if (!userSetting(actor, direct ? 'send_private_typing_notifications' : 'send_stream_typing_notifications'))
    throw new Refusal('Your settings turn off typing notifications.', { kind: 'conflict' })
  // So many could not be looked at anyway.
  if (!direct && state.subscriptions.followers(message.channelId!).size > 100) return { reply: {} }
  const people = listConcerned(state, message_id)
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
      : client => inChannel(topicShown(message.topic, client.emptyTopic)),
  }
  return { signals: [signal], reply: {} }
}
