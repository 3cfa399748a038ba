// Rules about the organization as a whole, its emoji, and who is invited.

import type { CustomEmoji, Invitation } from '../model/organization-records.ts'
import { type Role, roles } from '../model/roles.ts'
import { organizationSetting } from '../model/settings.ts'
import { holdsInOrganization, isAdministrator, isGuest, isHuman, isOwner, rule } from './rule.ts'

// --- the organization -------------------------------------------------------------------------------------------

export const administer = rule('Organization administrators and owners may administer the organization.', ({ actor }) =>
  isAdministrator(actor),
)

export const own = rule('Organization owners may change what only owners may.', ({ actor }) => isOwner(actor))

export const changeOwn = rule<'name_changes_disabled' | 'email_changes_disabled'>(
  'People may change their own name and email address, unless the organization has disabled that; its administrators always may.',
  ({ state, actor }, setting) => isAdministrator(actor) || !organizationSetting(state, setting),
)

export const havePresence = rule('People have a presence; bots have none.', ({ actor }) => isHuman(actor))

export const haveSettings = rule('People have settings; bots have none.', ({ actor }) => isHuman(actor))

// --- custom emoji -----------------------------------------------------------------------------------------------

export const addEmoji = rule(
  'Members of can_add_custom_emoji_group who are not bots may add custom emoji.',
  asker => isHuman(asker.actor) && holdsInOrganization(asker, 'can_add_custom_emoji_group'),
)

export const overrideEmoji = rule(
  'Organization administrators may give the name of a built-in emoji to a custom one.',
  ({ actor }) => isAdministrator(actor),
)

export const deactivateEmoji = rule<CustomEmoji>(
  'Organization administrators, and whoever added it, may deactivate a custom emoji.',
  ({ actor }, emoji) => isAdministrator(actor) || emoji.authorId === actor.id,
)

// --- invitations ------------------------------------------------------------------------------------------------

export const useInvitations = rule(
  'Members who are neither guests nor bots may look after invitations.',
  ({ actor }) => isHuman(actor) && !isGuest(actor),
)

export const invite = rule(
  'Members of can_invite_users_group who are not bots may invite people.',
  asker => isHuman(asker.actor) && holdsInOrganization(asker, 'can_invite_users_group'),
)

export const makeInviteLink = rule(
  'Members of create_multiuse_invite_group who are not bots may make invitation links.',
  asker => isHuman(asker.actor) && holdsInOrganization(asker, 'create_multiuse_invite_group'),
)

export const inviteAs = rule<Role>(
  'Only owners may invite owners, and only administrators may invite administrators and moderators.',
  ({ actor }, role) => (role === roles.owner ? isOwner(actor) : role > roles.moderator || isAdministrator(actor)),
)

export const seeInvitation = rule<Invitation>(
  'People see the invitations they made; organization administrators see all.',
  ({ actor }, invitation) => isAdministrator(actor) || invitation.inviterId === actor.id,
)
