// Kinds of events about messages, drafts and other personal texts.

import { uploads } from '../../../../daemon/api/files/uploads.ts'
import { drafts } from '../../../../daemon/api/messages/drafts.ts'
import { messageFlags } from '../../../../daemon/api/messages/message-flags.ts'
import { messages } from '../../../../daemon/api/messages/messages.ts'
import { reactions } from '../../../../daemon/api/messages/reactions.ts'
import { reminders } from '../../../../daemon/api/messages/reminders.ts'
import { savedSnippets } from '../../../../daemon/api/messages/saved-snippets.ts'
import { scheduledMessages } from '../../../../daemon/api/messages/scheduled-messages.ts'
import { typing } from '../../../../daemon/api/messages/typing.ts'
import { picture } from './picture.ts'
import type { Role, Stage } from './stage.ts'
import { idsFor, type Triggers, trigger, unique } from './trigger.ts'

const inChannel = {
  type: 'channel',
  to: async (stage: Stage) => (await stage.channel()).name,
  topic: 'trigger',
}
const toMe = { type: 'direct', to: idsFor('me') }
const messageBy = (role: Role) => (stage: Stage) => stage.message(role)
const directMessage = async (stage: Stage) =>
  stage.made('other', messages.send, { type: 'direct', to: [await stage.id('me')], content: 'A message.' }, 'id')

/** Far ahead, by any clock. */
const later = 4_000_000_000
const draft = (content: string) => ({ type: '', to: [], topic: '', content })

const starred = async (stage: Stage) => {
  const list = [await stage.message('other')]
  await stage.call('me', messageFlags.update, { messages: list, op: 'add', flag: 'starred' })
  return list
}

const scheduled = async (stage: Stage) => {
  const to = (await stage.channel()).stream_id
  const message = { type: 'channel', to, topic: 'trigger', content: 'Later.', scheduled_delivery_timestamp: later }
  return stage.made('me', scheduledMessages.create, message, 'scheduled_message_id')
}

const reminder = async (stage: Stage) => {
  const params = { message_id: await stage.message('other'), scheduled_delivery_timestamp: later }
  return stage.made('me', reminders.create, params, 'reminder_id')
}

const snippet = (stage: Stage) =>
  stage.made('me', savedSnippets.create, { title: 'Snippet', content: 'Text.' }, 'saved_snippet_id')

const savedDraft = async (stage: Stage) =>
  (await stage.made('me', drafts.create, { drafts: [draft('Not sent yet.')] }, 'ids'))[0]

const upload = (stage: Stage) => stage.made('me', uploads.upload, { file: picture }, 'url')

export const aboutMessages: Triggers = {
  message: trigger('a colleague writes in a channel you share', 'other', messages.send, {
    ...inChannel,
    content: 'Hello from natter trigger.',
  }),
  mention: trigger(
    'a colleague mentions you in a channel',
    'other',
    messages.send,
    {
      ...inChannel,
      content: async (stage: Stage) => {
        const { full_name, user_id } = await stage.person('me')
        return `Hello @**${full_name}|${user_id}**!`
      },
    },
    { event: 'message' },
  ),
  'direct-message': trigger(
    'a colleague writes to you alone',
    'other',
    messages.send,
    { ...toMe, content: 'Hello from natter trigger.' },
    { event: 'message' },
  ),
  update_message: trigger('a colleague edits a message', 'other', messages.update, {
    message_id: messageBy('other'),
    content: 'A message, edited.',
  }),
  'moved-topic': trigger(
    'a colleague moves a message to another topic',
    'other',
    messages.update,
    { message_id: messageBy('other'), topic: unique('topic') },
    { event: 'update_message' },
  ),
  delete_message: trigger('the owner deletes a message', 'owner', messages.delete, { message_id: messageBy('other') }),
  'reaction/add': trigger('a colleague reacts to your message', 'other', reactions.add, {
    message_id: messageBy('me'),
    emoji_name: 'tada',
  }),
  'reaction/remove': trigger('a colleague takes the reaction back', 'other', reactions.remove, {
    message_id: async (stage: Stage) => {
      const message_id = await stage.message('me')
      await stage.call('other', reactions.add, { message_id, emoji_name: 'tada' })
      return message_id
    },
    emoji_name: 'tada',
  }),
  'update_message_flags/add': trigger('you star a message', 'me', messageFlags.update, {
    messages: async (stage: Stage) => [await stage.message('other')],
    op: 'add',
    flag: 'starred',
  }),
  'update_message_flags/remove': trigger('you remove the star', 'me', messageFlags.update, {
    messages: starred,
    op: 'remove',
    flag: 'starred',
  }),
  submessage: trigger('a colleague adds a part to a widget', 'other', messages.submessage, {
    message_id: messageBy('other'),
    msg_type: 'widget',
    content: '{}',
  }),
  'typing/start': trigger('a colleague starts to write to you', 'other', typing.set, { ...toMe, op: 'start' }),
  'typing/stop': trigger('a colleague stops writing to you', 'other', typing.set, { ...toMe, op: 'stop' }),
  'typing_edit_message/start': trigger('a colleague starts to edit a message to you', 'other', messages.typing, {
    message_id: directMessage,
    op: 'start',
  }),
  'typing_edit_message/stop': trigger('a colleague stops editing a message to you', 'other', messages.typing, {
    message_id: directMessage,
    op: 'stop',
  }),
  'scheduled_messages/add': trigger('you schedule a message', 'me', scheduledMessages.create, {
    ...inChannel,
    to: async (stage: Stage) => (await stage.channel()).stream_id,
    content: 'Later.',
    scheduled_delivery_timestamp: later,
  }),
  'scheduled_messages/update': trigger('you edit a scheduled message', 'me', scheduledMessages.update, {
    scheduled_message_id: scheduled,
    content: 'Later, edited.',
  }),
  'scheduled_messages/remove': trigger('you delete a scheduled message', 'me', scheduledMessages.delete, {
    scheduled_message_id: scheduled,
  }),
  'reminders/add': trigger('you ask to be reminded of a message', 'me', reminders.create, {
    message_id: messageBy('other'),
    scheduled_delivery_timestamp: later,
  }),
  'reminders/remove': trigger('you delete a reminder', 'me', reminders.delete, { reminder_id: reminder }),
  'saved_snippets/add': trigger('you save a snippet', 'me', savedSnippets.create, {
    title: 'Snippet',
    content: 'Text.',
  }),
  'saved_snippets/update': trigger('you edit a snippet', 'me', savedSnippets.edit, {
    saved_snippet_id: snippet,
    title: 'Snippet, edited',
  }),
  'saved_snippets/remove': trigger('you delete a snippet', 'me', savedSnippets.delete, { saved_snippet_id: snippet }),
  'drafts/add': trigger('you save a draft', 'me', drafts.create, { drafts: [draft('Not sent yet.')] }),
  'drafts/update': trigger('you edit a draft', 'me', drafts.edit, {
    draft_id: savedDraft,
    draft: draft('Still not sent.'),
  }),
  'drafts/remove': trigger('you delete a draft', 'me', drafts.delete, { draft_id: savedDraft }),
  'attachment/add': trigger('you upload a file', 'me', uploads.upload, { file: picture }),
  'attachment/update': trigger('you send a message with your file', 'me', messages.send, {
    ...inChannel,
    content: async (stage: Stage) => `[a picture](${await upload(stage)})`,
  }),
  'attachment/remove': trigger('you delete your file', 'me', uploads.remove, {
    attachment_id: async (stage: Stage) => {
      await upload(stage)
      const { attachments } = await stage.call('me', uploads.list, {})
      return Math.max(...(attachments as { id: number }[]).map(({ id }) => id))
    },
  }),
}
