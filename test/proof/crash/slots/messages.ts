// Slots of messages, and of what a user keeps or schedules.

import { uploads } from '../../../../daemon/api/files/uploads.ts'
import { drafts } from '../../../../daemon/api/messages/drafts.ts'
import { messageFlags } from '../../../../daemon/api/messages/message-flags.ts'
import { messages } from '../../../../daemon/api/messages/messages.ts'
import { reminders } from '../../../../daemon/api/messages/reminders.ts'
import { scheduledMessages } from '../../../../daemon/api/messages/scheduled-messages.ts'
import type { Place } from '../place.ts'
import { by, call, growing, looksUp, type Slot, text, toggle, type World } from './slot.ts'

export function messageSlots({ keeper, message, moved, upload }: Place): readonly Slot[] {
  const draft = (content: string) => ({ type: 'private', to: [keeper.id], topic: '', content })
  const flag = (op: string, flag: string) => call(messageFlags.update, { messages: [message], op, flag })
  const second = (w: World) => w.scheduled_messages.find(({ content }: any) => content === 'second')
  return [
    text(
      'draft',
      n => call(drafts.edit, { draft_id: 1, draft: draft(n) }),
      w => by(w.drafts, 1).content,
    ),
    text(
      'scheduled message',
      n => call(scheduledMessages.update, { scheduled_message_id: 1, content: n }),
      w => w.scheduled_messages.find((one: any) => one.scheduled_message_id === 1).content,
    ),
    looksUp(
      'second scheduled message',
      (yes, w) => {
        if (!yes) return call(scheduledMessages.delete, { scheduled_message_id: second(w).scheduled_message_id })
        const later = { content: 'second', scheduled_delivery_timestamp: 4_000_000_000 }
        return call(scheduledMessages.create, { type: 'direct', to: [keeper.id], ...later })
      },
      w => second(w) !== undefined,
    ),
    looksUp(
      'reminder',
      (yes, w) =>
        yes
          ? call(reminders.create, { message_id: message, scheduled_delivery_timestamp: 4_000_000_000 })
          : call(reminders.delete, { reminder_id: w.reminders[0].reminder_id }),
      w => w.reminders.length > 0,
    ),
    looksUp(
      'second draft',
      (yes, w) =>
        yes
          ? call(drafts.create, { drafts: [draft('second')] })
          : call(drafts.delete, { draft_id: w.drafts.find(({ content }: any) => content === 'second').id }),
      w => w.drafts.some(({ content }: any) => content === 'second'),
    ),
    growing(
      'draft of a call that is made again',
      n => ({ ...call(drafts.create, { drafts: [draft(`keyed ${n}`)] }), key: `draft-${n}` }),
      w => w.drafts.filter(({ content }: any) => content.startsWith('keyed')).length,
    ),
    text(
      'topic of a message',
      n => call(messages.update, { message_id: moved, topic: n, send_notification_to_new_thread: false }),
      w => w.moved.subject,
    ),
    growing(
      'submessage',
      n => call(messages.submessage, { message_id: message, msg_type: 'widget', content: JSON.stringify({ n }) }),
      w => w.message.submessages.length,
    ),
    toggle(
      'star',
      yes => flag(yes ? 'add' : 'remove', 'starred'),
      w => w.message.flags.includes('starred'),
    ),
    toggle(
      'read message',
      yes => (yes ? call(messageFlags.markAll, {}) : flag('remove', 'read')),
      w => w.message.flags.includes('read'),
    ),
    looksUp(
      'upload',
      (yes, w) =>
        yes
          ? call(uploads.upload, { file: { filename: 'b.txt', contentType: 'text/plain', bytes: Buffer.from('b') } })
          : call(uploads.remove, { attachment_id: w.attachments.find(({ name }: any) => name === 'b.txt').id }),
      w => w.attachments.some(({ name }: any) => name === 'b.txt'),
    ),
    toggle(
      'link to an upload',
      yes => call(messages.update, { message_id: moved, content: yes ? `[a](${upload})` : 'no link' }),
      w => {
        const { messages, message_ids = messages } = w.attachments.find(({ name }: any) => name === 'a.txt')
        return message_ids.length > 0
      },
    ),
  ]
}
