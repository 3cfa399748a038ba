// Shapes of the rows of accounts, user groups, and what people keep about themselves and each other.

import { bool, eitherOf, int, listOf, maybe, nullable, oneOf } from '../../api/define.ts'
import { groupPermissions } from '../../api/shapes/permission-settings.ts'
import {
  count,
  fileName,
  id,
  keyedBy,
  label,
  longText,
  permissionsOf,
  row,
  settingsOf,
  textLike,
  time,
  trueOnly,
  rowUserId as userId,
} from '../../api/shapes/rows.ts'
import { userSettings } from '../../api/shapes/user-settings.ts'
import type { Answer } from '../model/answers.ts'
import type * as rows from '../model/personal-records.ts'
import type { Presence } from '../model/presence-table.ts'
import type { Group, User } from '../model/state.ts'
import type { Describes } from './same.ts'

const outgoingService = row({ url: label, interface: oneOf(1, 2), tokenVersion: maybe(count) })
const namedService = row({ name: label, config: keyedBy(/^(?!__proto__$)/, longText) })
const bot = row({
  type: oneOf(1, 2, 3, 4),
  ownerId: nullable(userId),
  system: bool,
  service: maybe(eitherOf(outgoingService, namedService)),
  defaults: maybe(row({ sendingChannelId: nullable(id), eventsChannelId: nullable(id), allPublic: bool })),
})

export const role = oneOf(100, 200, 300, 400, 600)

export const user = row({
  id: userId,
  email: label,
  fullName: label,
  role,
  fullMember: bool,
  active: bool,
  joined: time,
  avatar: row({ version: count, file: maybe(fileName), jdenticon: maybe(trueOnly()) }),
  keyVersion: count,
  password: maybe(label),
  canCreateUsers: bool,
  canChangeEmails: bool,
  settings: settingsOf(userSettings),
  profile: keyedBy(/^[0-9]+$/, longText),
  chosenSettings: maybe(listOf(label)),
  unused: maybe(trueOnly()),
  seenSteps: maybe(listOf(label)),
  bot: maybe(bot),
})
true satisfies Describes<typeof user, User>

export const group = row({
  id,
  name: label,
  description: longText,
  system: bool,
  creatorId: nullable(userId),
  dateCreated: nullable(time),
  deactivated: bool,
  members: listOf(userId),
  subgroups: listOf(id),
  permissions: permissionsOf(groupPermissions),
})
true satisfies Describes<typeof group, Group>

export const storedItem = row({ userId, key: longText, value: longText })
true satisfies Describes<typeof storedItem, rows.StoredItem>

export const navigationView = row({ userId, fragment: label, isPinned: bool, name: nullable(label) })
true satisfies Describes<typeof navigationView, rows.NavigationView>

export const reactionType = oneOf('unicode_emoji', 'realm_emoji', 'svc_extra_emoji')

export const userStatus = row({
  userId,
  text: label,
  emoji: maybe(row({ type: reactionType, code: label, name: label, src: maybe(label) })),
})
true satisfies Describes<typeof userStatus, rows.UserStatus>

export const mutedUser = row({ userId, mutedId: userId, since: time })
true satisfies Describes<typeof mutedUser, rows.MutedUser>

export const alertWords = row({ userId, words: listOf(label) })
true satisfies Describes<typeof alertWords, rows.AlertWords>

const deviceKind = oneOf('apns', 'fcm')
export const pushDevices = row({
  userId,
  tokens: listOf(row({ kind: deviceKind, token: longText, appId: maybe(label) })),
  accounts: listOf(row({ id: int, kind: deviceKind })),
})
true satisfies Describes<typeof pushDevices, rows.PushDevices>

export const emailChange = row({ token: label, userId, email: label, expires: time })
true satisfies Describes<typeof emailChange, rows.EmailChange>

export const presence = row({ userId, active: maybe(time), connected: time, updateId: count })
true satisfies Describes<typeof presence, Presence>

/** The reply is empty if it was too long to keep. */
export const answer = row({ userId, key: label, request: label, reply: textLike(/^(\{[\s\S]*\})?$/, 4_000_000) })
true satisfies Describes<typeof answer, Answer>
