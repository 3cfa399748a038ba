// User groups: named sets of people, which can hold each other.

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
import { mapped } from '../tables.ts'

/** What a PATCH takes for a group setting: the new value, and the one the caller believes to be current. */
export const groupValueChange = record({ new: groupValue, old: maybe(nullable(groupValue)) })

const userGroup = record({
  id: int,
  name: text,
  description: text,
  members: listOf(int),
  direct_subgroup_ids: listOf(int),
  is_system_group: bool,
  creator_id: nullable(int),
  date_created: nullable(timestamp),
  deactivated: bool,
  ...mapped(groupPermissions, () => groupValue),
})

const which = { user_group_id: inPath(groupId, 'which group') }
const directOnly = 'only those in the group itself, not those in groups inside it'

export const userGroups = {
  list: endpoint({
    id: 'get-user-groups',
    method: 'GET',
    path: '/user_groups',
    access: 'user',
    since: 1,
    summary: 'List the user groups, system groups included',
    params: { include_deactivated_groups: defaulted(bool, false, 'deactivated groups too') },
    reply: { user_groups: listOf(userGroup) },
    refusals: ['BAD_REQUEST'],
    cli: {
      name: 'groups list',
      examples: ['natter groups list', 'natter groups list --include-deactivated-groups --json'],
      shows: 'user_groups',
      columns: ['id', 'name', 'description', 'members'],
    },
  }),
  create: endpoint({
    id: 'create-user-group',
    method: 'POST',
    path: '/user_groups/create',
    access: 'user',
    since: 1,
    summary: 'Create a user group',
    params: {
      name: required(text, 'its name, at most 100 characters'),
      description: required(text, 'what it is for'),
      members: required(listOf(userId), 'its first members'),
      subgroups: defaulted(listOf(groupId), [], 'groups inside it'),
      ...mapped(groupPermissions, name => optional(groupValue, aboutPermission(name))),
    },
    reply: { group_id: int },
    refusals: ['BAD_REQUEST'],
    cli: {
      name: 'groups create',
      args: ['name'],
      examples: [
        'natter groups create backend --description "Server people" --members amy@example.com,bob@example.com',
        'natter groups create engineering --description "All engineers" --members [] --subgroups backend',
      ],
    },
  }),
  update: endpoint({
    id: 'update-user-group',
    method: 'PATCH',
    path: '/user_groups/{user_group_id}',
    access: 'user',
    since: 1,
    summary: 'Rename a user group, change its settings, or bring it back',
    params: {
      ...which,
      name: optional(text, 'the new name'),
      description: optional(text, 'the new description'),
      deactivated: optional(bool, 'false brings a deactivated group back'),
      ...mapped(groupPermissions, name => optional(groupValueChange, aboutPermission(name))),
    },
    reply: {},
    refusals: ['BAD_REQUEST', 'EXPECTATION_MISMATCH'],
    cli: {
      name: 'groups update',
      args: ['user_group_id'],
      examples: [
        'natter groups update backend --name servers',
        'natter groups update backend --can-join-group \'{"new": 6}\'',
      ],
    },
  }),
  deactivate: endpoint({
    id: 'deactivate-user-group',
    method: 'POST',
    path: '/user_groups/{user_group_id}/deactivate',
    access: 'user',
    since: 290,
    summary: 'Deactivate a user group that nothing uses',
    params: which,
    reply: {},
    refusals: ['BAD_REQUEST', 'CANNOT_DEACTIVATE_GROUP_IN_USE'],
    cli: {
      name: 'groups deactivate',
      args: ['user_group_id'],
      examples: ['natter groups deactivate backend', 'natter groups deactivate id:12'],
    },
  }),
  updateMembers: endpoint({
    id: 'update-user-group-members',
    method: 'POST',
    path: '/user_groups/{user_group_id}/members',
    access: 'user',
    since: 1,
    summary: 'Add and remove members and subgroups of a user group',
    params: {
      ...which,
      add: defaulted(listOf(userId), [], 'who joins'),
      delete: defaulted(listOf(userId), [], 'who leaves'),
      add_subgroups: defaulted(listOf(groupId), [], 'groups to put inside it'),
      delete_subgroups: defaulted(listOf(groupId), [], 'groups to take out of it'),
    },
    reply: {},
    refusals: ['BAD_REQUEST'],
    cli: {
      name: 'groups change',
      args: ['user_group_id'],
      flags: { delete: 'remove', delete_subgroups: 'remove-subgroups' },
      examples: [
        'natter groups change backend --add amy@example.com',
        'natter groups change backend --remove bob@example.com,cat@example.com',
      ],
    },
  }),
  members: endpoint({
    id: 'get-user-group-members',
    method: 'GET',
    path: '/user_groups/{user_group_id}/members',
    access: 'user',
    since: 127,
    summary: 'List the members of a user group',
    params: { ...which, direct_member_only: defaulted(bool, false, directOnly) },
    reply: { members: listOf(int) },
    refusals: ['BAD_REQUEST'],
    cli: {
      name: 'groups members',
      args: ['user_group_id'],
      flags: { direct_member_only: 'direct' },
      examples: ['natter groups members backend', 'natter groups members backend --direct --json'],
      shows: 'members',
    },
  }),
  isMember: endpoint({
    id: 'get-is-user-group-member',
    method: 'GET',
    path: '/user_groups/{user_group_id}/members/{user_id}',
    access: 'user',
    since: 127,
    summary: 'Ask whether somebody is in a user group',
    params: { ...which, user_id: inPath(userId, 'who'), direct_member_only: defaulted(bool, false, directOnly) },
    reply: { is_user_group_member: bool },
    refusals: ['BAD_REQUEST'],
    cli: {
      name: 'groups has',
      args: ['user_group_id', 'user_id'],
      flags: { direct_member_only: 'direct' },
      examples: ['natter groups has backend amy@example.com', 'natter groups has backend amy@example.com --json'],
      shows: 'is_user_group_member',
    },
  }),
  updateSubgroups: endpoint({
    id: 'update-user-group-subgroups',
    method: 'POST',
    path: '/user_groups/{user_group_id}/subgroups',
    access: 'user',
    since: 127,
    summary: 'Add and remove the groups inside a user group',
    params: {
      ...which,
      add: defaulted(listOf(groupId), [], 'groups to put inside it'),
      delete: defaulted(listOf(groupId), [], 'groups to take out of it'),
    },
    reply: {},
    refusals: ['BAD_REQUEST'],
    cli: {
      name: 'groups nest',
      args: ['user_group_id'],
      flags: { delete: 'remove' },
      examples: ['natter groups nest engineering --add backend', 'natter groups nest engineering --remove backend'],
    },
  }),
  subgroups: endpoint({
    id: 'get-user-group-subgroups',
    method: 'GET',
    path: '/user_groups/{user_group_id}/subgroups',
    access: 'user',
    since: 127,
    summary: 'List the groups inside a user group',
    params: { ...which, direct_subgroup_only: defaulted(bool, false, directOnly) },
    reply: { subgroups: listOf(int) },
    refusals: ['BAD_REQUEST'],
    cli: {
      name: 'groups subgroups',
      args: ['user_group_id'],
      flags: { direct_subgroup_only: 'direct' },
      examples: ['natter groups subgroups engineering', 'natter groups subgroups engineering --direct --json'],
      shows: 'subgroups',
    },
  }),
}

function aboutPermission(name: keyof typeof groupPermissions): string {
  return {
    can_add_members_group: 'who may add members',
    can_join_group: 'who may join by themselves',
    can_leave_group: 'who may leave by themselves',
    can_manage_group: 'who may manage it; not role:internet or role:everyone',
    can_mention_group: 'who may mention it; not role:internet or role:owners',
    can_remove_members_group: 'who may remove members',
  }[name]
}
