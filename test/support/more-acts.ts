// Further things that people do in random histories: personal records, presence, and what the figures of a client follow.

import type { Act } from './act.ts'

const later = 4_000_000_000
const pick = <T>(list: readonly T[], index: number): T => list[index % list.length]!

export const moreActs: readonly Act[] = [
  (_scene, { a, yes }) => ['update-presence', { status: yes ? 'active' : 'idle', new_user_input: a % 2 === 0 }],
  (scene, { a, b }) => [
    'create-scheduled-message',
    { type: 'direct', to: [pick(scene.people, a).id], content: 'later', scheduled_delivery_timestamp: later + b },
  ],
  (scene, { a, b }) => [
    'create-scheduled-message',
    {
      type: 'channel',
      to: pick(scene.channels, a),
      topic: pick(['', 'beans'], b),
      content: 'later',
      scheduled_delivery_timestamp: later - b,
    },
  ],
  (_scene, { a, b, yes }) => [
    yes ? 'update-scheduled-message' : 'delete-scheduled-message',
    { scheduled_message_id: a % 4, ...(yes && { content: `${b}` }) },
  ],
  (scene, { a, b }) => [
    'create-message-reminder',
    { message_id: Math.max(1, scene.world.state.messages.lastId - a), scheduled_delivery_timestamp: later + b },
  ],
  (_scene, { a }) => ['delete-reminder', { reminder_id: a % 4 }],
  (scene, { a, yes }) => [
    'create-default-stream-group',
    { group_name: `kit ${a}`, description: 'd', stream_names: yes ? [nameOf(scene, a)] : [] },
  ],
  (scene, { a, b, yes }) => [
    'update-default-stream-group-streams',
    { group_id: 1 + (a % 2), op: yes ? 'add' : 'remove', stream_names: [nameOf(scene, b)] },
  ],
  (_scene, { a }) => ['delete-default-stream-group', { group_id: 1 + (a % 2) }],
  (scene, { a }) => [
    'delete-topic',
    { stream_id: pick(scene.channels, a), topic_name: pick(['', 'beans', 'peas'], a) },
  ],
  (scene, { a, b, yes }) => [
    'update-realm',
    {
      [pick(['can_create_public_channel_group', 'can_create_private_channel_group', 'can_invite_users_group'], a)]: {
        new: yes
          ? { direct_members: [pick(scene.people, b).id], direct_subgroups: [pick(scene.groups, b)] }
          : members(scene),
      },
    },
  ],
  (scene, { a }) => [
    'remove-reaction',
    { message_id: Math.max(1, scene.world.state.messages.lastId - a), emoji_name: 'tada' },
  ],
  (_scene, { a, b }) => ['update-custom-profile-field', { field_id: 1, name: `Phone ${a}`, hint: `${b}` }],
  (_scene, { yes }) => ['update-settings', { wildcard_mentions_notify: yes }],
  (scene, { a, b }) => [
    'set-typing-status',
    { op: 'start', type: 'stream', stream_id: pick(scene.channels, a), topic: pick(['', 'x'], b) },
  ],
]

function nameOf({ world, channels }: Parameters<Act>[0], index: number): string {
  return world.state.channels.get(pick(channels, index))!.name
}

function members({ world }: Parameters<Act>[0]): number {
  return world.state.groups.find('name', 'role:members')!.id
}
