// Who may read messages, who may write to whom, and who may change, move and delete messages.

import { hasRow, takesPart } from '../model/message-reader.ts'
import type { Attachment } from '../model/personal-records.ts'
import type { Channel, Group, State, User } from '../model/state.ts'
import { administerChannel, hasSharedHistory, seeContent, webPublicEnabled } from './channels.ts'
import { isIn } from './group-values.ts'
import { type Asker, holdsInChannel, holdsInGroup, holdsInOrganization, isHuman, isModerator, rule } from './rule.ts'

// --- reading ----------------------------------------------------------------------------------------------------

/** About the ID of a message. */
export const seeMessage = rule<number>(
  'Those who take part in a conversation may read its messages; those who have access to the content of a channel, the messages there, but without shared history only what they received.',
  (asker, id) => {
    const { state, actor } = asker
    if (!state.messages.has(id)) return false
    const { channelId, conversationId } = state.messages.place(id).thread
    if (conversationId !== 0) return takesPart(state, actor.id, conversationId)
    const channel = state.channels.get(channelId)
    if (!channel || !seeContent.allows(asker, channel)) return false
    return hasSharedHistory(channel) || hasRow(state, actor.id, id)
  },
)

// --- writing ----------------------------------------------------------------------------------------------------

export const mentionMany = rule(
  'Members of can_mention_many_users_group may mention everyone in a channel or topic, however many they are.',
  asker => holdsInOrganization(asker, 'can_mention_many_users_group'),
)

export const mentionGroup = rule<Group>('Members of a group’s can_mention_group may mention it.', (asker, group) =>
  holdsInGroup(asker, group, 'can_mention_group'),
)

export const writeDirectly = rule<readonly User[]>(
  'Direct messages need somebody in the conversation who is in direct_message_permission_group; bots may always write and be written to.',
  ({ state, actor }, others) =>
    isAmongBots(actor, others) ||
    [actor, ...others].some(user => isIn(state, user, state.organization.permissions.direct_message_permission_group)),
)

export const beginConversation = rule<readonly User[]>(
  'Members of direct_message_initiator_group may begin direct conversations; bots may always write and be written to.',
  ({ state, actor }, others) =>
    isAmongBots(actor, others) || isIn(state, actor, state.organization.permissions.direct_message_initiator_group),
)

function isAmongBots(actor: User, others: readonly User[]): boolean {
  return !isHuman(actor) || !others.some(isHuman)
}

// --- changing ---------------------------------------------------------------------------------------------------

export const editContent = rule<{ readonly senderId: number }>(
  'Only the author of a message may change its content.',
  ({ actor }, { senderId }) => senderId === actor.id,
)

export const moveOldMessages = rule('Moderators may move messages however old they are.', ({ actor }) =>
  isModerator(actor),
)

export const moveWithinChannel = rule<Channel>(
  'Members of the organization’s can_move_messages_between_topics_group or the channel’s can_move_messages_within_channel_group, and channel administrators, may move messages to another topic.',
  (asker, channel) =>
    holdsInOrganization(asker, 'can_move_messages_between_topics_group') ||
    holdsInChannel(asker, channel, 'can_move_messages_within_channel_group') ||
    administerChannel.allows(asker, channel),
)

export const resolveTopics = rule<Channel>(
  'Members of the organization’s or the channel’s can_resolve_topics_group may mark a topic as resolved.',
  (asker, channel) => holds(asker, channel, 'can_resolve_topics_group'),
)

export const moveOutOfChannel = rule<Channel>(
  'Members of the organization’s can_move_messages_between_channels_group or the channel’s can_move_messages_out_of_channel_group, and channel administrators, may move messages to another channel.',
  (asker, channel) =>
    holdsInOrganization(asker, 'can_move_messages_between_channels_group') ||
    holdsInChannel(asker, channel, 'can_move_messages_out_of_channel_group') ||
    administerChannel.allows(asker, channel),
)

export const deleteAnyMessage = rule<Channel | undefined>(
  'Members of the organization’s or the channel’s can_delete_any_message_group may delete any message they have access to.',
  (asker, channel) => holds(asker, channel, 'can_delete_any_message_group'),
)

export const deleteOwnMessage = rule<Channel | undefined>(
  'Members of the organization’s or the channel’s can_delete_own_message_group may delete their own messages and those of their bots, within the time limit.',
  (asker, channel) => holds(asker, channel, 'can_delete_own_message_group'),
)

function holds(
  asker: Asker,
  channel: Channel | undefined,
  name: 'can_delete_any_message_group' | 'can_delete_own_message_group' | 'can_resolve_topics_group',
): boolean {
  return holdsInOrganization(asker, name) || (channel !== undefined && holdsInChannel(asker, channel, name))
}

// --- files ------------------------------------------------------------------------------------------------------

export const seeUpload = rule<Pick<Attachment, 'userId' | 'messages'>>(
  'Whoever uploaded a file, and whoever may read a message that links it, may see it.',
  (asker, { userId, messages }) => userId === asker.actor.id || messages.some(({ id }) => seeMessage.allows(asker, id)),
)

/** Anyone may see a file that a message of a web-public channel links, while the organization is open to spectators. */
export function isOnTheWeb(state: State, { messages }: Pick<Attachment, 'messages'>): boolean {
  return (
    webPublicEnabled(state) &&
    messages.some(({ id }) => {
      const channel = state.channels.get(state.messages.place(id).thread.channelId)
      return channel?.webPublic === true && !channel.archived
    })
  )
}
