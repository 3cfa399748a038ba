// Rules about user groups.

import type { Group } from '../model/state.ts'
import { type Asker, holdsInGroup, holdsInOrganization, isGuest, isHuman, rule } from './rule.ts'

/** At older levels, bots have no access to groups. */
function mayCall({ actor, server }: Asker): boolean {
  return isHuman(actor) || server?.level.rules.groupsOpenToBots === true
}

export const useGroups = rule({
  law: 'Members who are neither guests nor bots may list user groups and change them.',
  refusal: 'Guests and bots cannot use user groups.',
  allows: asker => mayCall(asker) && !isGuest(asker.actor),
})

export const createGroups = rule({
  law: 'Members of the organization’s can_create_groups may create user groups.',
  refusal: 'You cannot create user groups.',
  allows: asker => mayCall(asker) && holdsInOrganization(asker, 'can_create_groups'),
})

export const manageGroup = rule<Group>({
  law: 'Members of the organization’s can_manage_all_groups and of the group’s can_manage_group may manage a group, unless it is a system group.',
  refusal: group => (group.system ? 'System groups cannot be changed.' : 'You cannot change this user group.'),
  allows: (asker, group) =>
    !group.system &&
    mayCall(asker) &&
    (holdsInOrganization(asker, 'can_manage_all_groups') || holdsInGroup(asker, group, 'can_manage_group')),
})

export const addToGroup = rule<Group>({
  law: 'Managers of a group, and members of its can_add_members_group, may add members and subgroups.',
  refusal: 'You cannot add members to this user group.',
  allows: (asker, group) =>
    manageGroup.allows(asker, group) ||
    (!group.system && mayCall(asker) && holdsInGroup(asker, group, 'can_add_members_group')),
})

export const joinGroup = rule<Group>({
  law: 'Members of can_join_group, and users who may add others, may join a group.',
  refusal: 'You cannot join this user group.',
  allows: (asker, group) =>
    addToGroup.allows(asker, group) ||
    (!group.system && mayCall(asker) && holdsInGroup(asker, group, 'can_join_group')),
})

export const removeFromGroup = rule<Group>({
  law: 'Managers of a group, and members of its can_remove_members_group, may remove members.',
  refusal: 'You cannot remove members from this user group.',
  allows: (asker, group) =>
    manageGroup.allows(asker, group) ||
    (!group.system && mayCall(asker) && holdsInGroup(asker, group, 'can_remove_members_group')),
})

export const leaveGroup = rule<Group>({
  law: 'Members of can_leave_group, and users who may remove others, may leave a group.',
  refusal: 'You cannot leave this user group.',
  allows: (asker, group) =>
    removeFromGroup.allows(asker, group) ||
    (!group.system && mayCall(asker) && holdsInGroup(asker, group, 'can_leave_group')),
})
