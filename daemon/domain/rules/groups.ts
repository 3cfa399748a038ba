// Rules about user groups.

import type { Group } from '../model/state.ts'
import { holdsInGroup, holdsInOrganization, isGuest, isHuman, rule } from './rule.ts'

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
