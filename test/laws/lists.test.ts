// A law on lists that callers fill: each has a largest length, and the refusal says which and what to do.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { limits } from '../../daemon/domain/limits.ts'
import type { User } from '../../daemon/domain/model/state.ts'
import { DomainWorld, threePeople } from '../support/domain-world.ts'

type Make = (n: number) => Record<string, unknown>

const later = 4_000_000_000
/** What adds the nth thing, by the name of its limit. */
const lists: Readonly<Record<string, readonly [endpoint: string, owner: 'You' | 'The organization', make: Make]>> = {
  linkifiers: [
    'add-linkifier',
    'The organization',
    n => ({ pattern: `x${n}-(?P<id>[0-9]+)`, url_template: 'https://example.com/{id}' }),
  ],
  playgrounds: [
    'add-code-playground',
    'The organization',
    n => ({ name: `p${n}`, pygments_language: 'python', url_template: 'https://example.com/{code}' }),
  ],
  profileFields: ['create-custom-profile-field', 'The organization', n => ({ field_type: 1, name: `field ${n}` })],
  customEmoji: ['upload-custom-emoji', 'The organization', n => ({ emoji_name: `e${n}` })],
  channels: ['create-channel', 'The organization', n => ({ name: `c${n}`, subscribers: [] })],
  bots: ['create-bot', 'You', n => ({ full_name: `Bot ${n}`, short_name: `bot-${n}`, bot_type: 1 })],
  userGroups: ['create-user-group', 'The organization', n => ({ name: `g${n}`, description: '', members: [] })],
  channelFolders: ['create-channel-folder', 'The organization', n => ({ name: `folder ${n}` })],
  defaultChannelGroups: [
    'create-default-stream-group',
    'The organization',
    n => ({ group_name: `group ${n}`, description: 'x', stream_names: [] }),
  ],
  emailDomains: ['add-realm-domain', 'The organization', n => ({ domain: `d${n}.example.com` })],
  savedSnippets: ['create-saved-snippet', 'You', n => ({ title: `t${n}`, content: 'x' })],
  drafts: ['create-drafts', 'You', n => ({ drafts: [{ type: '', to: [], topic: '', content: `d${n}` }] })],
  scheduledMessages: [
    'create-scheduled-message',
    'You',
    n => ({ type: 'direct', to: [1], content: `m${n}`, scheduled_delivery_timestamp: later }),
  ],
  reminders: ['create-message-reminder', 'You', n => ({ note: `r${n}`, scheduled_delivery_timestamp: later })],
  userTopics: ['update-user-topic', 'You', n => ({ stream_id: 1, topic: `t${n}`, visibility_policy: 1 })],
  navigationViews: ['add-navigation-view', 'You', n => ({ fragment: `f${n}`, is_pinned: false, name: `v${n}` })],
}

/** What the refusal says of things that cannot be deleted. */
const stays: Readonly<Record<string, string>> = {
  customEmoji: 'Deactivated ones count.',
  channels: 'Archived ones count.',
  bots: 'Deactivated ones count.',
  userGroups: 'Deactivated ones count.',
  channelFolders: 'Archived ones count.',
}

describe('a list that callers fill', () => {
  for (const [name, [endpoint, owner, make]] of Object.entries(lists))
    test(`has a largest length: ${name}`, () => {
      const world = new DomainWorld()
      const most = limits[name as keyof typeof limits]
      // Made by calls, ten thousand of these would take seconds.
      const [group] = world.state.groups.values()
      if (name === 'userGroups')
        while (world.state.groups.size < most - 1)
          world.state.groups.put({
            ...group!,
            id: world.state.groups.nextId,
            name: `filled ${world.state.groups.nextId}`,
          })
      if (name === 'channels') {
        world.run(world.owner, 'subscribe', { subscriptions: [{ name: 'first' }] })
        const channel = world.state.channels.get(1)!
        for (let id = 2; id < most; id++) world.state.channels.put({ ...channel, id, name: `filled ${id}` })
      }
      if (name === 'bots') {
        world.run(world.owner, 'create-bot', make(most + 1))
        const bot = [...world.state.users.values()].at(-1)!
        for (let n = 2; n < most; n++)
          world.state.users.put({ ...bot, id: world.state.users.nextId, email: `filled-${n}@example.com` })
      }
      if (name === 'customEmoji')
        for (let id = 1; id < most; id++)
          world.state.emoji.put({ id, name: `filled${id}`, authorId: 1, file: '', deactivated: id % 2 === 0 })
      if (name === 'userTopics') {
        world.run(world.owner, 'subscribe', { subscriptions: [{ name: 'first' }] })
        for (let n = 1; n < most; n++)
          world.state.userTopics.put({
            userId: world.owner.id,
            channelId: 1,
            topic: `filled ${n}`,
            policy: 1,
            updated: 0,
          })
      }
      let refusal: Error | undefined
      let made = 0
      for (; made <= most && !refusal; made++)
        refusal = world.attempt(world.owner, endpoint, make(made)) as Error | undefined
      const advice = stays[name] ?? 'Delete some first.'
      const said = refusal?.message ?? 'accepted'
      assert.ok(said.startsWith(`${owner} can have ${most} `) && said.endsWith(` ${advice}`), said)
    })

  test('has a largest size: the patterns of all linkifiers together', () => {
    const world = new DomainWorld()
    const url_template = 'https://example.com/{id}'
    let refusal: Error | undefined
    let made = 0
    for (; made < limits.linkifiers && !refusal; made++) {
      const pattern = `x${made}-(?P<id>[0-9]{1,400})`
      refusal = world.attempt(world.owner, 'add-linkifier', { pattern, url_template }) as Error | undefined
    }
    assert.ok(made > 1)
    assert.match(refusal?.message ?? 'accepted', /too long together with the patterns of the other linkifiers/)
    const { id } = [...world.state.linkifiers.values()][0]!
    const longer = { filter_id: id, pattern: 'y(?P<id>[0-9]{1,900})', url_template }
    assert.match(String(world.attempt(world.owner, 'update-linkifier', longer)), /too long together/)
  })

  test('has a largest length for a member and their bots together: channels', () => {
    const { world, amy, bob } = threePeople()
    const create = (caller: User, ...names: string[]) =>
      world.attempt(caller, 'subscribe', { subscriptions: names.map(name => ({ name })) })
    world.run(amy, 'create-bot', { full_name: 'Bot', short_name: 'bot', bot_type: 1 })
    const bot = [...world.state.users.values()].at(-1)!
    const most = limits.channelsPerMember
    for (const [caller, name] of [
      [amy, 'of amy'],
      [world.owner, 'of the owner'],
    ] as const) {
      assert.equal(create(caller, name), undefined)
      const channel = [...world.state.channels.values()].at(-1)!
      for (let n = 2; n < most; n++)
        world.state.channels.put({ ...channel, id: world.state.channels.nextId, name: `${name} ${n}` })
    }
    assert.match(String(create(amy, 'a', 'b')), /You can have 1000 channels of your own.*Ask an administrator/)
    assert.equal(create(bot, 'a'), undefined)
    assert.match(String(create(bot, 'b')), /You can have 1000 channels of your own/)
    assert.equal(create(bob, 'b'), undefined)
    for (const name of ['c', 'd', 'e']) assert.equal(create(world.owner, name), undefined)
  })
  test('has a largest length for a member: user groups', () => {
    const { world, amy, bob } = threePeople()
    let made = 0
    const create = (caller: User) =>
      world.attempt(caller, 'create-user-group', { name: `g${made++}`, description: '', members: [] })
    for (let own = 0; own < limits.userGroupsPerMember; own++) assert.equal(create(amy), undefined)
    assert.match(String(create(amy)), /You can have 1000 user groups of your own.*Ask an administrator/)
    for (const other of [bob, world.owner]) assert.equal(create(other), undefined)
  })
})
