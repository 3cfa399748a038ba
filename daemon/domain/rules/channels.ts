// The rules about channels.

import type { ChannelPermission } from '../../api/shapes/permission-settings.ts'
import { organizationSetting } from '../model/settings.ts'
import type { Channel, State, User } from '../model/state.ts'
import {
  type Asker,
  holdsInChannel,
  holdsInOrganization,
  isAdministrator,
  isGuest,
  isSubscribed,
  rule,
} from './rule.ts'

// --- channels: seeing -------------------------------------------------------------------------------------------

export const seeContent = rule<Channel>({
  law: 'Everyone has access to the content of a web-public channel; subscribers to that of theirs; members to that of public channels and of those they may add subscribers to or subscribe to.',
  refusal: 'You cannot read this channel.',
  allows: (asker, channel) => {
    if (channel.webPublic || isSubscribed(asker, channel)) return true
    if (isGuest(asker.actor)) return false
    return (
      !channel.inviteOnly ||
      holdsInChannel(asker, channel, 'can_add_subscribers_group') ||
      holdsInChannel(asker, channel, 'can_subscribe_group')
    )
  },
})

export const seeMetadata = rule<Channel>({
  law: 'Users with access to the content of a channel know of it, and so do its administrators and those of the organization.',
  refusal: 'You have no access to this channel.',
  allows: (asker, channel) => isSubscribed(asker, channel) || seeUnsubscribed.allows(asker, channel),
})

export const seeUnsubscribed = rule<Channel>({
  law: 'Without being subscribed, everyone knows of web-public channels; members other than guests know of public ones, of those they may add subscribers to or subscribe to, and of those they administer; organization administrators know of all.',
  refusal: 'You have no access to this channel.',
  allows: (asker, channel) =>
    channel.webPublic ||
    (!isGuest(asker.actor) &&
      (!channel.inviteOnly ||
        isAdministrator(asker.actor) ||
        holdsInChannel(asker, channel, 'can_administer_channel_group') ||
        holdsInChannel(asker, channel, 'can_add_subscribers_group') ||
        holdsInChannel(asker, channel, 'can_subscribe_group'))),
})

/** Whether readers of the channel may read messages from before they joined. */
export function hasSharedHistory({ historyPublic, inviteOnly }: Channel): boolean {
  return historyPublic || !inviteOnly
}

export const hearPublicChannels = rule({
  law: 'Everyone but guests may list all public channels and receive their messages.',
  refusal: 'Guests cannot follow all public channels.',
  allows: ({ actor }) => !isGuest(actor),
})

export const beOfferedDefaults = rule({
  law: 'Default channels are offered to everyone but guests.',
  refusal: 'Guests have no default channels.',
  allows: ({ actor }) => !isGuest(actor),
})

/** The permissions of a channel that let one know of it. */
export const tellingPermissions = [
  'can_add_subscribers_group',
  'can_administer_channel_group',
  'can_subscribe_group',
] as const satisfies readonly ChannelPermission[]

// --- channels: doing --------------------------------------------------------------------------------------------

export const createChannel = rule<'public' | 'private' | 'web-public'>({
  law: 'Members of the organization’s can_create_public_channel_group, can_create_private_channel_group or can_create_web_public_channel_group may create a channel of that kind.',
  refusal: kind => `You cannot create ${kind} channels.`,
  allows: (asker, kind) =>
    holdsInOrganization(
      asker,
      kind === 'public'
        ? 'can_create_public_channel_group'
        : kind === 'private'
          ? 'can_create_private_channel_group'
          : 'can_create_web_public_channel_group',
    ),
})

export const administerChannel = rule<Channel>({
  law: 'Organization administrators, and members of can_administer_channel_group who are not guests, may administer a channel.',
  refusal: 'You cannot change this channel; its administrators can.',
  allows: (asker, channel) =>
    isAdministrator(asker.actor) || holdsInChannel(asker, channel, 'can_administer_channel_group'),
})

export const archiveChannel = rule<Channel>({
  law: 'Administrators of a channel may archive it.',
  refusal: 'You cannot archive this channel; its administrators can.',
  allows: (asker, channel) => administerChannel.allows(asker, channel),
})

export const changeAccess = rule<Channel>({
  law: 'Administrators of a channel who have access to its content may decide who has access to the content.',
  refusal: 'You cannot change who has access to this channel; administrators who can read it can.',
  allows: (asker, channel) => administerChannel.allows(asker, channel) && seeContent.allows(asker, channel),
})

export const deleteTopics = rule<Channel>({
  law: 'Organization administrators with access to the content of a channel may delete its topics.',
  refusal: 'You cannot delete topics in this channel; organization administrators who can read it can.',
  allows: (asker, channel) => isAdministrator(asker.actor) && seeContent.allows(asker, channel),
})

export const subscribe = rule({
  law: 'Everyone but guests may subscribe to channels and create them; others may subscribe guests.',
  refusal: 'Guests cannot subscribe to channels or create them.',
  allows: ({ actor }) => !isGuest(actor),
})

export const unsubscribeAccount = rule<User>({
  law: 'Everyone may unsubscribe themselves and their own bots.',
  refusal: 'You can unsubscribe only yourself and your own bots.',
  allows: ({ actor }, user) => user.id === actor.id || user.bot?.ownerId === actor.id,
})

export const subscribeSelf = rule<Channel>({
  law: 'Members who have access to the content of a channel may subscribe to it.',
  refusal: 'You cannot subscribe to this channel.',
  allows: (asker, channel) => !isGuest(asker.actor) && seeContent.allows(asker, channel),
})

export const subscribeOthers = rule<Channel>({
  law: 'Members with access to the content may subscribe others if they are in the organization’s or the channel’s can_add_subscribers_group, or administer the channel.',
  refusal: 'You cannot subscribe others to this channel.',
  allows: (asker, channel) =>
    subscribeSelf.allows(asker, channel) &&
    (holdsInOrganization(asker, 'can_add_subscribers_group') ||
      holdsInChannel(asker, channel, 'can_add_subscribers_group') ||
      administerChannel.allows(asker, channel)),
})

export const inviteToChannel = rule<Channel>({
  law: 'Invitations may name default channels, which are open to every newcomer, and channels to which the inviter may subscribe others when the invitation is accepted.',
  refusal: subscribeOthers.refusal,
  allows: (asker, channel) =>
    channel.isDefault ? seeContent.allows(asker, channel) : subscribeOthers.allows(asker, channel),
})

export const unsubscribeOthers = rule<Channel>({
  law: 'Channel administrators, and members of can_remove_subscribers_group who know of the channel, may unsubscribe others.',
  refusal: 'You cannot unsubscribe others from this channel.',
  allows: (asker, channel) =>
    administerChannel.allows(asker, channel) ||
    (!isGuest(asker.actor) &&
      seeMetadata.allows(asker, channel) &&
      holdsInChannel(asker, channel, 'can_remove_subscribers_group')),
})

export const createTopic = rule<Channel>({
  law: 'Members of can_create_topic_group may start topics in a channel, or a bot whose owner is one.',
  refusal: 'You do not have permission to create new topics in this channel.',
  allows: (asker, channel) => {
    if (asker.actor.bot?.system || holdsInChannel(asker, channel, 'can_create_topic_group')) return true
    const owner = botOwner(asker)
    return (
      owner !== undefined && holdsInChannel({ state: asker.state, actor: owner }, channel, 'can_create_topic_group')
    )
  },
})

export const post = rule<Channel>({
  law: 'Members of can_send_message_group may post, or a bot whose owner is one, if they have access to the channel: it is web-public, or public and they are no guest, or they or the bot’s owner are subscribed, or its shared history is open to them.',
  refusal: 'You cannot post in this channel.',
  allows: (asker, channel) => {
    if (asker.actor.bot?.system) return true
    const owner = botOwner(asker)
    if (!mayHold(asker, owner, channel)) return false
    if (channel.webPublic || isSubscribed(asker, channel)) return true
    if (owner && isSubscribed({ state: asker.state, actor: owner }, channel)) return true
    if (isGuest(asker.actor)) return false
    return !channel.inviteOnly || (channel.historyPublic && seeContent.allows(asker, channel))
  },
})

function botOwner({ state, actor }: Asker): User | undefined {
  const id = actor.bot?.ownerId
  return id === null || id === undefined ? undefined : state.users.get(id)
}

function mayHold(asker: Asker, owner: User | undefined, channel: Channel): boolean {
  return (
    holdsInChannel(asker, channel, 'can_send_message_group') ||
    (owner !== undefined && holdsInChannel({ state: asker.state, actor: owner }, channel, 'can_send_message_group'))
  )
}

export const setTopicsPolicy = rule({
  law: 'Organization administrators and members of can_set_topics_policy_group may give a channel a topics policy of its own.',
  refusal: 'You cannot change the topics policy of a channel; organization administrators can.',
  allows: asker => isAdministrator(asker.actor) || holdsInOrganization(asker, 'can_set_topics_policy_group'),
})

export const setDeletePolicy = rule({
  law: 'Organization administrators and members of can_set_delete_message_policy_group may decide who deletes messages in a channel.',
  refusal: 'You cannot change who can delete messages in this channel; organization administrators can.',
  allows: asker => isAdministrator(asker.actor) || holdsInOrganization(asker, 'can_set_delete_message_policy_group'),
})

/** The two server-side switches; the third condition is `createChannel` of this kind. */
export function allowsWebPublic(state: State): boolean {
  return organizationSetting(state, 'enable_spectator_access')
}
