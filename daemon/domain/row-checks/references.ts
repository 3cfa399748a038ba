// Checks what the rows of a state say of each other: everything that a row names exists, and so does what every organization has.

import { limits } from '../limits.ts'
import { groupsOfPattern } from '../markdown/linkify.ts'
import type { Section, State } from '../model/state.ts'
import { RowsRefused } from './refused.ts'

const systemGroups = [
  'nobody',
  'owners',
  'administrators',
  'moderators',
  'fullmembers',
  'members',
  'everyone',
  'internet',
]

type Named = 'user' | 'channel' | 'group' | 'conversation' | 'folder'
type References = Readonly<Record<string, Named>>

const ofUser: References = { userId: 'user' }

/** Which fields of a row name another one. `details.edits.userId` is that field of each item of the list. */
const references: Partial<Record<Section, References>> = {
  users: { 'bot.ownerId': 'user' },
  groups: { creatorId: 'user', members: 'user', subgroups: 'group' },
  channels: { creatorId: 'user', folderId: 'folder' },
  conversations: { userIds: 'user' },
  subscriptions: { channelId: 'channel', userIds: 'user' },
  defaultChannelGroups: { channelIds: 'channel' },
  channelFolders: { creatorId: 'user' },
  organization: {},
  botStorage: ofUser,
  userTopics: { ...ofUser, channelId: 'channel' },
  savedSnippets: ofUser,
  navigationViews: ofUser,
  drafts: ofUser,
  scheduledMessages: { ...ofUser, 'target.channelId': 'channel', 'target.userIds': 'user' },
  reminders: ofUser,
  attachments: ofUser,
  emailChanges: ofUser,
  userStatuses: ofUser,
  alertWords: ofUser,
  pushDevices: ofUser,
  exports: ofUser,
  presence: ofUser,
  messageFlags: ofUser,
  answers: ofUser,
  mutedUsers: { ...ofUser, mutedId: 'user' },
  webhookDeliveries: { botId: 'user' },
  emoji: { authorId: 'user' },
  invitations: { inviterId: 'user', channelIds: 'channel', groupIds: 'group' },
  messages: {
    senderId: 'user',
    channelId: 'channel',
    conversationId: 'conversation',
    'details.mentioned': 'user',
    'details.topicMentioned': 'user',
    'details.alerted': 'user',
    'details.edits.userId': 'user',
    'details.reactions.userId': 'user',
    'details.submessages.senderId': 'user',
  },
}

/** Throws a sentence that names the row. Messages are many: between some of them it yields. */
export function* checkReferences(state: State): Generator<void> {
  checkEssentials(state)
  const { users, channels, groups, conversations, channelFolders } = state
  const tables = { user: users, channel: channels, group: groups, conversation: conversations, folder: channelFolders }
  let count = 0
  for (const [section, fields] of Object.entries(references) as [Section, References][]) {
    const paths = Object.entries(fields).map(([field, what]) => ({ field, what, steps: field.split('.') }))
    for (const row of section === 'messages' ? state.messages.rows() : state.saved(section)) {
      const all = Object.hasOwn(Object(row), 'permissions') ? [...paths, ...permissionPaths(row)] : paths
      for (const { field, what, steps } of all) {
        const id = findMissing(tables[what], row, steps)
        if (id !== undefined) throw refuseField(section, row, field, `there is no ${what} ${id}`)
      }
      if (++count % 1000 === 0) yield
    }
  }
}

/** A permission is the ID of a group, or lists of users and groups. */
function permissionPaths(row: any): { field: string; what: Named; steps: string[] }[] {
  return Object.entries(row.permissions).flatMap(([name, value]) => {
    const field = `permissions.${name}`
    const steps = ['permissions', name]
    if (typeof value === 'number') return [{ field, what: 'group', steps }]
    return [
      { field, what: 'user', steps: [...steps, 'direct_members'] },
      { field, what: 'group', steps: [...steps, 'direct_subgroups'] },
    ]
  })
}

/** The first ID at this place of a row, or in a list there, that the table does not have. */
function findMissing(table: { has(id: number): boolean }, value: any, steps: readonly string[], at = 0): unknown {
  if (value === null || value === undefined) return undefined
  if (Array.isArray(value)) {
    for (const item of value) {
      const id = findMissing(table, item, steps, at)
      if (id !== undefined) return id
    }
    return undefined
  }
  if (at < steps.length) return findMissing(table, value[steps[at]!], steps, at + 1)
  return table.has(value) ? undefined : value
}

function checkEssentials({ users, groups, linkifiers }: State): void {
  for (const name of systemGroups)
    if (!groups.find('name', `role:${name}`)?.system)
      throw new RowsRefused(`groups: the system group role:${name} is missing`)
  if (![...users.values()].some(({ bot }) => bot?.system))
    throw new RowsRefused('users: the notification bot is missing')
  // Before any is compiled: the limits bound the time that all of them take.
  if (linkifiers.size > limits.linkifiers)
    throw new RowsRefused(`linkifiers: there are ${linkifiers.size}, and at most ${limits.linkifiers} are allowed`)
  let size = 0
  for (const linkifier of linkifiers.values()) {
    const found = groupsOfPattern(linkifier.pattern)
    if ('problem' in found)
      throw refuseField('linkifiers', linkifier, 'pattern', `must be a regular expression (RE2): ${found.problem}`)
    size += found.size
    // Twice: when one is changed, the others count with what must stand around them.
    if (size > 2 * limits.linkifierSize)
      throw refuseField('linkifiers', linkifier, 'pattern', 'is too long together with the patterns before it')
  }
}

function refuseField(section: Section, row: any, field: string, why: string): RowsRefused {
  const { id, channelId, userId } = row
  const which = id
    ? ` with the ID ${id}`
    : userId
      ? ` of the user ${userId}`
      : channelId
        ? ` of the channel ${channelId}`
        : ''
  return new RowsRefused(`${section}, the row${which}: ${field}: ${why}`)
}
