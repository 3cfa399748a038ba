// Rules about people and bots.

import { webhooks } from '../../api/bots/webhooks.ts'
import { messages } from '../../api/messages/messages.ts'
import { type Role, roles } from '../model/roles.ts'
import type { ProfileField } from '../model/rows/organization.ts'
import { organizationSetting } from '../model/settings.ts'
import type { State, User } from '../model/state.ts'
import { inQuotes } from '../refusal.ts'
import { systemGroup } from './group-values.ts'
import {
  type Asker,
  holdsInOrganization,
  isAdministrator,
  isGuest,
  isHuman,
  isModerator,
  isOwner,
  rule,
} from './rule.ts'

// --- users ------------------------------------------------------------------------------------------------------

export const createUsers = rule({
  law: 'Organization administrators whose account has the can_create_users flag may create users.',
  refusal: 'You cannot create users; your account needs the flag can_create_users.',
  allows: ({ actor }) => isAdministrator(actor) && actor.canCreateUsers,
})

export const changeEmails = rule({
  law: 'Organization owners whose account has the can_change_user_emails flag may change the email address of others.',
  refusal:
    "You cannot change other people's email addresses; an owner whose account has the flag can_change_user_emails can.",
  allows: ({ actor }) => isOwner(actor) && actor.canChangeEmails,
})

export const changeRole = rule<{ readonly from: Role; readonly to: Role }>({
  law: 'Organization administrators may change roles; only owners may grant or remove the owner role.',
  refusal: ({ from, to }) =>
    from === roles.owner || to === roles.owner
      ? 'Only an organization owner can grant or remove the owner role.'
      : 'Only an organization administrator can change roles.',
  allows: ({ actor }, { from, to }) =>
    isAdministrator(actor) && (isOwner(actor) || (from !== roles.owner && to !== roles.owner)),
})

/** undefined: the role stays. */
export function roleChange(user: User, to: Role | undefined): { readonly from: Role; readonly to: Role } | undefined {
  return to === undefined || to === user.role ? undefined : { from: user.role, to }
}

export const promoteGuest = rule<{ readonly from: Role; readonly to: Role }>({
  law: 'A guest becomes a member first: guests are not made administrators or owners.',
  refusal: 'Guests cannot become administrators or owners; make them members first.',
  allows: (_asker, { from, to }) => from !== roles.guest || to > roles.administrator,
})

/** The organization must keep one: an active person, not a bot. */
export function isOnlyOwner(state: State, user: User): boolean {
  if (!isOwner(user) || !user.active || user.bot) return false
  for (const other of state.users.values())
    if (isOwner(other) && other.active && !other.bot && other.id !== user.id) return false
  return true
}

/**
 * The key of a bot gives its rights.
 * OPEN: on the public server every administrator administers every bot; here none whose role is above their own, because its key would
 * give them that role.
 */
export const administerBot = rule<User>({
  law: 'The owner of a bot and organization administrators may administer it, unless its role is above their own. Only an organization owner may administer a bot that can create users.',
  refusal: bot =>
    bot.canCreateUsers
      ? 'Only an organization owner can administer a bot that can create users.'
      : 'You cannot administer this bot; its owner and administrators of its role or above can.',
  allows: ({ actor }, bot) =>
    bot.canCreateUsers
      ? isOwner(actor)
      : bot.role >= actor.role && (isAdministrator(actor) || bot.bot?.ownerId === actor.id),
})

export const deactivateBot = rule<User>({
  law: 'The owner of a bot and organization administrators may deactivate it. Only an organization owner may deactivate a bot that is an organization owner or can create users.',
  refusal: bot =>
    bot.canCreateUsers || isOwner(bot)
      ? 'Only an organization owner can deactivate this bot.'
      : 'You cannot deactivate this bot; its owner and organization administrators can.',
  allows: ({ actor }, bot) =>
    isOwner(actor) ||
    (!bot.canCreateUsers && !isOwner(bot) && (isAdministrator(actor) || bot.bot?.ownerId === actor.id)),
})

/**
 * A bot sees what its owner sees, so you cannot choose an owner who sees more.
 *
 * OPEN: on public servers the owner of a bot can give it to anyone; here only to people whose role is not above their own.
 */
export const handOverBot = rule<{ readonly bot: User; readonly to: User }>({
  law: 'Organization administrators may give a bot to another owner. Its owner may give it to people whose role is not above their own.',
  refusal: 'Only an organization administrator can give a bot to this owner.',
  allows: ({ actor }, { bot, to }) =>
    isAdministrator(actor) || (bot.bot?.ownerId === actor.id && to.role >= actor.role),
})

/** email_address_visibility: 1 everyone, 2 members, 3 administrators, 4 nobody, 5 moderators. */
export const seeEmail = rule<User>({
  law: 'Everyone sees their own email address; others see it as the person’s email_address_visibility says.',
  refusal: 'You cannot see this email address.',
  allows: ({ actor }, user) => {
    if (actor.id === user.id || user.bot) return true
    switch (user.settings.email_address_visibility ?? 1) {
      case 1:
        return true
      case 2:
        return !isGuest(actor)
      case 3:
        return isAdministrator(actor)
      case 5:
        return isModerator(actor)
      default:
        return false
    }
  },
})

/** The same for people who see the same addresses of others. */
export function sightOf(user: User): string {
  return isAdministrator(user) ? 'administrator' : isModerator(user) ? 'moderator' : isGuest(user) ? 'guest' : 'member'
}

/** The limit concerns guests only; bots are known to everyone. */
export const accessUser = rule<User>({
  law: 'Everyone may know of everyone, except guests who are not in can_access_all_users_group. They know of themselves, of bots, of active people they share a channel or a group conversation with, and of those they exchanged direct messages with.',
  refusal: 'You have no access to this user.',
  allows: (asker, user) =>
    !isGuest(asker.actor) ||
    holdsInOrganization(asker, 'can_access_all_users_group') ||
    areAcquainted(asker.state, asker.actor, user),
})

/** Whether some guests know of some people only. */
export function accessIsLimited(state: State): boolean {
  return state.organization.permissions.can_access_all_users_group !== systemGroup(state, 'role:everyone').id
}

/** Whether there may be people the asker may not know of; if not, none of them needs to be asked about. */
export function mayHaveStrangers({ state, actor }: Asker): boolean {
  return isGuest(actor) && accessIsLimited(state)
}

/** What does not count, because it is new. */
export interface NewTies {
  /** User IDs by channel. */
  readonly subscribers?: ReadonlyMap<number, ReadonlySet<number>>
  readonly conversationId?: number
}

/** Whether the guest knows of the user even when guests know of some people only. */
export function areAcquainted(state: State, guest: User, user: User, but: NewTies = {}): boolean {
  if (guest.id === user.id || user.bot) return true
  return (user.active && shareChannel(state, guest, user, but)) || shareConversation(state, guest, user, but)
}

function shareChannel({ subscriptions }: State, a: User, b: User, { subscribers }: NewTies): boolean {
  const [ofA, ofB] = [subscriptions.channelsOfUser(a.id), subscriptions.channelsOfUser(b.id)]
  for (const channelId of ofA.length < ofB.length ? ofA : ofB) {
    if (!subscriptions.isActive(channelId, a.id) || !subscriptions.isActive(channelId, b.id)) continue
    const fresh = subscribers?.get(channelId)
    if (!fresh?.has(a.id) && !fresh?.has(b.id)) return true
  }
  return false
}

/**
 * A group conversation connects its active members; one of two also a deactivated one, as long as it has a message. The one who has fewer
 * conversations is looked at: bots can write to a guest in thousands of them, and a guest is asked about everyone.
 */
export function shareConversation({ conversations, messages }: State, a: User, b: User, but: NewTies = {}): boolean {
  const [few, other] = conversations.count('member', a.id) < conversations.count('member', b.id) ? [a, b] : [b, a]
  return conversations
    .where('member', few.id)
    .some(
      ({ id, userIds }) =>
        id !== but.conversationId &&
        userIds.includes(other.id) &&
        (userIds.length > 2 ? b.active : messages.inConversation(id).length > 0),
    )
}

export const deactivateUser = rule<User>({
  law: 'Organization administrators may deactivate people; only owners may deactivate an owner.',
  refusal: user =>
    isOwner(user)
      ? 'Only an organization owner can deactivate an owner.'
      : 'Only an organization administrator can deactivate users.',
  allows: ({ actor }, user) => isAdministrator(actor) && (isOwner(actor) || !isOwner(user)),
})

export const reactivateUser = rule<User>({
  law: 'Organization administrators may reactivate accounts, and the owner of a bot the bot.',
  refusal: 'You cannot reactivate this account; organization administrators can.',
  allows: ({ actor }, user) => isAdministrator(actor) || user.bot?.ownerId === actor.id,
})

export const changeAvatar = rule({
  law: 'Everyone may change their own avatar; only administrators while avatar changes are disabled.',
  refusal: 'You cannot change your avatar; organization administrators can.',
  allows: ({ state, actor }) => isAdministrator(actor) || !organizationSetting(state, 'avatar_changes_disabled'),
})

export const editProfileField = rule<ProfileField>({
  law: 'People may set their own profile fields that users may edit; administrators may set all of theirs.',
  refusal: field => `You cannot change the profile field ${inQuotes(field.name)}; organization administrators can.`,
  allows: ({ actor }, field) => field.editable || isAdministrator(actor),
})

// --- bots -------------------------------------------------------------------------------------------------------

export const useBots = rule({
  law: 'Members who are neither guests nor bots may manage bots.',
  refusal: 'Guests and bots cannot manage bots.',
  allows: ({ actor }) => isHuman(actor) && !isGuest(actor),
})

/** Types: 1 generic, 2 incoming webhook, 3 outgoing webhook, 4 embedded. */
export const createBot = rule<1 | 2 | 3 | 4>({
  law: 'Members of can_create_bots_group may create bots; members of can_create_write_only_bots_group may create incoming webhooks.',
  refusal: type => `You cannot create ${type === 2 ? 'incoming webhook bots' : 'bots'}.`,
  allows: (asker, type) =>
    holdsInOrganization(asker, 'can_create_bots_group') ||
    (type === 2 && holdsInOrganization(asker, 'can_create_write_only_bots_group')),
})

export const useBotStorage = rule({
  law: 'Everyone may use their own bot storage; from level 494 on, only bots.',
  refusal: 'Only bots have storage.',
  allows: ({ actor, server }) => !isHuman(actor) || !server?.level.rules.storageForBotsOnly,
})

const forWebhooks: readonly string[] = [messages.send.id, webhooks.post.id]

/** By the ID of the endpoint. */
export const callEndpoint = rule<string>({
  law: 'Incoming webhook bots may only send messages and post payloads.',
  refusal: 'Incoming webhook bots can only send messages.',
  // As if their key were wrong: so the API has it.
  code: 'UNAUTHORIZED',
  allows: ({ actor }, endpointId) => actor.bot?.type !== 2 || forWebhooks.includes(endpointId),
})
