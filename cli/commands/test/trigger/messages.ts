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
import { by, idsFor, type Triggers, unique } from './trigger.ts'

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
  message: by.other('a colleague writes in a channel you share', messages.send, {
    ...inChannel,
    content: 'Hello from natter trigger.',
  }),
  mention: by.other(
    'a colleague mentions you in a channel',
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
  'direct-message': by.other(
    'a colleague writes to you alone',
    messages.send,
    { ...toMe, content: 'Hello from natter trigger.' },
    { event: 'message' },
  ),
  update_message: by.other('a colleague edits a message', messages.update, {
    message_id: messageBy('other'),
    content: 'A message, edited.',
  }),
  'moved-topic': by.other(
    'a colleague moves a message to another topic',
    messages.update,
    { message_id: messageBy('other'), topic: unique('topic') },
    { event: 'update_message' },
  ),
  delete_message: by.owner('the owner deletes a message', messages.delete, { message_id: messageBy('other') }),
  'reaction/add': by.other('a colleague reacts to your message', reactions.add, {
    message_id: messageBy('me'),
    emoji_name: 'tada',
  }),
  'reaction/remove': by.other('a colleague takes the reaction back', reactions.remove, {
    message_id: async (stage: Stage) => {
      const message_id = await stage.message('me')
      await stage.call('other', reactions.add, { message_id, emoji_name: 'tada' })
      return message_id
    },
    emoji_name: 'tada',
  }),
  'update_message_flags/add': by.me('you star a message', messageFlags.update, {
    messages: async (stage: Stage) => [await stage.message('other')],
    op: 'add',
    flag: 'starred',
  }),
  'update_message_flags/remove': by.me('you remove the star', messageFlags.update, {
    messages: starred,
    op: 'remove',
    flag: 'starred',
  }),
  submessage: by.other('a colleague adds a part to a widget', messages.submessage, {
    message_id: messageBy('other'),
    msg_type: 'widget',
    content: '{}',
  }),
  'typing/start': by.other('a colleague starts to write to you', typing.set, { ...toMe, op: 'start' }),
  'typing/stop': by.other('a colleague stops writing to you', typing.set, { ...toMe, op: 'stop' }),
  'typing_edit_message/start': by.other('a colleague starts to edit a message to you', messages.typing, {
    message_id: directMessage,
    op: 'start',
  }),
  'typing_edit_message/stop': by.other('a colleague stops editing a message to you', messages.typing, {
    message_id: directMessage,
    op: 'stop',
  }),
  'scheduled_messages/add': by.me('you schedule a message', scheduledMessages.create, {
    ...inChannel,
    to: async (stage: Stage) => (await stage.channel()).stream_id,
    content: 'Later.',
    scheduled_delivery_timestamp: later,
  }),
  'scheduled_messages/update': by.me('you edit a scheduled message', scheduledMessages.update, {
    scheduled_message_id: scheduled,
    content: 'Later, edited.',
  }),
  'scheduled_messages/remove': by.me('you delete a scheduled message', scheduledMessages.delete, {
    scheduled_message_id: scheduled,
  }),
  'reminders/add': by.me('you ask to be reminded of a message', reminders.create, {
    message_id: messageBy('other'),
    scheduled_delivery_timestamp: later,
  }),
  'reminders/remove': by.me('you delete a reminder', reminders.delete, { reminder_id: reminder }),
  'saved_snippets/add': by.me('you save a snippet', savedSnippets.create, { title: 'Snippet', content: 'Text.' }),
  'saved_snippets/update': by.me('you edit a snippet', savedSnippets.edit, {
    saved_snippet_id: snippet,
    title: 'Snippet, edited',
  }),
  'saved_snippets/remove': by.me('you delete a snippet', savedSnippets.delete, { saved_snippet_id: snippet }),
  'drafts/add': by.me('you save a draft', drafts.create, { drafts: [draft('Not sent yet.')] }),
  'drafts/update': by.me('you edit a draft', drafts.edit, { draft_id: savedDraft, draft: draft('Still not sent.') }),
  'drafts/remove': by.me('you delete a draft', drafts.delete, { draft_id: savedDraft }),
  'attachment/add': by.me('you upload a file', uploads.upload, { file: picture }),
  'attachment/update': by.me('you send a message with your file', messages.send, {
    ...inChannel,
    content: async (stage: Stage) => `[a picture](${await upload(stage)})`,
  }),
  'attachment/remove': by.me('you delete your file', uploads.remove, {
    attachment_id: async (stage: Stage) => {
      await upload(stage)
      const { attachments } = await stage.call('me', uploads.list, {})
      return Math.max(...(attachments as { id: number }[]).map(({ id }) => id))
    },
  }),
}
