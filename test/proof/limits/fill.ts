// Fills an organization up to its limits, by calls that members, and then the owner, can make.

import { botStorage } from '../../../daemon/api/bots/bot-storage.ts'
import { bots } from '../../../daemon/api/bots/bots.ts'
import { channelFolders } from '../../../daemon/api/channels/channel-folders.ts'
import { channels } from '../../../daemon/api/channels/channels.ts'
import { defaultChannels } from '../../../daemon/api/channels/default-channels.ts'
import { subscriptions } from '../../../daemon/api/channels/subscriptions.ts'
import { topics } from '../../../daemon/api/channels/topics.ts'
import type { Endpoint } from '../../../daemon/api/define.ts'
import { uploads } from '../../../daemon/api/files/uploads.ts'
import { drafts } from '../../../daemon/api/messages/drafts.ts'
import { messages } from '../../../daemon/api/messages/messages.ts'
import { reactions } from '../../../daemon/api/messages/reactions.ts'
import { reminders } from '../../../daemon/api/messages/reminders.ts'
import { savedSnippets } from '../../../daemon/api/messages/saved-snippets.ts'
import { scheduledMessages } from '../../../daemon/api/messages/scheduled-messages.ts'
import { emoji } from '../../../daemon/api/organization/emoji.ts'
import { linkifiers } from '../../../daemon/api/organization/linkifiers.ts'
import { organization } from '../../../daemon/api/organization/organization.ts'
import { playgrounds } from '../../../daemon/api/organization/playgrounds.ts'
import { alertWords } from '../../../daemon/api/people/alert-words.ts'
import { invitations } from '../../../daemon/api/people/invitations.ts'
import { mutedUsers } from '../../../daemon/api/people/muted-users.ts'
import { navigationViews } from '../../../daemon/api/people/navigation-views.ts'
import { profileFields } from '../../../daemon/api/people/profile-fields.ts'
import { pushDevices } from '../../../daemon/api/people/push-devices.ts'
import { userGroups } from '../../../daemon/api/people/user-groups.ts'
import { limits } from '../../../daemon/domain/limits.ts'
import emojiNames from '../../../data/emoji.json' with { type: 'json' }
import { Caller } from '../../support/daemon.ts'
import { picture } from '../../support/event-story/row.ts'
import { allAtOnce } from '../traffic/pace.ts'

/** Left free below each limit, for the calls that follow. */
const room = 20
const later = 4_000_000_000

export interface Filling {
  readonly owner: Caller
  /** Who fills what one account may have. */
  readonly member: Caller
  readonly others: readonly Caller[]
  /** Of each limit, from 0 to 1. */
  readonly part: number
  readonly note: (text: string) => void
}

/** What the calls that follow are about. */
export interface Filled {
  readonly channelId: number
  readonly groupId: number
  /** With many reactions. */
  readonly messageId: number
  readonly botId: number
  readonly file: string
}

export async function fill(filling: Filling): Promise<Filled> {
  const { owner, member, others, part, note } = filling
  const size = (limit: number) => Math.max(2, Math.floor((limit - room) * part))
  const count = (limit: number) => Array.from({ length: size(limit) }, (_, n) => n)
  const each = async (what: string, limit: number, work: (n: number) => Promise<unknown>) => {
    await allAtOnce(count(limit), work)
    note(`${size(limit)} ${what}`)
  }
  const own = (what: string, limit: number, endpoint: Endpoint, params: (n: number) => object) =>
    each(what, limit, n => member.call(endpoint, params(n) as never))
  const set = (what: string, limit: number, endpoint: Endpoint, params: (n: number) => object) =>
    each(what, limit, n => owner.call(endpoint, params(n) as never))
  const makers = others.slice(0, Math.floor(limits.channels / limits.channelsPerMember))
  const maker = (n: number) => makers[n % makers.length]!
  const ids = others.map(({ id }) => id)
  const some = (n: number, length: number) => Array.from({ length }, (_, i) => ids[(n * 7 + i) % ids.length]!)
  const text = 'x '.repeat(1800)

  // First: what is unread is looked through for each.
  await own('muted people', ids.length + room, mutedUsers.mute, n => ({ muted_user_id: ids[n] }))

  // Channels, with many subscribers and with few.
  for (const { id } of makers) {
    const names = count(limits.channelsPerMember - room).map(n => ({ name: `channel ${id}-${n}` }))
    for (let at = 0; at < names.length; at += 200)
      await maker(makers.findIndex(one => one.id === id)).call(subscriptions.subscribe, {
        subscriptions: names.slice(at, at + 200),
      })
    await member.call(subscriptions.subscribe, { subscriptions: names })
    const popular = names.slice(0, Math.floor(limits.subscriptionsAtOnce / ids.length))
    await owner.call(subscriptions.subscribe, { subscriptions: popular, principals: ids })
  }
  const { stream_id: channelId } = await owner.call(channels.id, { stream: `channel ${makers[0]!.id}-0` })
  note(`${makers.length} times ${size(limits.channelsPerMember - room)} channels`)

  // Groups with members, and a chain of subgroups.
  const groups: number[] = []
  const perGroup = Math.floor(limits.groupMembers / limits.userGroups) - 1
  await each('groups', limits.userGroups, async n => {
    const members = [...new Set([...some(n, perGroup), maker(n).id])]
    const { group_id } = await maker(n).call(userGroups.create, { name: `group ${n}`, description: '', members })
    groups.push(group_id)
  })
  groups.sort((a, b) => a - b)
  const chain = groups.slice(0, size(limits.subgroups))
  // From its end: a group that is in many others takes longer to change.
  for (let n = chain.length - 2; n >= 0; n--)
    await owner.call(userGroups.updateSubgroups, { user_group_id: chain[n]!, add: [chain[n + 1]!] })
  note(`${chain.length} subgroups`)

  // What one account can have.
  const bot = (n: number) => ({ full_name: `bot ${n}`, short_name: `bot${n}`, bot_type: 1 })
  await own('bots', limits.bots, bots.create, bot)
  const { user_id: botId, api_key } = await member.call(bots.create, { ...bot(limits.bots), bot_type: 1 })
  const storing = new Caller(member.url, `bot${limits.bots}-bot@example.com`, api_key, botId)
  const values = count(limits.botStorageKeys).map(n => [`key ${n}`, 'x'.repeat(900)] as const)
  for (let at = 0; at < values.length; at += 500)
    await storing.call(botStorage.put, { storage: Object.fromEntries(values.slice(at, at + 500)) })
  await own('drafts', limits.drafts, drafts.create, n => ({
    drafts: [{ type: 'stream', to: [channelId], topic: `t${n}`, content: text }],
  }))
  await own('snippets', limits.savedSnippets, savedSnippets.create, n => ({ title: `t${n}`, content: text }))
  const scheduled = { type: 'channel', to: channelId, content: text, scheduled_delivery_timestamp: later }
  await own('scheduled messages', limits.scheduledMessages, scheduledMessages.create, n => ({
    ...scheduled,
    topic: `t${n}`,
  }))
  const { id: messageId } = await member.call(messages.send, {
    ...{ type: 'channel', to: channelId, topic: 'x' },
    content: text,
  })
  const reminder = { message_id: messageId, scheduled_delivery_timestamp: later }
  await own('reminders', limits.reminders, reminders.create, n => ({ ...reminder, note: `n${n}` }))
  const view = (n: number) => ({ fragment: `narrow/${n}`, is_pinned: true, name: `v${n}` })
  await own('navigation views', limits.navigationViews, navigationViews.add, view)
  const policy = { stream_id: channelId, visibility_policy: 3 }
  await own('topics with a policy', limits.userTopics, topics.follow, n => ({ ...policy, topic: `t${n}` }))
  await member.call(alertWords.add, { alert_words: count(limits.alertWords).map(n => `word${n}`) })
  await own('devices', limits.pushDevices, pushDevices.addAndroid, n => ({ token: `token ${n}` }))
  await own('files', limits.messagesListedPerFile, uploads.upload, () => ({ file: picture() }))
  const file = (await member.call(uploads.upload, { file: picture() })).url
  await set('invitation links', limits.invitationLinks, invitations.createLink, () => ({}))

  // Messages: of large groups, with reactions, with a history, and with a popular file.
  const names = Object.values(emojiNames).map(names => names.split(' ')[0]!)
  // Half of what a message can have: each takes longer than the one before.
  const reacting = others.slice(0, Math.floor(limits.reactionsPerMessage / limits.reactionsPerAccount / 2))
  await each('reactions of each of them', limits.reactionsPerAccount, n =>
    allAtOnce(reacting, one => one.call(reactions.add, { message_id: messageId, emoji_name: names[n]! })),
  )
  const people = Math.min(limits.directRecipients, ids.length) - 2
  await own('conversations of many people', 1000, messages.send, n => ({
    ...{ type: 'direct', to: [...new Set([...some(n, people), ids[n % ids.length]])], content: `hello ${n}` },
  }))
  const edits = count(limits.messageHistory / text.length / 4)
  for (const n of edits) await member.call(messages.update, { message_id: messageId, content: `${n} ${text}` })
  await own('messages with a file', 1000, messages.send, n => ({
    ...{ type: 'channel', to: channelId, topic: `t${n}`, content: `[x](${file})` },
  }))

  // What the owner can set.
  await set('emoji', limits.customEmoji / 10, emoji.upload, n => ({ emoji_name: `emoji${n}`, file: picture() }))
  const template = 'https://example.com/{n}'
  await set('linkifiers', limits.linkifiers, linkifiers.add, n => ({
    ...{ pattern: `L${n}-(?P<n>[0-9]+)`, url_template: template },
  }))
  await set('playgrounds', limits.playgrounds, playgrounds.add, n => ({
    ...{ name: `p${n}`, pygments_language: 'c', url_template: 'https://example.com/{code}' },
  }))
  await set('profile fields', limits.profileFields, profileFields.create, n => ({ name: `f${n}`, field_type: 1 }))
  await set('folders', limits.channelFolders, channelFolders.create, n => ({ name: `folder ${n}` }))
  const group = (n: number) => ({ group_name: `g${n}`, description: 'd', stream_names: [] })
  await set('groups of default channels', limits.defaultChannelGroups, defaultChannels.createGroup, group)
  await set('domains', limits.emailDomains, organization.addDomain, n => ({ domain: `d${n}.example.org` }))
  await owner.call(organization.update, { enable_read_receipts: true })
  return { channelId, groupId: chain[0]!, messageId, botId, file }
}
