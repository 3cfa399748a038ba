// Events for the owner alone: scheduled messages, reminders, files; and people who come out of sight.

import { uploads } from '../../../daemon/api/files/uploads.ts'
import { messages } from '../../../daemon/api/messages/messages.ts'
import { reminders } from '../../../daemon/api/messages/reminders.ts'
import { scheduledMessages } from '../../../daemon/api/messages/scheduled-messages.ts'
import { organization } from '../../../daemon/api/organization/organization.ts'
import { users } from '../../../daemon/api/people/users.ts'
import { at, people, picture, type Row, row } from './row.ts'

const later = 4_000_000_000
const scheduledFields =
  'scheduled_message_id type to topic content rendered_content scheduled_delivery_timestamp failed'
const reminderFields =
  'reminder_id type to content rendered_content scheduled_delivery_timestamp failed reminder_target_message_id'
const attachmentFields = 'id name path_id size create_time messages'

export const aboutOneself: readonly Row[] = [
  row(
    'scheduled_messages/add',
    'a',
    scheduledMessages.create,
    () => ({ type: 'channel', to: at.garden, topic: 't', content: 'x', scheduled_delivery_timestamp: later }),
    'a',
    'scheduled_messages',
    { keep: ['scheduled', 'scheduled_message_id'], inner: ['scheduled_messages.0', scheduledFields] },
  ),
  row(
    'scheduled_messages/update',
    'a',
    scheduledMessages.update,
    () => ({ scheduled_message_id: at.scheduled, content: 'y' }),
    'a',
    'scheduled_message',
    { inner: ['scheduled_message', scheduledFields] },
  ),
  row(
    'scheduled_messages/remove',
    'a',
    scheduledMessages.delete,
    () => ({ scheduled_message_id: at.scheduled }),
    'a',
    'scheduled_message_id',
  ),
  row(
    'reminders/add',
    'a',
    reminders.create,
    () => ({ message_id: at.direct, scheduled_delivery_timestamp: later, note: 'n' }),
    'a',
    'reminders',
    { keep: ['reminder', 'reminder_id'], inner: ['reminders.0', reminderFields] },
  ),
  row('reminders/remove', 'a', reminders.delete, () => ({ reminder_id: at.reminder }), 'a', 'reminder_id'),
  row('attachment/add', 'a', uploads.upload, () => ({ file: picture() }), 'a', 'attachment upload_space_used', {
    keep: ['file', 'url'],
    inner: ['attachment', attachmentFields],
  }),
  row(
    'attachment/update',
    'a',
    messages.send,
    () => ({ type: 'direct', to: [people.b.id], content: `[x](${at.file})` }),
    'a',
    'attachment upload_space_used',
    { inner: ['attachment.messages.0', 'id date_sent'] },
  ),
  row('attachment/remove', 'a', uploads.remove, { attachment_id: 1 }, 'a', 'attachment upload_space_used', {
    inner: ['attachment', ''],
  }),
  row(
    'realm/update_dict',
    'o',
    organization.update,
    () => ({ can_access_all_users_group: { new: at['role:members'] } }),
    'oabg',
    'property data',
    { inner: ['data', 'can_access_all_users_group'] },
  ),
  row('realm_user/remove', 'o', users.update, () => ({ user_id: people.b.id, role: 600 }), 'b', 'person', {
    inner: ['person', 'user_id full_name'],
  }),
  row('realm_user/add', 'o', users.update, () => ({ user_id: people.b.id, role: 400 }), 'b', 'person'),
]

/** Every event there is, by `type/op`. */
export const everyEvent = `message update_message delete_message reaction/add reaction/remove update_message_flags/add
  update_message_flags/remove submessage typing/start typing/stop typing_edit_message/start typing_edit_message/stop
  realm_user/add realm_user/update realm_user/remove presence user_status user_settings/update update_display_settings
  update_global_notifications realm_user_settings_defaults/update muted_users alert_words custom_profile_fields
  realm_bot/add realm_bot/update realm_bot/delete invites_changed stream/create stream/update stream/delete
  subscription/add subscription/remove subscription/update subscription/peer_add subscription/peer_remove
  default_streams default_stream_groups channel_folder/add channel_folder/update user_group/add
  user_group/update user_group/add_members user_group/remove_members user_group/add_subgroups
  user_group/remove_subgroups user_group/remove user_topic muted_topics scheduled_messages/add
  scheduled_messages/update scheduled_messages/remove reminders/add reminders/remove saved_snippets/add
  saved_snippets/update saved_snippets/remove navigation_view/add navigation_view/update navigation_view/remove onboarding_steps
  drafts/add drafts/update drafts/remove attachment/add attachment/update attachment/remove realm/update
  realm/update_dict realm_emoji/update realm_linkifiers realm_domains/add realm_domains/change realm_domains/remove
  realm_export realm_export_consent realm_playgrounds`.split(/\s+/)
