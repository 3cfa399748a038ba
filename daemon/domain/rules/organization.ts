// Rules about the organization as a whole, its emoji, and who is invited.

import { type Role, roles } from '../model/roles.ts'
import type { CustomEmoji, Invitation } from '../model/rows/organization.ts'
import { organizationSetting } from '../model/settings.ts'
import {
  type Asker,
  check,
  holdsInOrganization,
  insist,
  isAdministrator,
  isGuest,
  isHuman,
  isOwner,
  rule,
} from './rule.ts'

// --- the organization -------------------------------------------------------------------------------------------

export const administer = rule({
  law: 'Organization administrators and owners may administer the organization.',
  refusal: 'You must be an organization administrator.',
  allows: ({ actor }) => isAdministrator(actor),
})

/** About an action, as a verb phrase: `change message_retention_days`. */
export const own = rule<string>({
  law: 'Some settings and actions are for organization owners only.',
  refusal: action => `Only an organization owner can ${action}.`,
  allows: ({ actor }) => isOwner(actor),
})

export const changeOwn = rule<'name_changes_disabled' | 'email_changes_disabled'>({
  law: 'People may change their own name and email address, unless the organization has disabled that; its administrators always may.',
  refusal: setting =>
    `You cannot change your ${setting === 'name_changes_disabled' ? 'name' : 'email address'}; organization administrators can.`,
  allows: ({ state, actor }, setting) => isAdministrator(actor) || !organizationSetting(state, setting),
})

export const havePresence = rule({
  law: 'People have a presence; bots have none.',
  refusal: 'Bots cannot set a presence.',
  allows: ({ actor }) => isHuman(actor),
})

export const haveStatus = rule({
  law: 'People have a status; bots have none.',
  refusal: 'Bots cannot set a status.',
  allows: ({ actor }) => isHuman(actor),
})

export const haveDevices = rule({
  law: 'People have devices for push notifications; bots have none.',
  refusal: 'Bots cannot have devices.',
  allows: ({ actor }) => isHuman(actor),
})

export const haveProfile = rule({
  law: 'People have a profile; bots have none.',
  refusal: 'Bots have no profile.',
  allows: ({ actor }) => isHuman(actor),
})

export const haveSettings = rule({
  law: 'People have settings; bots have none.',
  refusal: 'Bots cannot change settings.',
  allows: ({ actor }) => isHuman(actor),
})

// --- custom emoji -----------------------------------------------------------------------------------------------

export const addEmoji = rule({
  law: 'Members of can_add_custom_emoji_group who are not bots may add custom emoji.',
  refusal: 'You cannot add custom emoji.',
  allows: asker => isHuman(asker.actor) && holdsInOrganization(asker, 'can_add_custom_emoji_group'),
})

export const overrideEmoji = rule({
  law: 'Organization administrators may give the name of a built-in emoji to a custom one.',
  refusal: 'Only an organization administrator can give a custom emoji the name of a built-in one.',
  allows: ({ actor }) => isAdministrator(actor),
})

export const deactivateEmoji = rule<CustomEmoji>({
  law: 'Organization administrators, and the person who added it, may deactivate a custom emoji.',
  refusal: 'You cannot deactivate this emoji; its author and organization administrators can.',
  allows: ({ actor }, emoji) => isAdministrator(actor) || emoji.authorId === actor.id,
})

// --- invitations ------------------------------------------------------------------------------------------------

export const useInvitations = rule({
  law: 'Members who are neither guests nor bots may manage invitations.',
  refusal: 'Guests and bots cannot manage invitations.',
  allows: ({ actor }) => isHuman(actor) && !isGuest(actor),
})

export const invite = rule({
  law: 'Members of can_invite_users_group who are not bots may invite people.',
  refusal: 'You cannot invite people.',
  allows: asker => isHuman(asker.actor) && holdsInOrganization(asker, 'can_invite_users_group'),
})

export const makeInviteLink = rule({
  law: 'Members of create_multiuse_invite_group who are not bots may create invitation links.',
  refusal: 'You cannot create invitation links.',
  allows: asker => isHuman(asker.actor) && holdsInOrganization(asker, 'create_multiuse_invite_group'),
})

export const inviteAs = rule<Role>({
  law: 'Only owners may invite owners, and only administrators may invite administrators and moderators.',
  refusal: role =>
    role === roles.owner
      ? 'Only an organization owner can invite owners.'
      : 'Only an organization administrator can invite administrators and moderators.',
  allows: ({ actor }, role) =>
    role === roles.owner ? isOwner(actor) : role > roles.moderator || isAdministrator(actor),
})

/** The API has a code of its own for what only owners can do. */
export function checkInviteAs(asker: Asker, role: Role): void {
  if (role === roles.owner) insist(inviteAs, asker, role)
  else check(inviteAs, asker, role)
}

export const seeInvitation = rule<Invitation>({
  law: 'People see the invitations they made; organization administrators see all.',
  refusal: 'You can see only the invitations you created.',
  allows: ({ actor }, invitation) => isAdministrator(actor) || invitation.inviterId === actor.id,
})
