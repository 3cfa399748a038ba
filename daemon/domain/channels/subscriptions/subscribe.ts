// Subscribing: who may, who is meant, what is created on the way, and who gets a message. One fact says it for everyone,
// however many they are.

import type { subscriptions as api } from '../../../api/channels/subscriptions.ts'
import type { ParamsOf } from '../../../api/define.ts'
import type { Fact } from '../../facts.ts'
import { limits } from '../../limits.ts'
import { directNotice } from '../../messages/notices/post.ts'
import type { Added, SubscriptionAdded } from '../../model/facts/channels.ts'
import { channelByName } from '../../model/lookups.ts'
import type { Channel, State, User } from '../../model/state.ts'
import { checkMeetings } from '../../people/users/access.ts'
import { invalid, missing } from '../../refusal.ts'
import type { Context } from '../../resource.ts'
import { countNamed } from '../../rules/group-values.ts'
import * as may from '../../rules/index.ts'
import { knownUser } from '../../rules/user-access.ts'
import { checkDescription, checkDescriptionRoom, checkName } from '../channels/checks.ts'
import { type Blueprint, blueprint, checkCreation, creationNotices, mention } from '../channels/create.ts'
import { lastMessageId } from '../channels/history.ts'
import { Colors, checkColor } from './colors.ts'
import { NamesByUser } from './names-by-user.ts'

interface Wanted {
  readonly channel: Channel
  readonly people: readonly User[]
  readonly color?: string | undefined
}

/** A request this long would make more events than a queue can number. */
const mostChannels = 1000

type Params = ParamsOf<typeof api.subscribe>

export function subscribing(ctx: Context, params: Params) {
  may.check(may.subscribe, ctx)
  const plan = blueprint(ctx, params)
  const entries = wantedChannels(params.subscriptions)
  const absent = entries.filter(({ name }) => !channelByName(ctx.state, name))
  if (absent.length > 0) checkCreation(ctx, plan, absent.length)
  checkDescriptions(ctx, absent)
  checkNamed(plan, absent.length)
  const created = absent.map((entry, index) => newChannel(ctx, plan, entry, index))
  const existing = entries.map(({ name }) => channelByName(ctx.state, name)).filter(channel => channel !== undefined)
  const closed = existing.filter(channel => !may.subscribeSelf.allows(ctx, channel))
  if (closed.length > 0 && params.authorization_errors_fatal) throw may.forbidden(may.subscribeSelf, closed[0]!)
  const open = existing.filter(channel => !closed.includes(channel))
  if (meansOthers(ctx, params.principals)) for (const channel of open) may.check(may.subscribeOthers, ctx, channel)
  const people = principals(ctx, params.principals, entries.length)
  const colors = new Map(entries.map(entry => [entry.name.toLowerCase(), entry.color]))
  const wanted = [...open, ...created].map(channel => ({
    channel,
    people,
    color: colors.get(channel.name.toLowerCase()),
  }))
  checkMeetings(ctx.state, [...open, ...created], people)
  const { fact, subscribed, already } = enrolment(ctx.state, wanted)
  // Many people at once get no message.
  const sendsMessages = subscribed.size <= limits.bulkNewSubscriptionMessages
  const tell = params.send_new_subscription_messages ?? true
  const facts: Fact[] = created.map(channel => ({ type: 'channel.created', channel }))
  if (fact) facts.push(fact)
  if (tell && sendsMessages)
    facts.push(...welcomeNotices(ctx, new Set(open), fact), ...creationNotices(ctx, created, params.announce ?? false))
  const joined = new Set(fact?.added.map(({ channelId }) => channelId))
  return {
    facts,
    subscribed,
    already,
    joined: wanted.map(({ channel }) => channel).filter(({ id }) => joined.has(id)),
    more: {
      ...(!params.authorization_errors_fatal && { unauthorized: closed.map(channel => channel.name) }),
      ...(tell && { new_subscription_messages_sent: sendsMessages }),
    },
  }
}

/** Who is newly subscribed to what: one fact for all, or none, and the names of channels by user. */
export function enrolment(state: State, wanted: readonly Wanted[]) {
  const colors = new Colors(state, wanted.length > 1)
  const subscribed = new NamesByUser()
  const already = new NamesByUser()
  const added: Added[] = []
  for (const { channel, people, color } of wanted) {
    const come: number[] = []
    const there: number[] = []
    const returning: number[] = []
    const gained: number[] = []
    const before = state.subscriptions.followers(channel.id)
    for (const user of people) {
      const row = before.get(user.id)
      if (row?.active) {
        there.push(user.id)
        continue
      }
      come.push(user.id)
      if (row) returning.push(user.id)
      if (!may.seeUnsubscribed.allows({ state, actor: user }, channel)) gained.push(user.id)
    }
    const newcomers = returning.length > 0 ? come.filter(id => !before.get(id)) : come
    const fresh = colors.given(newcomers, channel.id, color)
    subscribed.add(channel.name, come)
    already.add(channel.name, there)
    if (come.length > 0) added.push({ channelId: channel.id, returning, fresh, gained })
  }
  const fact: SubscriptionAdded | undefined =
    added.length > 0 ? { type: 'subscription.added', after: lastMessageId(state), added } : undefined
  return { fact, subscribed, already }
}

/** For a new account, before it is announced. Added after the fact that creates it. */
export function firstSubscriptions(state: State, user: User, channels: readonly Channel[]): Fact[] {
  const { fact } = enrolment(
    state,
    channels.map(channel => ({ channel, people: [user] })),
  )
  // It has no queue yet, so nothing came into its sight.
  return fact ? [{ ...fact, added: fact.added.map(entry => ({ ...entry, gained: [] })) }] : []
}

export function addedUsers({ returning, fresh }: Added): number[] {
  return [...returning, ...Object.values(fresh).flat()]
}

/** People by ID or address, each once. Unknown and deactivated ones refuse the whole request. */
export function withoutRepeats(ctx: Context, parameter: string, given: readonly (number | string)[]): User[] {
  const people = given.map((one, i) => {
    const user = knownUser(ctx, one)
    if (!user?.active || user.bot?.system) throw missing(`${parameter}[${i}]`, 'active user', one)
    return user
  })
  // Most callers name each once, in order.
  return people.every((user, i) => i === 0 || people[i - 1]!.id < user.id) ? people : [...new Set(people)]
}

/** The accounts to subscribe; absent and empty mean the caller. `channels` is how many the request names. */
export function principals(ctx: Context, given: readonly (number | string)[] | undefined, channels: number): User[] {
  if (!given || given.length === 0) return [ctx.actor]
  const most = limits.subscriptionsAtOnce
  if (given.length * channels > most)
    throw invalid('principals', `you can name at most ${most} accounts times channels in one request; use several`)
  if (given.some(one => typeof one !== typeof given[0]))
    throw invalid('principals', 'give either IDs or email addresses, not both')
  return withoutRepeats(ctx, 'principals', given)
}

/** An address counts as another user, even the caller's own. */
function meansOthers(ctx: Context, given: readonly (number | string)[] | undefined): boolean {
  return given?.some(one => one !== ctx.actor.id) ?? false
}

interface Entry {
  readonly name: string
  readonly description: string
  readonly color?: string
}

function wantedChannels(given: Params['subscriptions']): Entry[] {
  if (given.length > mostChannels) throw invalid('subscriptions', `must have at most ${mostChannels} channels`)
  const entries = new Map<string, Entry>()
  given.forEach((one, index) => {
    const { name, description = '', color } = typeof one === 'string' ? { name: one } : { ...one }
    const place = `subscriptions[${index}]`
    const entry = {
      name: checkName(`${place}["name"]`, name),
      description: checkDescription(`${place}["description"]`, description),
      ...(color !== undefined && { color: checkColor(`${place}["color"]`, color) }),
    }
    const key = entry.name.toLowerCase()
    if (!entries.has(key)) entries.set(key, entry)
  })
  return [...entries.values()]
}

/** Each is rendered twice: as the description of its channel, and in the first message there. */
function checkDescriptions(ctx: Context, entries: readonly Entry[]): void {
  const most = limits.newDescriptions
  if (entries.reduce((sum, { description }) => sum + description.length, 0) > most)
    throw invalid(
      'subscriptions',
      `the descriptions of new channels must have at most ${most} characters together; create fewer channels at a time`,
    )
  checkDescriptionRoom(
    ctx,
    'subscriptions',
    entries.map(({ description }) => description),
  )
}

/** Every channel has the settings of the request. */
function checkNamed({ permissions }: Blueprint, channels: number): void {
  const most = limits.subscriptionsAtOnce
  let named = 0
  for (const value of Object.values(permissions)) named += countNamed(value)
  if (named * channels > most)
    throw invalid(
      'subscriptions',
      `the settings of new channels may name ${most} people and groups in all; create fewer channels at a time`,
    )
}

function newChannel(ctx: Context, plan: Blueprint, { name, description }: Entry, index: number): Channel {
  return { id: ctx.state.channels.nextId + index, name, description, ...plan }
}

/** A direct message to every user whom another one subscribed to existing channels. */
function welcomeNotices(ctx: Context, existing: ReadonlySet<Channel>, fact: SubscriptionAdded | undefined): Fact[] {
  const names = new Map<number, string[]>()
  for (const entry of fact?.added ?? []) {
    const channel = ctx.state.channels.get(entry.channelId)
    if (!channel || !existing.has(channel)) continue
    for (const id of addedUsers(entry))
      if (id !== ctx.actor.id && may.isHuman(ctx.state.users.get(id)!))
        names.set(id, [...(names.get(id) ?? []), channel.name])
  }
  const alike = new Map<string, number[]>()
  for (const [id, channels] of names) {
    const links = channels.sort().map(name => `#**${name}**`)
    const text =
      links.length === 1
        ? `${mention(ctx)} subscribed you to ${links[0]}.`
        : `${mention(ctx)} subscribed you to the following channels:\n\n${links.map(link => `* ${link}`).join('\n')}`
    alike.set(text, [...(alike.get(text) ?? []), id])
  }
  return [...alike].flatMap(([text, ids]) => directNotice(ctx, ids, text))
}
