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

export const seeContent = rule<Channel>(
  'Everyone has access to the content of a web-public channel; subscribers to that of theirs; members to that of public channels and of those they may add subscribers to or subscribe to.',
  (asker, channel) => {
    if (channel.webPublic || isSubscribed(asker, channel)) return true
    if (isGuest(asker.actor)) return false
    return (
      !channel.inviteOnly ||
      holdsInChannel(asker, channel, 'can_add_subscribers_group') ||
      holdsInChannel(asker, channel, 'can_subscribe_group')
    )
  },
)

export const seeMetadata = rule<Channel>(
  'Whoever has access to the content of a channel knows of it, and so do its administrators and those of the organization.',
  (asker, channel) => isSubscribed(asker, channel) || seeUnsubscribed.allows(asker, channel),
)

export const seeUnsubscribed = rule<Channel>(
  'Without being subscribed, everyone knows of web-public channels, and members who are no guests of public ones, of those they may add subscribers to or subscribe to, of those they administer, and organization administrators of all.',
  (asker, channel) =>
    channel.webPublic ||
    (!isGuest(asker.actor) &&
      (!channel.inviteOnly ||
        isAdministrator(asker.actor) ||
        holdsInChannel(asker, channel, 'can_administer_channel_group') ||
        holdsInChannel(asker, channel, 'can_add_subscribers_group') ||
        holdsInChannel(asker, channel, 'can_subscribe_group'))),
)

/** Whether those who may read the channel may read what was said before they came. */
export function hasSharedHistory({ historyPublic, inviteOnly }: Channel): boolean {
  return historyPublic || !inviteOnly
}

export const hearPublicChannels = rule(
  'Everyone but guests may list all public channels and hear what is said in them.',
  ({ actor }) => !isGuest(actor),
)

export const beOfferedDefaults = rule(
  'Default channels are offered to everyone but guests.',
  ({ actor }) => !isGuest(actor),
)

/** The permissions of a channel that let one know of it. */
export const tellingPermissions = [
  'can_add_subscribers_group',
  'can_administer_channel_group',
  'can_subscribe_group',
] as const satisfies readonly ChannelPermission[]

// --- channels: doing --------------------------------------------------------------------------------------------

export const createChannel = rule<'public' | 'private' | 'web-public'>(
  'Members of the organization’s can_create_public_channel_group, can_create_private_channel_group or can_create_web_public_channel_group may create a channel of that kind.',
  (asker, kind) =>
    holdsInOrganization(
      asker,
      kind === 'public'
        ? 'can_create_public_channel_group'
        : kind === 'private'
          ? 'can_create_private_channel_group'
          : 'can_create_web_public_channel_group',
    ),
)

export const administerChannel = rule<Channel>(
  'Organization administrators, and members of can_administer_channel_group who are not guests, may administer a channel.',
  (asker, channel) => isAdministrator(asker.actor) || holdsInChannel(asker, channel, 'can_administer_channel_group'),
)

export const changeAccess = rule<Channel>(
  'Whoever administers a channel and has access to its content may say who can get at the content.',
  (asker, channel) => administerChannel.allows(asker, channel) && seeContent.allows(asker, channel),
)

export const deleteTopics = rule<Channel>(
  'Organization administrators with access to the content of a channel may delete its topics.',
  (asker, channel) => isAdministrator(asker.actor) && seeContent.allows(asker, channel),
)

export const subscribe = rule(
  'Guests may not subscribe to channels or create them; others may subscribe them.',
  ({ actor }) => !isGuest(actor),
)

export const unsubscribeAccount = rule<User>(
  'Everyone may unsubscribe themselves and their own bots.',
  ({ actor }, user) => user.id === actor.id || user.bot?.ownerId === actor.id,
)

export const subscribeSelf = rule<Channel>(
  'Members who have access to the content of a channel may subscribe to it.',
  (asker, channel) => !isGuest(asker.actor) && seeContent.allows(asker, channel),
)

export const subscribeOthers = rule<Channel>(
  'Members with access to the content may subscribe others if they are in the organization’s or the channel’s can_add_subscribers_group, or administer the channel.',
  (asker, channel) =>
    subscribeSelf.allows(asker, channel) &&
    (holdsInOrganization(asker, 'can_add_subscribers_group') ||
      holdsInChannel(asker, channel, 'can_add_subscribers_group') ||
      administerChannel.allows(asker, channel)),
)

export const unsubscribeOthers = rule<Channel>(
  'Channel administrators, and members of can_remove_subscribers_group who know of the channel, may unsubscribe others.',
  (asker, channel) =>
    administerChannel.allows(asker, channel) ||
    (!isGuest(asker.actor) &&
      seeMetadata.allows(asker, channel) &&
      holdsInChannel(asker, channel, 'can_remove_subscribers_group')),
)

export const post = rule<Channel>(
  'Members of can_send_message_group may post, or a bot whose owner is one, if they have access to the channel: it is web-public, or public and they are no guest, or they or the bot’s owner are subscribed, or its shared history is open to them.',
  (asker, channel) => {
    if (asker.actor.bot?.system) return true
    const owner = botOwner(asker)
    if (!mayHold(asker, owner, channel)) return false
    if (channel.webPublic || isSubscribed(asker, channel)) return true
    if (owner && isSubscribed({ state: asker.state, actor: owner }, channel)) return true
    if (isGuest(asker.actor)) return false
    return !channel.inviteOnly || (channel.historyPublic && seeContent.allows(asker, channel))
  },
)

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

export const setTopicsPolicy = rule(
  'Organization administrators and members of can_set_topics_policy_group may give a channel a topics policy of its own.',
  asker => isAdministrator(asker.actor) || holdsInOrganization(asker, 'can_set_topics_policy_group'),
)

export const setDeletePolicy = rule(
  'Organization administrators and members of can_set_delete_message_policy_group may say who deletes messages in a channel.',
  asker => isAdministrator(asker.actor) || holdsInOrganization(asker, 'can_set_delete_message_policy_group'),
)

/** The two server-side switches; the third condition is `createChannel` of this kind. */
export function webPublicEnabled(state: State): boolean {
  return organizationSetting(state, 'enable_spectator_access')
}
