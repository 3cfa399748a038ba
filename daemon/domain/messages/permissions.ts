// Who may change, move and delete messages.

import { type Asker, administerChannel, holdsInChannel, holdsInOrganization, rule } from '../permissions.ts'
import type { Channel } from '../state.ts'

export const moveWithinChannel = rule<Channel>(
  'Members of the organization’s can_move_messages_between_topics_group or the channel’s can_move_messages_within_channel_group, and channel administrators, may move messages to another topic.',
  (asker, channel) =>
    holdsInOrganization(asker, 'can_move_messages_between_topics_group') ||
    holdsInChannel(asker, channel, 'can_move_messages_within_channel_group') ||
    administerChannel.allows(asker, channel),
)

export const resolveTopics = rule<Channel>(
  'Members of the organization’s or the channel’s can_resolve_topics_group may mark a topic as resolved.',
  (asker, channel) =>
    holdsInOrganization(asker, 'can_resolve_topics_group') ||
    holdsInChannel(asker, channel, 'can_resolve_topics_group'),
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
  name: 'can_delete_any_message_group' | 'can_delete_own_message_group',
): boolean {
  return holdsInOrganization(asker, name) || (channel !== undefined && holdsInChannel(asker, channel, name))
}
