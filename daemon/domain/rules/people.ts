// Rules about people and bots.

import type { ProfileField } from '../model/organization-records.ts'
import { type Role, roles } from '../model/roles.ts'
import { organizationSetting } from '../model/settings.ts'
import type { State, User } from '../model/state.ts'
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

export const createUsers = rule(
  'Organization administrators whose account has the can_create_users flag may create users.',
  ({ actor }) => isAdministrator(actor) && actor.canCreateUsers,
)

export const changeEmails = rule(
  'Organization owners whose account has the can_change_user_emails flag may change the email address of others.',
  ({ actor }) => isOwner(actor) && actor.canChangeEmails,
)

export const changeRole = rule<{ readonly from: Role; readonly to: Role }>(
  'Organization administrators may change roles; only owners may give or take the role of owner.',
  ({ actor }, { from, to }) =>
    isAdministrator(actor) && (isOwner(actor) || (from !== roles.owner && to !== roles.owner)),
)

/** undefined: the role stays. */
export function roleChange(user: User, to: Role | undefined): { readonly from: Role; readonly to: Role } | undefined {
  return to === undefined || to === user.role ? undefined : { from: user.role, to }
}

export const promoteGuest = rule<{ readonly from: Role; readonly to: Role }>(
  'A guest becomes a member first: guests are not made administrators or owners.',
  (_asker, { from, to }) => from !== roles.guest || to > roles.administrator,
)

/** The organization must keep one: an active person, not a bot. */
export function isOnlyOwner(state: State, user: User): boolean {
  if (!isOwner(user) || !user.active || user.bot) return false
  for (const other of state.users.values())
    if (isOwner(other) && other.active && !other.bot && other.id !== user.id) return false
  return true
}

/** Who has a bot's key can do what the bot can: nobody reaches a bot whose role is above their own. */
export const administerBot = rule<User>(
  'The owner of a bot and organization administrators may administer it, unless its role is above their own; a bot that can create users only by an organization owner.',
  ({ actor }, bot) =>
    bot.canCreateUsers
      ? isOwner(actor)
      : bot.role >= actor.role && (isAdministrator(actor) || bot.bot?.ownerId === actor.id),
)

export const deactivateBot = rule<User>(
  'The owner of a bot and organization administrators may deactivate it; a bot that is an organization owner, or can create users, only by an organization owner.',
  ({ actor }, bot) =>
    isOwner(actor) ||
    (!bot.canCreateUsers && !isOwner(bot) && (isAdministrator(actor) || bot.bot?.ownerId === actor.id)),
)

/** A bot sees what its owner sees, so an owner is not chosen by just anybody. */
export const handOverBot = rule<User>('Organization administrators may give a bot to another owner.', ({ actor }) =>
  isAdministrator(actor),
)

/** email_address_visibility: 1 everyone, 2 members, 3 administrators, 4 nobody, 5 moderators. */
export const seeEmail = rule<User>(
  'Everyone sees their own email address; others see it as the person’s email_address_visibility says.',
  ({ actor }, user) => {
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
)

/** The same for people who see the same addresses of others. */
export function sightOf(user: User): string {
  return isAdministrator(user) ? 'administrator' : isModerator(user) ? 'moderator' : isGuest(user) ? 'guest' : 'member'
}

/** The limit concerns guests only; bots are known to everyone. */
export const accessUser = rule<User>(
  'Everyone may know of everyone; guests who are not in can_access_all_users_group only of themselves, of bots, of active people they share a channel or a group conversation with, and of those they exchanged direct messages with.',
  (asker, user) =>
    !isGuest(asker.actor) ||
    holdsInOrganization(asker, 'can_access_all_users_group') ||
    areAcquainted(asker.state, asker.actor, user),
)

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
  for (const channelId of subscriptions.channelsOfUser(a.id)) {
    if (!subscriptions.isActive(channelId, a.id) || !subscriptions.isActive(channelId, b.id)) continue
    const fresh = subscribers?.get(channelId)
    if (!fresh?.has(a.id) && !fresh?.has(b.id)) return true
  }
  return false
}

/** A conversation of several ties those who are active; one of two also whoever left, as long as something is in it. */
function shareConversation({ conversations, messages }: State, a: User, b: User, but: NewTies): boolean {
  return conversations
    .where('member', a.id)
    .some(
      ({ id, userIds }) =>
        id !== but.conversationId &&
        userIds.includes(b.id) &&
        (userIds.length > 2 ? b.active : messages.inConversation(id).length > 0),
    )
}

export const deactivateUser = rule<User>(
  'Organization administrators may deactivate people; only owners may deactivate an owner.',
  ({ actor }, user) => isAdministrator(actor) && (isOwner(actor) || !isOwner(user)),
)

export const reactivateUser = rule<User>(
  'Organization administrators may reactivate accounts, and the owner of a bot the bot.',
  ({ actor }, user) => isAdministrator(actor) || user.bot?.ownerId === actor.id,
)

export const changeAvatar = rule(
  'Everyone may change their own avatar; only administrators while avatar changes are disabled.',
  ({ state, actor }) => isAdministrator(actor) || !organizationSetting(state, 'avatar_changes_disabled'),
)

export const editProfileField = rule<ProfileField>(
  'People may set the profile fields of their own that users may edit; administrators all of them.',
  ({ actor }, field) => field.editable || isAdministrator(actor),
)

// --- bots -------------------------------------------------------------------------------------------------------

export const useBots = rule(
  'Members who are neither guests nor bots may look after bots.',
  ({ actor }) => isHuman(actor) && !isGuest(actor),
)

/** Types: 1 generic, 2 incoming webhook, 3 outgoing webhook, 4 embedded. */
export const createBot = rule<1 | 2 | 3 | 4>(
  'Members of can_create_bots_group may create bots; members of can_create_write_only_bots_group incoming webhooks.',
  (asker, type) =>
    holdsInOrganization(asker, 'can_create_bots_group') ||
    (type === 2 && holdsInOrganization(asker, 'can_create_write_only_bots_group')),
)

export const useBotStorage = rule('Bots may remember things for themselves.', ({ actor }) => !isHuman(actor))

/** By the ID of the endpoint. */
export const callEndpoint = rule<string>(
  'Incoming webhook bots may only send messages.',
  ({ actor }, endpointId) => actor.bot?.type !== 2 || endpointId === 'send-message',
)
