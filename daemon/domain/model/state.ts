// Everything the service remembers: people, groups, channels, and the tables of all records. Rows are what facts
// left behind, in our own words, and are described in `rows`; what clients see is made from them by each resource's `present`.

import { AnswerTable } from './answers.ts'
import { DueTable } from './due-table.ts'
import { mutedUserKey, userTopicKey } from './keys.ts'
import { MessageFlagsTable } from './message-flags-table.ts'
import { MessageStore, type SideFile } from './message-store/index.ts'
import { PresenceTable } from './presence-table.ts'
import type { Channel, ChannelFolder, Conversation, DefaultChannelGroup, UserTopic } from './rows/channels.ts'
import type { Attachment, Draft, Reminder, SavedSnippet, ScheduledMessage, WebhookDelivery } from './rows/messages.ts'
import type {
  CustomEmoji,
  EmailDomain,
  Export,
  Invitation,
  Linkifier,
  Organization,
  Playground,
  ProfileField,
} from './rows/organization.ts'
import type {
  AlertWords,
  EmailChange,
  Group,
  MutedUser,
  NavigationView,
  PushDevices,
  StoredItem,
  User,
  UserStatus,
} from './rows/people.ts'
import { SubscriptionTable } from './subscription-table.ts'
import { Table } from './table.ts'

export type { Channel, ChannelFolder, Conversation, DefaultChannelGroup } from './rows/channels.ts'
export type { Bot, Group, OutgoingService, User } from './rows/people.ts'

/** Rows as they are about to be. */
export interface ChangedRows {
  readonly users?: readonly User[]
  readonly groups?: readonly Group[]
  readonly channels?: readonly Channel[]
}

/** What can be kept in a snapshot and read back. */
interface Kept {
  save(whole?: boolean): Iterable<unknown>
  load(rows: Iterable<unknown>, fileOf?: (name: string) => Uint8Array): void
}

/** What a snapshot or an archive consists of. */
export type Section = 'organization' | { [K in keyof State]: State[K] extends Kept ? K : never }[keyof State]

export class State {
  organization: Organization = {
    dateCreated: 0,
    emailDomain: '',
    settings: {},
    permissions: {} as Organization['permissions'],
    userDefaults: {},
  }
  readonly users = new Table((user: User) => user.id, {
    email: (user: User) => user.email.toLowerCase(),
    name: (user: User) => user.fullName.toLowerCase(),
    botOwner: (user: User) => user.bot?.ownerId ?? undefined,
    deactivated: (user: User) => (user.active ? undefined : 1),
    /** Accounts in their waiting period, all under one value. System bots have none, whatever a snapshot file says. */
    newcomer: (user: User) => (user.fullMember || user.bot?.system ? undefined : 1),
  })
  readonly profileFields = new Table((field: ProfileField) => field.id)
  readonly botStorage = new Table((item: StoredItem) => `${item.userId}/${item.key}`, {
    user: (item: StoredItem) => item.userId,
  })
  readonly groups = new Table((group: Group) => group.id, {
    name: (group: Group) => group.name,
    member: (group: Group) => group.members,
    subgroup: (group: Group) => group.subgroups,
  })
  readonly channels = new Table((channel: Channel) => channel.id, {
    name: (channel: Channel) => channel.name.toLowerCase(),
    folder: (channel: Channel) => channel.folderId ?? undefined,
    default: (channel: Channel) => (channel.isDefault ? 1 : undefined),
    /** Channels that keep messages for a time of their own, all under one value. */
    ownRetention: (channel: Channel) => (channel.retentionDays === null ? undefined : 1),
  })
  readonly subscriptions = new SubscriptionTable()
  readonly conversations = new Table((conversation: Conversation) => conversation.id, {
    people: (conversation: Conversation) => conversation.userIds.join(','),
    member: (conversation: Conversation) => conversation.userIds,
  })
  readonly messages = new MessageStore()
  readonly messageFlags = new MessageFlagsTable()
  readonly channelFolders = new Table((folder: ChannelFolder) => folder.id)
  readonly defaultChannelGroups = new Table((group: DefaultChannelGroup) => group.id)
  readonly userTopics = new Table((row: UserTopic) => userTopicKey(row), {
    user: (row: UserTopic) => row.userId,
    topic: (row: UserTopic) => `${row.channelId}/${row.topic.toLowerCase()}`,
  })
  readonly savedSnippets = new Table((snippet: SavedSnippet) => snippet.id, {
    user: (snippet: SavedSnippet) => snippet.userId,
  })
  readonly navigationViews = new Table((view: NavigationView) => `${view.userId}/${view.fragment}`, {
    user: (view: NavigationView) => view.userId,
  })
  readonly drafts = new Table((draft: Draft) => draft.id, { user: (draft: Draft) => draft.userId })
  readonly scheduledMessages = new DueTable<ScheduledMessage>()
  readonly reminders = new DueTable<Reminder>()
  readonly attachments = new Table((attachment: Attachment) => attachment.id, {
    user: (attachment: Attachment) => attachment.userId,
    path: (attachment: Attachment) => attachment.path,
    message: (attachment: Attachment) => attachment.messages.map(({ id }) => id),
  })
  readonly webhookDeliveries = new Table((delivery: WebhookDelivery) => delivery.id, {
    waiting: (delivery: WebhookDelivery) => (delivery.due === null ? undefined : 1),
    finished: (delivery: WebhookDelivery) => (delivery.due === null ? 1 : undefined),
    bot: (delivery: WebhookDelivery) => delivery.botId,
    waitingFor: (delivery: WebhookDelivery) => (delivery.due === null ? undefined : delivery.botId),
  })
  readonly emailChanges = new Table((change: EmailChange) => change.token, {
    user: (change: EmailChange) => change.userId,
  })
  readonly userStatuses = new Table((status: UserStatus) => status.userId)
  readonly mutedUsers = new Table(mutedUserKey as (row: MutedUser) => string, {
    user: (row: MutedUser) => row.userId,
    muted: (row: MutedUser) => row.mutedId,
  })
  readonly alertWords = new Table((row: AlertWords) => row.userId)
  readonly pushDevices = new Table((row: PushDevices) => row.userId)
  readonly emoji = new Table((emoji: CustomEmoji) => emoji.id, {
    activeName: (emoji: CustomEmoji) => (emoji.deactivated ? undefined : emoji.name),
    file: ({ file, still }: CustomEmoji) => (still === undefined ? file : [file, still]),
  })
  readonly linkifiers = new Table((linkifier: Linkifier) => linkifier.id)
  readonly playgrounds = new Table((playground: Playground) => playground.id)
  readonly domains = new Table((row: EmailDomain) => row.id, { domain: (row: EmailDomain) => row.domain })
  readonly invitations = new Table((invitation: Invitation) => invitation.id, {
    inviter: (invitation: Invitation) => invitation.inviterId,
    token: (invitation: Invitation) => invitation.token,
  })
  readonly presence = new PresenceTable()
  readonly exports = new Table((row: Export) => row.id, {
    pending: (row: Export) => (row.status === 'pending' ? 1 : undefined),
    path: (row: Export) => row.path,
  })
  readonly answers = new AnswerTable()

  /** The state as it would be with these rows, to ask questions of. */
  with(changed: ChangedRows): State {
    return Object.create(this, {
      users: { value: this.users.with(changed.users ?? []) },
      groups: { value: this.groups.with(changed.groups ?? []) },
      channels: { value: this.channels.with(changed.channels ?? []) },
    })
  }

  /**
   * For the snapshot: rows are shared, not copied, which is safe because they never change. `whole`: also what is in files
   * beside the snapshot, as rows. `without`: sections that are left out.
   */
  save(whole = false, without: readonly string[] = []): Record<string, Iterable<unknown>> {
    const sections: Record<string, Iterable<unknown>> = { organization: [this.organization] }
    for (const [name, kept] of this.#parts()) if (!without.includes(name)) sections[name] = kept.save(whole)
    return sections
  }

  /** What is too large for a snapshot and is stored beside it. Asked for in the same turn, and before `save`. */
  files(position: number): SideFile[] {
    return this.messages.files(position)
  }

  static load(sections: Readonly<Record<string, Iterable<unknown>>>, fileOf?: (name: string) => Uint8Array): State {
    const state = new State()
    state.take('organization', sections.organization ?? [])
    for (const [name, kept] of state.#parts()) kept.load(sections[name] ?? [], fileOf)
    return state
  }

  /** Whether nothing was founded in it yet. */
  isEmpty(): boolean {
    const writeRows = (state: State) => JSON.stringify(Object.values(state.save()).map(rows => [...rows]))
    return this.users.size === 0 && writeRows(this) === writeRows(new State())
  }

  /** One section of what `save` gives. */
  saved(section: Section): Iterable<unknown> {
    return section === 'organization' ? [this.organization] : this[section].save()
  }

  /** Takes some rows of a section, after the section's head if it has one; for what is too large to be loaded at once. */
  take(section: Section, rows: Iterable<unknown>): void {
    if (section === 'organization') for (const row of rows) this.organization = row as Organization
    else this[section].load(rows)
  }

  #parts(): [string, Kept][] {
    return Object.entries(this).filter((part): part is [string, Kept] => 'save' in Object(part[1]))
  }
}
