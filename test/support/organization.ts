// An organization in memory, with a user of every kind: for rules and announcements that need no daemon.

import type { ResourceFact } from '../../daemon/domain/facts.ts'
import { announceFact, applyFact } from '../../daemon/domain/index.ts'
import { type Role, roles } from '../../daemon/domain/model/roles.ts'
import { State, type User } from '../../daemon/domain/model/state.ts'
import { found } from '../../daemon/domain/organization/founding.ts'
import type { Client, Event } from '../../daemon/domain/resource.ts'
import { buildClient } from '../../daemon/events/adapt.ts'
import seed from '../../data/seed.json' with { type: 'json' }
import { channelRow } from './channel-row.ts'

export const someClient: Client = buildClient({
  capabilities: [],
  eventTypes: null,
  lifespan: 600_000,
  narrow: [],
  allPublicStreams: false,
  applyMarkdown: false,
  clientGravatar: false,
  slimPresence: false,
  includeSubscribers: 'false',
})

export class Organization {
  readonly state = new State()

  constructor() {
    this.tell(found(seed, 'example.com', 0))
  }

  get owner(): User {
    return this.state.users.find('email', seed.owner.email)!
  }

  person(name: string, role: Role = roles.member, more: Partial<User> = {}): User {
    const user: User = {
      id: this.state.users.nextId,
      email: `${name}@example.com`,
      fullName: name,
      role,
      fullMember: true,
      active: true,
      joined: 0,
      avatar: { version: 1 },
      keyVersion: 1,
      canCreateUsers: false,
      canChangeEmails: false,
      settings: {},
      profile: {},
      ...more,
    }
    this.tell({ type: 'user.created', user })
    return user
  }

  /** A user of every kind that the rules tell apart. */
  everyKind(): Record<Kind, User> {
    const owned = { ownerId: this.owner.id, system: false }
    return {
      owner: this.owner,
      administrator: this.person('administrator', roles.administrator),
      moderator: this.person('moderator', roles.moderator),
      member: this.person('member'),
      'new member': this.person('newcomer', roles.member, { fullMember: false }),
      guest: this.person('guest', roles.guest),
      'generic bot': this.person('generic', roles.member, { bot: { type: 1, ...owned } }),
      'incoming bot': this.person('incoming', roles.member, { bot: { type: 2, ...owned } }),
      'outgoing bot': this.person('outgoing', roles.member, { bot: { type: 3, ...owned } }),
      'embedded bot': this.person('embedded', roles.member, { bot: { type: 4, ...owned } }),
    }
  }

  /** Guests know only some people from now on. */
  limitGuests(): void {
    const { organization, groups } = this.state
    const permissions = {
      ...organization.permissions,
      can_access_all_users_group: groups.find('name', 'role:members')!.id,
    }
    this.state.organization = { ...organization, permissions }
  }

  set(settings: Record<string, unknown>): void {
    const { organization } = this.state
    this.state.organization = { ...organization, settings: { ...organization.settings, ...settings } }
  }

  /** To a public channel, which is there from then on. */
  subscribe(channelId: number, ...users: User[]): void {
    this.state.channels.put(channelRow(this.state, channelId))
    const notifications = { desktop: null, audible: null, push: null, email: null, wildcardMentions: null }
    for (const { id } of users)
      this.state.subscriptions.put({
        channelId,
        userId: id,
        active: true,
        color: '#c2c2c2',
        muted: false,
        pinned: false,
        notifications,
        spans: [[0]],
      })
  }

  /** Takes a fact; what each listed person hears of it, in the form this client asked for. */
  tell(fact: ResourceFact, client: Client = someClient): Map<number, Event[]> {
    applyFact(this.state, fact)
    const heard = new Map<number, Event[]>()
    for (const { to, event } of announceFact(this.state, fact)) {
      const form = typeof event === 'function' ? event(client) : event
      for (const id of to)
        for (const one of form === null ? [] : Array.isArray(form) ? form : [form])
          heard.set(id, [...(heard.get(id) ?? []), one])
    }
    return heard
  }
}

export type Kind =
  | 'owner'
  | 'administrator'
  | 'moderator'
  | 'member'
  | 'new member'
  | 'guest'
  | 'generic bot'
  | 'incoming bot'
  | 'outgoing bot'
  | 'embedded bot'
