// User groups: commands, and what clients see of a group.

import { userGroups as api } from '../../../api/people/user-groups.ts'
import { visibilityNews } from '../../channels/channels/visibility.ts'
import type { UserGroupFact } from '../../model/facts/people.ts'
import type { Group, State } from '../../model/state.ts'
import { conflict, missing } from '../../refusal.ts'
import { type Announcement, type Context, type Event, onlyWith, resource } from '../../resource.ts'
import { everyone } from '../../rules/audiences.ts'
import {
  directGroups,
  directMembers,
  findGroups,
  memberCheck,
  presentValue,
  withSubgroups,
} from '../../rules/group-values.ts'
import * as may from '../../rules/index.ts'
import { knownActiveUser } from '../../rules/user-access.ts'
import { apply, together, without } from './apply.ts'
import { changeMembers } from './change-members.ts'
import { create } from './create.ts'
import { deactivate, knownGroup, update } from './update.ts'

export type { UserGroupFact } from '../../model/facts/people.ts'

export const userGroups = resource(api)<UserGroupFact>({
  commands: {
    list(ctx, { include_deactivated_groups }) {
      may.check(may.useGroups, ctx)
      return { reply: { user_groups: listGroups(ctx.state, include_deactivated_groups) } }
    },

    create,
    update,
    deactivate,

    updateMembers: (ctx, { user_group_id, ...changes }) => ({
      facts: changeMembers(ctx, knownGroup(ctx, user_group_id), {
        add: changes.add,
        remove: changes.delete,
        addSubgroups: changes.add_subgroups,
        removeSubgroups: changes.delete_subgroups,
      }),
      reply: {},
    }),

    updateSubgroups: (ctx, { user_group_id, ...changes }) => ({
      facts: changeMembers(
        ctx,
        knownGroup(ctx, user_group_id),
        { add: [], remove: [], addSubgroups: changes.add, removeSubgroups: changes.delete },
        ['add', 'delete'],
      ),
      reply: {},
    }),

    members(ctx, { user_group_id, direct_member_only }) {
      const group = readable(ctx, user_group_id)
      return {
        reply: { members: direct_member_only ? directMembers(ctx.state, group) : allMembers(ctx.state, group) },
      }
    },

    isMember(ctx, { user_group_id, user_id, direct_member_only }) {
      const group = readable(ctx, user_group_id)
      const user = knownActiveUser(ctx, user_id)
      const isBot = user && !may.isHuman(user) && !ctx.server.level.rules.botsInPeopleQuestions
      if (!user || isBot) throw missing('user_id', 'active user', user_id)
      const inside = direct_member_only
        ? directGroups(ctx.state, user).includes(group)
        : findGroups(ctx.state, user).has(group.id)
      return { reply: { is_user_group_member: inside } }
    },

    subgroups(ctx, { user_group_id, direct_subgroup_only }) {
      const group = readable(ctx, user_group_id)
      const all = direct_subgroup_only ? group.subgroups : withSubgroups(ctx.state, group.id)
      return { reply: { subgroups: [...all].filter(id => id !== group.id).sort((a, b) => a - b) } }
    },
  },

  apply,

  announce: {
    // The group first, then what is in it.
    'group.created': (state, { group }) => [
      {
        to: everyone(state),
        event: { type: 'user_group', op: 'add', group: present(state, { ...group, subgroups: [] }) },
      },
      ...(group.subgroups.length > 0
        ? announceGroup(state, group.id, presentSubgroups(group.id, group.subgroups))
        : []),
    ],
    'group.edited': (state, { groupId, changes, permissions }) => {
      const values = Object.entries(permissions).map(([name, value]) => [name, presentValue(state, value)] as const)
      return [...Object.entries(changes), ...values].flatMap(([name, value]) =>
        announceGroup(state, groupId, { type: 'user_group', op: 'update', group_id: groupId, data: { [name]: value } }),
      )
    },
    'group.deactivated': (state, { groupId }) => [
      {
        to: everyone(state),
        event: client =>
          client.deactivatedGroups
            ? { type: 'user_group', op: 'update', group_id: groupId, data: { deactivated: true } }
            : { type: 'user_group', op: 'remove', group_id: groupId },
      },
    ],
    'group.reactivated': (state, { groupId }) => [
      {
        to: everyone(state),
        event: client =>
          client.deactivatedGroups
            ? { type: 'user_group', op: 'update', group_id: groupId, data: { deactivated: false } }
            : { type: 'user_group', op: 'add', group: present(state, state.groups.get(groupId)!) },
      },
    ],
    'group.members-added': (state, { groupId, userIds }) => [
      ...announceGroup(state, groupId, { type: 'user_group', op: 'add_members', group_id: groupId, user_ids: userIds }),
      ...sightNews(state, groupId, ({ members }) => ({ members: without(members, userIds) })),
    ],
    'group.members-removed': (state, { groupId, userIds }) => [
      ...announceGroup(state, groupId, {
        type: 'user_group',
        op: 'remove_members',
        group_id: groupId,
        user_ids: userIds,
      }),
      ...sightNews(state, groupId, ({ members }) => ({ members: together(members, userIds) })),
    ],
    'group.subgroups-added': (state, { groupId, subgroupIds }) => [
      ...announceGroup(state, groupId, presentSubgroups(groupId, subgroupIds)),
      ...sightNews(state, groupId, ({ subgroups }) => ({ subgroups: without(subgroups, subgroupIds) })),
    ],
    'group.subgroups-removed': (state, { groupId, subgroupIds }) => [
      ...announceGroup(state, groupId, {
        type: 'user_group',
        op: 'remove_subgroups',
        group_id: groupId,
        direct_subgroup_ids: subgroupIds,
      }),
      ...sightNews(state, groupId, ({ subgroups }) => ({ subgroups: together(subgroups, subgroupIds) })),
    ],
  },

  sections: {
    realm_user_groups: ({ state }, client) => ({
      realm_user_groups: listGroups(state, client.deactivatedGroups),
    }),
  },
})

/** The group as the API shows it. */
export function present(state: State, group: Group) {
  const permissions = Object.fromEntries(
    Object.entries(group.permissions).map(([name, value]) => [name, presentValue(state, value)]),
  ) as Group['permissions']
  return {
    id: group.id,
    name: group.name,
    description: group.description,
    members: directMembers(state, group),
    direct_subgroup_ids: [...group.subgroups],
    is_system_group: group.system,
    creator_id: group.creatorId,
    date_created: group.dateCreated,
    deactivated: group.deactivated,
    ...permissions,
  } as never
}

function listGroups(state: State, deactivatedToo: boolean) {
  return [...state.groups.values()]
    .filter(group => deactivatedToo || !group.deactivated)
    .map(group => present(state, group))
}

function presentSubgroups(groupId: number, subgroupIds: readonly number[]): Event {
  return { type: 'user_group', op: 'add_subgroups', group_id: groupId, direct_subgroup_ids: subgroupIds }
}

/** Clients that hide deactivated groups get no events about one. */
function announceGroup(state: State, groupId: number, event: Event): Announcement[] {
  const hidden = state.groups.get(groupId)!.deactivated
  return [{ to: everyone(state), event: hidden ? onlyWith('deactivatedGroups', event) : event }]
}

/** Who is in a group opens and closes private channels. */
function sightNews(state: State, groupId: number, before: (group: Group) => Partial<Group>): Announcement[] {
  const group = state.groups.get(groupId)!
  return visibilityNews(state, { groups: [{ ...group, ...before(group) }] }, { groups: [group] })
}

function allMembers(state: State, group: Group): number[] {
  const isMember = memberCheck(state, [group.id])
  const members: number[] = []
  for (const user of state.users.values()) if (!user.bot?.system && isMember(user)) members.push(user.id)
  return members.sort((a, b) => a - b)
}

function readable(ctx: Context, id: number): Group {
  const group = knownGroup(ctx, id)
  if (group.deactivated) throw conflict('user_group_id', `user group ${id} is deactivated`)
  return group
}
