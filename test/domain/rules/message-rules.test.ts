// The rules about messages and about groups that messages need, asked without a daemon.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { roles } from '../../../daemon/domain/model/roles.ts'
import type { Channel, Group, User } from '../../../daemon/domain/model/state.ts'
import { liveChannelFor } from '../../../daemon/domain/rules/channel-access.ts'
import * as may from '../../../daemon/domain/rules/index.ts'
import { isWebPublic } from '../../../daemon/domain/rules/messages.ts'
import { channelRow } from '../../support/channel-row.ts'
import { World } from '../../support/in-process.ts'

/** A world with permissions of the organization that can be narrowed to owners. */
function newWorld() {
  const world = new World()
  const { state } = world
  const group = (name: string) => state.groups.find('name', name)!.id
  const permit = (permissions: Record<string, number>) => {
    const { organization } = state
    state.organization = { ...organization, permissions: { ...organization.permissions, ...permissions } }
  }
  return { world, state, group, permit }
}

const bot = { bot: { type: 1, ownerId: 1, system: false } } as const

describe('direct messages', () => {
  const { world, state, group, permit } = newWorld()
  const [amy, bob] = [world.join(roles.member), world.join(roles.member)]
  const robot = world.join(roles.member, bot)
  const asks = (actor: User) => ({ state, actor })

  test('need a person of the conversation in direct_message_permission_group', () => {
    permit({ direct_message_permission_group: group('role:owners') })
    assert.equal(may.writeDirectly.allows(asks(amy), [bob]), false)
    assert.equal(may.writeDirectly.allows(asks(amy), [bob, world.owner]), true)
    assert.equal(may.writeDirectly.allows(asks(world.owner), [bob, amy]), true)
  })

  test('are always open to bots, and to users who write to no one but bots', () => {
    assert.equal(may.writeDirectly.allows(asks(robot), [amy]), true)
    assert.equal(may.writeDirectly.allows(asks(amy), [robot]), true)
    assert.equal(may.writeDirectly.allows(asks(amy), [robot, bob]), false)
  })

  test('are started by members of direct_message_initiator_group, and by bots', () => {
    permit({ direct_message_initiator_group: group('role:owners') })
    assert.equal(may.beginConversation.allows(asks(amy), [bob]), false)
    assert.equal(may.beginConversation.allows(asks(world.owner), [bob]), true)
    assert.equal(may.beginConversation.allows(asks(robot), [bob]), true)
    assert.equal(may.beginConversation.allows(asks(amy), [robot]), true)
  })
})

describe('messages of a channel', () => {
  const { world, state, group, permit } = newWorld()
  const amy = world.join(roles.member)
  const asks = { state, actor: amy }
  const nobody = { can_move_messages_between_topics_group: group('role:nobody') }

  test('are moved to another topic by members of the channel’s group, and by no one else', () => {
    permit(nobody)
    const closed = channelRow(state, 50)
    const permissions = { ...closed.permissions, can_move_messages_within_channel_group: group('role:members') }
    assert.equal(may.moveWithinChannel.allows(asks, closed), false)
    assert.equal(may.moveWithinChannel.allows(asks, { ...closed, permissions }), true)
  })

  test('have a history for all readers if it is public, or if the channel is not private', () => {
    const shared = (historyPublic: boolean, inviteOnly: boolean) =>
      may.hasSharedHistory({ historyPublic, inviteOnly } as Channel)
    assert.deepEqual(
      [shared(true, true), shared(true, false), shared(false, false), shared(false, true)],
      [true, true, true, false],
    )
  })

  test('are posted by bots of the system anywhere, and by other bots where their owner may', () => {
    const secret = channelRow(state, 51, { inviteOnly: true, historyPublic: false })
    const post = (more: Partial<User>) => may.post.allows({ state, actor: { ...amy, ...more } }, secret)
    const owned = (ownerId: number | null, system: boolean) => post({ bot: { type: 1, ownerId, system } })
    assert.equal(owned(null, true), true)
    assert.equal(owned(null, false), false)
    assert.equal(owned(9_999, false), false)
    assert.equal(post({}), false)
  })
})

describe('a channel by its ID', () => {
  const { world, state } = newWorld()
  const asks = { state, actor: world.owner }
  for (const channel of [channelRow(state, 60), channelRow(state, 61, { archived: true })]) state.channels.put(channel)

  test('is the channel, unless it is archived, hidden or unknown; the refusal names the parameter', () => {
    assert.equal(liveChannelFor(asks, 60, may.seeContent).id, 60)
    const missing = (id: number, parameter: string) => ({
      kind: 'not-found',
      parameter,
      absent: { what: 'channel', id },
    })
    assert.throws(() => liveChannelFor(asks, 61, may.seeContent), missing(61, 'stream_id'))
    assert.throws(() => liveChannelFor(asks, 62, may.seeContent, 'to'), missing(62, 'to'))
    const never = { law: '', refusal: '', allows: () => false }
    assert.throws(() => liveChannelFor(asks, 60, never), missing(60, 'stream_id'))
  })
})

describe('an upload', () => {
  const { world, state } = newWorld()
  const amy = world.join(roles.member)
  const channel = (id: number, more: Partial<Channel>) => state.channels.put(channelRow(state, id, more))
  channel(80, { webPublic: true })
  channel(81, {})
  const say = (to: number) => world.run(world.owner, 'send-message', { type: 'stream', to, topic: 'x', content: 'x' })
  const [onWeb, inside] = [80, 81].map(to => ({ id: say(to).id as number, time: 0 }))
  const spectators = (enable_spectator_access: boolean) => {
    const { organization } = state
    state.organization = { ...organization, settings: { ...organization.settings, enable_spectator_access } }
  }

  test('is seen by users who uploaded it and users who may read a message that links to it', () => {
    const sees = (userId: number, messages: readonly { id: number; time: number }[]) =>
      may.seeUpload.allows({ state, actor: amy }, { userId, messages } as never)
    assert.equal(sees(amy.id, []), true)
    assert.equal(sees(world.owner.id, []), false)
    assert.equal(sees(world.owner.id, [inside!]), true)
  })

  test('is on the web while spectators are let in and a message of an open, web-public channel links to it', () => {
    const shown = (...messages: object[]) => isWebPublic(state, { messages } as never)
    spectators(true)
    assert.equal(shown(inside!, onWeb!), true)
    assert.equal(shown(inside!), false)
    assert.equal(shown(), false)
    spectators(false)
    assert.equal(shown(onWeb!), false)
    spectators(true)
    channel(80, { webPublic: true, archived: true })
    assert.equal(shown(onWeb!), false)
  })
})

describe('groups', () => {
  const { world, state, group, permit } = newWorld()
  const amy = world.join(roles.member)
  const nobody = group('role:nobody')
  permit({ can_manage_all_groups: nobody })
  const template = state.groups.find('name', 'role:members')!
  const closed = Object.fromEntries(Object.keys(template.permissions).map(name => [name, nobody]))
  const own = (permissions: Record<string, number>): Group =>
    ({ ...template, id: 900, system: false, permissions: { ...closed, ...permissions } }) as Group
  const open = group('role:members')

  for (const [name, rule, permission] of [
    ['addToGroup', may.addToGroup, 'can_add_members_group'],
    ['joinGroup', may.joinGroup, 'can_join_group'],
    ['removeFromGroup', may.removeFromGroup, 'can_remove_members_group'],
    ['leaveGroup', may.leaveGroup, 'can_leave_group'],
  ] as const)
    test(`${name}: ${permission} alone is enough for people, not for bots, and never for a system group`, () => {
      const allows = (actor: User, group: Group) => rule.allows({ state, actor }, group)
      assert.equal(allows(amy, own({ [permission]: open })), true)
      assert.equal(allows(amy, own({})), false)
      assert.equal(allows({ ...amy, ...bot }, own({ [permission]: open })), false)
      assert.equal(allows(amy, { ...own({ [permission]: open }), system: true }), false)
    })
})
