// One organization and its model, and random steps by random people: what the model allows must succeed, what it forbids must be
// refused, and after each step no user has heard or can read what the model hides.

import { roles as daemonRoles, type Role } from '../../../daemon/domain/model/roles.ts'
import type { User } from '../../../daemon/domain/model/state.ts'
import type { Announcement } from '../../../daemon/domain/resource.ts'
import { World } from '../../support/in-process.ts'
import { Model, type ModelChannel } from './model.ts'
import { type Step, Steps, systemNames } from './steps.ts'

export class Difference extends Error {}

export class History {
  readonly tally = { allowed: 0, refused: 0, heard: 0, read: 0 }
  readonly #world = new World()
  readonly #model: Model
  readonly #people: User[]
  readonly #steps: Steps
  readonly #random: () => number
  readonly #log: string[] = []
  #news: { readonly to: number; readonly event: Record<string, any> }[] = []

  constructor(random: () => number) {
    this.#random = random
    const world = this.#world
    const idOf = (name: string) => world.state.groups.find('name', name)!.id
    const systemGroups = Object.fromEntries(systemNames.map(name => [`role:${name}`, idOf(`role:${name}`)]))
    this.#model = new Model(systemGroups, {
      addSubscribers: 'role:moderators',
      deleteAny: 'role:administrators',
      deleteOwn: 'role:members',
      setDeletePolicy: 'role:moderators',
    })
    const standing: Role[] = [daemonRoles.administrator, daemonRoles.moderator]
    standing.push(daemonRoles.member, daemonRoles.member, daemonRoles.member, daemonRoles.guest, daemonRoles.guest)
    this.#people = [world.owner, ...standing.map(role => world.join(role))]
    for (const { id, role } of this.#people) this.#model.roles.set(id, role)
    world.run(world.owner, 'update-realm', {
      can_add_subscribers_group: { new: systemGroups['role:moderators'] },
      can_delete_own_message_group: { new: systemGroups['role:members'] },
    })
    const groups = ['cooks', 'bakers'].map(name => {
      const made = world.run(world.owner, 'create-user-group', { name, description: '', members: [] })
      this.#model.groups.set(made.group_id, { members: new Set(), subgroups: new Set() })
      return made.group_id as number
    })
    world.onNews = (to, announcement) => this.#news.push({ to, event: eventOf(announcement) })
    this.#steps = new Steps(
      this.#model,
      this.#people.map(({ id }) => id),
      groups,
      random,
    )
    for (let n = 0; n < 3; n++) this.#play(world.owner, this.#steps.createChannel(world.owner.id)!)
  }

  step(): void {
    // Owners more often: what they change makes states in which the others can be tried.
    const owners = this.#people.filter(({ id }) => this.#model.isOwner(id))
    const actor = this.#pick(this.#random() < 0.3 ? owners : this.#people)
    const next = this.#steps.next(actor.id)
    if (next) this.#play(actor, next)
    if (this.#random() < 0.2) this.#readEverything(this.#pick(this.#people))
  }

  #play(actor: User, { endpoint, params, allowed, after }: Step): void {
    const before = this.#knowers()
    const seenBefore = this.#seers()
    this.#news = []
    this.#log.push(`${actor.id} (role ${this.#model.roles.get(actor.id)}) ${endpoint} ${JSON.stringify(params)}`)
    let reply: unknown
    const refusal = this.#world.attempt(actor, endpoint, params, given => {
      reply = given
    })
    if (allowed && refusal) this.#fail(`the model allows it, and it is refused: ${refusal.message}`)
    if (!allowed && !refusal) this.#fail('the model forbids it, and it succeeds')
    if (!allowed) {
      this.tally.refused++
      if (this.#news.length > 0) this.#fail(`refused, and yet a user received ${JSON.stringify(this.#news[0])}`)
      return
    }
    this.tally.allowed++
    after?.(reply)
    this.#checkHeard(before, seenBefore)
  }

  // --- what may be heard and read ---------------------------------------------------------------------------------

  /** Who knows of each channel. */
  #knowers(): Map<number, Set<number>> {
    const { channels } = this.#model
    const ids = this.#people.map(({ id }) => id)
    return new Map(
      [...channels].map(([id, one]) => [id, new Set(ids.filter(user => this.#model.hasMetadata(user, one)))]),
    )
  }

  /** Who sees each message. */
  #seers(): Map<number, Set<number>> {
    const ids = this.#people.map(({ id }) => id)
    const { messages } = this.#model
    return new Map([...messages].map(([id, one]) => [id, new Set(ids.filter(user => this.#model.sees(user, one)))]))
  }

  #checkHeard(knewBefore: Map<number, Set<number>>, sawBefore: Map<number, Set<number>>): void {
    const knows = this.#knowers()
    const sees = this.#seers()
    const may = (of: Map<number, Set<number>>, id: number, user: number) => of.get(id)?.has(user) === true
    for (const { to, event } of this.#news) {
      if (!this.#model.roles.has(to)) continue
      this.tally.heard++
      for (const id of messagesOf(event)) {
        // Messages of the notification bot are not in the model.
        if (!this.#model.messages.has(id) && !sawBefore.has(id)) continue
        if (!may(sees, id, to) && !may(sawBefore, id, to))
          this.#fail(`user ${to} hears of message ${id} and may not: ${JSON.stringify(event).slice(0, 300)}`)
      }
      for (const id of channelsOf(event))
        if (this.#model.channels.has(id) && !may(knows, id, to) && !may(knewBefore, id, to))
          this.#fail(`user ${to} hears of channel ${id} and may not: ${JSON.stringify(event).slice(0, 300)}`)
    }
    this.#checkEverybodyHeard()
  }

  /** Every user to whom a new message was delivered receives its event. */
  #checkEverybodyHeard(): void {
    for (const [id, { deliveredTo }] of this.#model.messages) {
      const told = this.#news
        .filter(({ event }) => event.type === 'message' && event.message.id === id)
        .map(({ to }) => to)
      if (told.length === 0) continue
      const missed = [...deliveredTo].filter(user => !told.includes(user))
      if (missed.length > 0 || new Set(told).size > deliveredTo.size)
        this.#fail(`message ${id} is for ${[...deliveredTo]}, and told to ${[...new Set(told)]}`)
    }
  }

  /** Exactly the messages and channels that the model shows. */
  #readEverything(reader: User): void {
    this.tally.read++
    const model = this.#model
    this.#log.push(`${reader.id} (role ${model.roles.get(reader.id)}) reads everything`)
    const message_ids = [...model.messages.keys()]
    const { messages } = this.#world.run(reader, 'get-messages', { message_ids })
    const visible = [...model.messages.values()].filter(message => model.sees(reader.id, message)).map(({ id }) => id)
    this.#same(
      'messages',
      messages.map(({ id }: { id: number }) => id),
      visible,
    )
    for (const id of message_ids.slice(-3)) {
      const isRefused = this.#world.attempt(reader, 'get-message', { message_id: id }) !== undefined
      if (isRefused === visible.includes(id)) this.#fail(`get-message ${id}: refused ${isRefused}`)
    }
    const shown = this.#world.run(reader, 'get-streams', { include_all: true, exclude_archived: false })
    const known = [...model.channels.values()]
      .filter(channel => model.hasMetadata(reader.id, channel))
      .map(({ id }) => id)
    const listed = shown.streams.map(({ stream_id }: { stream_id: number }) => stream_id)
    this.#same(
      'channels',
      listed.filter((id: number) => model.channels.has(id)),
      known,
    )
    for (const channel of model.channels.values()) this.#readChannel(reader, channel)
  }

  #readChannel(reader: User, channel: ModelChannel): void {
    const { id, isArchived, name } = channel
    const knows = this.#model.hasMetadata(reader.id, channel) && !isArchived
    const reads = this.#model.hasContent(reader.id, channel) && !isArchived
    const asked: [string, Record<string, unknown>, boolean][] = [
      ['get-stream-by-id', { stream_id: id }, knows],
      ['get-subscribers', { stream_id: id }, knows],
      ['get-stream-topics', { stream_id: id }, reads],
      ['get-stream-id', { stream: name }, reads],
    ]
    for (const [endpoint, params, allowed] of asked) {
      const refusal = this.#world.attempt(reader, endpoint, params)
      if ((refusal === undefined) !== allowed)
        this.#fail(`${endpoint} ${JSON.stringify(params)}: ${allowed ? refusal?.message : 'succeeds, and may not'}`)
    }
    if (knows) return
    // What a user may not know of looks like what does not exist.
    const hidden = this.#world.attempt(reader, 'get-stream-by-id', { stream_id: id })!.message
    const absent = this.#world.attempt(reader, 'get-stream-by-id', { stream_id: 9999 })!.message
    if (hidden !== absent.replace('9999', String(id))) this.#fail(`hidden: ${hidden}; absent: ${absent}`)
  }

  #same(what: string, shown: number[], expected: number[]): void {
    const sorted = (list: number[]) => [...list].sort((a, b) => a - b).join()
    if (sorted(shown) !== sorted(expected))
      this.#fail(`${what}: shown ${sorted(shown)}, the model shows ${sorted(expected)}`)
  }

  #fail(message: string): never {
    throw new Difference(`${message}\n${this.#log.slice(-30).join('\n')}`)
  }

  #pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.#random() * list.length)]!
  }
}

function eventOf({ event }: Announcement): Record<string, any> {
  return event as Record<string, any>
}

function messagesOf(event: Record<string, any>): number[] {
  switch (event.type) {
    case 'message':
      return [event.message.id]
    case 'update_message':
    case 'delete_message':
    case 'reaction':
      return [...(event.message_ids ?? []), event.message_id].filter(id => id !== undefined)
    default:
      return []
  }
}

function channelsOf(event: Record<string, any>): number[] {
  if (event.type !== 'stream' && event.type !== 'subscription') return []
  const rows: { stream_id: number }[] = [...(event.streams ?? []), ...(event.subscriptions ?? [])]
  return [...rows.map(({ stream_id }) => stream_id), ...(event.stream_ids ?? []), event.stream_id].filter(
    id => id !== undefined,
  )
}
