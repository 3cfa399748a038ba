// The domain without a daemon around it: an organization with channels, commands run one by one, and what everyone hears.

import { channelPermissions } from '../../daemon/api/permission-settings.ts'
import { useEmojiNames } from '../../daemon/domain/emoji.ts'
import type { Fact } from '../../daemon/domain/facts.ts'
import { defaultValue } from '../../daemon/domain/group-values.ts'
import { announceFact, applyFact, resources } from '../../daemon/domain/index.ts'
import { found } from '../../daemon/domain/organization/founding.ts'
import { Refusal } from '../../daemon/domain/refusal.ts'
import type { Context } from '../../daemon/domain/resource.ts'
import { type Channel, type Role, roles, State, type User } from '../../daemon/domain/state.ts'
import { Adapter, clientOf } from '../../daemon/events/adapt.ts'
import emojiNames from '../../data/emoji.json' with { type: 'json' }
import seed from '../../data/seed.json' with { type: 'json' }

useEmojiNames(emojiNames)

const client = clientOf({
  eventTypes: null,
  capabilities: ['bulk_message_deletion', 'empty_topic_name'],
  lifespan: 600_000,
  narrow: [],
  allPublicStreams: false,
  applyMarkdown: false,
  clientGravatar: true,
  slimPresence: false,
  includeSubscribers: 'false',
})

export class DomainWorld {
  state = new State()
  now = Date.UTC(2030, 0, 1)
  /** Events by user since they were last asked for. */
  readonly #heard = new Map<number, Record<string, any>[]>()
  #random = 0

  constructor() {
    applyFact(this.state, found(seed, 'example.com', this.now))
  }

  get owner(): User {
    return [...this.state.users.values()].find(user => user.role === roles.owner)!
  }

  account(name: string, role: Role = roles.member): User {
    const user: User = {
      ...this.owner,
      id: this.state.users.nextId,
      email: `${name}@example.com`,
      fullName: name,
      role,
      canCreateUsers: false,
      canChangeEmails: false,
    }
    this.state.users.put(user)
    return user
  }

  channel(name: string, subscribers: readonly User[], more: Partial<Channel> = {}): Channel {
    const permissions = Object.fromEntries(
      Object.entries(channelPermissions).map(([key, setting]) => [key, defaultValue(this.state, setting, null)]),
    ) as Channel['permissions']
    const channel: Channel = {
      id: this.state.channels.nextId,
      name,
      description: '',
      creatorId: null,
      dateCreated: 0,
      inviteOnly: false,
      webPublic: false,
      historyPublic: true,
      archived: false,
      isDefault: false,
      retentionDays: null,
      topicsPolicy: 'inherit',
      folderId: null,
      permissions,
      ...more,
    }
    this.state.channels.put(channel)
    for (const user of subscribers) this.subscribe(user, channel)
    return channel
  }

  subscribe(user: User, channel: Channel): void {
    const before = this.state.subscriptions.get(channel.id, user.id)
    this.state.subscriptions.put({
      channelId: channel.id,
      userId: user.id,
      active: true,
      color: '#76ce90',
      muted: false,
      pinned: false,
      notifications: { desktop: null, audible: null, push: null, email: null, wildcardMentions: null },
      spans: [...(before?.spans ?? []), [this.state.messages.lastId]],
    })
  }

  unsubscribe(user: User, channel: Channel): void {
    const row = this.state.subscriptions.get(channel.id, user.id)!
    const [after] = row.spans.at(-1)!
    const spans = [...row.spans.slice(0, -1), [after, this.state.messages.lastId + 1] as const]
    this.state.subscriptions.put({ ...row, active: false, spans })
  }

  /** Runs the command behind an endpoint; all the facts it leaves are taken and told. */
  run(actor: User, endpointId: string, params: Record<string, unknown>): any {
    for (const resource of resources)
      for (const [key, endpoint] of Object.entries(resource.api))
        if (endpoint.id === endpointId) {
          const given = { ...params }
          for (const [name, param] of Object.entries(endpoint.params))
            if (param.presence === 'defaulted') given[name] ??= structuredClone(param.fallback)
          const { facts = [], reply } = resource.commands[key]!(this.context(actor), given)
          this.take(facts)
          return JSON.parse(JSON.stringify(reply))
        }
    throw new Error(`no endpoint ${endpointId}`)
  }

  /** Runs what is due by now, in due order, as the scheduler does. */
  runJobs(): void {
    const jobs = resources.flatMap(resource => resource.jobs ?? [])
    for (;;) {
      const due = jobs.map(job => ({ job, at: job.due(this.state, this.now) ?? Number.POSITIVE_INFINITY }))
      const [first] = due.sort((a, b) => a.at - b.at)
      if (!first || first.at > this.now) return
      const { actor: _actor, ...surroundings } = this.context(this.owner)
      this.take(first.job.run(surroundings).facts ?? [])
    }
  }

  /** The refusal, which must come. */
  refused(actor: User, endpointId: string, params: Record<string, unknown>): Refusal {
    try {
      this.run(actor, endpointId, params)
    } catch (error) {
      if (error instanceof Refusal) return error
      throw error
    }
    throw new Error(`${endpointId} was not refused`)
  }

  send(actor: User, channel: Channel, topic: string, content: string): number {
    return this.run(actor, 'send-message', { type: 'channel', to: channel.id, topic, content }).id
  }

  /** State fields of `register` that come with an event type. */
  section(user: User, name: string): Record<string, any> {
    const section = resources.map(resource => resource.sections?.[name]).find(found => found)!
    return section(this.context(user), client.capabilities, {
      includeSubscribers: 'false',
      fetched: null,
    } as never) as Record<string, any>
  }

  /** What the user's client got since it last asked. */
  heard(user: User): Record<string, any>[] {
    const events = this.#heard.get(user.id) ?? []
    this.#heard.delete(user.id)
    return events
  }

  context(actor: User): Context {
    return {
      state: this.state,
      actor: this.state.users.get(actor.id)!,
      now: this.now,
      client: 'test',
      random: () => `random-${++this.#random}`,
      keyOf: () => '',
      tokenOf: () => '',
      server: { url: 'http://localhost', emailDomain: 'example.com', devAuth: false } as Context['server'],
    }
  }

  take(facts: readonly Fact[]): void {
    for (const fact of JSON.parse(JSON.stringify(facts)) as Fact[]) {
      applyFact(this.state, fact)
      for (const announcement of announceFact(this.state, fact)) {
        const adapter = new Adapter(announcement)
        for (const userId of announcement.to)
          for (const text of adapter.textsFor(client, userId))
            this.#heard.set(userId, [...(this.#heard.get(userId) ?? []), JSON.parse(`{${text}`)])
      }
    }
  }
}
