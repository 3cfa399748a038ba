// Settings whose value is a group of users: which system groups each of them takes, in the organization, in a channel and in a group.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Caller, sharedDaemon } from '../support/daemon.ts'
import { ask, ok } from './support/cases.ts'

const systemGroups = [
  'nobody',
  'owners',
  'administrators',
  'moderators',
  'fullmembers',
  'members',
  'everyone',
  'internet',
]

/** System groups that a setting refuses → the settings. */
const ofOrganization: Readonly<Record<string, string>> = {
  'everyone internet': `create_multiuse_invite_group can_add_subscribers_group can_add_custom_emoji_group can_create_bots_group
    can_create_groups can_create_public_channel_group can_create_private_channel_group can_create_write_only_bots_group
    can_delete_any_message_group can_invite_users_group can_move_messages_between_channels_group
    can_set_delete_message_policy_group`,
  'nobody everyone internet': 'can_manage_all_groups can_manage_billing_group',
  internet: `can_delete_own_message_group can_mention_many_users_group can_move_messages_between_topics_group
    can_resolve_topics_group can_set_topics_policy_group can_summarize_topics_group direct_message_initiator_group
    direct_message_permission_group`,
  'fullmembers members everyone internet': 'can_create_web_public_channel_group',
  'nobody owners administrators moderators fullmembers internet': 'can_access_all_users_group',
}
const ofChannels: Readonly<Record<string, string>> = {
  'everyone internet': 'can_add_subscribers_group can_administer_channel_group can_subscribe_group',
  internet: `can_delete_any_message_group can_delete_own_message_group can_move_messages_out_of_channel_group
    can_move_messages_within_channel_group can_remove_subscribers_group can_send_message_group can_resolve_topics_group`,
}
const ofGroups: Readonly<Record<string, string>> = {
  'everyone internet': 'can_add_members_group can_join_group can_manage_group can_remove_members_group',
  internet: 'can_leave_group',
  // The specification refuses owners here; the public server takes them.
  'owners internet': 'can_mention_group',
}

let owner: Caller
const ids = new Map<string, number>()
let channel = 0
let group = 0

describe('settings whose value is a group', () => {
  sharedDaemon({ flags: ['--memory'] }, async daemon => {
    owner = daemon.owner
    for (const { name, id } of (await ok(owner, 'GET /user_groups')).user_groups) ids.set(name, id)
    channel = (await ok(owner, 'POST /channels/create', { name: 'place', subscribers: [owner.id] })).id
    group = (await ok(owner, 'POST /user_groups/create', { name: 'team', description: '', members: [owner.id] }))
      .group_id
  })
  describe('PATCH /realm', () => each(ofOrganization, () => '/realm'))
  describe('PATCH /streams/{stream_id}', () => each(ofChannels, () => `/streams/${channel}`))
  describe('PATCH /user_groups/{user_group_id}', () => each(ofGroups, () => `/user_groups/${group}`))
  describe('what is registered', defaults)
})

function each(table: Readonly<Record<string, string>>, path: () => string): void {
  for (const [refused, names] of Object.entries(table))
    for (const name of names.split(/\s+/))
      for (const system of systemGroups)
        test(`${name} ${refused.split(' ').includes(system) ? 'refuses' : 'takes'} role:${system}`, async () => {
          const { status, body } = await ask(owner, `PATCH ${path()}`, { [name]: { new: ids.get(`role:${system}`) } })
          assert.equal(status, refused.split(' ').includes(system) ? 400 : 200, JSON.stringify(body))
        })
}

function defaults(): void {
  for (const [kind, table, count] of [
    ['realm', ofOrganization, 24],
    ['stream', ofChannels, 10],
    ['group', ofGroups, 6],
  ] as const)
    test(`server_supported_permission_settings has the ${count} settings of a ${kind}`, async () => {
      const { server_supported_permission_settings: supported } = await ok(owner, 'POST /register', {
        fetch_event_types: ['realm'],
      })
      const names = Object.values(table).flatMap(list => list.split(/\s+/))
      assert.deepEqual(Object.keys(supported[kind]).sort(), names.sort())
      assert.equal(names.length, count)
    })
}
