// One place for each kind of record that has a value: what writes its n-th value, and where it is read. After a crash every slot has
// the value that was answered last, or the one that was asked for and not answered.

import { botStorage } from '../../../daemon/api/bots/bot-storage.ts'
import { bots } from '../../../daemon/api/bots/bots.ts'
import { channelFolders } from '../../../daemon/api/channels/channel-folders.ts'
import { channels } from '../../../daemon/api/channels/channels.ts'
import { defaultChannels } from '../../../daemon/api/channels/default-channels.ts'
import { subscriptions } from '../../../daemon/api/channels/subscriptions.ts'
import { topics } from '../../../daemon/api/channels/topics.ts'
import type { Endpoint } from '../../../daemon/api/define.ts'
import { drafts } from '../../../daemon/api/messages/drafts.ts'
import { reminders } from '../../../daemon/api/messages/reminders.ts'
import { scheduledMessages } from '../../../daemon/api/messages/scheduled-messages.ts'
import { linkifiers } from '../../../daemon/api/organization/linkifiers.ts'
import { organization } from '../../../daemon/api/organization/organization.ts'
import { playgrounds } from '../../../daemon/api/organization/playgrounds.ts'
import { alertWords } from '../../../daemon/api/people/alert-words.ts'
import { invitations } from '../../../daemon/api/people/invitations.ts'
import { mutedUsers } from '../../../daemon/api/people/muted-users.ts'
import { navigationViews } from '../../../daemon/api/people/navigation-views.ts'
import { profileFields } from '../../../daemon/api/people/profile-fields.ts'
import { settings } from '../../../daemon/api/people/settings.ts'
import { userGroups } from '../../../daemon/api/people/user-groups.ts'
import { userStatus } from '../../../daemon/api/people/user-status.ts'
import { users } from '../../../daemon/api/people/users.ts'
import type { Place } from './place.ts'

/** What `register` reports, with what other calls list. */
export type World = Readonly<Record<string, any>>

export interface Call {
  readonly endpoint: Endpoint
  readonly params: Readonly<Record<string, unknown>>
  /** Asked by the bot and not by its owner. */
  readonly asBot?: boolean
}

export interface Slot {
  readonly name: string
  /** Asks for the n-th value, from 1; the world is the newest that was read. */
  write(n: number, world: World): Call
  /** What is read when the n-th value is there; 0 is what it begins with. */
  value(n: number): string
  read(world: World): string
  /** Whether the ID of what it deletes has to be read first. */
  readonly looksUp?: boolean
}

export function slotsOf({ keeper, channel, attic, dan, eve, message, bot }: Place): readonly Slot[] {
  const me = keeper.id
  const draft = (content: string) => ({ type: 'private', to: [me], topic: '', content })
  const field = { field_type: 1 }
  return [
    text(
      'draft',
      n => call(drafts.edit, { draft_id: 1, draft: draft(n) }),
      w => by(w.drafts, 1).content,
    ),
    text(
      'scheduled message',
      n => call(scheduledMessages.update, { scheduled_message_id: 1, content: n }),
      w => w.scheduled_messages[0].content,
    ),
    text(
      'status',
      n => call(userStatus.update, { status_text: n }),
      w => w.user_status[me].status_text,
    ),
    text(
      'name',
      n => call(settings.update, { full_name: `Kim ${n}` }),
      w => number(person(w, me).full_name),
    ),
    text(
      'channel',
      n => call(channels.update, { stream_id: channel, description: n }),
      w => channelOf(w, channel).description,
    ),
    text(
      'color',
      n => call(subscriptions.property, { stream_id: channel, property: 'color', value: `#${n.padStart(6, '0')}` }),
      w => String(Number(channelOf(w, channel).color.slice(1))),
    ),
    text(
      'group',
      (n, w) => call(userGroups.update, { user_group_id: group(w, 'crew').id, description: n }),
      w => group(w, 'crew').description,
    ),
    text(
      'organization',
      n => call(organization.update, { description: n }),
      w => w.realm_description,
    ),
    text(
      'linkifier',
      n =>
        call(linkifiers.update, {
          filter_id: 1,
          pattern: 'A(?P<id>[0-9]+)',
          url_template: `http://a.example/${n}/{id}`,
        }),
      w => w.realm_linkifiers[0].url_template.split('/')[3],
    ),
    text(
      'profile field',
      n => call(profileFields.update, { field_id: 1, hint: n }),
      w => by(w.custom_profile_fields, 1).hint,
    ),
    text(
      'profile',
      n => call(profileFields.set, { data: [{ id: 1, value: n }] }),
      w => person(w, me).profile_data['1'].value,
    ),
    text(
      'channel folder',
      n => call(channelFolders.edit, { channel_folder_id: 1, description: n }),
      w => by(w.channel_folders, 1).description,
    ),
    text(
      'default channel group',
      n => call(defaultChannels.editGroup, { group_id: 1, new_description: n }),
      w => by(w.realm_default_stream_groups, 1).description,
    ),
    text(
      'navigation view',
      n => call(navigationViews.edit, { fragment: 'narrow/topic/tools', name: n }),
      w => w.navigation_views.find(({ fragment }: any) => fragment === 'narrow/topic/tools').name,
    ),
    text(
      'bot',
      n => call(bots.update, { bot_id: bot.id, full_name: `Bot ${n}` }),
      w => number(person(w, bot.id, 'realm_bots').full_name),
    ),
    text(
      'bot storage',
      n => ({ ...call(botStorage.put, { storage: { n } }), asBot: true }),
      w => w.storage.n,
    ),
    toggle(
      'setting',
      yes => call(settings.update, { starred_message_counts: !yes }),
      w => !w.user_settings.starred_message_counts,
    ),
    toggle(
      'setting of new users',
      yes => call(settings.updateDefaults, { starred_message_counts: !yes }),
      w => !w.realm_user_settings_defaults.starred_message_counts,
    ),
    toggle(
      'topic',
      yes => call(topics.follow, { stream_id: channel, topic: 'tools', visibility_policy: yes ? 3 : 0 }),
      w => w.user_topics.some(({ topic_name }: any) => topic_name === 'tools'),
    ),
    toggle(
      'member of a group',
      (yes, w) =>
        call(userGroups.updateMembers, { user_group_id: group(w, 'crew').id, [yes ? 'add' : 'delete']: [dan] }),
      w => group(w, 'crew').members.includes(dan),
    ),
    toggle(
      'alert word',
      yes => call(yes ? alertWords.add : alertWords.remove, { alert_words: ['beans'] }),
      w => w.alert_words.includes('beans'),
    ),
    toggle(
      'muted user',
      yes => call(yes ? mutedUsers.mute : mutedUsers.unmute, { muted_user_id: dan }),
      w => w.muted_users.some(({ id }: any) => id === dan),
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
    looksUp(
      'second linkifier',
      (yes, w) =>
        yes
          ? call(linkifiers.add, { pattern: 'B(?P<id>[0-9]+)', url_template: 'http://b.example/{id}' })
          : call(linkifiers.remove, { filter_id: w.realm_linkifiers[1].id }),
      w => w.realm_linkifiers.length === 2,
    ),
    looksUp(
      'playground',
      (yes, w) =>
        yes
          ? call(playgrounds.add, { name: 'a', pygments_language: 'Python', url_template: 'http://a.example/{code}' })
          : call(playgrounds.remove, { playground_id: w.realm_playgrounds[0].id }),
      w => w.realm_playgrounds.length > 0,
    ),
    toggle(
      'domain',
      yes =>
        call(yes ? organization.addDomain : organization.removeDomain, {
          domain: 'a.example',
          ...(yes && { allow_subdomains: true }),
        }),
      w => w.realm_domains.length > 0,
    ),
    toggle(
      'default channel',
      yes => call(yes ? defaultChannels.add : defaultChannels.remove, { stream_id: channel }),
      w => w.realm_default_streams.includes(channel),
    ),
    toggle(
      'archived channel',
      yes =>
        yes
          ? call(channels.archive, { stream_id: attic })
          : call(channels.update, { stream_id: attic, is_archived: false }),
      w => channelOf(w, attic).is_archived,
    ),
    toggle(
      'deactivated group',
      (yes, w) =>
        yes
          ? call(userGroups.deactivate, { user_group_id: group(w, 'past').id })
          : call(userGroups.update, { user_group_id: group(w, 'past').id, deactivated: false }),
      w => group(w, 'past').deactivated,
    ),
    toggle(
      'deactivated user',
      yes => call(yes ? users.deactivate : users.reactivate, { user_id: eve }),
      w => !w.realm_users.some(({ user_id }: any) => user_id === eve),
    ),
    toggle(
      'role',
      yes => call(users.update, { user_id: dan, role: yes ? 300 : 400 }),
      w => person(w, dan).role === 300,
    ),
    toggle(
      'second navigation view',
      yes =>
        yes
          ? call(navigationViews.add, { fragment: 'narrow/topic/nails', is_pinned: true, name: 'x' })
          : call(navigationViews.remove, { fragment: 'narrow/topic/nails' }),
      w => w.navigation_views.some(({ fragment }: any) => fragment === 'narrow/topic/nails'),
    ),
    looksUp(
      'second profile field',
      (yes, w) =>
        yes
          ? call(profileFields.create, { ...field, name: 'second' })
          : call(profileFields.delete, { field_id: w.custom_profile_fields[1].id }),
      w => w.custom_profile_fields.length === 2,
    ),
    looksUp(
      'invitation',
      (yes, w) =>
        yes
          ? call(invitations.createLink, { invite_as: 400 })
          : call(invitations.revokeLink, { invite_id: w.invites[0].id }),
      w => w.invites.length > 0,
    ),
  ]
}

/** A record whose text is the number of the value. */
function text(name: string, write: (n: string, world: World) => Call, read: (world: World) => string): Slot {
  return { name, write: (n, world) => write(String(n), world), value: String, read }
}

/** Something that is there or not. */
function toggle(name: string, write: (yes: boolean, world: World) => Call, read: (world: World) => boolean): Slot {
  const value = (yes: boolean) => (yes ? 'there' : 'not there')
  return {
    name,
    write: (n, world) => write(n % 2 === 1, world),
    value: n => value(n % 2 === 1),
    read: w => value(read(w)),
  }
}

function looksUp(...args: Parameters<typeof toggle>): Slot {
  return { ...toggle(...args), looksUp: true }
}

function call(endpoint: Endpoint, params: Call['params']): Call {
  return { endpoint, params }
}

function by(list: readonly any[], id: number): any {
  return list.find(one => one.id === id)
}

function person(world: World, id: number, list = 'realm_users'): any {
  return world[list].find((one: any) => one.user_id === id)
}

function group(world: World, name: string): any {
  return world.realm_user_groups.find((one: any) => one.name === name)
}

/** The last word. */
function number(name: string): string {
  return name.split(' ').at(-1)!
}

function channelOf(world: World, id: number): any {
  const lists = [world.subscriptions, world.unsubscribed, world.never_subscribed]
  return lists.flat().find(one => one.stream_id === id)
}
