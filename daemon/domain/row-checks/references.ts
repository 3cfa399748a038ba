// What the rows of a state say of each other: everything that a row names is there, and so is what every organization has.

import { groupsOfPattern } from '../markdown/linkify.ts'
import type { Message } from '../model/message-store/index.ts'
import type { GroupValue } from '../model/roles.ts'
import type { Channel, Group, Section, State, User } from '../model/state.ts'
import type { Subscription } from '../model/subscription-table.ts'
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

/** Throws a sentence that names the row. Messages are many: between some of them it yields. */
export function* checkReferences(state: State): Generator<void> {
  const checking = new References(state)
  checking.essentials()
  checking.people()
  checking.channels()
  checking.personal()
  let count = 0
  for (const message of state.messages.rows()) {
    checking.message(message)
    if (++count % 1000 === 0) yield
  }
}

type Named = 'user' | 'channel' | 'group' | 'conversation' | 'folder'

class References {
  readonly #state: State
  /** The row that is looked at. */
  #row = ''

  constructor(state: State) {
    this.#state = state
  }

  essentials(): void {
    const { organization, users, groups, linkifiers } = this.#state
    for (const name of systemGroups)
      if (!groups.find('name', `role:${name}`)?.system)
        throw new RowsRefused(`groups: the system group role:${name} is missing`)
    const people = [...users.values()]
    if (!people.some(({ bot }) => bot?.system)) throw new RowsRefused('users: the notification bot is missing')
    this.#row = 'organization'
    this.#permissions(organization.permissions)
    for (const { id, pattern } of linkifiers.values()) {
      this.#at('linkifiers', id)
      const found = groupsOfPattern(pattern)
      if ('problem' in found) throw this.#refused('pattern', `must be a regular expression (RE2): ${found.problem}`)
    }
  }

  people(): void {
    const { users, groups } = this.#state
    for (const user of users.values()) this.#user(user)
    for (const group of groups.values()) this.#group(group)
  }

  channels(): void {
    const { channels, conversations, subscriptions, defaultChannelGroups, channelFolders } = this.#state
    for (const channel of channels.values()) this.#channel(channel)
    for (const { id, userIds } of conversations.values()) {
      this.#at('conversations', id)
      this.#all('userIds', 'user', userIds)
    }
    for (const row of subscriptions.save()) {
      const { channelId, userIds } = row as Pick<Subscription, 'channelId'> & { readonly userIds: readonly number[] }
      this.#at('subscriptions', channelId, 'of the channel')
      this.#one('channelId', 'channel', channelId)
      this.#all('userIds', 'user', userIds)
    }
    for (const { id, channelIds } of defaultChannelGroups.values()) {
      this.#at('defaultChannelGroups', id)
      this.#all('channelIds', 'channel', channelIds)
    }
    for (const { id, creatorId } of channelFolders.values()) {
      this.#at('channelFolders', id)
      this.#one('creatorId', 'user', creatorId)
    }
  }

  /** Rows that belong to a user, and rows of the organization that a user made. */
  personal(): void {
    const state = this.#state
    const owned = [
      'botStorage',
      'userTopics',
      'savedSnippets',
      'navigationViews',
      'drafts',
      'scheduledMessages',
    ] as const
    const others = [
      'reminders',
      'attachments',
      'emailChanges',
      'userStatuses',
      'alertWords',
      'pushDevices',
      'exports',
      'presence',
    ] as const
    for (const section of [...owned, ...others])
      for (const { userId } of state[section].values()) {
        this.#at(section, userId, 'of the user')
        this.#one('userId', 'user', userId)
      }
    for (const userId of state.messageFlags.users()) {
      this.#at('messageFlags', userId, 'of the user')
      this.#one('userId', 'user', userId)
    }
    for (const { userId } of state.answers.save()) {
      this.#at('answers', userId, 'of the user')
      this.#one('userId', 'user', userId)
    }
    for (const { userId, mutedId } of state.mutedUsers.values()) {
      this.#at('mutedUsers', userId, 'of the user')
      this.#all('mutedId', 'user', [userId, mutedId])
    }
    for (const { userId, channelId } of state.userTopics.values()) {
      this.#at('userTopics', userId, 'of the user')
      this.#one('channelId', 'channel', channelId)
    }
    for (const { id, target } of state.scheduledMessages.values()) {
      this.#at('scheduledMessages', id)
      if ('channelId' in target) this.#one('target.channelId', 'channel', target.channelId)
      else this.#all('target.userIds', 'user', target.userIds)
    }
    for (const { id, botId } of state.webhookDeliveries.values()) {
      this.#at('webhookDeliveries', id)
      this.#one('botId', 'user', botId)
    }
    for (const { id, authorId } of state.emoji.values()) {
      this.#at('emoji', id)
      this.#one('authorId', 'user', authorId)
    }
    for (const { id, inviterId, channelIds, groupIds } of state.invitations.values()) {
      this.#at('invitations', id)
      this.#one('inviterId', 'user', inviterId)
      this.#all('channelIds', 'channel', channelIds)
      this.#all('groupIds', 'group', groupIds)
    }
  }

  message({ id, senderId, channelId, conversationId, details }: Message): void {
    this.#at('messages', id)
    this.#one('senderId', 'user', senderId)
    if (conversationId === undefined) this.#one('channelId', 'channel', channelId)
    else this.#one('conversationId', 'conversation', conversationId)
    if (!details) return
    const { mentioned = [], topicMentioned = [], alerted = [], edits = [], reactions = [], submessages = [] } = details
    this.#all('details.mentioned', 'user', mentioned)
    this.#all('details.topicMentioned', 'user', topicMentioned)
    this.#all('details.alerted', 'user', alerted)
    for (const { userId } of edits) this.#one('details.edits.userId', 'user', userId)
    for (const { userId } of reactions) this.#one('details.reactions.userId', 'user', userId)
    for (const { senderId: author } of submessages) this.#one('details.submessages.senderId', 'user', author)
  }

  #user({ id, bot }: User): void {
    this.#at('users', id)
    this.#one('bot.ownerId', 'user', bot?.ownerId)
  }

  #group({ id, creatorId, members, subgroups, permissions }: Group): void {
    this.#at('groups', id)
    this.#one('creatorId', 'user', creatorId)
    this.#all('members', 'user', members)
    this.#all('subgroups', 'group', subgroups)
    this.#permissions(permissions)
  }

  #channel({ id, creatorId, folderId, permissions }: Channel): void {
    this.#at('channels', id)
    this.#one('creatorId', 'user', creatorId)
    this.#one('folderId', 'folder', folderId)
    this.#permissions(permissions)
  }

  #permissions(permissions: Readonly<Record<string, GroupValue>>): void {
    for (const [name, value] of Object.entries(permissions))
      if (typeof value === 'number') this.#one(`permissions.${name}`, 'group', value)
      else {
        this.#all(`permissions.${name}`, 'user', value.direct_members)
        this.#all(`permissions.${name}`, 'group', value.direct_subgroups)
      }
  }

  #at(section: Section, id: number, how = 'with the ID'): void {
    this.#row = `${section}, the row ${how} ${id}`
  }

  #all(field: string, what: Named, ids: readonly number[]): void {
    for (const id of ids) this.#one(field, what, id)
  }

  #one(field: string, what: Named, id: number | null | undefined): void {
    if (id === null || id === undefined) return
    const { users, channels, groups, conversations, channelFolders } = this.#state
    const table = {
      user: users,
      channel: channels,
      group: groups,
      conversation: conversations,
      folder: channelFolders,
    }[what]
    if (!table.has(id)) throw this.#refused(field, `there is no ${what} ${id}`)
  }

  #refused(field: string, why: string): RowsRefused {
    return new RowsRefused(`${this.#row}: ${field}: ${why}`)
  }
}
