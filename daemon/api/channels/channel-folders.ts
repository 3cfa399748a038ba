// Channel folders: how the organization groups its channels for everyone.

import {
  bool,
  defaulted,
  endpoint,
  folderId,
  inPath,
  int,
  listOf,
  nullable,
  optional,
  record,
  required,
  text,
  timestamp,
} from '../define.ts'

const channelFolder = record({
  id: int,
  name: text,
  description: text,
  rendered_description: text,
  order: int,
  date_created: timestamp,
  creator_id: nullable(int),
  is_archived: bool,
})

export const channelFolders = {
  list: endpoint({
    id: 'get-channel-folders',
    route: 'GET /channel_folders',
    since: 389,
    summary: 'List channel folders, in order',
    params: { include_archived: defaulted(bool, false, 'include archived folders') },
    reply: { channel_folders: listOf(channelFolder) },
    cli: {
      name: 'folders list',
      examples: ['natter folders list', 'natter folders list --include-archived --json'],
      columns: ['id', 'name', 'description', 'is_archived'],
    },
  }),
  create: endpoint({
    id: 'create-channel-folder',
    route: 'POST /channel_folders/create',
    callers: 'administrators',
    since: 389,
    summary: 'Create a channel folder (administrators)',
    params: {
      name: required(text, 'the name, at most 60 characters'),
      // OPEN: the specification contradicts itself on whether this is required; it is optional.
      description: defaulted(text, '', 'the description, in Markdown, at most 1024 characters'),
    },
    reply: { channel_folder_id: int },
    cli: {
      name: 'folders create',
      done: 'created channel folder {name} (ID {channel_folder_id})',
      args: ['name', 'description'],
      examples: ['natter folders create Teams "One channel each"', 'natter folders create Sales --json'],
      shows: 'channel_folder_id',
    },
  }),
  reorder: endpoint({
    id: 'patch-channel-folders',
    route: 'PATCH /channel_folders',
    callers: 'administrators',
    since: 414,
    summary: 'Reorder channel folders (administrators)',
    params: { order: required(listOf(folderId), 'IDs of all folders, including archived ones, in the new order') },
    cli: {
      name: 'folders reorder',
      done: 'reordered the channel folders',
      examples: ['natter folders reorder 2 1', 'natter folders reorder "[2,1]"'],
    },
  }),
  edit: endpoint({
    id: 'update-channel-folder',
    route: 'PATCH /channel_folders/{channel_folder_id}',
    callers: 'administrators',
    since: 389,
    summary: 'Rename, describe, archive or unarchive a channel folder (administrators)',
    params: {
      channel_folder_id: inPath(folderId, 'the folder'),
      name: optional(text, 'the new name, at most 60 characters'),
      description: optional(text, 'the new description, in Markdown'),
      is_archived: optional(bool, 'archive or unarchive; only a folder without channels can be archived'),
    },
    cli: {
      name: 'folders edit',
      done: 'edited channel folder {channel_folder_id}',
      examples: ['natter folders edit 1 --name Departments', 'natter folders edit 1 --is-archived'],
    },
  }),
}
