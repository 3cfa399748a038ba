// The records of the keeper of the crash campaign before the first kill: one record for each slot that is changed and not made.

import { botStorage } from '../../../daemon/api/bots/bot-storage.ts'
import { bots } from '../../../daemon/api/bots/bots.ts'
import { channelFolders } from '../../../daemon/api/channels/channel-folders.ts'
import { channels } from '../../../daemon/api/channels/channels.ts'
import { defaultChannels } from '../../../daemon/api/channels/default-channels.ts'
import { subscriptions } from '../../../daemon/api/channels/subscriptions.ts'
import { uploads } from '../../../daemon/api/files/uploads.ts'
import { drafts } from '../../../daemon/api/messages/drafts.ts'
import { messages } from '../../../daemon/api/messages/messages.ts'
import { scheduledMessages } from '../../../daemon/api/messages/scheduled-messages.ts'
import { linkifiers } from '../../../daemon/api/organization/linkifiers.ts'
import { organization } from '../../../daemon/api/organization/organization.ts'
import { invitations } from '../../../daemon/api/people/invitations.ts'
import { navigationViews } from '../../../daemon/api/people/navigation-views.ts'
import { profileFields } from '../../../daemon/api/people/profile-fields.ts'
import { settings } from '../../../daemon/api/people/settings.ts'
import { userGroups } from '../../../daemon/api/people/user-groups.ts'
import { userStatus } from '../../../daemon/api/people/user-status.ts'
import { Caller, type TestDaemon } from '../../support/daemon.ts'
import { seeded } from '../traffic/crowd.ts'

export interface Place {
  /** A second owner. */
  readonly keeper: Caller
  /** The first owner, who may create accounts and change their addresses. */
  readonly founder: Caller
  readonly bot: Caller
  readonly channel: number
  readonly attic: number
  readonly cellar: number
  /** A direct message to oneself. */
  readonly message: number
  /** A message in the channel. */
  readonly moved: number
  /** URL of a file. */
  readonly upload: string
  /** An invitation by email. */
  readonly invitation: number
  /** An invitation that many can accept. */
  readonly link: { readonly id: number; readonly token: string }
  /** A second bot. */
  readonly helper: number
  /** Users that things are done to. */
  readonly dan: number
  readonly eve: number
}

/** The token of a device of the keeper. */
export const phone = 'phone'

/** The users that the place needs, for a seed. */
export const placeUsers = [{ name: 'kim', role: 'owner' as const }, { name: 'dan' }, { name: 'eve' }]

export async function preparedPlace(daemon: TestDaemon): Promise<Place> {
  const keeper = await seeded(daemon, 'kim')
  const [dan, eve] = [await seeded(daemon, 'dan'), await seeded(daemon, 'eve')]
  const draft = { type: 'private' as const, to: [keeper.id], topic: '', content: '0' }
  await keeper.call(drafts.create, { drafts: [draft] })
  const later = { type: 'direct' as const, to: [keeper.id], content: '0', scheduled_delivery_timestamp: 4_000_000_000 }
  await keeper.call(scheduledMessages.create, later)
  const { id: message } = await keeper.call(messages.send, { type: 'direct', to: [keeper.id], content: 'to remember' })
  await keeper.call(userStatus.update, { status_text: '0' })
  await keeper.call(settings.update, { full_name: 'Kim 0', starred_message_counts: true })
  await keeper.call(settings.updateDefaults, { starred_message_counts: true })
  const { id: channel } = await keeper.call(channels.create, {
    name: 'shed',
    description: '0',
    subscribers: [keeper.id],
  })
  const { id: attic } = await keeper.call(channels.create, { name: 'attic', subscribers: [keeper.id] })
  await keeper.call(channels.create, { name: 'loft', subscribers: [keeper.id] })
  const { id: cellar } = await keeper.call(channels.create, { name: 'cellar', subscribers: [keeper.id] })
  await keeper.call(subscriptions.property, { stream_id: channel, property: 'color', value: '#000000' })
  const { id: moved } = await keeper.call(messages.send, {
    type: 'channel',
    to: channel,
    topic: '0',
    content: 'no link',
  })
  const file = { filename: 'a.txt', contentType: 'text/plain', bytes: Buffer.from('a') }
  const { url: upload } = await keeper.call(uploads.upload, { file })
  for (const name of ['crew', 'past', 'pals'])
    await keeper.call(userGroups.create, { name, description: '0', members: [keeper.id] })
  await keeper.call(organization.update, { description: '0' })
  await keeper.call(linkifiers.add, { pattern: 'A(?P<id>[0-9]+)', url_template: 'http://a.example/0/{id}' })
  await keeper.call(linkifiers.add, { pattern: 'C(?P<id>[0-9]+)', url_template: 'http://c.example/{id}' })
  await keeper.call(organization.addDomain, { domain: 'b.example', allow_subdomains: false })
  await keeper.call(profileFields.create, { field_type: 1, name: 'first', hint: '0' })
  await keeper.call(profileFields.create, { field_type: 1, name: 'other' })
  await keeper.call(profileFields.set, { data: [{ id: 1, value: '0' }] })
  for (const name of ['first', 'other']) await keeper.call(channelFolders.create, { name, description: '0' })
  await keeper.call(defaultChannels.createGroup, { group_name: 'kit', description: '0', stream_names: ['attic'] })
  await keeper.call(navigationViews.add, { fragment: 'narrow/topic/tools', is_pinned: true, name: '0' })
  const { user_id, api_key } = await keeper.call(bots.create, { full_name: 'Bot 0', short_name: 'keeper', bot_type: 1 })
  const bot = new Caller(daemon.url, 'keeper-bot@example.com', api_key, user_id, keeper.level)
  await bot.call(botStorage.put, { storage: { n: '0' } })
  const helper = await keeper.call(bots.create, { full_name: 'Helper', short_name: 'helper', bot_type: 1 })
  await keeper.call(invitations.send, { invitee_emails: 'fay@example.com', stream_ids: [] })
  const { invite_link } = await keeper.call(invitations.createLink, {})
  const { invites } = await keeper.call(invitations.list, {})
  const [invitation, link] = invites.map(({ id }) => id)
  return {
    keeper,
    founder: daemon.owner,
    bot,
    helper: helper.user_id,
    channel,
    attic,
    cellar,
    message,
    moved,
    upload,
    invitation: invitation!,
    link: { id: link!, token: invite_link.split('/').at(-2)! },
    dan: dan.id,
    eve: eve.id,
  }
}
