// Turns a seed into facts: every section becomes calls of the API, decided on a state of their own. The whole seed is one
// entry of the journal: all of it or nothing.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { bots } from '../api/bots/bots.ts'
import { channels } from '../api/channels/channels.ts'
import type { Endpoint } from '../api/define.ts'
import { messages } from '../api/messages/messages.ts'
import { reactions as reactionsPage } from '../api/messages/reactions.ts'
import { organization } from '../api/organization/organization.ts'
import { userGroups } from '../api/people/user-groups.ts'
import { users } from '../api/people/users.ts'
import { decode, encode } from '../api/wire.ts'
import type { Fact } from '../domain/facts.ts'
import { resources } from '../domain/index.ts'
import { userByEmail } from '../domain/model/lookups.ts'
import { roles } from '../domain/model/roles.ts'
import type { State, User } from '../domain/model/state.ts'
import { Refusal } from '../domain/refusal.ts'
import type { AnyResource, Context, Tools } from '../domain/resource.ts'
import { isOwner } from '../domain/rules/index.ts'
import { noPassword } from '../io/passwords.ts'
import { parseDuration } from '../local/durations.ts'
import { monotonicMs } from '../local/monotonic.ts'
import { Replay } from '../replay.ts'
import { type Params, type Path, type Seed, SeedMistake } from './format.ts'

export interface SeedContext {
  readonly now: number
  readonly tools: Tools
  /** What else commands need; state, actor and time come from the seed. */
  readonly surroundings: Omit<Context, 'state' | 'actor' | 'now'>
  /** Takes the feature level that a seed asks for, before anything is made of the seed. */
  readonly chooseLevel?: (level: number) => void
}

/** Meets every rule for passwords. An account that gets it has no password and cannot log in with one. */
const placeholder = 'seeded account without a password 7Qx'
/** What the API calls the roles that a seed gives by name. */
const numberOf: Readonly<Record<string, number>> = roles
/** Milliseconds of work before requests get their turn. */
const longestTurn = 50
const botTypes = { generic: 1, 'incoming-webhook': 2, 'outgoing-webhook': 3 }

/** The facts of the seed, on top of those given. */
export async function seedFacts(
  beginning: readonly Fact[],
  seeds: readonly SeedSource[],
  context: SeedContext,
): Promise<Fact[]> {
  const run = new SeedRun(beginning, context)
  for (const { seed, explain } of seeds) {
    try {
      await run.apply(seed)
    } catch (error) {
      throw await explain(error)
    }
  }
  return run.facts
}

export interface SeedSource {
  readonly seed: Seed
  explain(error: unknown): Promise<unknown>
}

class SeedRun {
  readonly facts: Fact[] = []
  readonly #replay = new Replay()
  readonly #context: SeedContext
  readonly #people = new Map<string, number>()
  readonly #groups = new Map<string, number>()
  #now: number
  #lastYield = monotonicMs()

  constructor(beginning: readonly Fact[], context: SeedContext) {
    this.#context = context
    this.#now = context.now
    for (const fact of beginning) this.#take(fact)
    const people = [...this.#state.users.values()]
    // Of rows, by the first part of their addresses.
    for (const { id, email, bot } of people)
      if (!bot?.system) this.#people.set(email.replace(bot ? /-bot@.*$|@.*$/ : /@.*$/, ''), id)
    this.#people.set('owner', people.find(user => isOwner(user) && user.active)!.id)
  }

  async apply(seed: Seed): Promise<void> {
    // History must be older than the start, and so must the channels it is in.
    const ages = (seed.messages ?? []).map(({ ago }, index) => age(ago, ['messages', index, 'ago']))
    this.#now = this.#context.now - Math.max(0, ...ages)
    const { settings } = seed.organization ?? {}
    if (settings) await this.#call('owner', organization.update.id, settings, ['organization', 'settings'])
    for (const [index, user] of (seed.users ?? []).entries()) await this.#user(user, ['users', index])
    for (const [index, bot] of (seed.bots ?? []).entries()) await this.#bot(bot, ['bots', index])
    for (const [index, group] of (seed.groups ?? []).entries()) await this.#group(group, ['groups', index])
    for (const [index, channel] of (seed.channels ?? []).entries()) await this.#channel(channel, ['channels', index])
    for (const [index, message] of (seed.messages ?? []).entries()) {
      const path = ['messages', index]
      if (this.#context.now - ages[index]! < this.#now)
        throw new SeedMistake([...path, 'ago'], 'is before the message above it')
      this.#now = this.#context.now - ages[index]!
      await this.#message(message, path)
    }
    this.#now = this.#context.now
    for (const [index, step] of (seed.steps ?? []).entries())
      await this.#call(step.as ?? 'owner', step.call, step.params ?? {}, ['steps', index])
  }

  async #user(user: NonNullable<Seed['users']>[number], path: Path): Promise<void> {
    const { name, role = 'member', password = placeholder } = user
    const full_name = user.full_name ?? `${name[0]!.toUpperCase()}${name.slice(1)}`
    const email = user.email ?? `${name}@${this.#context.surroundings.server.emailDomain}`
    const { user_id } = await this.#call('owner', users.create.id, { email, full_name, password }, path, true)
    this.#name(this.#people, name, user_id, path)
    if (role !== 'member')
      await this.#call('owner', users.update.id, { user_id, role: numberOf[role] }, [...path, 'role'])
  }

  async #bot(bot: NonNullable<Seed['bots']>[number], path: Path): Promise<void> {
    const { name, owner = 'owner', full_name = `${name} bot`, type = 'generic', payload_url } = bot
    const params = { short_name: name, full_name, bot_type: botTypes[type], payload_url }
    const { user_id } = await this.#call(owner, bots.create.id, params, path)
    this.#name(this.#people, name, user_id, path)
  }

  async #group(group: NonNullable<Seed['groups']>[number], path: Path): Promise<void> {
    const { name, description = '', members = [], subgroups = [], settings } = group
    const params = {
      name,
      description,
      members: members.map((member, index) => this.#person(member, [...path, 'members', index]).id),
      subgroups: subgroups.map((subgroup, index) => {
        const id = this.#groups.get(subgroup) ?? this.#state.groups.find('name', subgroup)?.id
        if (id === undefined) throw new SeedMistake([...path, 'subgroups', index], `names no group: ${subgroup}`)
        return id
      }),
      ...settings,
    }
    const { group_id } = await this.#call('owner', userGroups.create.id, params, path)
    this.#name(this.#groups, name, group_id, path)
  }

  async #channel(channel: NonNullable<Seed['channels']>[number], path: Path): Promise<void> {
    const { name, description = '', privacy = 'public', creator = 'owner', subscribers = [], settings } = channel
    const params = {
      name,
      description,
      subscribers: subscribers.map((person, index) => this.#person(person, [...path, 'subscribers', index]).id),
      invite_only: privacy === 'private',
      is_web_public: privacy === 'web-public',
      is_default_stream: channel.default ?? false,
      // A seed says itself what it wants to have been said.
      send_new_subscription_messages: false,
      ...settings,
    }
    await this.#call(creator, channels.create.id, params, path)
  }

  async #message(message: NonNullable<Seed['messages']>[number], path: Path): Promise<void> {
    const { from, channel, topic, to, content, reactions = [] } = message
    if ((channel === undefined) === (to === undefined)) throw new SeedMistake(path, 'must have either channel or to')
    const params =
      to === undefined
        ? { type: 'channel', to: channel, topic, content }
        : { type: 'direct', to: to.map((person, index) => this.#person(person, [...path, 'to', index]).id), content }
    // People have read what they wrote, whichever program they used.
    const { id } = await this.#call(from, messages.send.id, { ...params, read_by_sender: true }, path)
    for (const [index, reaction] of reactions.entries())
      await this.#call(reaction.from, reactionsPage.add.id, { message_id: id, emoji_name: reaction.emoji }, [
        ...path,
        'reactions',
        index,
      ])
  }

  /** Decides the call as the endpoint would, and takes what it says has happened. */
  async #call(
    as: string,
    id: string,
    params: Params,
    path: Path,
    withoutWelcome = false,
  ): Promise<Record<string, any>> {
    const found = findCallable(id)
    if (!found) throw new SeedMistake(path, `needs the endpoint ${id}, which does not exist`)
    const { resource, key, endpoint } = found
    await this.#yieldToRequests()
    const { fields } = encode(endpoint, params)
    const decoded = decode(endpoint, params as Record<string, string>, fields)
    if ('rejected' in decoded) throw new SeedMistake(path, `is refused: ${decoded.rejected.msg}`)
    if (decoded.ignored.length > 0) throw new SeedMistake(path, `has unknown parameters: ${decoded.ignored.join(', ')}`)
    const actor = this.#person(as, path)
    const ctx = { ...this.#context.surroundings, state: this.#state, now: this.#now, actor, withoutWelcome }
    try {
      const prepared = await resource.prepare?.[key]?.(this.#tools, decoded.params, this.#state, actor)
      const { facts = [], touch, reply } = resource.commands[key]!(ctx, decoded.params, prepared)
      for (const fact of facts) this.#take(fact)
      touch?.(this.#state)
      return reply
    } catch (error) {
      if (error instanceof Refusal) throw new SeedMistake(path, `is refused: ${error.message}`)
      throw error
    }
  }

  /** A large seed must not delay the answers to /readyz; a small one is done before the first pause. */
  async #yieldToRequests(): Promise<void> {
    if (monotonicMs() - this.#lastYield < longestTurn) return
    await nextTurn()
    this.#lastYield = monotonicMs()
  }

  get #state(): State {
    return this.#replay.state
  }

  get #tools(): Tools {
    const { tools } = this.#context
    return {
      ...tools,
      hashPassword: async password => (password === placeholder ? noPassword : tools.hashPassword(password)),
    }
  }

  /** By the name the seed gave them, or by address. */
  #person(name: string, path: Path): User {
    const id = this.#people.get(name)
    const user = id === undefined ? userByEmail(this.#state, name) : this.#state.users.get(id)
    if (!user) throw new SeedMistake(path, `names an account that does not exist: ${name}`)
    return user
  }

  #name(names: Map<string, number>, name: string, id: number, path: Path): void {
    if (names.has(name)) throw new SeedMistake(path, `is the second with the name ${name}`)
    names.set(name, id)
  }

  #take(fact: Fact): void {
    this.facts.push(fact)
    this.#replay.take([fact])
  }
}

interface Callable {
  readonly resource: AnyResource
  readonly key: string
  readonly endpoint: Endpoint
}

// Shared by all worlds: endpoints never change. Made for the first seed.
let callables: ReadonlyMap<string, Callable> | undefined

function findCallable(id: string): Callable | undefined {
  callables ??= new Map(
    resources.flatMap(resource =>
      Object.entries(resource.api)
        .filter(([, endpoint]) => endpoint.served === undefined)
        .map(([key, endpoint]) => [endpoint.id, { resource, key, endpoint }]),
    ),
  )
  return callables.get(id)
}

function age(ago: string | undefined, path: Path): number {
  const ms = ago === undefined ? 0 : parseDuration(ago)
  if (ms === undefined) throw new SeedMistake(path, 'must be a time such as 2d or 1h30m')
  return ms
}
