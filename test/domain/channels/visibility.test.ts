// Whatever happens to channels, roles and groups: no user hears of or reads a channel they have no access to, and a
// client that listens knows what a client that asks again would be told.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { Capability } from '../../../daemon/api/capabilities.ts'
import { visibilityFacts } from '../../../daemon/domain/channels/channels/visibility.ts'
import { roles } from '../../../daemon/domain/model/roles.ts'
import type { Channel, Group, User } from '../../../daemon/domain/model/state.ts'
import { seeContent, seeMetadata } from '../../../daemon/domain/rules/index.ts'
import { cases } from '../../support/cases.ts'
import { ChannelClient, World } from '../../support/in-process.ts'

const permissionNames = [
  'can_add_subscribers_group',
  'can_subscribe_group',
  'can_administer_channel_group',
  'can_send_message_group',
]
const roleList = [roles.owner, roles.administrator, roles.moderator, roles.member, roles.guest]

/** One action of a user; numbers are taken modulo what there is. */
const step = fc.record({
  what: fc.constantFrom(
    ...(['subscribe', 'subscribe', 'leave', 'create', 'privacy', 'permission', 'permission', 'rename'] as const),
    ...(['archive', 'unarchive', 'role', 'member', 'member', 'subgroup', 'default', 'property'] as const),
  ),
  actor: fc.nat(6),
  channel: fc.nat(5),
  people: fc.uniqueArray(fc.nat(6), { minLength: 1, maxLength: 4 }),
  number: fc.nat(9),
  flags: fc.tuple(fc.boolean(), fc.boolean(), fc.boolean()),
})
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

describe('channel visibility', () => {
  test('no one hears of a channel they have no access to, and events keep a client up to date', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), steps => play(steps)),
      { numRuns: cases(20), includeErrorInReport: true },
    )
  })
})

function play(steps: readonly Step[]): void {
  const stage = new Stage()
  for (const one of steps) {
    stage.act(one)
    stage.check(one)
  }
}

class Stage {
  readonly world = new World()
  readonly people: number[]
  readonly groups: number[]
  readonly clients: ChannelClient[] = []
  #told: { userId: number; event: Record<string, any> }[] = []

  constructor() {
    const { world } = this
    this.people = [
      world.owner,
      world.join(roles.administrator),
      world.join(roles.moderator),
      world.join(roles.member),
      world.join(roles.member, { fullMember: false }),
      world.join(roles.guest),
      world.join(roles.guest),
    ].map(user => user.id)
    world.state.organization = {
      ...world.state.organization,
      settings: { ...world.state.organization.settings, enable_spectator_access: true },
    }
    this.groups = [0, 1, 2].map(() => this.#newGroup())
    world.run(world.owner, 'subscribe', { subscriptions: ['public one'] })
    world.run(world.owner, 'subscribe', { subscriptions: ['private one'], invite_only: true })
    for (const id of this.people)
      for (const capabilities of [[], ['archived_channels', 'notification_settings_null']] satisfies Capability[][])
        this.clients.push(new ChannelClient(world, world.user(id), capabilities))
    world.onNews = (userId, announcement) => {
      for (const client of this.clients)
        if (client.userId === userId) for (const event of client.hear(announcement)) this.#told.push({ userId, event })
    }
  }

  act({ what, actor, channel, people, number, flags }: Step): void {
    const { world } = this
    const user = world.user(this.people[actor]!)
    const target = [...world.state.channels.values()][channel % world.state.channels.size]!
    const principals = people.map(index => this.people[index]!)
    const name = `channel ${number}`
    const patch = (params: Record<string, unknown>) =>
      world.refusal(user, 'update-stream', { stream_id: target.id, ...params })
    this.#told = []
    switch (what) {
      case 'create':
        world.refusal(user, 'create-channel', {
          name,
          subscribers: principals,
          invite_only: flags[0],
          is_web_public: flags[1] && !flags[0],
          history_public_to_subscribers: flags[2],
          is_default_stream: flags[1] && flags[2],
        })
        break
      case 'subscribe':
        world.refusal(user, 'subscribe', {
          subscriptions: flags[0] ? [target.name, name] : [target.name],
          ...(flags[1] && { principals }),
          invite_only: flags[2],
        })
        break
      case 'leave':
        world.refusal(user, 'unsubscribe', { subscriptions: [target.name], ...(flags[1] && { principals }) })
        break
      case 'privacy':
        patch({ is_private: flags[0], is_web_public: flags[1] && !flags[0], history_public_to_subscribers: true })
        break
      case 'permission':
        patch({ [permissionNames[number % permissionNames.length]!]: { new: this.#value(number, principals, flags) } })
        break
      case 'rename':
        patch({ new_name: `renamed ${number}`, description: name, is_private: flags[0] })
        break
      case 'archive':
        world.refusal(user, 'archive-stream', { stream_id: target.id })
        break
      case 'unarchive':
        patch({ is_archived: false, ...(flags[0] && { description: name }) })
        break
      case 'default':
        world.refusal(user, flags[0] ? 'add-default-stream' : 'remove-default-stream', { stream_id: target.id })
        break
      case 'property':
        world.refusal(user, 'update-subscription-property', {
          stream_id: target.id,
          property: flags[0] ? 'is_muted' : 'pin_to_top',
          value: flags[1],
        })
        break
      case 'role':
        // The founder stays what they are.
        if (actor > 0) this.#change({ users: [{ ...user, role: roleList[number % 5]!, fullMember: flags[0] }] })
        break
      case 'member': {
        const group = this.#group(number)
        const members = flags[0] ? principals : [...new Set([...group.members, ...principals])]
        this.#change({ groups: [{ ...group, members }] })
        break
      }
      case 'subgroup': {
        // Only upwards, so that no group contains itself.
        const [outer, inner] = number % 2 === 0 ? [0, 1] : [1, 2]
        const subgroups = flags[0] ? [this.groups[inner]!] : []
        this.#change({ groups: [{ ...this.#group(outer), subgroups }] })
      }
    }
  }

  /** After every step, for everyone. */
  check(done: Step): void {
    const { state } = this.world
    for (const { userId, event } of this.#told) {
      if (event.op === 'delete' || event.op === 'remove') continue
      for (const id of channelsIn(event))
        assert.ok(
          seeMetadata.allows({ state, actor: this.world.user(userId) }, state.channels.get(id)!),
          `after ${JSON.stringify(done)} user ${userId} received ${JSON.stringify(event)}`,
        )
    }
    for (const client of this.clients) {
      const fresh = new ChannelClient(this.world, this.world.user(client.userId), client.capabilities)
      assert.deepEqual(client.view(), fresh.view(), `after ${JSON.stringify(done)}, user ${client.userId}`)
    }
    for (const id of this.people) {
      const user = this.world.user(id)
      const { streams } = this.world.run(user, 'get-streams', { include_all: true, exclude_archived: false })
      const listed = new Set(streams.map((one: any) => one.stream_id))
      for (const channel of state.channels.values()) this.#reads(user, channel, listed.has(channel.id))
    }
  }

  #reads(user: User, channel: Channel, listed: boolean): void {
    const { world } = this
    const asker = { state: world.state, actor: user }
    const metadata = seeMetadata.allows(asker, channel) && !channel.archived
    const content = seeContent.allows(asker, channel) && !channel.archived
    const answers = (endpoint: string, params: object) => world.refusal(user, endpoint, { ...params }) === undefined
    const stream_id = channel.id
    assert.equal(answers('get-stream-by-id', { stream_id }), metadata)
    assert.equal(answers('get-subscribers', { stream_id }), metadata)
    assert.equal(answers('get-subscription-status', { user_id: user.id, stream_id }), metadata)
    assert.equal(answers('get-stream-id', { stream: channel.name }), content)
    assert.equal(answers('get-stream-topics', { stream_id }), content)
    assert.equal(answers('get-stream-email-address', { stream_id }), content)
    assert.equal(listed, seeMetadata.allows(asker, channel))
  }

  #newGroup(): number {
    const { state } = this.world
    const id = state.groups.nextId
    const nobody = state.groups.find('name', 'role:nobody')!
    state.groups.put({ ...nobody, id, name: `group ${id}`, system: false })
    return id
  }

  #group(number: number): Group {
    return this.world.state.groups.get(this.groups[number % this.groups.length]!)!
  }

  #value(number: number, principals: readonly number[], flags: Step['flags']): unknown {
    const { state } = this.world
    if (flags[0]) return this.groups[number % this.groups.length]
    if (flags[1]) return { direct_members: principals, direct_subgroups: [this.groups[number % this.groups.length]] }
    const names = ['role:nobody', 'role:members', 'role:moderators', 'role:fullmembers']
    return state.groups.find('name', names[number % names.length]!)!.id
  }

  /** As a command of users or groups does it. */
  #change(rows: { users?: User[]; groups?: Group[] }): void {
    const facts = visibilityFacts(this.world.state, rows)
    for (const user of rows.users ?? []) this.world.state.users.put(user)
    for (const group of rows.groups ?? []) this.world.state.groups.put(group)
    this.world.take(facts)
  }
}

function channelsIn(event: Record<string, any>): number[] {
  if (event.type !== 'stream' && event.type !== 'subscription') return []
  const listed = [...(event.streams ?? []), ...(event.subscriptions ?? [])].map((one: any) => one.stream_id)
  return [...listed, ...(event.stream_ids ?? []), ...(event.stream_id === undefined ? [] : [event.stream_id])]
}

describe('POST /user_groups/{user_group_id}/members', () => {
  test('who joins a group that may subscribe hears of the private channel; who leaves hears that it is gone', () => {
    const world = new World()
    const { owner } = world
    const [amy, bob] = [world.join(roles.member), world.join(roles.member)]
    const inner = world.run(owner, 'create-user-group', { name: 'inner', description: '', members: [] }).group_id
    const outer = world.run(owner, 'create-user-group', { name: 'outer', description: '', members: [] }).group_id
    const { id } = world.run(owner, 'create-channel', {
      name: 'theirs',
      invite_only: true,
      subscribers: [owner.id],
      can_subscribe_group: outer,
    })
    const client = new ChannelClient(world, bob, [])
    world.onNews = (userId, announcement) => {
      if (userId === bob.id) client.hear(announcement)
    }
    const members = (group: number, params: object) =>
      world.run(owner, 'update-user-group-members', { user_group_id: group, ...params })
    members(inner, { add: [amy.id, bob.id] })
    assert.equal(client.channels.has(id), false)
    members(outer, { add_subgroups: [inner] })
    assert.equal(client.channels.has(id), true)
    assert.deepEqual([...client.subscribers.get(id)!], [owner.id])
    members(inner, { delete: [bob.id] })
    assert.equal(client.channels.has(id), false)
    assert.deepEqual(client.view(), new ChannelClient(world, bob, []).view())
  })
})
