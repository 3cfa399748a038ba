// Shapes of the rows that the organization has as a whole.

import { bool, int, listOf, maybe, nullable, oneOf } from '../../api/define.ts'
import { organizationSettings } from '../../api/shapes/organization-settings.ts'
import { organizationPermissions } from '../../api/shapes/permission-settings.ts'
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
  time,
  rowUserId as userId,
} from '../../api/shapes/rows.ts'
import { userSettings } from '../../api/shapes/user-settings.ts'
import type * as rows from '../model/organization-records.ts'
import { role } from './people.ts'
import type { Describes } from './same.ts'

/** A call can say `unlimited`; a row has null. */
const limit = { shape: nullable(int) }

const picture = row({ version: count, file: maybe(fileName) })

export const organization = row({
  dateCreated: time,
  emailDomain: label,
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
  userDefaults: settingsOf(userSettings),
  deactivated: maybe(row({ deletableFrom: maybe(time) })),
  pictures: maybe(row({ icon: maybe(picture), logo: maybe(picture), nightLogo: maybe(picture) })),
  invited: maybe(row({ day: count, count })),
})
true satisfies Describes<typeof organization, rows.Organization>

export const profileField = row({
  id,
  type: oneOf(1, 2, 3, 4, 5, 6, 7, 8),
  order: int,
  name: label,
  hint: label,
  data: longText,
  required: bool,
  editable: bool,
  inSummary: bool,
  forMatching: maybe(bool),
})
true satisfies Describes<typeof profileField, rows.ProfileField>

export const customEmoji = row({
  id,
  name: label,
  authorId: nullable(userId),
  file: fileName,
  still: maybe(fileName),
  deactivated: bool,
})
true satisfies Describes<typeof customEmoji, rows.CustomEmoji>

export const linkifier = row({
  id,
  pattern: label,
  urlTemplate: longText,
  order: int,
  example: maybe(longText),
  reverse: maybe(longText),
  alternatives: maybe(listOf(longText)),
})
true satisfies Describes<typeof linkifier, rows.Linkifier>

export const playground = row({ id, name: label, language: label, urlTemplate: longText })
true satisfies Describes<typeof playground, rows.Playground>

export const emailDomain = row({ id, domain: label, allowSubdomains: bool })
true satisfies Describes<typeof emailDomain, rows.EmailDomain>

export const invitation = row({
  id,
  token: label,
  email: maybe(label),
  inviterId: userId,
  madeAt: time,
  expires: nullable(time),
  invitedAs: role,
  channelIds: listOf(id),
  groupIds: listOf(id),
  withDefaultChannels: bool,
  notifyInviter: bool,
  welcome: nullable(longText),
  ended: maybe(oneOf('used', 'revoked')),
})
true satisfies Describes<typeof invitation, rows.Invitation>

export const organizationExport = row({
  id,
  userId,
  kind: oneOf(1, 2),
  requested: time,
  status: oneOf('pending', 'done', 'deleted', 'failed', 'prior'),
  ended: maybe(time),
  path: maybe(label),
  file: maybe(fileName),
})
true satisfies Describes<typeof organizationExport, rows.Export>
