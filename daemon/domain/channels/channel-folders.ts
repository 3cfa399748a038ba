// Channel folders: how the organization groups its channels, the same for everyone.

import { channelFolders as api } from '../../api/channels/channel-folders.ts'
import type { Level } from '../../api/levels/level.ts'
import { limits } from '../limits.ts'
import { renderDescription } from '../markdown/index.ts'
import type { ChannelFolderFact } from '../model/facts/channels.ts'
import type { ChannelFolder, State } from '../model/state.ts'
import { conflict, full, invalid, missing, taken } from '../refusal.ts'
import { type Context, resource } from '../resource.ts'
import { everyone } from '../rules/audiences.ts'
import * as may from '../rules/index.ts'
import { seconds } from '../values/time.ts'
import { checkDescription, checkDescriptionRoom, checkName } from './channels/checks.ts'

export const channelFolders = resource(api)<ChannelFolderFact>({
  commands: {
    list: (ctx, { include_archived }) => ({ reply: { channel_folders: present(ctx, include_archived) } }),

    create(ctx, { name, description }) {
      may.insist(may.administer, ctx)
      if (ctx.state.channelFolders.size >= limits.channelFolders)
        throw full('The organization', limits.channelFolders, 'channel folders', 'Archived ones count.')
      const id = ctx.state.channelFolders.nextId
      const folder: ChannelFolder = {
        id,
        name: checkFolderName(ctx, name),
        description: checkFolderDescription(ctx, description),
        order: id,
        creatorId: ctx.actor.id,
        dateCreated: seconds(ctx.now),
        archived: false,
      }
      return { facts: [{ type: 'channel-folder.created', folder }], reply: { channel_folder_id: id } }
    },

    reorder(ctx, { order }) {
      may.insist(may.administer, ctx)
      const given = new Set(order)
      for (const { id } of ctx.state.channelFolders.values())
        if (!given.has(id)) throw invalid('order', `must list the ID of every channel folder, including ${id}`)
      return { facts: [{ type: 'channel-folder.reordered', order }], reply: {} }
    },

    edit(ctx, { channel_folder_id: id, name, description, is_archived }) {
      may.insist(may.administer, ctx)
      const old = ctx.state.channelFolders.get(id)
      if (!old) throw missing('channel_folder_id', 'channel folder', id)
      const archived = is_archived ?? old.archived
      if (archived && !old.archived && ctx.state.channels.where('folder', id).length > 0)
        throw conflict('is_archived', 'the folder still contains channels')
      const next = {
        name: name === undefined ? old.name : checkFolderName(ctx, name, old),
        description: description === undefined ? old.description : checkFolderDescription(ctx, description, old),
        archived,
      }
      if (old.archived && !archived && name === undefined) checkFolderName(ctx, old.name, old)
      const set = Object.fromEntries(
        Object.entries(next).filter(([key, value]) => old[key as keyof typeof next] !== value),
      )
      return { facts: Object.keys(set).length > 0 ? [{ type: 'channel-folder.edited', id, set }] : [], reply: {} }
    },
  },

  apply: {
    'channel-folder.created': (state, { folder }) => state.channelFolders.put(folder),
    'channel-folder.edited': (state, { id, set }) =>
      state.channelFolders.put({ ...state.channelFolders.get(id)!, ...set }),
    'channel-folder.reordered'(state, { order }) {
      // Of an ID that is listed twice the last place counts; unknown IDs count as places.
      for (const [index, id] of order.entries()) {
        const folder = state.channelFolders.get(id)
        if (folder) state.channelFolders.put({ ...folder, order: index })
      }
    },
  },

  announce: {
    'channel-folder.created': (state, { folder }) => [
      {
        to: everyone(state),
        event: ({ level }) => ({ type: 'channel_folder', op: 'add', channel_folder: presentOne(state, level, folder) }),
      },
    ],
    'channel-folder.edited'(state, { id, set }) {
      const folder = state.channelFolders.get(id)!
      return Object.entries(set).map(([key, value]) => ({
        to: everyone(state),
        event: ({ level }) => ({
          type: 'channel_folder',
          op: 'update',
          channel_folder_id: id,
          data:
            key === 'archived'
              ? { is_archived: value }
              : key === 'name'
                ? { name: value }
                : {
                    description: value,
                    rendered_description: renderDescription(state, folder, folder.description, level),
                  },
        }),
      }))
    },
    'channel-folder.reordered': (state, { order }) => [
      { to: everyone(state), event: { type: 'channel_folder', op: 'reorder', order } },
    ],
  },

  sections: { channel_folders: ctx => ({ channel_folders: present(ctx, true) }) },
})

function present({ state, server }: Context, withArchived: boolean) {
  return [...state.channelFolders.values()]
    .filter(folder => withArchived || !folder.archived)
    .sort((a, b) => a.order - b.order || a.id - b.id)
    .map(folder => presentOne(state, server.level, folder))
}

function presentOne(state: State, level: Level, folder: ChannelFolder) {
  const { id, name, description, order, creatorId, dateCreated, archived } = folder
  return {
    id,
    name,
    description,
    rendered_description: renderDescription(state, folder, description, level),
    order,
    date_created: dateCreated,
    creator_id: creatorId,
    is_archived: archived,
  }
}

/** Unique among folders that are not archived, whatever the case. */
function checkFolderName(ctx: Context, name: string, self?: ChannelFolder): string {
  const checked = checkName('name', name, limits.folderName)
  for (const folder of ctx.state.channelFolders.values())
    if (folder.id !== self?.id && !folder.archived && folder.name.toLowerCase() === checked.toLowerCase())
      throw taken('name', checked)
  return checked
}

function checkFolderDescription(ctx: Context, description: string, self?: ChannelFolder): string {
  const checked = checkDescription('description', description)
  checkDescriptionRoom(ctx, 'description', [checked], self?.description)
  return checked
}
