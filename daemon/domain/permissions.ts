// Every rule of the permission model, each with the sentence the generated docs print: those about channels and groups
// here, the others in the folder of the same name. Nothing else reads a role.

import {
  type Asker,
  holdsInChannel,
  holdsInGroup,
  holdsInOrganization,
  isAdministrator,
  isGuest,
  isHuman,
  rule,
} from './permissions/rule.ts'
import { organizationSetting } from './settings-lookup.ts'
import type { Channel, Group, State, User } from './state.ts'

export * from './permissions/organization.ts'
export * from './permissions/people.ts'
export * from './permissions/rule.ts'

function isSubscribed({ state, actor }: Asker, channel: Channel): boolean {
  return state.subscriptions.isActive(channel.id, actor.id)
}

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
  (asker, channel) =>
    seeContent.allows(asker, channel) ||
    (!isGuest(asker.actor) &&
      (holdsInChannel(asker, channel, 'can_administer_channel_group') || isAdministrator(asker.actor))),
)

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

// --- user groups ------------------------------------------------------------------------------------------------

export const useGroups = rule(
  'Members who are neither guests nor bots may look at user groups and change them.',
  ({ actor }) => isHuman(actor) && !isGuest(actor),
)

export const createGroups = rule(
  'Members of the organization’s can_create_groups may create user groups.',
  asker => isHuman(asker.actor) && holdsInOrganization(asker, 'can_create_groups'),
)

export const manageGroup = rule<Group>(
  'Members of the organization’s can_manage_all_groups and of the group’s can_manage_group may manage a group, unless it is a system group.',
  (asker, group) =>
    !group.system &&
    isHuman(asker.actor) &&
    (holdsInOrganization(asker, 'can_manage_all_groups') || holdsInGroup(asker, group, 'can_manage_group')),
)

export const addToGroup = rule<Group>(
  'Whoever manages a group, or is in its can_add_members_group, may add members and subgroups.',
  (asker, group) =>
    manageGroup.allows(asker, group) ||
    (!group.system && isHuman(asker.actor) && holdsInGroup(asker, group, 'can_add_members_group')),
)

export const joinGroup = rule<Group>(
  'Members of can_join_group, and whoever may add others, may join a group.',
  (asker, group) =>
    addToGroup.allows(asker, group) ||
    (!group.system && isHuman(asker.actor) && holdsInGroup(asker, group, 'can_join_group')),
)

export const removeFromGroup = rule<Group>(
  'Whoever manages a group, or is in its can_remove_members_group, may remove members.',
  (asker, group) =>
    manageGroup.allows(asker, group) ||
    (!group.system && isHuman(asker.actor) && holdsInGroup(asker, group, 'can_remove_members_group')),
)

export const leaveGroup = rule<Group>(
  'Members of can_leave_group, and whoever may remove others, may leave a group.',
  (asker, group) =>
    removeFromGroup.allows(asker, group) ||
    (!group.system && isHuman(asker.actor) && holdsInGroup(asker, group, 'can_leave_group')),
)
