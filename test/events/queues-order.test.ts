// The events of one command, in the order that one client gets them.

import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { channels } from '../../daemon/api/channels/channels.ts'
import { defaultChannels } from '../../daemon/api/channels/default-channels.ts'
import { subscriptions } from '../../daemon/api/channels/subscriptions.ts'
import { events } from '../../daemon/api/events.ts'
import { uploads } from '../../daemon/api/files/uploads.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { scheduledMessages } from '../../daemon/api/messages/scheduled-messages.ts'
import { organization } from '../../daemon/api/organization/organization.ts'
import { mutedUsers } from '../../daemon/api/people/muted-users.ts'
import { users } from '../../daemon/api/people/users.ts'
import { Control } from '../support/control.ts'
import { type Caller, sharedDaemon } from '../support/daemon.ts'
import { picture } from '../support/event-story/row.ts'
import { fetched, people } from '../support/world.ts'

type Heard = Record<string, any>

/** Reads a queue; gives each event as `type/op property`. */
class Ear {
  readonly #caller: Caller
  readonly #queue: string
  #last = -1
  events: Heard[] = []

  constructor(caller: Caller, queue: string) {
    this.#caller = caller
    this.#queue = queue
  }

  static async of(caller: Caller, capabilities: string[] = []): Promise<Ear> {
    const client_capabilities = Object.fromEntries(capabilities.map(name => [name, true]))
    const { queue_id } = await caller.call(events.register, { fetch_event_types: [], client_capabilities })
    return new Ear(caller, queue_id)
  }

  async hears(): Promise<string[]> {
    const params = { queue_id: this.#queue, last_event_id: this.#last, dont_block: true }
    this.events = (await this.#caller.call(events.get, params)).events
    this.#last = this.events.at(-1)?.id ?? this.#last
    return this.events.map(({ type, op, property, flag }) =>
      [op ? `${type}/${op}` : type, property ?? flag].join(' ').trim(),
    )
  }
}

describe('the order of events', () => {
  const daemon = sharedDaemon({ flags: ['--clock', 'frozen@2030-01-01T00:00:00Z', '--durability', 'os', '--control'] })
  let owner: Caller
  let amy: Caller
  let bob: Caller
  let ofAmy: Ear
  let ofBob: Ear
  let garden: number
  let vault: number

  before(async () => {
    owner = daemon().owner
    ;[amy, bob] = await people(daemon(), 'amy', 'bob')
    ofAmy = await Ear.of(amy, ['archived_channels'])
    ofBob = await Ear.of(bob)
  })

  const join = (name: string, ...who: Caller[]) =>
    owner.call(subscriptions.subscribe, { subscriptions: [{ name }], principals: who.map(({ id }) => id) })
  const say = async (topic: string, content = 'x') =>
    (await owner.call(messages.send, { type: 'channel', to: garden, topic, content })).id
  const quiet = () => Promise.all([ofAmy.hears(), ofBob.hears()])

  test('subscribing to a new channel: the channel, the subscription, and others that someone came', async () => {
    await join('garden', amy, owner)
    assert.deepEqual(await ofAmy.hears(), ['stream/create', 'subscription/add', 'message'])
    assert.deepEqual(await ofBob.hears(), ['stream/create', 'subscription/peer_add'])
    const secret = { subscriptions: [{ name: 'vault' }], invite_only: true, principals: [amy.id, owner.id] }
    await owner.call(subscriptions.subscribe, secret)
    await quiet()
    await join('vault', bob)
    assert.deepEqual(await ofBob.hears(), ['stream/create', 'subscription/add', 'message'])
    assert.deepEqual(await ofAmy.hears(), ['subscription/peer_add'])
    garden = (await owner.call(channels.id, { stream: 'garden' })).stream_id
    vault = (await owner.call(channels.id, { stream: 'vault' })).stream_id
  })

  test('leaving a private channel: the subscription, the channel, then what is unread there', async () => {
    await owner.call(messages.send, { type: 'channel', to: vault, topic: 't', content: 'x' })
    await quiet()
    await bob.call(subscriptions.unsubscribe, { subscriptions: ['vault'] })
    assert.deepEqual(await ofBob.hears(), ['subscription/remove', 'stream/delete', 'update_message_flags/add read'])
    assert.deepEqual(await ofAmy.hears(), ['subscription/peer_remove'])
  })

  test('a send that follows a topic: file, muted_topics, user_topic, message', async () => {
    const { url } = await amy.call(uploads.upload, { file: picture() })
    await quiet()
    await amy.call(messages.send, { type: 'channel', to: garden, topic: 'new', content: `[f](${url})` })
    assert.deepEqual(await ofAmy.hears(), ['attachment/update', 'muted_topics', 'user_topic', 'message'])
  })

  test('a move: gone for users who lose it, changed for the others, then the notices', async () => {
    await join('garden', bob)
    const message_id = await say('moving')
    await quiet()
    await owner.call(messages.update, { message_id, stream_id: vault, propagate_mode: 'change_all' })
    assert.deepEqual(await ofBob.hears(), ['delete_message', 'update_message_flags/add read'])
    assert.deepEqual(await ofAmy.hears(), ['update_message', 'message'])
  })

  test('deleting the oldest message of a channel: which is the first now, then the deletion', async () => {
    const { subscriptions: own } = await fetched(amy, ['subscription'])
    const { first_message_id } = own.find((one: Heard) => one.stream_id === garden)
    await quiet()
    await owner.call(messages.delete, { message_id: first_message_id })
    assert.deepEqual(await ofAmy.hears(), ['stream/update first_message_id', 'delete_message'])
  })

  test('a scheduled message is sent before it is off the list', async () => {
    const at = Date.UTC(2030, 0, 1, 0, 4) / 1000
    const ofOwner = await Ear.of(owner)
    await owner.call(scheduledMessages.create, {
      type: 'direct',
      to: [amy.id],
      content: 'x',
      scheduled_delivery_timestamp: at,
    })
    await ofOwner.hears()
    await new Control(daemon()).call('POST', '/clock/advance', { by: '5m' })
    const heard = (await ofOwner.hears()).filter(name => name !== 'heartbeat')
    assert.deepEqual(heard, ['message', 'scheduled_messages/remove'])
  })

  test('muting someone reads their messages first; muting a channel has two events', async () => {
    ofAmy = await Ear.of(amy, ['archived_channels'])
    await amy.call(mutedUsers.mute, { muted_user_id: owner.id })
    assert.deepEqual(await ofAmy.hears(), ['update_message_flags/add read', 'muted_users'])
    await amy.call(mutedUsers.unmute, { muted_user_id: owner.id })
    await ofAmy.hears()
    await amy.call(subscriptions.property, { stream_id: garden, property: 'is_muted', value: true })
    assert.deepEqual(await ofAmy.hears(), ['subscription/update in_home_view', 'subscription/update is_muted'])
  })

  test('archiving: the defaults, what the organization announces there, the channel, the notice', async () => {
    await owner.call(defaultChannels.add, { stream_id: garden })
    await owner.call(organization.update, { new_stream_announcements_stream_id: garden })
    ofAmy = await Ear.of(amy, ['archived_channels'])
    ofBob = await Ear.of(bob)
    await owner.call(channels.archive, { stream_id: garden })
    const before = ['default_streams', 'realm/update_dict default']
    assert.deepEqual(await ofAmy.hears(), [...before, 'stream/update is_archived', 'message'])
    assert.deepEqual(ofAmy.events[1]!.data, { new_stream_announcements_stream_id: -1 })
    assert.deepEqual((await ofBob.hears()).slice(0, 3), [...before, 'stream/delete'])
  })

  test('accounts: the account, its role, whether it is a full member; and its channels before its groups', async () => {
    const [cat] = await people(daemon(), 'cat')
    await join('yard', cat)
    const ofOwner = await Ear.of(owner)
    const named = async () => {
      const types = await ofOwner.hears()
      return types.map((type, index) => {
        const { group_id } = ofOwner.events[index]!
        return group_id === undefined ? type : `${type} ${groups.get(group_id)}`
      })
    }
    const { realm_user_groups } = await fetched(owner, ['realm_user_groups', 'user_group'])
    const groups = new Map(realm_user_groups.map(({ id, name }: Heard) => [id, name]))
    await owner.call(users.update, { user_id: cat.id, role: 200 })
    assert.deepEqual(await named(), [
      'realm_user/update',
      'user_group/remove_members role:members',
      'user_group/add_members role:administrators',
      'user_group/remove_members role:fullmembers',
    ])
    await owner.call(users.update, { user_id: cat.id, role: 400 })
    await ofOwner.hears()
    await owner.call(users.deactivate, { user_id: cat.id })
    assert.deepEqual(await named(), ['subscription/peer_remove', 'realm_user/update'])
    await owner.call(users.reactivate, { user_id: cat.id })
    assert.deepEqual(await named(), [
      'realm_user/update',
      'realm_export_consent',
      'subscription/peer_add',
      'user_group/add_members role:members',
      'user_group/add_members role:fullmembers',
    ])
  })
})
