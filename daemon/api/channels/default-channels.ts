// Default channels: those new accounts are subscribed to, and groups of channels offered to new accounts.

import { channelId, channelName, endpoint, inPath, int, listOf, oneOf, optional, required, text } from '../define.ts'

const group = inPath(int, 'the group of channels')
const names = required(listOf(channelName), 'channel names')

export const defaultChannels = {
  add: endpoint({
    id: 'add-default-stream',
    route: 'POST /default_streams',
    callers: 'administrators',
    summary: 'Subscribe new accounts to a channel (administrators)',
    params: { stream_id: required(channelId, 'the channel') },
    cli: {
      name: 'default-channels add',
      done: 'new accounts will be subscribed to {stream_id}',
      examples: ['natter default-channels add general', 'natter default-channels add id:3'],
    },
  }),
  remove: endpoint({
    id: 'remove-default-stream',
    route: 'DELETE /default_streams',
    callers: 'administrators',
    summary: 'Stop subscribing new accounts to a channel (administrators)',
    params: { stream_id: required(channelId, 'the channel') },
    cli: {
      name: 'default-channels remove',
      done: 'new accounts will no longer be subscribed to {stream_id}',
      examples: ['natter default-channels remove general', 'natter default-channels remove id:3'],
    },
  }),
  createGroup: endpoint({
    id: 'create-default-stream-group',
    route: 'POST /default_stream_groups/create',
    callers: 'administrators',
    summary: 'Create a group of channels that new accounts can join (administrators)',
    params: {
      group_name: required(text, 'the name, at most 60 characters'),
      description: required(text, 'the description, at most 1024 characters'),
      stream_names: names,
    },
    cli: {
      name: 'default-channels groups create',
      done: 'created group {group_name}',
      args: ['group_name'],
      examples: [
        'natter default-channels groups create sports --description Games --stream-names random,engineering',
        'natter default-channels groups create empty --description "Nothing yet" --stream-names "[]"',
      ],
    },
  }),
  editGroup: endpoint({
    id: 'update-default-stream-group-info',
    route: 'PATCH /default_stream_groups/{group_id}',
    callers: 'administrators',
    summary: 'Rename or describe a group of channels for new accounts (administrators)',
    params: {
      group_id: group,
      new_group_name: optional(text, 'the new name, at most 60 characters'),
      new_description: optional(text, 'the new description, at most 1024 characters'),
    },
    cli: {
      name: 'default-channels groups edit',
      done: 'edited group {group_id}',
      examples: [
        'natter default-channels groups edit 1 --new-group-name starters',
        'natter default-channels groups edit 1 --new-description "For the first week"',
      ],
    },
  }),
  changeGroup: endpoint({
    id: 'update-default-stream-group-streams',
    route: 'PATCH /default_stream_groups/{group_id}/streams',
    callers: 'administrators',
    summary: 'Add channels to a group for new accounts, or remove them (administrators)',
    params: { group_id: group, op: required(oneOf('add', 'remove'), 'add or remove'), stream_names: names },
    cli: {
      name: 'default-channels groups channels',
      done: 'changed the channels of group {group_id}',
      examples: [
        'natter default-channels groups channels 1 add announcements',
        'natter default-channels groups channels 1 remove random',
      ],
    },
  }),
  deleteGroup: endpoint({
    id: 'delete-default-stream-group',
    route: 'DELETE /default_stream_groups/{group_id}',
    callers: 'administrators',
    summary: 'Delete a group of channels for new accounts, but not its channels (administrators)',
    params: { group_id: group },
    cli: {
      name: 'default-channels groups delete',
      done: 'deleted group {group_id}',
      examples: ['natter default-channels groups delete 1', 'natter default-channels groups delete 1 --json'],
    },
  }),
}
