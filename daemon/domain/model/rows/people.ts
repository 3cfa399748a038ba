// Rows of accounts, user groups, and what people keep about themselves and each other.

import { bool, eitherOf, int, listOf, maybe, nullable, oneOf } from '../../../api/define.ts'
import { groupPermissions } from '../../../api/shapes/permission-settings.ts'
import {
  count,
  fileName,
  id,
  keyedBy,
  label,
  longText,
  permissionsOf,
  type RowOf,
  row,
  settingsOf,
  textLike,
  time,
  trueOnly,
  rowUserId as userId,
} from '../../../api/shapes/rows.ts'
import { userSettings } from '../../../api/shapes/user-settings.ts'
import { limits } from '../../limits.ts'

/** Where an outgoing webhook goes. Its token is derived, never stored. */
const outgoingService = row({
  url: label,
  /** 1 generic, 2 Slack-style. */
  interface: oneOf(1, 2),
  /** Counts the tokens; absent: the first. */
  tokenVersion: maybe(count),
})
export type OutgoingService = RowOf<typeof outgoingService>

const namedService = row({ name: label, config: keyedBy(/^(?!__proto__$)/, longText) })

const bot = row({
  type: oneOf(1, 2, 3, 4),
  ownerId: nullable(userId),
  /** Part of the server itself, such as the notification bot. */
  system: bool,
  service: maybe(eitherOf(outgoingService, namedService)),
  /** Channels that programs written for the bot may use; the server itself does nothing with them. */
  defaults: maybe(row({ sendingChannelId: nullable(id), eventsChannelId: nullable(id), allPublic: bool })),
})
export type Bot = RowOf<typeof bot>

export const role = oneOf(100, 200, 300, 400, 600)

export const user = row({
  id: userId,
  /** The real address; what others see of it is a rule of visibility. */
  email: label,
  fullName: label,
  role,
  /** Past the waiting period; settled by a fact, so that nothing depends on when it is asked. */
  fullMember: bool,
  active: bool,
  /** Milliseconds. */
  joined: time,
  avatar: row({
    version: count,
    /** Name of the uploaded file beside the store. */
    file: maybe(fileName),
    /** Without a file: a Jdenticon instead of the picture of the avatar provider. */
    jdenticon: maybe(trueOnly()),
  }),
  /** Bumped to make the old API key worthless; the key itself is never stored. */
  keyVersion: count,
  /** scrypt, with its salt; absent for accounts that cannot log in by password. */
  password: maybe(label),
  /** Flags of the account, given only by the person who runs the daemon: even owners lack them by default. */
  canCreateUsers: bool,
  canChangeEmails: bool,
  /** Only what differs from the default of the settings table. */
  settings: settingsOf(userSettings),
  /** Custom profile field ID to value. */
  profile: keyedBy(/^[0-9]+$/, longText),
  /** Settings that the person has changed. */
  chosenSettings: maybe(listOf(label)),
  /** Made by an administrator, without a login so far. */
  unused: maybe(trueOnly()),
  /** Onboarding steps. */
  seenSteps: maybe(listOf(label)),
  bot: maybe(bot),
})
export type User = RowOf<typeof user>

export const group = row({
  id,
  name: label,
  description: longText,
  system: bool,
  creatorId: nullable(userId),
  dateCreated: nullable(time),
  deactivated: bool,
  /** Direct members. Those of system groups follow from roles and are not listed here. */
  members: listOf(userId),
  subgroups: listOf(id),
  permissions: permissionsOf(groupPermissions),
})
export type Group = RowOf<typeof group>

/** One thing a bot remembers. */
export const storedItem = row({ userId, key: longText, value: longText })
export type StoredItem = RowOf<typeof storedItem>

/** An entry in the sidebar. Built-in ones have no name. */
export const navigationView = row({ userId, fragment: label, isPinned: bool, name: nullable(label) })
export type NavigationView = RowOf<typeof navigationView>

/** An emoji as rows and facts name it. */
export const emojiFields = {
  type: oneOf('unicode_emoji', 'realm_emoji', 'svc_extra_emoji'),
  /** Dash-separated hexadecimal code points, the ID of a custom emoji, or the name of the extra one. */
  code: label,
  name: label,
}
const emoji = row({
  ...emojiFields,
  /** Where the picture is; Unicode emoji are text. */
  src: maybe(label),
})
export type Emoji = RowOf<typeof emoji>

export const userStatus = row({ userId, text: label, emoji: maybe(emoji) })
export type UserStatus = RowOf<typeof userStatus>

/** Since: seconds. */
export const mutedUser = row({ userId, mutedId: userId, since: time })
export type MutedUser = RowOf<typeof mutedUser>

/** The longer a word, the more work it is to look for it in a message. */
export const alertWords = row({ userId, words: listOf(textLike(/^/, 2 * limits.alertWord)) })
export type AlertWords = RowOf<typeof alertWords>

const deviceKind = oneOf('apns', 'fcm')
/** Apple devices have the ID of the app. */
const pushToken = row({ kind: deviceKind, token: longText, appId: maybe(label) })
export type PushToken = RowOf<typeof pushToken>

/** What an account's devices registered. */
export const pushDevices = row({
  userId,
  tokens: listOf(pushToken),
  /** Those that asked for encrypted notifications, by the number that each chose. */
  accounts: listOf(row({ id: int, kind: deviceKind })),
})
export type PushDevices = RowOf<typeof pushDevices>

/** A new address that waits for its owner to confirm it, until some millisecond. */
export const emailChange = row({ token: label, userId, email: label, expires: time })
export type EmailChange = RowOf<typeof emailChange>

export const presence = row({
  userId,
  /** Last report of being active, milliseconds; absent before the first. */
  active: maybe(time),
  /** Last report of any kind, milliseconds. */
  connected: time,
  /** Grows from change to change, over all accounts. */
  updateId: count,
})
export type Presence = RowOf<typeof presence>

/** The answer to a request that had an idempotency key. */
export const answer = row({
  userId,
  /** Chosen by the caller. */
  key: label,
  /** What was asked for: a keyed digest. Empty where it is not known; any request is then taken for the same. */
  request: label,
  /** The reply, as JSON. Empty if it was too long to keep. */
  reply: textLike(/^(\{[\s\S]*\})?$/, 4_000_000),
})
export type Answer = RowOf<typeof answer>
