// User groups: named sets of users, which can contain other groups.

import {
  bool,
  defaulted,
  endpoint,
  groupId,
  inPath,
  int,
  listOf,
  maybe,
  nullable,
  optional,
  record,
  required,
  text,
  timestamp,
  userId,
} from '../define.ts'
import { groupPermissions, groupValue } from '../shapes/permission-settings.ts'
import { mapTable } from '../tables.ts'

/** How a PATCH changes a group setting: the new value, and the value the caller believes to be current. */
export const groupValueChange = record({ new: groupValue, old: maybe(nullable(groupValue)) })

const userGroup = record({
  id: int,
  name: text,
  description: text,
  members: listOf(userId),
  direct_subgroup_ids: listOf(int),
  is_system_group: bool,
  creator_id: nullable(userId),
  date_created: nullable(timestamp),
  deactivated: bool,
  ...mapTable(groupPermissions, () => groupValue),
})

const which = { user_group_id: inPath(groupId, 'the group') }
const directOnly = 'only direct members, not those of subgroups'

export const userGroups = {
  list: endpoint({
    id: 'get-user-groups',
    route: 'GET /user_groups',
    callers: 'members',
    summary: 'List user groups, including system groups',
    params: { include_deactivated_groups: defaulted(bool, false, 'include deactivated groups') },
    reply: { user_groups: listOf(userGroup) },
    cli: {
      name: 'groups list',
      examples: ['natter groups list', 'natter groups list --include-deactivated-groups --json'],
      columns: ['id', 'name', 'description', 'members'],
    },
  }),
  create: endpoint({
    id: 'create-user-group',
    route: 'POST /user_groups/create',
    callers: 'members',
    summary: 'Create a user group',
    params: {
      name: required(text, 'the name, at most 100 characters'),
      description: required(text, 'the description'),
      members: required(listOf(userId), 'the members'),
      subgroups: defaulted(listOf(groupId), [], 'the subgroups'),
      ...mapTable(groupPermissions, name => optional(groupValue, aboutPermission(name))),
    },
    reply: { group_id: int },
    cli: {
      name: 'groups create',
      done: 'created group {name} (ID {group_id})',
      args: ['name'],
      examples: [
        'natter groups create frontend --description "Browser people" --members amy@example.com,bob@example.com',
        'natter groups create technology --description "All engineers" --members [] --subgroups backend',
      ],
    },
  }),
  update: endpoint({
    id: 'update-user-group',
    route: 'PATCH /user_groups/{user_group_id}',
    callers: 'members',
    summary: 'Rename a user group, change its settings, or reactivate it',
    params: {
      ...which,
      name: optional(text, 'the new name'),
      description: optional(text, 'the new description'),
      deactivated: optional(bool, 'false reactivates the group'),
      ...mapTable(groupPermissions, name => optional(groupValueChange, aboutPermission(name))),
    },
    refusals: ['EXPECTATION_MISMATCH'],
    cli: {
      name: 'groups edit',
      done: 'edited group {user_group_id}',
      examples: [
        'natter groups edit backend --name servers',
        'natter groups edit backend --can-join-group \'{"new": 6}\'',
      ],
    },
  }),
  deactivate: endpoint({
    id: 'deactivate-user-group',
    route: 'POST /user_groups/{user_group_id}/deactivate',
    since: 290,
    summary: 'Deactivate a user group that is not in use',
    params: which,
    refusals: ['CANNOT_DEACTIVATE_GROUP_IN_USE'],
    cli: {
      name: 'groups deactivate',
      done: 'deactivated group {user_group_id}',
      examples: ['natter groups deactivate engineering', 'natter groups deactivate id:10'],
    },
  }),
  updateMembers: endpoint({
    id: 'update-user-group-members',
    route: 'POST /user_groups/{user_group_id}/members',
    callers: 'members',
    summary: 'Add and remove members and subgroups of a user group',
    params: {
      ...which,
      add: defaulted(listOf(userId), [], 'users to add'),
      delete: defaulted(listOf(userId), [], 'users to remove'),
      add_subgroups: defaulted(listOf(groupId), [], 'subgroups to add'),
      delete_subgroups: defaulted(listOf(groupId), [], 'subgroups to remove'),
    },
    cli: {
      name: 'groups edit-members',
      done: 'changed the members of group {user_group_id}',
      flags: { delete: 'remove', delete_subgroups: 'remove-subgroups' },
      examples: [
        'natter groups edit-members backend --add cat@example.com',
        'natter groups edit-members backend --remove amy@example.com,bob@example.com',
      ],
    },
  }),
  members: endpoint({
    id: 'get-user-group-members',
    route: 'GET /user_groups/{user_group_id}/members',
    callers: 'members',
    since: 127,
    summary: 'List the members of a user group',
    params: { ...which, direct_member_only: defaulted(bool, false, directOnly) },
    reply: { members: listOf(int) },
    cli: {
      name: 'groups members',
      says: 'people',
      flags: { direct_member_only: 'direct' },
      examples: ['natter groups members backend', 'natter groups members backend --direct --json'],
    },
  }),
  isMember: endpoint({
    id: 'get-is-user-group-member',
    route: 'GET /user_groups/{user_group_id}/members/{user_id}',
    callers: 'members',
    since: 127,
    summary: 'Check whether a user is in a user group',
    params: { ...which, user_id: inPath(userId, 'who'), direct_member_only: defaulted(bool, false, directOnly) },
    reply: { is_user_group_member: bool },
    cli: {
      name: 'groups has',
      flags: { direct_member_only: 'direct' },
      examples: ['natter groups has backend amy@example.com', 'natter groups has backend amy@example.com --json'],
    },
  }),
  updateSubgroups: endpoint({
    id: 'update-user-group-subgroups',
    route: 'POST /user_groups/{user_group_id}/subgroups',
    callers: 'members',
    since: 127,
    summary: 'Add and remove subgroups of a user group',
    params: {
      ...which,
      add: defaulted(listOf(groupId), [], 'subgroups to add'),
      delete: defaulted(listOf(groupId), [], 'subgroups to remove'),
    },
    cli: {
      name: 'groups edit-subgroups',
      done: 'changed the subgroups of group {user_group_id}',
      flags: { delete: 'remove' },
      examples: [
        'natter groups edit-subgroups backend --add design',
        'natter groups edit-subgroups engineering --remove backend',
      ],
    },
  }),
  subgroups: endpoint({
    id: 'get-user-group-subgroups',
    route: 'GET /user_groups/{user_group_id}/subgroups',
    callers: 'members',
    since: 127,
    summary: 'List the subgroups of a user group',
    params: { ...which, direct_subgroup_only: defaulted(bool, false, directOnly) },
    reply: { subgroups: listOf(int) },
    cli: {
      name: 'groups subgroups',
      flags: { direct_subgroup_only: 'direct' },
      examples: ['natter groups subgroups engineering', 'natter groups subgroups engineering --direct --json'],
    },
  }),
}

function aboutPermission(name: keyof typeof groupPermissions): string {
  return {
    can_add_members_group: 'who can add members',
    can_join_group: 'who can join by themselves',
    can_leave_group: 'who can leave by themselves',
    can_manage_group: 'who can manage it; not role:internet or role:everyone',
    can_mention_group: 'who can mention it; not role:internet or role:owners',
    can_remove_members_group: 'who can remove members',
  }[name]
}
