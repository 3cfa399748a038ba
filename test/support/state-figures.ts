// Figures that a client works out from events: counts, lists of subscribers, the first and the
// newest message, conversations, who has been seen, and what it may do itself.

import assert from 'node:assert/strict'

type Row = Record<string, any>

interface Me {
  readonly userId: number
  /** The rows, as the client keeps them. */
  readonly state: Row
}

export class StateFigures {
  readonly #me: Me
  readonly #subscribers = new Map<number, Set<number>>()
  readonly #first = new Map<number, number | null>()
  readonly #recent = new Map<number, boolean>()
  /** Of all messages it received: whether they mention the user, or only all users. */
  readonly #mentions = new Map<number, 'me' | 'all'>()
  /** Whose presence it knows; of people whom it came to know of later, it may not. */
  readonly #seen: Set<number>
  readonly #newcomers = new Set<number>()
  #newest: number
  readonly #conversations = new Map<string, number>()
  /** Events about deleted direct messages do not say where they were. */
  #forgotten = false

  constructor(me: Me, given: Row) {
    this.#me = me
    for (const channel of channelsOf(given)) this.#learn(channel)
    this.#seen = new Set(presentIn(given))
    this.#newest = given.max_message_id
    for (const { user_ids, max_message_id } of given.recent_private_conversations)
      this.#conversations.set(String(user_ids), max_message_id)
    for (const id of given.unread_msgs.mentions) this.#mentions.set(id, 'me')
  }

  hear(event: Row): void {
    const { type, op } = event
    if (type === 'message') this.#message(event.message, event.flags)
    if (type === 'update_message') this.#flags(event.message_id, event.flags)
    if (type === 'delete_message') this.#forgotten ||= event.message_type === 'private'
    if (type === 'presence') this.#seen.add(event.user_id)
    if (type === 'realm_user' && op === 'add') this.#newcomers.add(event.person.user_id)
    // What one marks or reacts to comes into one's own history.
    if (type === 'reaction' && event.user_id === this.#me.userId)
      this.#newest = Math.max(this.#newest, event.message_id)
    if (type === 'update_message_flags') for (const id of event.messages) this.#newest = Math.max(this.#newest, id)
    if (type === 'stream' && op === 'create') for (const channel of event.streams) this.#learn(channel)
    if (type === 'stream' && op === 'delete') for (const id of event.stream_ids) this.#forget(id)
    if (type === 'stream' && op === 'update') {
      if (event.property === 'first_message_id') this.#first.set(event.stream_id, event.value)
      if (event.property === 'is_recently_active') this.#recent.set(event.stream_id, event.value)
    }
    if (type === 'subscription') this.#subscription(event)
  }

  #message(message: Row, flags: readonly string[]): void {
    this.#newest = Math.max(this.#newest, message.id)
    this.#flags(message.id, flags)
    if (message.type === 'stream') {
      if (this.#first.get(message.stream_id) === null) this.#first.set(message.stream_id, message.id)
      return
    }
    const others = message.display_recipient.map(({ id }: Row) => id).filter((id: number) => id !== this.#me.userId)
    this.#conversations.set(String(others.sort((a: number, b: number) => a - b)), message.id)
  }

  #flags(id: number, flags: readonly string[]): void {
    if (flags.includes('mentioned')) this.#mentions.set(id, 'me')
    else if (flags.some(flag => flag.endsWith('wildcard_mentioned'))) this.#mentions.set(id, 'all')
    else this.#mentions.delete(id)
  }

  #subscription(event: Row): void {
    const { userId } = this.#me
    if (event.op === 'add') for (const channel of event.subscriptions) this.#learn(channel)
    if (event.op === 'remove')
      for (const { stream_id } of event.subscriptions) this.#subscribers.get(stream_id)?.delete(userId)
    if (event.op === 'peer_add' || event.op === 'peer_remove')
      for (const id of event.stream_ids)
        for (const user of event.user_ids) this.#subscribers.get(id)![event.op === 'peer_add' ? 'add' : 'delete'](user)
  }

  #learn(channel: Row): void {
    const known = this.#subscribers.get(channel.stream_id)
    this.#subscribers.set(channel.stream_id, new Set(channel.subscribers ?? known))
    this.#first.set(channel.stream_id, channel.first_message_id)
    this.#recent.set(channel.stream_id, channel.is_recently_active)
  }

  #forget(id: number): void {
    this.#subscribers.delete(id)
    this.#first.delete(id)
    this.#recent.delete(id)
  }

  /**
   * Messages came from another channel. They are in the history of users who read where they are now, but only users who may know of the
   * channel they come from are told.
   */
  learnMoved(given: Row): void {
    this.#newest = Math.max(this.#newest, given.max_message_id)
  }

  /** Holds what was worked out against what `register` says now. */
  check(given: Row, after: string): void {
    const { userId, state } = this.#me
    const same = (believed: unknown, now: unknown, what: string) =>
      assert.deepEqual(believed, now, `${what} of user ${userId} after ${after}`)
    for (const channel of channelsOf(given)) {
      const { stream_id: id, subscribers } = channel
      const where = `in channel ${id}`
      if (subscribers) same(sorted(this.#subscribers.get(id)!), sorted(subscribers), `subscribers ${where}`)
      if (subscribers) same(channel.subscriber_count, subscribers.length, `subscriber_count ${where}`)
      if (state.own[id]) same(this.#first.get(id), channel.first_message_id, `first_message_id ${where}`)
      same(this.#recent.get(id), channel.is_recently_active, `is_recently_active ${where}`)
    }
    const unread = Object.entries<string>(state.unread).filter(([, place]) => this.#isKnown(place))
    const unknown = Object.keys(state.unread).length - unread.length
    const loud = unread.filter(([, place]) => !this.#muted(place)).length
    const { count } = given.unread_msgs
    same(Math.max(loud, Math.min(count, loud + unknown)), count, 'unread_msgs.count')
    const mentioning = unread.filter(([id, place]) => {
      const mention = this.#mentions.get(Number(id))
      return mention === 'me' || (mention === 'all' && !this.#muted(place))
    })
    const mentions = given.unread_msgs.mentions.filter((id: number) => this.#isKnown(state.unread[id]))
    same(sorted(mentioning.map(([id]) => Number(id))), sorted(mentions), 'unread_msgs.mentions')
    const known = (id: number) => !this.#newcomers.has(id) && state.people[id]?.is_active
    same(sorted([...this.#seen].filter(known)), sorted(presentIn(given).filter(known)), 'presences')
    assert.ok(given.max_message_id <= this.#newest, `max_message_id of user ${userId} after ${after}`)
    if (!this.#forgotten) {
      const now = given.recent_private_conversations.map(({ user_ids, max_message_id }: Row) => [
        String(user_ids),
        max_message_id,
      ])
      same(
        [...this.#conversations].sort(([, a], [, b]) => b - a),
        now,
        'recent_private_conversations',
      )
    }
    for (const [may, setting] of Object.entries(rights))
      same(!state.is_guest && this.#holds(state[setting]), given[may], may)
  }

  /** A client that learns nothing of archived channels does not know whether one is muted. */
  #isKnown(place: string): boolean {
    const [kind, id] = place.split(' ')
    return kind !== 'channel' || this.#me.state.channels[id!] !== undefined
  }

  #muted(place: string): boolean {
    const [kind, channel, ...topic] = place.split(' ')
    if (kind !== 'channel') return false
    const policy = this.#me.state.user_topics[`${channel}/${topic.join(' ')}`]?.visibility_policy ?? 0
    return policy === 0 ? this.#me.state.own[channel!]?.is_muted === true : policy === 1
  }

  /** Whether the user is in the group, or the members and groups, that a setting names. */
  #holds(value: number | Row): boolean {
    const { userId, state } = this.#me
    const inGroup = (id: number): boolean => {
      const { members, direct_subgroup_ids } = state.realm_user_groups[id]
      return members.has(userId) || [...direct_subgroup_ids].some(inGroup)
    }
    if (typeof value === 'number') return inGroup(value)
    return value.direct_members.includes(userId) || value.direct_subgroups.some(inGroup)
  }
}

/** None of them is for guests, whatever the setting says. */
const rights = {
  can_create_public_streams: 'realm_can_create_public_channel_group',
  can_create_private_streams: 'realm_can_create_private_channel_group',
  can_invite_others_to_realm: 'realm_can_invite_users_group',
}

function channelsOf(given: Row): Row[] {
  return [...given.subscriptions, ...given.unsubscribed, ...given.never_subscribed]
}

function presentIn({ presences, realm_users }: Row): number[] {
  return realm_users.filter(({ email }: Row) => email in presences).map(({ user_id }: Row) => user_id)
}

function sorted<T>(list: Iterable<T>): T[] {
  return [...list].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
}
