// Rows that the organization has as a whole: what it is, what its people may use, whom it lets in.

import { bool, int, listOf, maybe, nullable, oneOf } from '../../../api/define.ts'
import { organizationSettings } from '../../../api/shapes/organization-settings.ts'
import { organizationPermissions } from '../../../api/shapes/permission-settings.ts'
import {
  anyTime,
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
  time,
  rowUserId as userId,
} from '../../../api/shapes/rows.ts'
import { userSettings } from '../../../api/shapes/user-settings.ts'
import { role } from './people.ts'

/** A call can say `unlimited`; a row has null. */
const limit = { shape: nullable(int) }

const picture = row({
  version: count,
  /** Name of the file beside the store; absent if it was deleted. */
  file: maybe(fileName),
})
export type Picture = RowOf<typeof picture>

const pictures = row({ icon: maybe(picture), logo: maybe(picture), nightLogo: maybe(picture) })
export type PictureName = keyof RowOf<typeof pictures>

export const organization = row({
  dateCreated: time,
  /** Domain of placeholder and bot addresses. */
  emailDomain: label,
  /** Only what differs from the default of the settings table. */
  settings: settingsOf({
    ...organizationSettings,
    authentication_methods: { shape: keyedBy(/^(?!__proto__$)/, bool) },
    message_retention_days: limit,
    message_content_edit_limit_seconds: limit,
    message_content_delete_limit_seconds: limit,
    move_messages_within_stream_limit_seconds: limit,
    move_messages_between_streams_limit_seconds: limit,
  }),
  permissions: permissionsOf(organizationPermissions),
  /** What new accounts start with, where it differs from the table. */
  userDefaults: settingsOf(userSettings),
  /** Present when an owner deactivated the organization; with the time, in ms, from which its data may be deleted. */
  deactivated: maybe(row({ deletableFrom: maybe(time) })),
  /** Those that were ever uploaded. */
  pictures: maybe(pictures),
  /** How many invitations were mailed on the last day that saw any; days since 1970, UTC. */
  invited: maybe(row({ day: count, count })),
})
export type Organization = RowOf<typeof organization>

export const profileField = row({
  id,
  type: oneOf(1, 2, 3, 4, 5, 6, 7, 8),
  order: int,
  name: label,
  hint: label,
  /** JSON text; empty for types without data. */
  data: longText,
  required: bool,
  editable: bool,
  inSummary: bool,
  /** Whether people are found by its value. */
  forMatching: maybe(bool),
})
export type ProfileField = RowOf<typeof profileField>

export const customEmoji = row({
  id,
  name: label,
  authorId: nullable(userId),
  /** Name of the file beside the store. */
  file: fileName,
  /** That of its first frame, if it is animated. */
  still: maybe(fileName),
  deactivated: bool,
})
export type CustomEmoji = RowOf<typeof customEmoji>

export const linkifier = row({
  id,
  pattern: label,
  urlTemplate: longText,
  /** Lower ones are tried first. */
  order: int,
  /** A text that matches the pattern. */
  example: maybe(longText),
  /** What a pasted URL becomes. */
  reverse: maybe(longText),
  /** More templates that pasted URLs can have. */
  alternatives: maybe(listOf(longText)),
})
export type Linkifier = RowOf<typeof linkifier>

/** Where code blocks of a language can be run. */
export const playground = row({ id, name: label, language: label, urlTemplate: longText })
export type Playground = RowOf<typeof playground>

export const emailDomain = row({ id, domain: label, allowSubdomains: bool })
export type EmailDomain = RowOf<typeof emailDomain>

/** Without an email address it is a link for many. Times are seconds. */
export const invitation = row({
  id,
  token: label,
  email: maybe(label),
  inviterId: userId,
  madeAt: time,
  /** null: never. */
  expires: nullable(anyTime),
  invitedAs: role,
  channelIds: listOf(id),
  groupIds: listOf(id),
  withDefaultChannels: bool,
  notifyInviter: bool,
  welcome: nullable(longText),
  /** Absent while it can be accepted. Of a link, only when it was revoked. */
  ended: maybe(oneOf('used', 'revoked')),
})
export type Invitation = RowOf<typeof invitation>

/** An archive of the organization that an administrator asked for. */
export const organizationExport = row({
  id,
  userId,
  /** 1: public data only; 2: also the private data of users who allow it. */
  kind: oneOf(1, 2),
  /** Milliseconds. */
  requested: time,
  /** `prior`: made on the server that the organization was imported from, where its archive is. */
  status: oneOf('pending', 'done', 'deleted', 'failed', 'prior'),
  /** Milliseconds when it was deleted, or failed. */
  ended: maybe(time),
  /** `exports/1/…/name.tar.gz`, hard to guess; its address is this behind `/user_uploads/`. */
  path: maybe(label),
  /** Name of the archive beside the store, while there is one. */
  file: maybe(fileName),
})
export type Export = RowOf<typeof organizationExport>
