// The world of in-process.ts with channels and messages in it, and what everyone hears of them.

import { resources } from '../../daemon/domain/index.ts'
import { type Role, roles } from '../../daemon/domain/model/roles.ts'
import type { Channel, User } from '../../daemon/domain/model/state.ts'
import type { Refusal } from '../../daemon/domain/refusal.ts'
import type { Announcement } from '../../daemon/domain/resource.ts'
import { Adapter, buildClient } from '../../daemon/events/adapt.ts'
import { channelRow } from './channel-row.ts'
import { registration, World } from './in-process.ts'

const client = buildClient({
  ...registration(['bulk_message_deletion', 'empty_topic_name']),
  includeSubscribers: 'false',
})

export class DomainWorld extends World {
  /** Events by user since they were last asked for. */
  readonly #heard = new Map<number, Record<string, any>[]>()

  override onNews = (userId: number, announcement: Announcement) => {
    const events = new Adapter(announcement).textsFor(client, userId).map(text => JSON.parse(`{${text}`))
    const heard = this.#heard.get(userId)
    if (heard) heard.push(...events)
    else this.#heard.set(userId, events)
  }

  account(name: string, role: Role = roles.member): User {
    return this.join(role, { email: `${name}@example.com`, fullName: name })
  }

  channel(name: string, subscribers: readonly User[], more: Partial<Channel> = {}): Channel {
    const dateCreated = this.now / 1000
    const channel = channelRow(this.state, this.state.channels.nextId, { name, dateCreated, ...more })
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
    this.run(user, 'unsubscribe', { subscriptions: [channel.name] })
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
    const refusal = this.attempt(actor, endpointId, params)
    if (!refusal) throw new Error(`${endpointId} was not refused`)
    return refusal
  }

  send(actor: User, channel: Channel, topic: string, content: string): number {
    return this.run(actor, 'send-message', { type: 'channel', to: channel.id, topic, content }).id
  }

  /** State fields of `register` that come with an event type. */
  section(user: User, name: string): Record<string, any> {
    const section = resources.map(resource => resource.sections?.[name]).find(found => found)!
    return section(this.context(user), {
      ...client,
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
}

/** A world with three members and nothing else. */
export function threePeople() {
  const world = new DomainWorld()
  const [amy, bob, cat] = ['amy', 'bob', 'cat'].map(name => world.account(name)) as [User, User, User]
  return { world, amy, bob, cat }
}
