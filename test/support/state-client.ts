// A client that fetched the whole state once and has lived on events ever since. What it believes must be what
// `register` would tell it now.

import type { Capability } from '../../daemon/api/capabilities.ts'
import type { User } from '../../daemon/domain/model/state.ts'
import type { Announcement } from '../../daemon/domain/resource.ts'
import { Adapter, buildClient } from '../../daemon/events/adapt.ts'
import { registration, type World } from './in-process.ts'
import { StateFigures } from './state-figures.ts'

type Row = Record<string, any>
type Handler = (state: Row, event: Row, client: StateClient) => void

export class StateClient {
  readonly userId: number
  readonly capabilities: readonly Capability[]
  readonly state: Row
  readonly figures: StateFigures

  constructor(world: World, user: User, capabilities: readonly Capability[]) {
    this.userId = user.id
    this.capabilities = capabilities
    const given = world.register(user, capabilities)
    this.state = prepared(given)
    this.figures = new StateFigures(this, given)
  }

  /** Applies the events of an announcement in the form this client asked for; gives them back. */
  hear(announcement: Announcement): Row[] {
    const texts = new Adapter(announcement).textsFor(buildClient(registration(this.capabilities)), this.userId)
    return texts.map(text => {
      const event = JSON.parse(`{${text}`)
      const handler = handlers[event.op === undefined ? event.type : `${event.type}/${event.op}`]
      if (handler === undefined) throw new Error(`the client knows no event ${event.type}/${event.op}`)
      handler(this.state, event, this)
      this.figures.hear(event)
      return event
    })
  }

  has(capability: Capability): boolean {
    return this.capabilities.includes(capability)
  }
}

/** What is worked out from other fields (here or as the figures), or does not follow from events at all. */
const derived =
  /^(server_timestamp|presences|presence_last_update_id|max_message_id|recent_private_conversations|realm_(allow_edit_history|create_\w+_policy|wildcard_mention_policy)|can_(create|invite)_\w+|avatar_url_medium)$/
const volatile = ['subscriber_count', 'stream_weekly_traffic', 'first_message_id', 'is_recently_active', 'subscribers']
const personal = ['color', 'is_muted', 'in_home_view', 'pin_to_top', 'desktop_notifications', 'audible_notifications']
const alsoPersonal = ['push_notifications', 'email_notifications', 'wildcard_mentions_notify']

/** The state with lists as maps, so that order plays no part. */
export function prepared(given: Row): Row {
  const state: Row = Object.fromEntries(Object.entries(given).filter(([name]) => !derived.test(name)))
  const channels: Row = {}
  const own: Row = {}
  for (const channel of [...given.subscriptions, ...given.unsubscribed, ...given.never_subscribed])
    channels[channel.stream_id] = plainChannel(channel)
  for (const channel of given.subscriptions) own[channel.stream_id] = pick(channel, [...personal, ...alsoPersonal])
  for (const name of ['subscriptions', 'unsubscribed', 'never_subscribed', 'streams']) delete state[name]
  const people: Row = {}
  for (const person of [...given.realm_users, ...given.realm_non_active_users, ...given.cross_realm_bots]) {
    person.avatar_url = avatar(person.avatar_url)
  }
  if (state.avatar_url) state.avatar_url = avatar(state.avatar_url)
  for (const person of [...given.realm_users, ...given.cross_realm_bots])
    people[person.user_id] = { ...person, is_active: true }
  for (const person of given.realm_non_active_users) people[person.user_id] = { ...person, is_active: false }
  for (const person of Object.values<Row>(people))
    if (person.full_name === 'Unknown user') people[person.user_id] = stranger(person.user_id)
  for (const name of ['realm_users', 'realm_non_active_users', 'cross_realm_bots']) delete state[name]
  return {
    ...state,
    channels,
    own,
    people,
    listed: Object.keys(channels).length === given.streams.length,
    unread: unreadOf(given.unread_msgs),
    unread_msgs: undefined,
    starred_messages: new Set(given.starred_messages),
    realm_user_groups: byKey(given.realm_user_groups.map(tidyGroup), 'id'),
    realm_bots: byKey(given.realm_bots, 'user_id'),
    channel_folders: byKey(given.channel_folders, 'id'),
    drafts: byKey(given.drafts, 'id'),
    scheduled_messages: byKey(given.scheduled_messages, 'scheduled_message_id'),
    reminders: byKey(given.reminders, 'reminder_id'),
    saved_snippets: byKey(given.saved_snippets, 'id'),
    navigation_views: byKey(given.navigation_views, 'fragment'),
    realm_domains: byKey(given.realm_domains, 'domain'),
    user_topics: byKey(given.user_topics, row => `${row.stream_id}/${row.topic_name.toLowerCase()}`),
    muted_topics: new Set((given.muted_topics ?? []).map((one: unknown) => JSON.stringify(one))),
  }
}

/** What is compared: of topics only those in channels that are there, for archived ones keep theirs unseen. */
export function view(state: Row): Row {
  const live = (id: number) => state.channels[id] && !state.channels[id].is_archived
  const topics = Object.entries<Row>(state.user_topics).filter(([, row]) => live(row.stream_id))
  const { muted_topics: _, ...rest } = state
  return { ...rest, user_topics: Object.fromEntries(topics) }
}

/** null and the address at the avatar provider say the same. */
function avatar(url: string | null): string | null {
  return url?.startsWith('https://secure.gravatar.com/') ? null : url
}

function plainChannel(channel: Row): Row {
  return without(channel, [...volatile, ...personal, ...alsoPersonal])
}

function tidyGroup(group: Row): Row {
  return { ...group, members: new Set(group.members), direct_subgroup_ids: new Set(group.direct_subgroup_ids) }
}

function unreadOf(unread: Row): Row {
  const ids: Row = {}
  for (const { other_user_id, unread_message_ids } of unread.pms)
    for (const id of unread_message_ids) ids[id] = `pm ${other_user_id}`
  for (const { user_ids_string, unread_message_ids } of unread.huddles)
    for (const id of unread_message_ids) ids[id] = `huddle ${user_ids_string}`
  for (const { stream_id, topic, unread_message_ids } of unread.streams)
    for (const id of unread_message_ids) ids[id] = channelPlace(stream_id, topic)
  return ids
}

function channelPlace(id: number, topic: string): string {
  return `channel ${id} ${topic.toLowerCase()}`
}

function directPlace(userIds: readonly number[], self: number): string {
  const others = userIds.filter(id => id !== self)
  if (others.length < 2) return `pm ${others[0] ?? self}`
  return `huddle ${[...others, self].sort((a, b) => a - b).join(',')}`
}

const listKey = {
  drafts: 'id',
  saved_snippets: 'id',
} as const

const handlers: Record<string, Handler> = {
  message(state, { message, flags }, { userId }) {
    if (flags.includes('read')) return
    state.unread[message.id] =
      message.type === 'stream'
        ? channelPlace(message.stream_id, message.subject)
        : directPlace(
            message.display_recipient.map((person: Row) => person.id),
            userId,
          )
  },
  update_message(state, event) {
    if (event.subject === undefined && event.new_stream_id === undefined) return
    for (const id of event.message_ids)
      if (id in state.unread)
        state.unread[id] = channelPlace(event.new_stream_id ?? event.stream_id, event.subject ?? event.orig_subject)
  },
  delete_message(state, event) {
    for (const id of event.message_ids ?? [event.message_id]) {
      delete state.unread[id]
      state.starred_messages.delete(id)
    }
  },
  'update_message_flags/add'(state, { flag, messages, all }) {
    if (flag === 'starred') for (const id of messages) state.starred_messages.add(id)
    if (flag !== 'read') return
    if (all) state.unread = {}
    for (const id of messages) delete state.unread[id]
  },
  'update_message_flags/remove'(state, { flag, messages, message_details }, { userId }) {
    if (flag === 'starred') for (const id of messages) state.starred_messages.delete(id)
    if (flag !== 'read') return
    for (const [id, detail] of Object.entries<Row>(message_details))
      state.unread[id] =
        detail.type === 'stream' ? channelPlace(detail.stream_id, detail.topic) : directPlace(detail.user_ids, userId)
  },
  'reaction/add': nothing,
  'reaction/remove': nothing,
  submessage: nothing,
  'typing/start': nothing,
  'typing/stop': nothing,
  presence: nothing,
  invites_changed: nothing,
  realm_export: nothing,
  realm_export_consent: nothing,

  alert_words: whole('alert_words'),
  muted_users: whole('muted_users'),
  realm_linkifiers: whole('realm_linkifiers'),
  realm_playgrounds: whole('realm_playgrounds'),
  'realm_emoji/update': whole('realm_emoji'),
  default_streams: whole('default_streams', 'realm_default_streams'),
  default_stream_groups: whole('default_stream_groups', 'realm_default_stream_groups'),
  custom_profile_fields: whole('fields', 'custom_profile_fields'),
  muted_topics(state, event) {
    state.muted_topics = new Set(event.muted_topics.map((one: unknown) => JSON.stringify(one)))
  },
  user_topic(state, { id: _, type: _type, ...row }) {
    const key = `${row.stream_id}/${row.topic_name.toLowerCase()}`
    if (row.visibility_policy === 0) delete state.user_topics[key]
    else state.user_topics[key] = row
  },

  'drafts/add': (state, event) => Object.assign(state.drafts, byKey(event.drafts, listKey.drafts)),
  'drafts/update': (state, event) => put(state.drafts, event.draft.id, event.draft),
  'drafts/remove': (state, event) => drop(state.drafts, event.draft_id),
  'scheduled_messages/add': (state, event) =>
    Object.assign(state.scheduled_messages, byKey(event.scheduled_messages, 'scheduled_message_id')),
  'scheduled_messages/update': (state, { scheduled_message: row }) =>
    put(state.scheduled_messages, row.scheduled_message_id, row),
  'scheduled_messages/remove': (state, event) => drop(state.scheduled_messages, event.scheduled_message_id),
  'reminders/add': (state, event) => Object.assign(state.reminders, byKey(event.reminders, 'reminder_id')),
  'reminders/remove': (state, event) => drop(state.reminders, event.reminder_id),
  'attachment/add': nothing,
  'attachment/update': nothing,
  'attachment/remove': nothing,
  'saved_snippets/add': (state, event) => put(state.saved_snippets, event.saved_snippet.id, event.saved_snippet),
  'saved_snippets/update': (state, event) => put(state.saved_snippets, event.saved_snippet.id, event.saved_snippet),
  'saved_snippets/remove': (state, event) => drop(state.saved_snippets, event.saved_snippet_id),
  'navigation_view/add': (state, { navigation_view: view }) => put(state.navigation_views, view.fragment, view),
  'navigation_view/update': (state, event) => Object.assign(state.navigation_views[event.fragment], event.data),
  'navigation_view/remove': (state, event) => drop(state.navigation_views, event.fragment),
  'channel_folder/add': (state, { channel_folder: folder }) => put(state.channel_folders, folder.id, folder),
  'channel_folder/update': (state, event) => Object.assign(state.channel_folders[event.channel_folder_id], event.data),
  'realm_domains/add': (state, { realm_domain }) => put(state.realm_domains, realm_domain.domain, realm_domain),
  'realm_domains/change': (state, { realm_domain }) => put(state.realm_domains, realm_domain.domain, realm_domain),
  'realm_domains/remove': (state, event) => drop(state.realm_domains, event.domain),

  'user_settings/update'(state, { property, value }) {
    state.user_settings[property] = value
  },
  update_display_settings: (state, event) => put(state, event.setting_name, event.setting),
  update_global_notifications: (state, event) => put(state, event.notification_name, event.setting),
  'realm_user_settings_defaults/update': (state, event) =>
    put(state.realm_user_settings_defaults, event.property, event.value),
  onboarding_steps: (state, event) => put(state, 'onboarding_steps', event.onboarding_steps),
  'realm/update': (state, event) => setRealm(state, { [event.property]: event.value }),
  'realm/update_dict': (state, event) => setRealm(state, event.data),

  user_status(state, { user_id, type: _, ...changes }) {
    const status = { ...state.user_status[user_id], ...changes }
    if (status.emoji_name === '') for (const key of ['emoji_name', 'emoji_code', 'reaction_type']) delete status[key]
    if (status.status_text === '') delete status.status_text
    if (!status.away) delete status.away
    if (Object.keys(status).length > 0) state.user_status[user_id] = status
    else delete state.user_status[user_id]
  },

  'realm_user/add'(state, { person }) {
    const isStranger = person.full_name === 'Unknown user'
    state.people[person.user_id] = isStranger
      ? stranger(person.user_id)
      : { ...person, avatar_url: avatar(person.avatar_url) }
  },
  'realm_user/remove'(state, { person }, client) {
    if (client.has('user_list_incomplete')) delete state.people[person.user_id]
    else state.people[person.user_id] = stranger(person.user_id)
    delete state.user_status[person.user_id]
  },
  'realm_user/update': updatePerson,

  'realm_bot/add': (state, { bot }) => put(state.realm_bots, bot.user_id, bot),
  'realm_bot/update': (state, { bot }) =>
    put(state.realm_bots, bot.user_id, { ...state.realm_bots[bot.user_id], ...bot }),
  'realm_bot/delete': (state, { bot }) => drop(state.realm_bots, bot.user_id),

  'user_group/add': (state, { group }) => put(state.realm_user_groups, group.id, tidyGroup(group)),
  'user_group/update': (state, event) => Object.assign(state.realm_user_groups[event.group_id], event.data),
  'user_group/remove': (state, event) => drop(state.realm_user_groups, event.group_id),
  'user_group/add_members': (state, event) => each(state, event, 'members', event.user_ids, 'add'),
  'user_group/remove_members': (state, event) => each(state, event, 'members', event.user_ids, 'delete'),
  'user_group/add_subgroups': (state, event) =>
    each(state, event, 'direct_subgroup_ids', event.direct_subgroup_ids, 'add'),
  'user_group/remove_subgroups': (state, event) =>
    each(state, event, 'direct_subgroup_ids', event.direct_subgroup_ids, 'delete'),

  'stream/create'(state, event) {
    for (const channel of event.streams) state.channels[channel.stream_id] = plainChannel(channel)
  },
  'stream/delete'(state, event) {
    for (const id of event.stream_ids) {
      delete state.channels[id]
      delete state.own[id]
    }
  },
  'stream/update'(state, event) {
    const channel = state.channels[event.stream_id]
    if (!volatile.includes(event.property)) channel[event.property] = event.value
    for (const also of ['rendered_description', 'history_public_to_subscribers', 'is_web_public'])
      if (also in event) channel[also] = event[also]
  },
  'subscription/add'(state, event) {
    for (const channel of event.subscriptions) {
      state.channels[channel.stream_id] = plainChannel(channel)
      state.own[channel.stream_id] = pick(channel, [...personal, ...alsoPersonal])
    }
  },
  'subscription/remove'(state, event) {
    for (const { stream_id } of event.subscriptions) {
      delete state.own[stream_id]
      forgetChannel(state, stream_id)
    }
  },
  'subscription/update': (state, event) => put(state.own[event.stream_id], event.property, event.value),
  'subscription/peer_add': nothing,
  'subscription/peer_remove': nothing,
}

/** Values of settings no longer list the account. */
function leaveSettings(row: Row, userId: number): void {
  for (const [name, value] of Object.entries<any>(row))
    if (value?.direct_members)
      row[name] = { ...value, direct_members: value.direct_members.filter((id: number) => id !== userId) }
}

/** What a client has of a user whom it may not know of. */
function stranger(userId: number): Row {
  return { user_id: userId, stranger: true }
}

function updatePerson(state: Row, { person }: Row): void {
  const { user_id, custom_profile_field, new_email, avatar_url_medium, avatar_source, email, ...fields } = person
  const known = state.people[user_id]
  if (!known || known.stranger)
    throw new Error(`told of user ${user_id}, whom the client does not know: ${JSON.stringify(person)}`)
  if (fields.avatar_url) fields.avatar_url = avatar(fields.avatar_url)
  Object.assign(known, fields)
  if (new_email !== undefined) known.email = new_email
  if (custom_profile_field) {
    const { id, value, rendered_value } = custom_profile_field
    if (value === null) delete known.profile_data[id]
    else known.profile_data[id] = { value, ...(rendered_value !== undefined && { rendered_value }) }
  }
  if ('role' in fields)
    Object.assign(known, { is_owner: fields.role === 100, is_admin: fields.role <= 200, is_guest: fields.role === 600 })
  if (fields.is_active === false) {
    for (const group of Object.values<Row>(state.realm_user_groups)) group.members.delete(user_id)
    for (const row of [state, ...Object.values<Row>(state.channels), ...Object.values<Row>(state.realm_user_groups)])
      leaveSettings(row, user_id)
    delete state.user_status[user_id]
  }
  if (user_id !== state.user_id) return
  for (const name of ['full_name', 'delivery_email', 'avatar_url']) if (name in fields) state[name] = fields[name]
  if (new_email !== undefined) state.email = new_email
  if (avatar_source !== undefined) state.avatar_source = avatar_source
  if ('role' in fields)
    Object.assign(state, { ...pick(known, ['is_owner', 'is_admin', 'is_guest']), is_moderator: fields.role <= 300 })
}

/** Messages of channels one is not subscribed to are not unread. */
function forgetChannel(state: Row, channelId: number): void {
  for (const [id, place] of Object.entries<string>(state.unread))
    if (place.startsWith(`channel ${channelId} `)) delete state.unread[id]
}

function setRealm(state: Row, changes: Row): void {
  for (const [name, value] of Object.entries(changes))
    if (!derived.test(`realm_${name}`)) state[`realm_${name}`] = value
}

function whole(field: string, name = field): Handler {
  return (state, event) => put(state, name, event[field])
}

function each(state: Row, { group_id }: Row, field: string, ids: readonly number[], op: 'add' | 'delete'): void {
  for (const id of ids) state.realm_user_groups[group_id]?.[field][op](id)
}

function nothing(): void {}

function put(rows: Row, key: string | number, row: unknown): void {
  rows[key] = row
}

function drop(rows: Row, key: string | number): void {
  delete rows[key]
}

function byKey(rows: readonly Row[], key: string | ((row: Row) => string)): Row {
  return Object.fromEntries(rows.map(row => [typeof key === 'string' ? row[key] : key(row), row]))
}

function pick(row: Row, keys: readonly string[]): Row {
  return Object.fromEntries(keys.map(key => [key, row[key]]))
}

function without(row: Row, keys: readonly string[]): Row {
  return Object.fromEntries(Object.entries(row).filter(([key]) => !keys.includes(key)))
}
