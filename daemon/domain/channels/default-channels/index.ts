// Default channels: what new accounts join, and groups of channels they are offered.

import { defaultChannels as api } from '../../../api/channels/default-channels.ts'
import type { Fact } from '../../facts.ts'
import { limits } from '../../limits.ts'
import type { DefaultChannelFact } from '../../model/facts/channels.ts'
import { channelByName } from '../../model/lookups.ts'
import type { Channel, DefaultChannelGroup } from '../../model/state.ts'
import { conflict, full, inQuotes, invalid, missing, neededOneOf, taken } from '../../refusal.ts'
import { type Context, resource } from '../../resource.ts'
import { liveChannelFor } from '../../rules/channel-access.ts'
import * as may from '../../rules/index.ts'
import { checkDescription, checkName } from '../channels/checks.ts'
import { settingsFact } from '../channels/update.ts'
import { groupsAnnouncement, presentDefaultGroups, presentDefaults } from './present.ts'

export const defaultChannels = resource(api)<DefaultChannelFact>({
  commands: {
    add(ctx, { stream_id }) {
      may.insist(may.administer, ctx)
      const channel = liveChannelFor(ctx, stream_id, may.seeContent)
      if (channel.inviteOnly) throw invalid('stream_id', 'a private channel cannot be a default channel')
      return { facts: defaultFacts(ctx, channel, true), reply: {} }
    },

    remove(ctx, { stream_id }) {
      may.insist(may.administer, ctx)
      return { facts: defaultFacts(ctx, liveChannelFor(ctx, stream_id, may.seeMetadata), false), reply: {} }
    },

    createGroup(ctx, { group_name, description, stream_names }) {
      may.insist(may.administer, ctx)
      if (ctx.state.defaultChannelGroups.size >= limits.defaultChannelGroups)
        throw full('The organization', limits.defaultChannelGroups, 'default channel groups')
      const group = {
        id: ctx.state.defaultChannelGroups.nextId,
        name: checkGroupName(ctx, 'group_name', group_name),
        description: checkDescription('description', description),
        channelIds: findChannels(ctx, stream_names).map(channel => checkOffered(channel).id),
      }
      return { facts: [{ type: 'default-channel-group.set', group }], reply: {} }
    },

    editGroup(ctx, { group_id, new_group_name, new_description }) {
      may.insist(may.administer, ctx)
      const old = findGroup(ctx, group_id)
      if (!new_group_name && !new_description) throw neededOneOf('new_group_name', 'new_description')
      const group = {
        ...old,
        name: new_group_name === undefined ? old.name : checkGroupName(ctx, 'new_group_name', new_group_name, old),
        description:
          new_description === undefined ? old.description : checkDescription('new_description', new_description),
      }
      return { facts: [{ type: 'default-channel-group.set', group }], reply: {} }
    },

    changeGroup(ctx, { group_id, op, stream_names }) {
      may.insist(may.administer, ctx)
      const old = findGroup(ctx, group_id)
      const channels = findChannels(ctx, stream_names)
      for (const channel of channels)
        if (old.channelIds.includes(channel.id) === (op === 'add'))
          throw conflict(
            'stream_names',
            `${inQuotes(channel.name)} is ${op === 'add' ? 'already' : 'not'} in the group`,
          )
      const ids = channels.map(channel => (op === 'add' ? checkOffered(channel).id : channel.id))
      const channelIds = op === 'add' ? [...old.channelIds, ...ids] : old.channelIds.filter(id => !ids.includes(id))
      return { facts: [{ type: 'default-channel-group.set', group: { ...old, channelIds } }], reply: {} }
    },

    deleteGroup(ctx, { group_id }) {
      may.insist(may.administer, ctx)
      const { id } = findGroup(ctx, group_id)
      return { facts: [{ type: 'default-channel-group.deleted', id }], reply: {} }
    },
  },

  apply: {
    'default-channel-group.set': (state, { group }) => state.defaultChannelGroups.put(group),
    'default-channel-group.deleted': (state, { id }) => state.defaultChannelGroups.remove(id),
  },

  announce: {
    'default-channel-group.set': state => [groupsAnnouncement(state)],
    'default-channel-group.deleted': state => [groupsAnnouncement(state)],
  },

  sections: {
    default_streams: ({ state, actor }) => ({
      realm_default_streams: presentDefaults(state, actor),
    }),
    default_stream_groups: ({ state, actor }) => ({
      realm_default_stream_groups: presentDefaultGroups(state, actor),
    }),
  },
})

function defaultFacts(ctx: Context, channel: Channel, isDefault: boolean): Fact[] {
  return channel.isDefault === isDefault ? [] : [settingsFact(ctx.state, channel, { isDefault })]
}

function findGroup(ctx: Context, id: number): DefaultChannelGroup {
  const group = ctx.state.defaultChannelGroups.get(id)
  if (!group) throw missing('group_id', 'default channel group', id)
  return group
}

function checkGroupName(ctx: Context, parameter: string, name: string, self?: DefaultChannelGroup): string {
  const checked = checkName(parameter, name)
  if (checked === self?.name) throw conflict(parameter, 'the group already has this name')
  for (const group of ctx.state.defaultChannelGroups.values())
    if (group.name === checked) throw taken(parameter, checked)
  return checked
}

function findChannels(ctx: Context, names: readonly string[]): Channel[] {
  const channels = names.map(name => {
    const channel = channelByName(ctx.state, name)
    if (!channel || channel.archived || !may.seeMetadata.allows(ctx, channel))
      throw missing('stream_names', 'channel', name)
    return channel
  })
  return [...new Set(channels)]
}

/** Everyone who is not a guest gets the groups, so no private channel may be in one. */
function checkOffered(channel: Channel): Channel {
  if (channel.isDefault) throw conflict('stream_names', `${inQuotes(channel.name)} is already a default channel`)
  // OPEN: the API does not say it, but what new accounts are offered must be theirs to join.
  if (channel.inviteOnly) throw invalid('stream_names', `${inQuotes(channel.name)} is private`)
  return channel
}
