// Messages and people.

import { bots } from '../../../daemon/api/bots/bots.ts'
import { messageFlags } from '../../../daemon/api/messages/message-flags.ts'
import { messages } from '../../../daemon/api/messages/messages.ts'
import { reactions } from '../../../daemon/api/messages/reactions.ts'
import { typing } from '../../../daemon/api/messages/typing.ts'
import { alertWords } from '../../../daemon/api/people/alert-words.ts'
import { avatars } from '../../../daemon/api/people/avatars.ts'
import { invitations } from '../../../daemon/api/people/invitations.ts'
import { mutedUsers } from '../../../daemon/api/people/muted-users.ts'
import { presence } from '../../../daemon/api/people/presence.ts'
import { profileFields } from '../../../daemon/api/people/profile-fields.ts'
import { settings } from '../../../daemon/api/people/settings.ts'
import { userStatus } from '../../../daemon/api/people/user-status.ts'
import { users } from '../../../daemon/api/people/users.ts'
import { at, people, picture, type Row, row } from './row.ts'

const flagFields = 'operation flag messages all'
const editFields =
  'user_id edit_timestamp message_id message_ids flags rendering_only stream_id stream_name orig_content orig_rendered_content content rendered_content is_me_message'
const moveFields =
  'user_id edit_timestamp message_id message_ids flags rendering_only stream_id stream_name propagate_mode orig_subject'
const reactionFields = 'message_id emoji_name emoji_code reaction_type user_id user'
const messageFields =
  'id type stream_id subject content content_type display_recipient recipient_id sender_id sender_email sender_full_name sender_realm_str avatar_url client is_me_message timestamp reactions submessages topic_links'
const botFields =
  'user_id email full_name bot_type is_active api_key owner_id avatar_url default_sending_stream default_events_register_stream default_all_public_streams services'
const toGarden = (content: string, topic = 'beans') => ({ type: 'channel', to: 'garden', topic, content })

export const aboutPeople: readonly Row[] = [
  row('message', 'a', messages.send, toGarden('hello'), 'oag', 'message flags', {
    keep: ['first', 'id'],
    inner: ['message', messageFields],
  }),
  row(
    'message',
    'a',
    messages.send,
    () => ({ type: 'direct', to: [people.b.id], content: 'psst' }),
    'ab',
    'message flags',
    {
      keep: ['direct', 'id'],
      inner: ['message', messageFields.replace('stream_id ', '')],
    },
  ),
  row('message', 'a', messages.send, { type: 'channel', to: 'vault', topic: 't', content: 'x' }, 'oa', 'message flags'),
  row('update_message', 'a', messages.update, () => ({ message_id: at.first, content: 'hi' }), 'oag', editFields),
  row(
    'update_message',
    'a',
    messages.update,
    () => ({ message_id: at.first, topic: 'peas' }),
    'oag',
    `${moveFields} subject topic_links`,
  ),
  row('reaction/add', 'o', reactions.add, () => ({ message_id: at.first, emoji_name: 'tada' }), 'oag', reactionFields, {
    inner: ['user', 'user_id email full_name'],
  }),
  row(
    'reaction/remove',
    'o',
    reactions.remove,
    () => ({ message_id: at.first, emoji_name: 'tada' }),
    'oag',
    reactionFields,
  ),
  row(
    'update_message_flags/add',
    'o',
    messageFlags.update,
    () => ({ messages: [at.first], op: 'add', flag: 'read' }),
    'o',
    flagFields,
  ),
  row(
    'update_message_flags/remove',
    'o',
    messageFlags.update,
    () => ({ messages: [at.first], op: 'remove', flag: 'read' }),
    'o',
    `${flagFields} message_details`,
  ),
  row(
    'update_message_flags/add',
    'o',
    messageFlags.update,
    () => ({ messages: [at.first], op: 'add', flag: 'starred' }),
    'o',
    flagFields,
  ),
  row(
    'submessage',
    'a',
    messages.submessage,
    () => ({ message_id: at.first, msg_type: 'widget', content: '{}' }),
    'oag',
    'message_id submessage_id sender_id msg_type content',
  ),
  row(
    'typing/start',
    'a',
    typing.set,
    () => ({ op: 'start', type: 'direct', to: [people.b.id] }),
    'ab',
    'message_type sender recipients',
  ),
  row(
    'typing/stop',
    'a',
    typing.set,
    () => ({ op: 'stop', type: 'direct', to: [people.b.id] }),
    'ab',
    'message_type sender recipients',
  ),
  row(
    'typing/start',
    'a',
    typing.set,
    () => ({ op: 'start', type: 'channel', stream_id: at.garden, topic: 't' }),
    'oag',
    'message_type sender stream_id topic',
    { plain: '-' },
  ),
  row(
    'typing_edit_message/start',
    'a',
    messages.typing,
    () => ({ message_id: at.direct, op: 'start' }),
    'ab',
    'sender_id message_id recipient',
  ),
  row(
    'typing_edit_message/stop',
    'a',
    messages.typing,
    () => ({ message_id: at.direct, op: 'stop' }),
    'ab',
    'sender_id message_id recipient',
  ),
  row(
    'delete_message',
    'o',
    messages.delete,
    () => ({ message_id: at.first }),
    'oag',
    'message_ids message_type stream_id topic',
    {
      plain: 'delete_message',
    },
  ),

  row('presence', 'a', presence.update, { status: 'active' }, 'oabg', 'user_id server_timestamp presence'),
  row('user_status', 'a', userStatus.update, { status_text: 'out' }, 'oabg', 'user_id status_text'),
  row(
    'user_status',
    'a',
    userStatus.update,
    { emoji_name: 'tada' },
    'oabg',
    'user_id emoji_name emoji_code reaction_type',
  ),
  row('user_settings/update', 'a', settings.update, { enter_sends: true }, 'a', 'property value'),
  row('user_settings/update', 'a', settings.update, { default_language: 'de' }, 'a', 'property value language_name'),
  row('update_display_settings', 'a', settings.update, { enter_sends: false }, '', '', {
    plain: 'user setting_name setting',
  }),
  row('update_global_notifications', 'a', settings.update, { enable_sounds: false }, '', '', {
    plain: 'user notification_name setting',
  }),
  row('realm_user/update', 'a', settings.update, { timezone: 'Europe/Berlin' }, 'oabg', 'person', {
    inner: ['person', 'user_id email timezone'],
  }),
  row(
    'realm_user_settings_defaults/update',
    'o',
    settings.updateDefaults,
    { enter_sends: true },
    'oabg',
    'property value',
  ),
  row('muted_users', 'a', mutedUsers.mute, () => ({ muted_user_id: people.b.id }), 'a', 'muted_users'),
  row('alert_words', 'a', alertWords.add, { alert_words: ['x'] }, 'a', 'alert_words'),
  row(
    'realm_user/add',
    'o',
    users.create,
    { email: 'new@example.com', password: 'quite a long one', full_name: 'New' },
    'oabg',
    'person',
    {
      keep: ['new', 'user_id'],
    },
  ),
  row('realm_user/update', 'o', users.update, () => ({ user_id: at.new, full_name: 'Newer' }), 'oabg', 'person', {
    inner: ['person', 'user_id full_name'],
  }),
  row('realm_user/update', 'o', users.update, () => ({ user_id: at.new, role: 300 }), 'oabg', 'person', {
    inner: ['person', 'user_id role'],
  }),
  row('realm_user/update', 'a', avatars.upload, () => ({ file: picture() }), 'oabg', 'person', {
    inner: ['person', 'user_id avatar_url avatar_source avatar_url_medium avatar_version'],
  }),
  row('realm_user/update', 'o', users.deactivate, () => ({ user_id: at.new }), 'oabg', 'person', {
    inner: ['person', 'user_id is_active'],
  }),
  row('realm_user/update', 'o', users.reactivate, () => ({ user_id: at.new }), 'oabg', 'person', {
    inner: ['person', 'user_id is_active'],
  }),
  row('custom_profile_fields', 'o', profileFields.create, { name: 'Phone', field_type: 1 }, 'oabg', 'fields', {
    keep: ['field', 'id'],
  }),
  row('realm_user/update', 'a', profileFields.set, () => ({ data: [{ id: at.field, value: '1' }] }), 'oabg', 'person', {
    inner: ['person', 'user_id custom_profile_field'],
  }),
  row('realm_bot/add', 'a', bots.create, { full_name: 'robot', short_name: 'robot' }, 'oa', 'bot', {
    keep: ['bot', 'user_id'],
    inner: ['bot', botFields],
  }),
  row('realm_bot/update', 'a', bots.update, () => ({ bot_id: at.bot, full_name: 'droid' }), 'oa', 'bot', {
    inner: ['bot', 'user_id full_name'],
  }),
  row('realm_user/update', 'o', bots.update, () => ({ bot_id: at.bot, bot_owner_id: people.b.id }), 'oabg', 'person', {
    inner: ['person', 'user_id bot_owner_id'],
  }),
  row('realm_bot/delete', 'o', bots.update, () => ({ bot_id: at.bot, bot_owner_id: people.a.id }), 'b', 'bot', {
    inner: ['bot', 'user_id'],
  }),
  row('invites_changed', 'a', invitations.send, { invitee_emails: 'x@example.com', stream_ids: [] }, 'oa', ''),
]
