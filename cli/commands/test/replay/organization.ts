// The organization in which a recording began, as far as its calls and answers show it: accounts, channels, subscriptions, groups, settings,
// and messages of channels. What the recording creates is left out, because the replay creates it again.

import { readLevel } from '../../../../daemon/api/levels/releases.ts'
import { jsonOr } from '../../../../daemon/local/json.ts'
import { settingsIn } from '../../organization/seed-pull/settings.ts'
import { type Read, type ReadMessage, wrongIn } from '../../organization/seed-pull/shapes.ts'
import { inOrder, isCallTo, type RecordedCall, type Recording } from './recording.ts'

type Fields = Readonly<Record<string, unknown>>
type Person = Read['people'][number]
type Channel = Read['channels'][number]

export function organizationIn(recording: Recording): Read {
  const found = new Organization()
  const calls = inOrder(recording.calls)
  // A caller may be listed only later.
  for (const call of calls) found.takePeople(call)
  for (const call of calls) found.take(call)
  return found.read()
}

/** Flags of the daemon: the level and the names of the recorded server, where its answers show them. */
export function flagsFrom({ calls }: Recording): string[] {
  for (const { answer } of calls) {
    const { zulip_feature_level: theirs, svc_feature_level: ours } = Object(answer) as Fields
    const level = theirs ?? ours
    if (typeof level !== 'number') continue
    const isKnown = readLevel(level) !== undefined
    return [...(isKnown ? ['--level', String(level)] : []), ...(ours === undefined ? ['--dialect', 'zulip'] : [])]
  }
  return []
}

/** Accounts that every organization has. */
const system = /^(notification|welcome|emailgateway|feedback|nagios-\w+)-?bot@|^emailgateway@/
const isBotAddress = /-bot@/
/** A daemon makes this owner where a seed names none, and then no other account can have the address. */
const usualOwner = 'owner@example.com'

class Organization {
  readonly #people = new Map<number, Person>()
  readonly #channels = new Map<number, Channel>()
  /** By address, in lower case. */
  readonly #userIds = new Map<string, number>()
  /** By name, in lower case. */
  readonly #channelIds = new Map<string, number>()
  readonly #subscribers = new Map<number, Set<number>>()
  readonly #messages = new Map<number, ReadMessage & { readonly stream_id: number }>()
  /** Addresses and names that the recording creates. */
  readonly #created = new Set<string>()
  /** Channels and accounts that the recording subscribes to them. */
  readonly #late = new Set<string>()
  /** Accounts whose subscriptions are known. */
  readonly #listed = new Set<string>()
  #organization: Read['organization'] = {}
  #settings: Read['settings'] = {}
  #groups: Read['groups'] = []
  /** The first message of the recording; older ones were there before. */
  #firstSent = Number.POSITIVE_INFINITY
  /** For what has no ID in the recording. */
  #nextId = -1

  read(): Read {
    const messages: Record<number, { list: ReadMessage[]; complete: boolean }> = {}
    for (const { stream_id, ...message } of this.#messages.values()) {
      messages[stream_id] ??= { list: [], complete: true }
      if (message.id < this.#firstSent) messages[stream_id].list.push(message)
    }
    return {
      organization: this.#organization,
      settings: this.#settings,
      people: [...this.#people.values()].filter(({ email }) => !this.#isCreated(email) && !system.test(email)),
      groups: this.#groups,
      channels: [...this.#channels.values()].filter(({ name }) => !this.#created.has(name.toLowerCase())),
      subscribers: Object.fromEntries([...this.#subscribers].map(([id, users]) => [id, [...users]])),
      messages,
    }
  }

  take(call: RecordedCall): void {
    const answer = (call.status === 200 ? Object(call.answer) : {}) as Fields
    if (call.status === 200) this.#takeCreated(call)
    this.#takeOrganization(answer)
    walk(answer, fields => {
      this.#takeChannel(fields.stream_id, fields.name, fields)
      if (fields.type === 'stream') this.#takeMessage(fields)
    })
    const [, streamId] = /^\/api\/v1\/streams\/(\d+)\/members$/.exec(call.path) ?? []
    if (streamId !== undefined) this.#subscribeAll(Number(streamId), answer.subscribers)
    if (call.user === null) return
    const caller = this.#findCaller(call.user)
    this.#takeSubscriptions(call.user, caller, answer)
    this.#takeSent(call, caller, answer)
  }

  #isCreated(email: string): boolean {
    return this.#created.has(email) || this.#created.has(email.split('@', 1)[0]!)
  }

  #takeCreated(call: RecordedCall): void {
    const { email, short_name, subscriptions, name } = call.sent
    if (isCallTo(call, 'POST', '/users') && typeof email === 'string') this.#created.add(email)
    if (isCallTo(call, 'POST', '/bots') && typeof short_name === 'string') this.#created.add(`${short_name}-bot`)
    if (isCallTo(call, 'POST', '/channels/create') && typeof name === 'string') this.#created.add(name.toLowerCase())
    if (!isCallTo(call, 'POST', '/users/me/subscriptions') || call.user === null) return
    const caller = this.#findCaller(call.user)
    for (const item of listIn(subscriptions)) {
      const name = String(Object(item).name).toLowerCase()
      const known = this.#channelIds.get(name)
      if (known === undefined) this.#created.add(name)
      else if (!this.#subscribers.get(known)?.has(caller)) this.#late.add(`${known} ${caller}`)
    }
  }

  #takeOrganization(answer: Fields): void {
    const { realm_name: name, realm_description: description, realm_user_groups, user_groups } = answer
    if (typeof name === 'string' && name !== '') this.#organization = { name, ...this.#organization }
    if (typeof description === 'string' && description !== '')
      this.#organization = { description, ...this.#organization }
    if (answer.realm_invite_required !== undefined && Object.keys(this.#settings).length === 0)
      this.#settings = settingsIn(answer)
    const groups = realm_user_groups ?? user_groups
    if (this.#groups.length === 0 && wrongIn('groups', groups) === undefined) this.#groups = groups as Read['groups']
  }

  /** Accounts, wherever an answer has them. */
  takePeople({ answer }: RecordedCall): void {
    walk(answer, fields => {
      this.#takePerson(fields.user_id, fields.delivery_email ?? fields.email, fields.full_name, fields)
      this.#takePerson(fields.sender_id, fields.sender_email, fields.sender_full_name, {})
    })
  }

  #takePerson(userId: unknown, email: unknown, fullName: unknown, more: Fields): void {
    if (!Number.isSafeInteger(userId) || typeof email !== 'string' || typeof fullName !== 'string') return
    const { role, is_bot, bot_type, bot_owner_id, is_active } = more
    const known = this.#people.get(userId as number)
    const person = known ?? {
      user_id: userId as number,
      email,
      full_name: fullName,
      is_active: true,
      is_bot: isBotAddress.test(email),
    }
    if (typeof role === 'number') person.role ??= role
    if (typeof bot_owner_id === 'number') person.bot_owner_id ??= bot_owner_id
    if (typeof bot_type === 'number') person.bot_type ??= bot_type
    if (typeof is_bot === 'boolean') person.is_bot = is_bot
    if (!known && is_active === false) person.is_active = false
    if (!known) this.#addPerson(person)
  }

  #addPerson(person: Person): void {
    const address = person.email.toLowerCase()
    this.#people.set(person.user_id, person)
    if (!this.#userIds.has(address)) this.#userIds.set(address, person.user_id)
  }

  #takeChannel(streamId: unknown, name: unknown, more: Fields): void {
    if (!Number.isSafeInteger(streamId) || typeof name !== 'string' || name === '') return
    const channel = this.#channels.get(streamId as number) ?? this.#addChannel(streamId as number, name)
    const { description, invite_only, is_web_public, history_public_to_subscribers: history } = more
    if (typeof description === 'string') channel.description ??= description
    if (typeof invite_only === 'boolean') channel.invite_only ??= invite_only
    if (typeof is_web_public === 'boolean') channel.is_web_public ??= is_web_public
    if (typeof history === 'boolean') channel.history_public_to_subscribers ??= history
    this.#subscribeAll(channel.stream_id, more.subscribers)
  }

  #addChannel(stream_id: number, name: string): Channel {
    const channel: Channel = { stream_id, name }
    this.#channels.set(stream_id, channel)
    const lower = name.toLowerCase()
    if (!this.#channelIds.has(lower)) this.#channelIds.set(lower, stream_id)
    return channel
  }

  /** HTML cannot be sent, so only messages in Markdown are kept. */
  #takeMessage(fields: Fields): void {
    const { stream_id, display_recipient, content_type } = fields
    this.#takeChannel(stream_id, display_recipient, {})
    const { id, sender_id, subject, content, timestamp, reactions } = fields as unknown as ReadMessage
    const message = { id, sender_id, subject, content, timestamp, reactions }
    if (content_type !== 'text/x-markdown' || this.#messages.has(id) || !Number.isSafeInteger(stream_id)) return
    if (wrongIn('messages', { found: { list: [message], complete: false } }) !== undefined) return
    this.#messages.set(id, { ...message, stream_id: stream_id as number })
  }

  /** Callers of whom nothing else is known have the name of their address. */
  #findCaller(email: string): number {
    const known = this.#userIds.get(email.toLowerCase())
    if (known !== undefined) return known
    const user_id = this.#nextId--
    const person = {
      user_id,
      email,
      full_name: email.split('@', 1)[0]!,
      is_active: true,
      is_bot: isBotAddress.test(email),
      ...(email === usualOwner && { role: 100 }),
    }
    this.#addPerson(person)
    return user_id
  }

  #takeSubscriptions(user: string, caller: number, { subscriptions, events }: Fields): void {
    if (Array.isArray(subscriptions) && !this.#listed.has(user)) {
      this.#listed.add(user)
      for (const { stream_id } of subscriptions.map(Object))
        if (Number.isSafeInteger(stream_id)) this.#subscribe(stream_id, caller)
    }
    for (const { type, message } of listIn(events).map(Object)) {
      if (type !== 'message') continue
      const { id, stream_id } = Object(message) as Fields
      if (typeof id === 'number') this.#firstSent = Math.min(this.#firstSent, id)
      if (Number.isSafeInteger(stream_id)) this.#subscribe(stream_id as number, caller)
    }
  }

  /** A channel that the account sends to, unless its subscriptions are known. */
  #takeSent(call: RecordedCall, caller: number, { id }: Fields): void {
    if (!isCallTo(call, 'POST', '/messages') || call.status !== 200) return
    if (typeof id === 'number') this.#firstSent = Math.min(this.#firstSent, id)
    const { type, to } = call.sent
    if ((type !== 'stream' && type !== 'channel') || typeof to !== 'string') return
    const name = to.replace(/^"(.*)"$/, '$1')
    if (/^\d+$/.test(name)) return
    const channel = this.#channelIds.get(name.toLowerCase()) ?? this.#addChannel(this.#nextId--, name).stream_id
    if (!this.#listed.has(call.user!)) this.#subscribe(channel, caller)
  }

  #subscribeAll(channel: number, users: unknown): void {
    for (const id of listIn(users)) if (Number.isSafeInteger(id)) this.#subscribe(channel, id)
  }

  #subscribe(channel: number, user: number): void {
    if (this.#late.has(`${channel} ${user}`)) return
    this.#subscribers.set(channel, (this.#subscribers.get(channel) ?? new Set()).add(user))
  }
}

/** Every object in an answer, in order, so that the earliest state of a thing comes first. */
function walk(value: unknown, look: (fields: Fields) => void): void {
  if (typeof value !== 'object' || value === null) return
  look(value as Fields)
  for (const part of Object.values(value)) walk(part, look)
}

/** The items of a list, or of a parameter that has one as JSON. */
function listIn(value: unknown): any[] {
  const list = typeof value === 'string' ? jsonOr(value) : value
  return Array.isArray(list) ? list : []
}
