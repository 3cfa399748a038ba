// The content of an archive of the organization: for every section of the state, which of its rows, and how much of each. Decided
// at once, so that the archive shows one moment; the rows are put together while it is written.

import { pictureFiles, placeholder } from '../../model/lookups.ts'
import type { Message } from '../../model/message-store/index.ts'
import type { Subscription } from '../../model/rows/channels.ts'
import type { Attachment } from '../../model/rows/messages.ts'
import type { Export } from '../../model/rows/organization.ts'
import { organizationSetting, userSetting } from '../../model/settings.ts'
import type { Channel, Conversation, Section, State, User } from '../../model/state.ts'
import { hasSharedHistory, seeContent } from '../../rules/index.ts'

interface SectionContent {
  readonly name: Section
  /** What comes before the rows, however few of them are taken at a time; absent where nothing does. */
  readonly head?: object
  readonly rows: Iterable<unknown>
  /** The rows that the archive has in place of one: none, itself, or more. */
  readonly keep: (row: never) => Iterable<unknown>
}

export interface ArchiveContent {
  /** Name of the organization. */
  readonly organization: string
  readonly sections: readonly SectionContent[]
  /** Names of the files beside the store that these rows name. */
  readonly files: readonly string[]
}

/** Whose private data is in the archive, and which messages therefore are. */
interface Scope {
  readonly allows: (userId: number) => boolean
  readonly hasMessage: (message: Placed) => boolean
  readonly hasConversation: (conversation: Conversation) => boolean
  /** The address of an account in the archive. */
  readonly emailOf: (user: User) => string
}

type Placed = Pick<Message, 'id' | 'channelId' | 'conversationId'> & {
  readonly details?: Pick<NonNullable<Message['details']>, 'sentTo'>
}

export function collectContent(state: State, kind: Export['kind']): ArchiveContent {
  const scope = computeScope(state, kind === 2 ? consenting(state) : new Set())
  const attachments = attachmentsIn(state, scope)
  const sections = Object.entries(keeping).map(([section, keep]) => {
    const name = section as Section
    return { name, ...collectRows(state, name, attachments), keep: (row: never) => keep(row, scope) }
  })
  return { organization: organizationSetting(state, 'name'), sections, files: listFiles(state, attachments) }
}

function collectRows(
  state: State,
  name: Section,
  attachments: readonly Attachment[],
): Pick<SectionContent, 'head' | 'rows'> {
  if (name === 'attachments') return { head: { last_id: state.attachments.nextId - 1 }, rows: attachments }
  if (name !== 'messages') return apart(state.saved(name))
  // A snapshot has full segments of messages in files of their own; an archive has all of them as rows.
  const head = { last_id: state.messages.lastId, places: [], clients: [], files: [] }
  return { head, rows: state.messages.rows() }
}

/** Tables begin with the highest ID ever given, in a row of its own. */
function apart(saved: Iterable<unknown>): Pick<SectionContent, 'head' | 'rows'> {
  const rows = saved[Symbol.iterator]()
  const first = rows.next()
  if (first.done) return { rows: [] }
  const rest = { [Symbol.iterator]: () => rows }
  if (Object.hasOwn(first.value as object, 'last_id')) return { head: first.value as object, rows: rest }
  return {
    rows: (function* () {
      yield first.value
      yield* rest
    })(),
  }
}

// --- who allows it ----------------------------------------------------------------------------------------------

/** People decide for their bots too. For deactivated ones their last decision counts. */
function consenting(state: State): Set<number> {
  const people = new Set<number>()
  for (const user of state.users.values())
    if (!user.bot && userSetting(user, 'allow_private_data_export')) people.add(user.id)
  const bots = [...people].flatMap(id => state.users.where('botOwner', id).map(bot => bot.id))
  return new Set([...people, ...bots])
}

function computeScope(state: State, allowing: ReadonlySet<number>): Scope {
  const conversations = new Set<number>()
  for (const userId of allowing) for (const { id } of state.conversations.where('member', userId)) conversations.add(id)
  const channels = new Map<number, (message: Placed) => boolean>()
  for (const channel of state.channels.values()) channels.set(channel.id, messagesIn(state, channel, allowing))
  return {
    allows: userId => allowing.has(userId),
    // An administrator must not read in an archive what the account shows to no one. The account has the placeholder of the API instead.
    // OPEN: in an export, the public server also deactivates accounts whose address is hidden from administrators.
    emailOf: user => (isHidden(user) && !allowing.has(user.id) ? placeholder(state, user.id) : user.email),
    hasConversation: ({ id }) => conversations.has(id),
    hasMessage: message =>
      message.conversationId !== undefined
        ? conversations.has(message.conversationId)
        : (channels.get(message.channelId!)?.(message) ?? false),
  }
}

/** Everything in a public channel; in a private one, what a user who allows it may read. */
function messagesIn(state: State, channel: Channel, allowing: ReadonlySet<number>): (message: Placed) => boolean {
  if (!channel.inviteOnly) return () => true
  const readers = [...allowing].filter(id => seeContent.allows({ state, actor: state.users.get(id)! }, channel))
  if (readers.length === 0) return () => false
  if (hasSharedHistory(channel)) return () => true
  const histories = readers.map(id => createHistoryTest(state, id))
  return message => histories.some(has => has(message))
}

/** Whether a person received a channel message, or took it into their history later, as far as is known now. */
function createHistoryTest(state: State, userId: number): (message: Placed) => boolean {
  const spans = new Map<number, Subscription['spans']>()
  for (const subscription of state.subscriptions.ofUser(userId)) spans.set(subscription.channelId, subscription.spans)
  const { historical, gained, lost } = state.messageFlags.of(userId)
  return ({ id, channelId, details }) => {
    if (historical.has(id) || gained.has(id)) return true
    if (lost.has(id)) return false
    const own = spans.get(details?.sentTo ?? channelId!) ?? []
    return own.some(([after, upTo = Number.POSITIVE_INFINITY]) => id > after && id < upTo)
  }
}

// --- what is kept of each row -----------------------------------------------------------------------------------

const whole = (row: unknown) => [row]
const nothing = () => []
/** Rows that only their owner sees. */
const ofConsenting = (row: { readonly userId: number }, { allows }: Scope) => (allows(row.userId) ? [row] : [])

/** Every section of the state must be here: leaving one out is a decision too. */
const keeping: Readonly<Record<Section, (row: never, scope: Scope) => Iterable<unknown>>> = {
  organization: whole,
  users: keepUser,
  profileFields: whole,
  groups: whole,
  channels: whole,
  channelFolders: whole,
  defaultChannelGroups: whole,
  subscriptions: keepSubscriptions,
  emoji: whole,
  linkifiers: whole,
  playgrounds: whole,
  domains: whole,
  userStatuses: whole,
  presence: whole,
  conversations: (row: Conversation, { hasConversation }) => (hasConversation(row) ? [row] : []),
  messages: (row: Message, { hasMessage }) => (hasMessage(row) ? [row] : []),
  messageFlags: ofConsenting,
  attachments: whole,
  userTopics: ofConsenting,
  savedSnippets: ofConsenting,
  navigationViews: ofConsenting,
  drafts: ofConsenting,
  scheduledMessages: ofConsenting,
  reminders: ofConsenting,
  mutedUsers: ofConsenting,
  alertWords: ofConsenting,
  botStorage: ofConsenting,
  // Tokens that let people in or confirm an address, and what belongs to this server rather than to the organization.
  invitations: nothing,
  emailChanges: nothing,
  pushDevices: nothing,
  webhookDeliveries: nothing,
  exports: keepExport,
  answers: nothing,
}

/** That there was an export, not where its archive is. The one that is being written is not finished yet. */
function keepExport({ path: _, file: _file, ...row }: Export): Export[] {
  if (row.status === 'pending') return []
  return [row.status === 'done' ? { ...row, status: 'prior' } : row]
}

/** Settings that others notice, or that say what may be exported. */
const publicSettings = ['email_address_visibility', 'presence_enabled', 'send_read_receipts', 'timezone']

/** No password leaves the store, not even as a hash: it could be guessed elsewhere. What a bot was configured with can be a key. */
function keepUser({ password: _, ...user }: User, { allows, emailOf }: Scope): Omit<User, 'password'>[] {
  if (allows(user.id)) return [user]
  const { chosenSettings: _chosen, bot, ...rest } = user
  const settings = Object.entries(user.settings).filter(([name]) => publicSettings.includes(name))
  const hasConfig = bot?.service && 'config' in bot.service
  const kept = hasConfig ? { ...bot, service: { ...bot.service, config: {} } } : bot
  return [{ ...rest, ...(kept && { bot: kept }), email: emailOf(user), settings: Object.fromEntries(settings) }]
}

/** Whether no one but the person sees the address. */
export function isHidden(user: User): boolean {
  const hiddenFromAll = 4
  return user.bot === undefined && userSetting(user, 'email_address_visibility') === hiddenFromAll
}

type SavedSubscriptions = Omit<Subscription, 'userId'> & { readonly userIds: readonly number[] }

/** Who is subscribed is known to administrators; how each person wants to see the channel is their own. */
function* keepSubscriptions(row: SavedSubscriptions, { allows }: Scope): Generator<SavedSubscriptions> {
  const own = row.userIds.filter(allows)
  const others = row.userIds.filter(id => !allows(id))
  if (own.length > 0) yield { ...row, userIds: own }
  if (others.length > 0) yield { ...row, muted: false, pinned: false, notifications: unset, userIds: others }
}

const unset = { desktop: null, audible: null, push: null, email: null, wildcardMentions: null }

// --- files ------------------------------------------------------------------------------------------------------

/** Files that a message of the archive links, and all files of users who allow it. */
function attachmentsIn(state: State, { allows, hasMessage }: Scope): Attachment[] {
  const kept: Attachment[] = []
  for (const attachment of state.attachments.values()) {
    // An archive that was imported may name messages that it did not hold.
    const messages = attachment.messages.filter(({ id }) => state.messages.has(id) && hasMessage(findPlace(state, id)))
    if (messages.length > 0 || allows(attachment.userId)) kept.push({ ...attachment, messages })
  }
  return kept
}

function findPlace({ messages }: State, id: number): Placed {
  const { channelId, conversationId } = messages.place(id).thread
  const details = messages.details(id)
  return { id, ...(conversationId === 0 ? { channelId } : { conversationId }), ...(details && { details }) }
}

function listFiles(state: State, attachments: readonly Attachment[]): string[] {
  return [...new Set([...attachments.map(({ file }) => file), ...pictureFiles(state)])]
}
