// The shape of the rows of each section of a state.

import type { TSchema } from '../../api/define.ts'
import { head } from '../../api/shapes/rows.ts'
import { isJson, isRecord, jsonOr } from '../../local/json.ts'
import { mutedUserKey, userTopicKey } from '../model/keys.ts'
import * as channels from '../model/rows/channels.ts'
import * as messages from '../model/rows/messages.ts'
import * as organization from '../model/rows/organization.ts'
import * as people from '../model/rows/people.ts'
import type { Section } from '../model/state.ts'
import * as beside from './beside.ts'

export interface SectionRows {
  /** Of the first row, if it is not like the others. */
  readonly head?: TSchema
  readonly row: TSchema
  /** Of rows that have this field. */
  readonly other?: readonly [field: string, row: TSchema]
  /** What no two rows have in common. */
  readonly key?: (row: any) => number | string
  /** What a shape cannot say. */
  readonly problem?: (row: any) => string | undefined
}

const byId = ({ id }: { id: number }) => id
const byUser = ({ userId }: { userId: number }) => userId

/** A table with the highest ID in its first row. */
function table(row: TSchema, key: SectionRows['key'] = byId): SectionRows {
  return { head, row, key: key as (row: unknown) => number | string }
}

/** Sections of a state, and those that are beside them in a file. */
type AnySection = Section | 'store' | 'queues' | 'clock' | 'uploads'

export const sectionRows: Readonly<Record<AnySection, SectionRows>> = {
  store: { row: beside.store },
  queues: { row: beside.queueRow },
  clock: { row: beside.clock },
  uploads: { row: beside.upload },
  organization: { row: organization.organization, key: () => 'organization' },
  users: table(people.user),
  profileFields: { ...table(organization.profileField), problem: noFieldData },
  botStorage: table(people.storedItem, ({ userId, key }) => `${userId}/${key}`),
  groups: table(people.group),
  channels: table(channels.channel),
  subscriptions: {
    row: channels.subscriptions,
    other: ['userId', channels.subscription],
    problem: noOpenSpan,
  },
  conversations: table(channels.conversation),
  messages: {
    head: messages.messagesHead,
    row: messages.message,
    other: ['deleted', messages.deletedMessage],
    key: byId,
    problem: message => noPlace(message) ?? unreadableDetails(message),
  },
  messageFlags: { row: messages.messageFlags, key: byUser, problem: noRuns },
  channelFolders: table(channels.channelFolder),
  defaultChannelGroups: table(channels.defaultChannelGroup),
  userTopics: table(channels.userTopic, userTopicKey),
  savedSnippets: table(messages.savedSnippet),
  navigationViews: table(people.navigationView, ({ userId, fragment }) => `${userId}/${fragment}`),
  drafts: table(messages.draft),
  scheduledMessages: table(messages.scheduledMessage),
  reminders: table(messages.reminder),
  attachments: table(messages.attachment),
  webhookDeliveries: table(messages.webhookDelivery),
  emailChanges: table(people.emailChange, ({ token }) => token),
  userStatuses: table(people.userStatus, byUser),
  mutedUsers: table(people.mutedUser, mutedUserKey),
  alertWords: table(people.alertWords, byUser),
  pushDevices: table(people.pushDevices, byUser),
  emoji: table(organization.customEmoji),
  linkifiers: table(organization.linkifier),
  playgrounds: table(organization.playground),
  domains: table(organization.emailDomain),
  invitations: table(organization.invitation),
  presence: { row: people.presence, key: byUser },
  exports: table(organization.organizationExport),
  answers: { row: people.answer, key: ({ userId, key }) => `${userId}/${key}`, problem: replyIsNotJson },
}

function noPlace(message: { deleted?: true; channelId?: number; topic?: string; conversationId?: number }) {
  const { deleted, channelId, topic, conversationId } = message
  const isDirect = conversationId !== undefined && channelId === undefined && topic === undefined
  const isInChannel = conversationId === undefined && channelId !== undefined && topic !== undefined
  return deleted || isDirect || isInChannel ? undefined : 'must have channelId and topic, or conversationId'
}

function noOpenSpan({ active, spans }: Pick<channels.Subscription, 'active' | 'spans'>): string | undefined {
  const isOpen = spans.at(-1)?.length === 1
  return active === isOpen
    ? undefined
    : 'spans: the last must have no end if the subscription is active, and one if not'
}

/** Of each set: first, last, first, last, ascending. */
function noRuns({ userId, ...sets }: { userId: number } & Record<string, number | number[]>): string | undefined {
  for (const [name, runs] of Object.entries(sets as Record<string, number[]>)) {
    const isAscending = runs.every(
      (id, index) => index === 0 || (index % 2 === 0 ? id > runs[index - 1]! : id >= runs[index - 1]!),
    )
    if (runs.length % 2 !== 0 || !isAscending) return `${name}: must be pairs of a first and a last ID, ascending`
  }
  return undefined
}

/** Each edit of the text keeps both forms of it, and the first submessage of a widget says what kind of widget it is. */
function unreadableDetails({ details }: { details?: messages.SavedDetails }): string | undefined {
  if (details?.edits?.some(edit => (edit.prevContent === undefined) !== (edit.prevHtml === undefined)))
    return 'details: an edit must have prevContent and prevHtml, or neither'
  const widget = details?.submessages?.[0]?.content
  return widget === undefined || isJson(widget) ? undefined : 'details: the first submessage must be JSON'
}

/** Lists of choices and external accounts need data. */
function noFieldData({ type, data }: Pick<organization.ProfileField, 'type' | 'data'>): string | undefined {
  const fits = type === 3 || type === 7 ? isRecord(jsonOr(data)) : data === '' || isJson(data)
  return fits ? undefined : 'data: must be JSON, an object for types 3 and 7, or empty for others'
}

function replyIsNotJson({ reply }: { reply: string }): string | undefined {
  return reply === '' || isJson(reply) ? undefined : 'reply: must be JSON, or empty'
}
