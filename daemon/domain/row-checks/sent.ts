// Rows that a client sends, in a snapshot file or a seed. Such files are small, and must not make work that is not: their rows are held to
// what calls can make, where one row is the work of many answers, or one answer the work of many rows. Files of operators are not held to
// it: a store from which most messages were deleted has high IDs, and an organization of another server can have more of everything.

import { tooLarge } from '../../api/bounds.ts'
import { organizationSettings } from '../../api/shapes/organization-settings.ts'
import { userSettings } from '../../api/shapes/user-settings.ts'
import { limits } from '../limits.ts'
import { countFormatted } from '../markdown/index.ts'
import type { GroupValue } from '../model/roles.ts'
import type { Subscription } from '../model/rows/channels.ts'
import type { Channel, ChannelFolder, Group, Section, User } from '../model/state.ts'
import { countNamed } from '../rules/group-values.ts'
import { RowsRefused } from './refused.ts'

type Sections = Readonly<Record<string, Iterable<unknown>>>
type ByField = Readonly<Record<string, number>>

/** Characters of texts that many answers repeat for many rows, such as the name of a sender. */
const mostCharacters: Partial<Record<Section, ByField>> = {
  organization: {
    emailDomain: limits.email,
    'settings.name': limits.organizationName,
    'settings.description': limits.organizationDescription,
    'settings.welcome_message_custom_text': limits.welcomeMessage,
  },
  users: { email: limits.email, fullName: limits.fullName },
  channels: { name: limits.channelName },
  groups: { name: limits.groupName },
  invitations: { welcome: limits.welcomeMessage },
}

/** Items of lists. */
const mostItems: Partial<Record<Section, ByField>> = {
  // With the author.
  conversations: { userIds: limits.directRecipients + 1 },
  scheduledMessages: { 'target.userIds': limits.directRecipients + 1 },
  alertWords: { words: limits.alertWords },
  pushDevices: { tokens: limits.pushDevices, accounts: limits.pushDevices },
  invitations: { channelIds: limits.invitationPlaces, groupIds: limits.invitationPlaces },
  attachments: { messages: limits.messagesPerFile },
  messages: { 'details.reactions': limits.reactionsPerMessage },
}

/** Rows that an organization can have. */
const mostRows: Partial<Record<Section, number>> = {
  channels: limits.channels,
  groups: limits.userGroups,
  channelFolders: limits.channelFolders,
  defaultChannelGroups: limits.defaultChannelGroups,
  profileFields: limits.profileFields,
  playgrounds: limits.playgrounds,
  emoji: limits.customEmoji,
  domains: limits.emailDomains,
}

/** Throws RowsRefused. Everything has the form of its row. */
export function checkSent(sections: Sections): void {
  const most = { messages: checkSpread(sections, 'messages'), users: checkSpread(sections, 'users') }
  for (const { userId: _, ...sets } of rowsOf<{ userId: number } & Record<string, number[]>>(sections, 'messageFlags'))
    for (const runs of Object.values(sets)) checkId('messageFlags', runs.at(-1), most.messages)
  checkGroups(sections)
  // They are copied for each person who leaves or comes back.
  for (const { spans = [] } of rowsOf<Partial<Subscription>>(sections, 'subscriptions'))
    if (spans.length > limits.sentSpans)
      throw new RowsRefused(`subscriptions: there are ${spans.length} spans in a row; give at most ${limits.sentSpans}`)
  checkFormattedTexts(sections)
  for (const [section, most] of Object.entries(mostRows)) {
    const count = rowsOf<{ id?: number }>(sections, section).filter(({ id }) => id !== undefined).length
    if (count > most) throw new RowsRefused(`${section}: there are ${count}; give at most ${most}`)
  }
  checkSizes(sections, mostCharacters, 'characters')
  checkSizes(sections, mostItems, 'items')
  checkSettings(sections)
  checkExports(sections)
}

function rowsOf<Row extends object>(sections: Sections, section: string): Row[] {
  return [...(sections[section] ?? [])] as Row[]
}

// --- IDs ----------------------------------------------------------------------------------------------------------

/** Tables by the ID of a message or user take memory and time up to the highest one, however few there are. */
const spreads = { messages: { least: 2 ** 20, perRow: 100 }, users: { least: 50_000, perRow: 100 } }

/** The highest ID that may be. */
function checkSpread(sections: Sections, section: keyof typeof spreads): number {
  const rows = rowsOf<{ id?: number; last_id?: number }>(sections, section)
  const { least, perRow } = spreads[section]
  // The first row is the head of the section.
  const most = least + perRow * Math.max(0, rows.length - 1)
  for (const { id, last_id } of rows) checkId(section, id ?? last_id, most)
  return most
}

function checkId(section: string, id = 0, most: number): void {
  if (id > most)
    throw new RowsRefused(`${section}: the ID ${id} is too high for the number of rows; give IDs up to ${most}`)
}

// --- groups and permissions ---------------------------------------------------------------------------------------

function checkGroups(sections: Sections): void {
  let links = 0
  let members = 0
  for (const group of rowsOf<Partial<Group>>(sections, 'groups')) {
    links += group.subgroups?.length ?? 0
    members += group.members?.length ?? 0
  }
  if (links > limits.subgroups)
    throw new RowsRefused(`groups: there are ${links} subgroups in them, and at most ${limits.subgroups} are allowed`)
  if (members > limits.groupMembers)
    throw new RowsRefused(
      `groups: there are ${members} members in them, and at most ${limits.groupMembers} are allowed`,
    )
  for (const section of ['organization', 'channels', 'groups'])
    for (const { permissions = {} } of rowsOf<{ permissions?: Readonly<Record<string, GroupValue>> }>(
      sections,
      section,
    ))
      for (const [name, value] of Object.entries(permissions)) checkNamed(section, name, value)
}

/** Each question whether a person is in the value looks at all that it names. */
function checkNamed(section: string, name: string, value: GroupValue): void {
  const count = countNamed(value)
  if (count > limits.namedInSetting)
    throw new RowsRefused(`${section}: ${name} names ${count} people and groups; give at most ${limits.namedInSetting}`)
}

// --- sizes --------------------------------------------------------------------------------------------------------

function checkFormattedTexts(sections: Sections): void {
  const described = [
    ...rowsOf<Partial<Channel>>(sections, 'channels'),
    ...rowsOf<Partial<ChannelFolder>>(sections, 'channelFolders'),
  ]
  const descriptions = described.map(row => row.description ?? '')
  checkFormatted('channels: the descriptions, with those of folders,', descriptions)
  const profiles = rowsOf<Partial<User>>(sections, 'users').map(user => Object.values(user.profile ?? {}))
  checkFormatted('users: the profiles', profiles.flat())
}

function checkFormatted(what: string, texts: readonly string[]): void {
  const most = limits.formattedDescriptions
  if (countFormatted(texts) > most)
    throw new RowsRefused(`${what} can have ${most} characters with formatting, formulas 50 times; use plain sentences`)
}

function checkSizes(sections: Sections, table: Partial<Record<Section, ByField>>, what: 'characters' | 'items'): void {
  for (const [section, fields] of Object.entries(table))
    for (const [field, most] of Object.entries(fields)) {
      const steps = field.split('.')
      // A character outside of the basic plane has two units.
      const units = what === 'characters' ? 2 * most : most
      for (const row of rowsOf(sections, section))
        if (sizeAt(row, steps) > units) throw new RowsRefused(`${section}: ${field}: must have at most ${most} ${what}`)
    }
}

function sizeAt(row: any, steps: readonly string[]): number {
  return steps.reduce((value, step) => value?.[step], row)?.length ?? 0
}

/** Their shapes in rows have no bounds, because calls count characters in another way. */
function checkSettings(sections: Sections): void {
  const check = (place: string, table: object, settings: object = {}) => {
    for (const [name, value] of Object.entries(settings)) {
      const problem = tooLarge(`${place}[${JSON.stringify(name)}]`, (table as any)[name]?.shape, value)
      if (problem !== undefined) throw new RowsRefused(problem)
    }
  }
  for (const { settings, userDefaults } of rowsOf<{ settings: object; userDefaults: object }>(
    sections,
    'organization',
  )) {
    check('organization: settings', organizationSettings, settings)
    check('organization: userDefaults', userSettings, userDefaults)
  }
  for (const { settings } of rowsOf<{ settings?: object }>(sections, 'users'))
    check('users: settings', userSettings, settings)
}

/** Each is written as a whole, and every administrator gets the list of all when it is done. */
function checkExports(sections: Sections): void {
  const pending = rowsOf<{ status?: string }>(sections, 'exports').filter(({ status }) => status === 'pending').length
  if (pending > limits.exportsPerWeek)
    throw new RowsRefused(`exports: ${pending} are pending; give at most ${limits.exportsPerWeek}`)
}
