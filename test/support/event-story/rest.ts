// Calls of the writing endpoints that the story of events does not call, in an order in which each is accepted after that story.

import { botStorage } from '../../../daemon/api/bots/bot-storage.ts'
import { bots } from '../../../daemon/api/bots/bots.ts'
import { webhooks } from '../../../daemon/api/bots/webhooks.ts'
import { channelFolders } from '../../../daemon/api/channels/channel-folders.ts'
import { defaultChannels } from '../../../daemon/api/channels/default-channels.ts'
import { subscriptions } from '../../../daemon/api/channels/subscriptions.ts'
import { topics } from '../../../daemon/api/channels/topics.ts'
import type { Endpoint } from '../../../daemon/api/define.ts'
import { messageFlags } from '../../../daemon/api/messages/message-flags.ts'
import { messages } from '../../../daemon/api/messages/messages.ts'
import { emoji } from '../../../daemon/api/organization/emoji.ts'
import { dataExports } from '../../../daemon/api/organization/exports.ts'
import { linkifiers } from '../../../daemon/api/organization/linkifiers.ts'
import { organization } from '../../../daemon/api/organization/organization.ts'
import { pictures } from '../../../daemon/api/organization/pictures.ts'
import { playgrounds } from '../../../daemon/api/organization/playgrounds.ts'
import { alertWords } from '../../../daemon/api/people/alert-words.ts'
import { avatars } from '../../../daemon/api/people/avatars.ts'
import { invitations } from '../../../daemon/api/people/invitations.ts'
import { mutedUsers } from '../../../daemon/api/people/muted-users.ts'
import { profileFields } from '../../../daemon/api/people/profile-fields.ts'
import { pushDevices } from '../../../daemon/api/people/push-devices.ts'
import { settings } from '../../../daemon/api/people/settings.ts'
import { userStatus } from '../../../daemon/api/people/user-status.ts'
import { users } from '../../../daemon/api/people/users.ts'
import { Caller, type TestDaemon } from '../daemon.ts'
import { until } from '../until.ts'
import { at, people } from './row.ts'

let bot: Caller
const owner = () => people.o
const keep = (name: string) => (id: unknown) => {
  at[name] = Number(id)
}

/** What the story of events does not call: who, what, and what to remember of the reply. */
export const rest: readonly [() => Caller, Endpoint, () => object, ((reply: any) => void)?][] = [
  [owner, users.updateByEmail, () => ({ email: 'amy@example.com', full_name: 'Amy' })],
  [owner, messages.send, () => ({ type: 'channel', to: at.garden, topic: 'x', content: 'x' }), r => keep('said')(r.id)],
  [owner, messages.render, () => ({ content: '**x**' })],
  [owner, webhooks.post, () => ({ integration: 'x', api_key: owner().key, stream: String(at.garden), payload: '{}' })],
  [owner, messageFlags.markTopic, () => ({ stream_id: at.garden, topic_name: 'x' })],
  [owner, messageFlags.markChannel, () => ({ stream_id: at.garden })],
  [owner, messageFlags.markAll, () => ({})],
  [
    owner,
    messageFlags.updateNarrow,
    () => ({ anchor: 'newest', num_before: 5, num_after: 0, narrow: [], ...starring }),
  ],
  // Nothing happens, and it is remembered all the same.
  [owner, messageFlags.update, () => ({ messages: [at.said], ...starring })],
  [owner, topics.mute, () => ({ op: 'add', topic: 'x', stream_id: at.garden })],
  [owner, userStatus.updateFor, () => ({ user_id: people.a.id, status_text: 'away' })],
  [() => people.a, mutedUsers.unmute, () => ({ muted_user_id: people.b.id })],
  [() => people.a, alertWords.remove, () => ({ alert_words: ['x'] })],
  [() => people.a, pushDevices.addApple, () => ({ token: 'ab', appid: 'x' })],
  [() => people.a, pushDevices.removeApple, () => ({ token: 'ab' })],
  [() => people.a, pushDevices.addAndroid, () => ({ token: 'x' })],
  [() => people.a, pushDevices.removeAndroid, () => ({ token: 'x' })],
  [() => people.a, pushDevices.test, () => ({})],
  [() => people.a, pushDevices.register, () => device],
  [() => people.a, settings.command, () => ({ command: '/dark' })],
  [() => people.a, avatars.delete, () => ({})],
  [owner, linkifiers.add, () => rule, r => keep('linkifier')(r.id)],
  [owner, linkifiers.update, () => ({ ...rule, filter_id: at.linkifier, url_template: 'https://example.org/{n}' })],
  [owner, linkifiers.reorder, () => ({ ordered_linkifier_ids: [at.linkifier, 1] })],
  [owner, linkifiers.remove, () => ({ filter_id: at.linkifier })],
  [owner, playgrounds.remove, () => ({ playground_id: 1 })],
  [owner, organization.testWelcomeMessage, () => ({ welcome_message_custom_text: 'hi' })],
  [owner, dataExports.remove, () => ({ export_id: 1 })],
  [owner, pictures.deleteIcon, () => ({})],
  [owner, pictures.deleteLogo, () => ({ night: false })],
  [owner, emoji.deactivate, () => ({ emoji_name: 'bean' })],
  [owner, invitations.resend, () => ({ invite_id: at.invitation })],
  [owner, invitations.revoke, () => ({ invite_id: at.invitation })],
  [owner, invitations.createLink, () => ({})],
  [owner, invitations.revokeLink, () => ({ invite_id: at.link })],
  [() => bot, botStorage.put, () => ({ storage: { a: 'b' } })],
  [() => bot, botStorage.remove, () => ({ keys: ['a'] })],
  [owner, webhooks.redeliver, () => ({ delivery_id: at.delivery })],
  [owner, bots.deactivate, () => ({ bot_id: at.bot })],
  [owner, profileFields.update, () => ({ field_id: at.field, name: 'Telephone' })],
  [owner, profileFields.reorder, () => ({ order: [at.field] })],
  [() => people.a, profileFields.clear, () => ({ data: [at.field] })],
  [owner, profileFields.delete, () => ({ field_id: at.field })],
  [owner, subscriptions.change, () => ({ add: [{ name: 'hall' }] })],
  [owner, subscriptions.properties, () => ({ subscription_data: [{ stream_id: at.garden, ...pinning }] })],
  [owner, defaultChannels.remove, () => ({ stream_id: at.garden })],
  [owner, defaultChannels.editGroup, () => ({ group_id: 1, new_group_name: 'm' })],
  [owner, defaultChannels.changeGroup, () => ({ group_id: 1, op: 'add', stream_names: ['hall'] })],
  [owner, defaultChannels.deleteGroup, () => ({ group_id: 1 })],
  [owner, topics.delete, () => ({ stream_id: at.garden, topic_name: 'x' })],
  [owner, channelFolders.reorder, () => ({ order: [at.folder] })],
]

const device = {
  ...{ token_kind: 'fcm', push_account_id: 1, push_public_key: 'x' },
  ...{ bouncer_public_key: 'x', encrypted_push_registration: 'x' },
}
const starring = { op: 'add', flag: 'starred' }
const pinning = { property: 'pin_to_top', value: true }
const rule = { pattern: 'no (?P<n>[0-9]+)', url_template: 'https://example.com/{n}' }

/** After these the account cannot call again. */
export const last: readonly [() => Caller, Endpoint][] = [
  [() => people.b, users.deactivateSelf],
  [owner, organization.deactivate],
]

/** What these calls need. The server at the address must answer a delivery with a refusal. */
export async function prepareRest(daemon: TestDaemon, hookUrl: string): Promise<void> {
  await owner().call(organization.update, { moderation_request_channel_id: at.vault! })
  const hook = { full_name: 'hook', short_name: 'hook', bot_type: 3 as const, payload_url: hookUrl }
  const { user_id, api_key } = await owner().call(bots.create, hook)
  bot = new Caller(daemon.url, 'hook-bot@example.com', api_key, user_id)
  await owner().call(messages.send, { type: 'direct', to: [user_id], content: 'hi' })
  const log = () => owner().call(webhooks.log, {})
  at.delivery = await until(async () => (await log()).deliveries.find(({ status }) => status === 'failed')?.id)
  await owner().call(invitations.createLink, {})
  const { invites } = await owner().call(invitations.list, {})
  at.link = invites.find(({ is_multiuse }) => is_multiuse)!.id
  at.invitation = invites.find(({ is_multiuse }) => !is_multiuse)!.id
  await until(async () => (await owner().call(dataExports.list, {})).exports.every(({ pending }) => !pending))
}
