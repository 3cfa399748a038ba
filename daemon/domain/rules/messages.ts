// Rules about messages: reading, mentioning, writing to people, changing, moving, deleting, files. Posting in a channel is in `channels.ts`.

import { hasRow, Reader, takesPart } from '../model/message-reader.ts'
import type { Attachment } from '../model/rows/messages.ts'
import type { Channel, Group, State, User } from '../model/state.ts'
import { inQuotes } from '../refusal.ts'
import { administerChannel, allowsWebPublic, hasSharedHistory, seeContent } from './channels.ts'
import { isIn } from './group-values.ts'
import { type Asker, holdsInChannel, holdsInGroup, holdsInOrganization, isHuman, isModerator, rule } from './rule.ts'

// --- reading ----------------------------------------------------------------------------------------------------

/** About the ID of a message. */
export const seeMessage = rule<number>({
  law: 'Members of a conversation may read its messages. Users with access to the content of a channel may read its messages; without shared history, only the ones they received.',
  refusal: 'You cannot read this message.',
  allows: (asker, id) => {
    const { state, actor } = asker
    if (!state.messages.has(id)) return false
    const { channelId, conversationId } = state.messages.place(id).thread
    if (conversationId !== 0) return takesPart(state, actor.id, conversationId)
    const channel = state.channels.get(channelId)
    if (!channel || !seeContent.allows(asker, channel)) return false
    return hasSharedHistory(channel) || hasRow(state, actor.id, id)
  },
})

/**
 * The same as `seeMessage`, for many messages in a row that are there: what is settled per channel is settled once. With `ownOnly`, messages
 * in channels are read only if they are in the asker's own history.
 */
export function readTest(asker: Asker, ownOnly = false): (id: number) => boolean {
  const { state, actor } = asker
  const channels = new Map<number, Channel | undefined>()
  const reader = new Reader(state, actor.id)
  return id => {
    const { channelId, conversationId } = state.messages.place(id).thread
    if (conversationId !== 0) return takesPart(state, actor.id, conversationId)
    if (!channels.has(channelId)) {
      const channel = state.channels.get(channelId)
      channels.set(channelId, channel && seeContent.allows(asker, channel) ? channel : undefined)
    }
    const channel = channels.get(channelId)
    if (!channel) return false
    return (!ownOnly && hasSharedHistory(channel)) || reader.hasRow(id)
  }
}

// --- writing ----------------------------------------------------------------------------------------------------

export const mentionMany = rule({
  law: 'Members of can_mention_many_users_group may mention everyone in a channel or topic, however many they are.',
  refusal: 'You cannot mention everyone here.',
  allows: asker => holdsInOrganization(asker, 'can_mention_many_users_group'),
})

export const mentionGroup = rule<Group>({
  law: 'Members of a group’s can_mention_group may mention it.',
  refusal: group => `You cannot mention the user group ${inQuotes(group.name)}.`,
  allows: (asker, group) => holdsInGroup(asker, group, 'can_mention_group'),
})

export const writeDirectly = rule<readonly User[]>({
  law: 'At least one person of a direct conversation must be in direct_message_permission_group. Bots may always write and be written to.',
  refusal: 'You cannot send direct messages to these people.',
  allows: ({ state, actor }, others) =>
    isWithBots(actor, others) ||
    [actor, ...others].some(user => isIn(state, user, state.organization.permissions.direct_message_permission_group)),
})

export const beginConversation = rule<readonly User[]>({
  law: 'Members of direct_message_initiator_group may start direct conversations. Bots may always write and be written to.',
  refusal: 'You cannot start a direct conversation.',
  allows: ({ state, actor }, others) =>
    isWithBots(actor, others) || isIn(state, actor, state.organization.permissions.direct_message_initiator_group),
})

/** The sender is a bot, or all recipients are. */
function isWithBots(actor: User, others: readonly User[]): boolean {
  return !isHuman(actor) || !others.some(isHuman)
}

// --- changing ---------------------------------------------------------------------------------------------------

export const editContent = rule<{ readonly senderId: number }>({
  law: 'Only the author of a message may change its content.',
  refusal: 'You can edit only your own messages.',
  allows: ({ actor }, { senderId }) => senderId === actor.id,
})

export const moveOldMessages = rule({
  law: 'Moderators may move messages of any age.',
  refusal: 'You cannot move messages this old.',
  allows: ({ actor }) => isModerator(actor),
})

export const moveWithinChannel = rule<Channel>({
  law: 'Members of the organization’s can_move_messages_between_topics_group or the channel’s can_move_messages_within_channel_group, and channel administrators, may move messages to another topic.',
  refusal: 'You cannot move messages in this channel to another topic.',
  allows: (asker, channel) =>
    holdsInOrganization(asker, 'can_move_messages_between_topics_group') ||
    holdsInChannel(asker, channel, 'can_move_messages_within_channel_group') ||
    administerChannel.allows(asker, channel),
})

export const resolveTopics = rule<Channel>({
  law: 'Members of the organization’s or the channel’s can_resolve_topics_group may mark a topic as resolved.',
  refusal: 'You cannot resolve topics in this channel.',
  allows: (asker, channel) => holdsAnywhere(asker, channel, 'can_resolve_topics_group'),
})

export const moveOutOfChannel = rule<Channel>({
  law: 'Members of the organization’s can_move_messages_between_channels_group or the channel’s can_move_messages_out_of_channel_group, and channel administrators, may move messages to another channel.',
  refusal: 'You cannot move messages out of this channel.',
  allows: (asker, channel) =>
    holdsInOrganization(asker, 'can_move_messages_between_channels_group') ||
    holdsInChannel(asker, channel, 'can_move_messages_out_of_channel_group') ||
    administerChannel.allows(asker, channel),
})

export const deleteAnyMessage = rule<Channel | undefined>({
  law: 'Members of the organization’s or the channel’s can_delete_any_message_group may delete any message they have access to.',
  refusal: "You cannot delete other people's messages.",
  allows: (asker, channel) => holdsAnywhere(asker, channel, 'can_delete_any_message_group'),
})

export const deleteOwnMessage = rule<Channel | undefined>({
  law: 'Members of the organization’s or the channel’s can_delete_own_message_group may delete their own messages and those of their bots, within the time limit.',
  refusal: 'You cannot delete your own messages here.',
  allows: (asker, channel) => holdsAnywhere(asker, channel, 'can_delete_own_message_group'),
})

function holdsAnywhere(
  asker: Asker,
  channel: Channel | undefined,
  name: 'can_delete_any_message_group' | 'can_delete_own_message_group' | 'can_resolve_topics_group',
): boolean {
  return holdsInOrganization(asker, name) || (channel !== undefined && holdsInChannel(asker, channel, name))
}

// --- files ------------------------------------------------------------------------------------------------------

export const seeUpload = rule<Pick<Attachment, 'userId' | 'messages'>>({
  law: 'The uploader of a file, and users who may read a message that links to it, may see it.',
  refusal: 'You cannot see this file.',
  allows: (asker, { userId, messages }) => {
    if (userId === asker.actor.id) return true
    const isReadable = readTest(asker)
    return messages.some(({ id }) => asker.state.messages.has(id) && isReadable(id))
  },
})

/** Anyone may see a file that a message of a web-public channel links, while the organization is open to spectators. */
export function isWebPublic(state: State, { messages }: Pick<Attachment, 'messages'>): boolean {
  return (
    allowsWebPublic(state) &&
    messages.some(({ id }) => {
      const channel = state.channels.get(state.messages.place(id).thread.channelId)
      return channel?.webPublic === true && !channel.archived
    })
  )
}
