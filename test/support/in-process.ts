// The domain without a daemon around it: a founded organization, accounts of any role, commands run one by one, and
// clients that keep the state of `register` up to date by nothing but events.

import assert from 'node:assert/strict'
import type { Capability } from '../../daemon/api/capabilities.ts'
import { getLevel } from '../../daemon/api/levels/level.ts'
import { defaultLevel } from '../../daemon/api/levels/releases.ts'
import type { Fact, ResourceFact } from '../../daemon/domain/facts.ts'
import { announceFact, applyFact, resources } from '../../daemon/domain/index.ts'
import { type Role, roles } from '../../daemon/domain/model/roles.ts'
import type { QueueRegistration } from '../../daemon/domain/model/rows/queues.ts'
import { State, type User } from '../../daemon/domain/model/state.ts'
import { found } from '../../daemon/domain/organization/founding.ts'
import { Refusal } from '../../daemon/domain/refusal.ts'
import type { Announcement, Context } from '../../daemon/domain/resource.ts'
import { Adapter, buildClient } from '../../daemon/events/adapt.ts'
import seed from '../../data/seed.json' with { type: 'json' }

/** The command behind each endpoint, and the parameters that have a default. Histories run hundreds of thousands. */
const commands = new Map(
  resources.flatMap(resource =>
    Object.entries(resource.api).map(([key, endpoint]) => {
      const defaults = Object.entries(endpoint.params).flatMap(([name, param]) =>
        param.presence === 'defaulted' ? [[name, param.fallback] as const] : [],
      )
      return [endpoint.id, { command: resource.commands[key]!, defaults }] as const
    }),
  ),
)

export class World {
  readonly state = new State()
  now = Date.UTC(2030, 0, 1)
  /** Who is told, in the order of telling. */
  onNews: (userId: number, announcement: Announcement) => void = () => {}
  #random = 0

  constructor() {
    applyFact(this.state, found(seed, 'example.com', this.now))
  }

  get owner(): User {
    return this.user([...this.state.users.values()].find(user => user.role === roles.owner)!.id)
  }

  user(id: number): User {
    return this.state.users.get(id)!
  }

  /** A new user. */
  join(role: Role, more: Partial<User> = {}): User {
    const id = this.state.users.nextId
    const user: User = {
      id,
      email: `person${id}@example.com`,
      fullName: `User ${id}`,
      role,
      fullMember: true,
      active: true,
      joined: this.now,
      avatar: { version: 1 },
      keyVersion: 1,
      canCreateUsers: false,
      canChangeEmails: false,
      settings: {},
      profile: {},
      ...more,
    }
    this.state.users.put(user)
    return user
  }

  context(actor: User): Context {
    return {
      state: this.state,
      actor: this.user(actor.id),
      now: this.now,
      client: 'test',
      random: () => `random-${++this.#random}`,
      keys: {
        deriveKey: () => '',
        deriveToken: () => '',
        controlToken: '',
        digestText: text => text,
        sameSecret: () => false,
      },
      server: { level: getLevel(defaultLevel), url: 'http://localhost', emailDomain: 'example.com', devAuth: false },
    }
  }

  /** Runs the command behind an endpoint; all the facts it leaves are taken and told. */
  run(actor: User, endpointId: string, params: Record<string, unknown>): any {
    const found = commands.get(endpointId)
    if (!found) throw new Error(`no endpoint ${endpointId}`)
    const given = { ...params }
    for (const [name, fallback] of found.defaults) given[name] ??= structuredClone(fallback)
    const { facts = [], signals = [], touch, reply } = found.command(this.context(actor), given, {})
    touch?.(this.state)
    this.take(facts)
    for (const signal of signals) this.tell(signal)
    return JSON.parse(JSON.stringify(reply))
  }

  /** The code of the refusal, or undefined when it went through. */
  refusal(actor: User, endpointId: string, params: Record<string, unknown>): string | undefined {
    return this.attempt(actor, endpointId, params)?.code
  }

  /** The refusal, if there is one. */
  attempt(
    actor: User,
    endpointId: string,
    params: Record<string, unknown>,
    onReply: (reply: any) => void = () => {},
  ): Refusal | undefined {
    try {
      onReply(this.run(actor, endpointId, params))
      return undefined
    } catch (error) {
      if (error instanceof Refusal) return error
      throw error
    }
  }

  take(facts: readonly Fact[]): void {
    // Commands of resources leave facts of resources only.
    for (const fact of JSON.parse(JSON.stringify(facts)) as ResourceFact[]) {
      applyFact(this.state, fact)
      for (const announcement of announceFact(this.state, fact)) this.tell(announcement)
    }
  }

  tell(announcement: Announcement): void {
    for (const userId of announcement.to) this.onNews(userId, announcement)
  }

  /** What `register` answers; of every type of event, or only of some. */
  register(actor: User, capabilities: readonly Capability[], types?: readonly string[]): Record<string, any> {
    const state = {}
    for (const resource of resources)
      for (const [type, section] of Object.entries(resource.sections ?? {})) {
        if (types && !types.includes(type)) continue
        Object.assign(
          state,
          section(this.context(actor), {
            ...buildClient(registration(capabilities)),
            fetched: null,
            presenceHistoryDays: undefined,
          }),
        )
      }
    return JSON.parse(JSON.stringify(state))
  }
}

export function registration(capabilities: readonly Capability[]): Omit<QueueRegistration, 'id' | 'userId'> {
  return {
    eventTypes: null,
    capabilities,
    lifespan: 600_000,
    narrow: [],
    allPublicStreams: false,
    applyMarkdown: false,
    clientGravatar: true,
    slimPresence: false,
    includeSubscribers: 'true',
  }
}

const personal = ['color', 'is_muted', 'in_home_view', 'pin_to_top', 'desktop_notifications', 'email_notifications']
// What follows from messages is learnt from their events.
const moving = ['subscriber_count', 'stream_weekly_traffic', 'subscribers', 'partial_subscribers', 'first_message_id']

/** A client that knows channels only by what `register` and events told it. */
export class ChannelClient {
  readonly userId: number
  readonly capabilities: readonly Capability[]
  readonly channels = new Map<number, Record<string, unknown>>()
  readonly own = new Map<number, Record<string, unknown>>()
  readonly subscribers = new Map<number, Set<number>>()
  defaults: number[]

  constructor(world: World, user: User, capabilities: readonly Capability[]) {
    this.userId = user.id
    this.capabilities = capabilities
    const given = world.register(user, capabilities, ['subscription', 'default_streams'])
    const { subscriptions, unsubscribed, never_subscribed, realm_default_streams } = given
    this.defaults = realm_default_streams
    for (const channel of [...subscriptions, ...unsubscribed, ...never_subscribed]) {
      this.channels.set(channel.stream_id, without(channel, [...personal, ...moving, ...others]))
      this.subscribers.set(channel.stream_id, new Set(channel.subscribers))
    }
    for (const channel of subscriptions) this.own.set(channel.stream_id, only(channel, personal))
  }

  /** Events of an announcement in the form this client asked for. */
  hear(announcement: Announcement): Record<string, any>[] {
    const texts = new Adapter(announcement).textsFor(buildClient(registration(this.capabilities)), this.userId)
    const events = texts.map(text => JSON.parse(`{${text}`))
    for (const event of events) this.apply(event)
    return events
  }

  apply(event: Record<string, any>): void {
    switch (`${event.type}/${event.op ?? ''}`) {
      case 'stream/create':
        for (const channel of event.streams) {
          this.channels.set(channel.stream_id, without(channel, moving))
          this.subscribers.set(channel.stream_id, new Set())
        }
        break
      case 'stream/delete':
        for (const id of event.stream_ids) this.#forget(id)
        break
      case 'stream/update': {
        const channel = this.#known(event.stream_id, event)
        channel[event.property] = event.value
        for (const also of ['rendered_description', 'history_public_to_subscribers', 'is_web_public'])
          if (also in event) channel[also] = event[also]
        break
      }
      case 'subscription/add':
        for (const channel of event.subscriptions) {
          this.#known(channel.stream_id, event)
          this.channels.set(channel.stream_id, without(channel, [...personal, ...moving, ...others]))
          this.own.set(channel.stream_id, only(channel, personal))
          this.subscribers.set(channel.stream_id, new Set(channel.subscribers))
        }
        break
      case 'subscription/remove':
        for (const { stream_id } of event.subscriptions) {
          this.#known(stream_id, event)
          this.own.delete(stream_id)
          this.subscribers.get(stream_id)!.delete(this.userId)
        }
        break
      case 'subscription/update':
        this.own.get(event.stream_id)![event.property] = event.value
        break
      case 'subscription/peer_add':
      case 'subscription/peer_remove':
        for (const id of event.stream_ids) {
          this.#known(id, event)
          for (const user of event.user_ids)
            if (event.op === 'peer_add') this.subscribers.get(id)!.add(user)
            else this.subscribers.get(id)!.delete(user)
        }
        break
      case 'default_streams/':
        this.defaults = event.default_streams
    }
  }

  /** What it knows, in a form that compares. */
  view(): unknown {
    const sorted = <T>(map: ReadonlyMap<number, T>) => [...map].sort(([a], [b]) => a - b)
    return {
      channels: sorted(this.channels),
      own: sorted(this.own),
      subscribers: sorted(this.subscribers).map(([id, users]) => [id, [...users].sort((a, b) => a - b)]),
      defaults: this.defaults,
    }
  }

  #known(id: number, event: object): Record<string, unknown> {
    const channel = this.channels.get(id)
    assert.ok(channel, `user ${this.userId} received ${JSON.stringify(event)} of a channel it does not know`)
    return channel
  }

  #forget(id: number): void {
    this.channels.delete(id)
    this.own.delete(id)
    this.subscribers.delete(id)
  }
}

const others = ['audible_notifications', 'push_notifications', 'wildcard_mentions_notify']

function only(row: Record<string, unknown>, keys: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(keys.map(key => [key, row[key]]))
}

function without(row: Record<string, unknown>, keys: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(row).filter(([key]) => !keys.includes(key)))
}
