// Everything a state holds, in the words of the API: by resource, each thing with an ID, a name that people recognize, and its
// fields. Values that follow from other resources, and secrets, are left out.

import { getLevel } from '../../api/levels/level.ts'
import { newestLevel } from '../../api/levels/releases.ts'
import { presentChannel } from '../channels/channels/present.ts'
import { presentMessage } from '../messages/messages/present.ts'
import type { State, User } from '../model/state.ts'
import { presentUser } from '../people/users/present.ts'

export type Fields = Readonly<Record<string, unknown>>

export interface Subject {
  /** All rows by ID. */
  readonly rows: (state: State) => Iterable<readonly [id: number | string, row: object]>
  readonly name: (state: State, row: any) => string
  readonly fields: (state: State, row: any) => Fields
}

export const subjects: Readonly<Record<string, Subject>> = {
  organization: {
    rows: state => [['organization', state.organization]],
    name: () => 'the organization',
    fields: (_state, { settings, permissions, userDefaults, deactivated, pictures }: State['organization']) => ({
      ...settings,
      ...pictures,
      ...permissions,
      ...prefixFields('default_', userDefaults),
      is_deactivated: deactivated !== undefined,
    }),
  },
  users: {
    rows: state => byId(state.users.values()),
    name: (_state, user: User) => user.email,
    fields: (state, user: User) => {
      const view = { seesEmail: true, clientGravatar: false, withProfile: true }
      const { avatar_url: _, ...shown } = presentUser(state, user, view)
      return {
        ...shown,
        settings: user.settings,
        has_password: user.password !== undefined,
        api_key_version: user.keyVersion,
        ...(user.bot?.service && { service: user.bot.service }),
      }
    },
  },
  user_groups: {
    rows: state => byId(state.groups.values()),
    name: (_state, group) => group.name,
    fields: (_state, { permissions, members, subgroups, system, ...group }) => ({
      ...snake(group),
      members,
      direct_subgroup_ids: subgroups,
      is_system_group: system,
      ...permissions,
    }),
  },
  channels: {
    rows: state => byId(state.channels.values()),
    name: (_state, channel) => `#${channel.name}`,
    fields: (state, channel) => {
      const {
        first_message_id: _first,
        is_recently_active: _active,
        subscriber_count: _count,
        stream_weekly_traffic: _traffic,
        rendered_description: _html,
        ...shown
      } = presentChannel(state, channel, getLevel(newestLevel))
      return { ...shown, is_default: channel.isDefault }
    },
  },
  subscriptions: {
    rows: state => subscriptionRows(state),
    name: (state, { channelId, userId }) => `${emailOf(state, userId)} in ${channelOf(state, channelId)}`,
    fields: (_state, { channelId, userId, color, muted, pinned, notifications }) => ({
      stream_id: channelId,
      user_id: userId,
      color,
      is_muted: muted,
      pin_to_top: pinned,
      ...snake(notifications, '_notifications'),
    }),
  },
  messages: {
    rows: state => messageRows(state),
    name: (state, { senderId, channelId, topic }) =>
      `${emailOf(state, senderId)} ${channelId === undefined ? 'directly' : `in ${channelOf(state, channelId)} > ${topic}`}`,
    fields: (state, row) => {
      const view = { applyMarkdown: false, clientGravatar: true, emptyTopic: true }
      const {
        recipient_id: _r,
        avatar_url: _a,
        sender_realm_str: _s,
        content_type: _c,
        ...shown
      } = presentMessage(state, row, view)
      return { ...shown, edits: row.details?.edits?.length ?? 0 }
    },
  },
  message_flags: {
    rows: state => flagRows(state),
    name: (state, { userId }) => emailOf(state, userId),
    fields: (_state, { userId: _, ...sets }) => sets,
  },
  user_topics: {
    rows: state => listByKey(state.userTopics.values(), row => `${row.userId}/${row.channelId}/${row.topic}`),
    name: (state, { userId, channelId, topic }) =>
      `${emailOf(state, userId)} in ${channelOf(state, channelId)} > ${topic}`,
    fields: (_state, { policy, updated: _, ...row }) => ({ ...snake(row), visibility_policy: policy }),
  },
  channel_folders: listByName(state => state.channelFolders.values()),
  default_channel_groups: listByName(state => state.defaultChannelGroups.values()),
  profile_fields: listByName(state => state.profileFields.values()),
  emoji: listByName(state => state.emoji.values()),
  linkifiers: listByTitle(state => state.linkifiers.values(), 'pattern'),
  playgrounds: listByName(state => state.playgrounds.values()),
  domains: listByTitle(state => state.domains.values(), 'domain'),
  invitations: {
    ...listByTitle(state => state.invitations.values(), 'email'),
    // The token lets anyone in.
    fields: (_state, { token: _, ...row }) => snake(row),
  },
  attachments: { ...listByOwner(state => state.attachments.values()), name: (_state, { name }) => name },
  drafts: listByOwner(state => state.drafts.values()),
  scheduled_messages: listByOwner(state => state.scheduledMessages.values()),
  reminders: listByOwner(state => state.reminders.values()),
  saved_snippets: listByOwner(state => state.savedSnippets.values()),
  navigation_views: listByOwner(
    state => state.navigationViews.values(),
    row => `${row.userId}/${row.fragment}`,
  ),
  bot_storage: listByOwner(
    state => state.botStorage.values(),
    row => `${row.userId}/${row.key}`,
  ),
  muted_users: listByOwner(
    state => state.mutedUsers.values(),
    row => `${row.userId}/${row.mutedId}`,
  ),
  alert_words: listByOwner(
    state => state.alertWords.values(),
    row => row.userId,
  ),
  push_devices: listByOwner(
    state => state.pushDevices.values(),
    row => row.userId,
  ),
  user_statuses: listByOwner(
    state => state.userStatuses.values(),
    row => row.userId,
  ),
  webhook_deliveries: {
    rows: state => byId(state.webhookDeliveries.values()),
    name: (state, { botId, messageId }) => `${emailOf(state, botId)} for message ${messageId}`,
    fields: (_state, row) => snake(row),
  },
}

// --- kinds of subjects --------------------------------------------------------------------------------------------

function listByName(rows: (state: State) => Iterable<{ id: number; name: string }>): Subject {
  return listByTitle(rows, 'name')
}

function listByTitle(rows: (state: State) => Iterable<{ id: number }>, field: string): Subject {
  return {
    rows: state => byId(rows(state)),
    name: (_state, row) => String(row[field] ?? row.id),
    fields: (_state, row) => snake(row),
  }
}

/** What belongs to one account. */
function listByOwner<Row extends { userId: number; id?: number }>(
  rows: (state: State) => Iterable<Row>,
  key: (row: Row) => number | string = ({ id }) => id!,
): Subject {
  return {
    rows: state => listByKey(rows(state), key),
    name: (state, row) => `${emailOf(state, row.userId)} ${key(row)}`,
    fields: (_state, row) => snake(row),
  }
}

function byId<Row extends { id: number }>(rows: Iterable<Row>): Iterable<readonly [number, Row]> {
  return listByKey(rows, ({ id }) => id)
}

function* listByKey<Row, K extends number | string>(
  rows: Iterable<Row>,
  key: (row: Row) => K,
): Generator<readonly [K, Row & object]> {
  for (const row of rows) yield [key(row), row as Row & object]
}

function* subscriptionRows(state: State): Generator<readonly [string, object]> {
  for (const { id: channelId } of state.channels.values())
    for (const userId of state.subscriptions.followers(channelId))
      yield [`${channelId}/${userId}`, { ...state.subscriptions.get(channelId, userId)! }]
}

function* flagRows(state: State): Generator<readonly [number, object]> {
  for (const userId of state.messageFlags.users()) {
    const { read, unread, starred, collapsed, historical, gained, lost } = state.messageFlags.of(userId)
    const sets = Object.entries({ read, unread, starred, collapsed, historical, gained, lost })
    yield [userId, { userId, ...Object.fromEntries(sets.map(([name, ids]) => [name, idRuns(ids.runs())])) }]
  }
}

/** Costs what the messages cost: they are packed, and put together one by one. */
function* messageRows(state: State): Generator<readonly [number, object]> {
  for (let id = 1; id <= state.messages.lastId; id++) {
    const message = state.messages.get(id)
    if (message) yield [id, message]
  }
}

// --- words --------------------------------------------------------------------------------------------------------

function emailOf(state: State, userId: number): string {
  return state.users.get(userId)?.email ?? `user ${userId}`
}

function channelOf(state: State, channelId: number): string {
  return `#${state.channels.get(channelId)?.name ?? channelId}`
}

/** Field names of rows that the API calls otherwise. */
const words: Readonly<Record<string, string>> = {
  channelId: 'stream_id',
  channelIds: 'stream_ids',
  mutedId: 'muted_user_id',
  due: 'scheduled_delivery_timestamp',
}

function snake(row: object, suffix = ''): Fields {
  return Object.fromEntries(
    Object.entries(row)
      .filter(([name]) => name !== 'html')
      .map(([name, value]) => [
        (words[name] ?? name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)) + suffix,
        value,
      ]),
  )
}

function prefixFields(prefix: string, fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [prefix + name, value]))
}

/** `1-4, 7`, from pairs of first and last. */
function idRuns(runs: readonly number[]): string {
  const parts: string[] = []
  for (let i = 0; i < runs.length; i += 2)
    parts.push(runs[i] === runs[i + 1] ? `${runs[i]}` : `${runs[i]}-${runs[i + 1]}`)
  return parts.join(', ')
}
