// The permission model of channels, cell by cell: role × kind of channel × subscribed or not × who holds a setting.
// Each line has one letter for each role: owner, administrator, moderator, member, guest.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ChannelPermission } from '../../../daemon/api/shapes/permission-settings.ts'
import { channelPermissions } from '../../../daemon/api/shapes/permission-settings.ts'
import { type GroupValue, roles } from '../../../daemon/domain/model/roles.ts'
import type { Channel, User } from '../../../daemon/domain/model/state.ts'
import * as may from '../../../daemon/domain/rules/index.ts'
import { World } from '../../support/in-process.ts'

type Kind = 'web-public' | 'public' | 'shared' | 'protected'
const kinds: readonly Kind[] = ['web-public', 'public', 'shared', 'protected']
const roleList = [roles.owner, roles.administrator, roles.moderator, roles.member, roles.guest]

/** One account of each role, and a channel whose permissions are empty except the one under test. */
class Scene {
  readonly world = new World()
  readonly people: User[]
  readonly channel: Channel

  constructor(kind: Kind, subscribed: boolean, held?: ChannelPermission) {
    this.people = roleList.map(role => this.world.join(role))
    const nobody = this.group('role:nobody')
    const permissions = Object.fromEntries(Object.keys(channelPermissions).map(name => [name, nobody]))
    const all = { direct_members: this.people.map(user => user.id), direct_subgroups: [] }
    this.channel = {
      id: 1,
      name: 'channel',
      description: '',
      creatorId: null,
      dateCreated: 0,
      inviteOnly: kind === 'shared' || kind === 'protected',
      webPublic: kind === 'web-public',
      historyPublic: kind !== 'protected',
      archived: false,
      isDefault: false,
      retentionDays: null,
      topicsPolicy: 'inherit',
      folderId: null,
      permissions: { ...permissions, ...(held && { [held]: all }) } as Channel['permissions'],
    }
    this.world.state.channels.put(this.channel)
    if (subscribed)
      this.world.take([
        {
          type: 'subscription.added',
          after: 0,
          added: [{ channelId: 1, returning: [], fresh: { '#76ce90': this.people.map(user => user.id) }, gained: [] }],
        },
      ])
  }

  group(name: string): number {
    return this.world.state.groups.find('name', name)!.id
  }

  organization(name: keyof World['state']['organization']['permissions'], value: GroupValue): this {
    const { organization } = this.world.state
    this.world.state.organization = { ...organization, permissions: { ...organization.permissions, [name]: value } }
    return this
  }

  /** Y or - for each role. */
  line(rule: may.Rule<Channel>): string {
    return this.#each(actor => (rule.allows({ state: this.world.state, actor }, this.channel) ? 'Y' : '-'))
  }

  /** C: content, m: only that it exists, -: nothing. */
  sight(): string {
    const { state } = this.world
    return this.#each(actor => {
      const content = may.seeContent.allows({ state, actor }, this.channel)
      const metadata = may.seeMetadata.allows({ state, actor }, this.channel)
      assert.ok(metadata || !content, 'content without knowing of the channel')
      return content ? 'C' : metadata ? 'm' : '-'
    })
  }

  #each(letter: (user: User) => string): string {
    return this.people.map(letter).join('')
  }
}

const settings: readonly (ChannelPermission | undefined)[] = [
  undefined,
  ...(Object.keys(channelPermissions) as ChannelPermission[]),
]

describe('access to a channel', () => {
  for (const kind of kinds)
    for (const held of settings)
      test(`${kind}, ${held ?? 'no setting'} held by everyone`, () => {
        assert.equal(new Scene(kind, true, held).sight(), 'CCCCC', 'subscribed')
        const opens = held === 'can_add_subscribers_group' || held === 'can_subscribe_group'
        const expected =
          kind === 'web-public'
            ? 'CCCCC'
            : kind === 'public'
              ? 'CCCC-'
              : opens
                ? 'CCCC-'
                : held === 'can_administer_channel_group'
                  ? 'mmmm-'
                  : 'mm---'
        assert.equal(new Scene(kind, false, held).sight(), expected, 'not subscribed')
      })
})

/** kind and subscription, the setting that everyone holds, expected letters. */
type Line = readonly [kind: Kind, subscribed: boolean, held: ChannelPermission | 'none', letters: string]

function lines(name: string, rule: may.Rule<Channel>, prepare: (scene: Scene) => Scene, table: readonly Line[]): void {
  describe(name, () => {
    test(rule.law, () => {
      for (const [kind, subscribed, held, letters] of table) {
        const scene = prepare(new Scene(kind, subscribed, held === 'none' ? undefined : held))
        assert.equal(scene.line(rule), letters, `${kind}, ${subscribed ? '' : 'not '}subscribed, ${held}`)
      }
    })
  })
}

const asIs = (scene: Scene) => scene

lines('subscribing oneself', may.subscribeSelf, asIs, [
  ['web-public', false, 'none', 'YYYY-'],
  ['web-public', true, 'none', 'YYYY-'],
  ['public', false, 'none', 'YYYY-'],
  ['public', true, 'none', 'YYYY-'],
  ['shared', false, 'none', '-----'],
  ['shared', false, 'can_subscribe_group', 'YYYY-'],
  ['shared', false, 'can_add_subscribers_group', 'YYYY-'],
  ['shared', false, 'can_administer_channel_group', '-----'],
  ['shared', true, 'none', 'YYYY-'],
  ['protected', false, 'none', '-----'],
  ['protected', false, 'can_subscribe_group', 'YYYY-'],
  ['protected', false, 'can_add_subscribers_group', 'YYYY-'],
  ['protected', true, 'none', 'YYYY-'],
])

const nobodyAdds = (scene: Scene) => scene.organization('can_add_subscribers_group', scene.group('role:nobody'))

lines('subscribing others, by the organization', may.subscribeOthers, asIs, [
  ['web-public', false, 'none', 'YYYY-'],
  ['public', false, 'none', 'YYYY-'],
  ['public', true, 'none', 'YYYY-'],
  ['shared', false, 'none', '-----'],
  ['shared', true, 'none', 'YYYY-'],
  ['shared', false, 'can_administer_channel_group', '-----'],
  ['protected', true, 'none', 'YYYY-'],
])

lines('subscribing others, by the channel alone', may.subscribeOthers, nobodyAdds, [
  ['web-public', false, 'none', 'YY---'],
  ['public', false, 'none', 'YY---'],
  ['public', false, 'can_add_subscribers_group', 'YYYY-'],
  ['public', false, 'can_administer_channel_group', 'YYYY-'],
  ['public', false, 'can_subscribe_group', 'YY---'],
  ['shared', false, 'none', '-----'],
  ['shared', false, 'can_add_subscribers_group', 'YYYY-'],
  ['shared', false, 'can_subscribe_group', 'YY---'],
  ['shared', false, 'can_administer_channel_group', '-----'],
  ['shared', true, 'none', 'YY---'],
  ['shared', true, 'can_administer_channel_group', 'YYYY-'],
  ['protected', false, 'can_add_subscribers_group', 'YYYY-'],
])

lines('unsubscribing others', may.unsubscribeOthers, asIs, [
  ['web-public', false, 'none', 'YY---'],
  ['web-public', false, 'can_remove_subscribers_group', 'YYYY-'],
  ['public', false, 'none', 'YY---'],
  ['public', false, 'can_remove_subscribers_group', 'YYYY-'],
  ['public', true, 'can_remove_subscribers_group', 'YYYY-'],
  ['public', false, 'can_administer_channel_group', 'YYYY-'],
  ['shared', false, 'none', 'YY---'],
  ['shared', false, 'can_remove_subscribers_group', 'YY---'],
  ['shared', true, 'can_remove_subscribers_group', 'YYYY-'],
  ['shared', false, 'can_administer_channel_group', 'YYYY-'],
  ['protected', true, 'can_remove_subscribers_group', 'YYYY-'],
])

lines('posting, held by nobody', may.post, asIs, [
  ['web-public', true, 'none', '-----'],
  ['public', true, 'none', '-----'],
  ['public', true, 'can_administer_channel_group', '-----'],
  ['shared', true, 'none', '-----'],
])

lines('posting, held by everyone', may.post, asIs, [
  ['web-public', false, 'can_send_message_group', 'YYYYY'],
  ['web-public', true, 'can_send_message_group', 'YYYYY'],
  ['public', false, 'can_send_message_group', 'YYYY-'],
  ['public', true, 'can_send_message_group', 'YYYYY'],
  ['shared', false, 'can_send_message_group', '-----'],
  ['shared', true, 'can_send_message_group', 'YYYYY'],
  ['protected', false, 'can_send_message_group', '-----'],
  ['protected', true, 'can_send_message_group', 'YYYYY'],
])

const alsoSend = (scene: Scene) => {
  const { channel, world } = scene
  const permissions = { ...channel.permissions, can_send_message_group: scene.group('role:everyone') }
  Object.assign(channel, { permissions })
  world.state.channels.put(channel)
  return scene
}

lines('posting in a private channel one could join', may.post, alsoSend, [
  ['shared', false, 'can_subscribe_group', 'YYYY-'],
  ['shared', false, 'can_add_subscribers_group', 'YYYY-'],
  ['shared', false, 'can_administer_channel_group', '-----'],
  ['protected', false, 'can_subscribe_group', '-----'],
  ['protected', false, 'can_add_subscribers_group', '-----'],
])

lines('administering', may.administerChannel, asIs, [
  ...kinds.flatMap((kind): Line[] => [
    [kind, false, 'none', 'YY---'],
    [kind, true, 'none', 'YY---'],
    [kind, false, 'can_administer_channel_group', 'YYYY-'],
    [kind, false, 'can_add_subscribers_group', 'YY---'],
  ]),
])

lines('saying who gets at the content, and privacy', may.changeAccess, asIs, [
  ['web-public', false, 'none', 'YY---'],
  ['public', false, 'none', 'YY---'],
  ['public', false, 'can_administer_channel_group', 'YYYY-'],
  ['shared', false, 'none', '-----'],
  ['shared', false, 'can_administer_channel_group', '-----'],
  ['shared', true, 'none', 'YY---'],
  ['shared', true, 'can_administer_channel_group', 'YYYY-'],
  ['protected', false, 'none', '-----'],
  ['protected', true, 'can_administer_channel_group', 'YYYY-'],
])

lines('deleting topics', may.deleteTopics, asIs, [
  ['public', false, 'none', 'YY---'],
  ['shared', false, 'none', '-----'],
  ['shared', false, 'can_administer_channel_group', '-----'],
  ['shared', true, 'none', 'YY---'],
])

describe('rules that no channel decides', () => {
  const scene = new Scene('public', false)
  const each = <T>(rule: may.Rule<T>, thing: T) =>
    scene.people.map(actor => (rule.allows({ state: scene.world.state, actor }, thing) ? 'Y' : '-')).join('')

  test(may.createChannel.law, () => {
    assert.equal(each(may.createChannel, 'public'), 'YYYY-')
    assert.equal(each(may.createChannel, 'private'), 'YYYY-')
    assert.equal(each(may.createChannel, 'web-public'), 'Y----')
    const members = scene.people.slice(3).map(user => user.id)
    scene.organization('can_create_public_channel_group', { direct_members: members, direct_subgroups: [] })
    assert.equal(each(may.createChannel, 'public'), '---Y-', 'no bypass for administrators, none for guests')
  })

  test(may.setTopicsPolicy.law, () => {
    assert.equal(each(may.setTopicsPolicy, undefined), 'YYYY-')
    scene.organization('can_set_topics_policy_group', scene.group('role:nobody'))
    assert.equal(each(may.setTopicsPolicy, undefined), 'YY---')
  })

  test(may.setDeletePolicy.law, () => {
    assert.equal(each(may.setDeletePolicy, undefined), 'YYY--')
    scene.organization('can_set_delete_message_policy_group', scene.group('role:nobody'))
    assert.equal(each(may.setDeletePolicy, undefined), 'YY---')
  })

  test(may.subscribe.law, () => assert.equal(each(may.subscribe, undefined), 'YYYY-'))

  test(may.unsubscribeAccount.law, () => {
    const owner = scene.people[4]!
    const bot = scene.world.join(roles.member, { bot: { type: 1, ownerId: owner.id, system: false } })
    assert.equal(each(may.unsubscribeAccount, bot), '----Y')
    assert.equal(each(may.unsubscribeAccount, owner), '----Y')
  })
})

describe('bots', () => {
  test('a bot posts where its owner may and is subscribed', () => {
    const scene = new Scene('protected', true, 'can_send_message_group')
    const { world, people, channel } = scene
    const bot = world.join(roles.member, { bot: { type: 1, ownerId: people[3]!.id, system: false } })
    const stray = world.join(roles.member, { bot: { type: 1, ownerId: null, system: false } })
    const { state } = world
    assert.equal(may.post.allows({ state, actor: bot }, channel), true)
    assert.equal(may.post.allows({ state, actor: stray }, channel), false)
    assert.equal(may.seeContent.allows({ state, actor: bot }, channel), false, 'reading is another matter')
  })
})

describe('POST /users/me/subscriptions as a guest or for one', () => {
  test('guests may neither subscribe nor create; others may subscribe them, and then they know of the channel', () => {
    const { world, people } = new Scene('public', false)
    const guest = people[4]!
    assert.equal(world.refusal(guest, 'subscribe', { subscriptions: ['channel'] }), 'BAD_REQUEST')
    assert.equal(world.refusal(guest, 'create-channel', { name: 'x', subscribers: [] }), 'BAD_REQUEST')
    assert.equal(world.refusal(guest, 'get-stream-by-id', { stream_id: 1 }), 'BAD_REQUEST')
    world.run(people[3]!, 'subscribe', { subscriptions: ['channel'], principals: [guest.id] })
    assert.equal(world.run(guest, 'get-stream-by-id', { stream_id: 1 }).stream.name, 'channel')
    assert.deepEqual(world.run(guest, 'unsubscribe', { subscriptions: ['channel'] }).removed, ['channel'])
    assert.equal(world.refusal(guest, 'unsubscribe', { subscriptions: ['channel'] }), 'BAD_REQUEST')
  })
})
