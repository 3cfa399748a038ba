// Guests who may know of some people only: what they learn and forget when channels, conversations, roles, accounts or the
// organization's setting change.

import { limits } from '../../limits.ts'
import type { Channel, State, User } from '../../model/state.ts'
import { invalid } from '../../refusal.ts'
import type { Announcement } from '../../resource.ts'
import { accessAudience, activeUsers } from '../../rules/audiences.ts'
import {
  accessIsLimited,
  accessUser,
  areAcquainted,
  isGuest,
  type NewTies,
  shareConversation,
} from '../../rules/index.ts'
import { statusNews } from '../user-status.ts'
import { announcePersonAdded, announcePersonRemoved } from './announce.ts'

type ByChannel = ReadonlyMap<number, readonly number[]>

/** After users were subscribed: the pairs that share a channel for the first time. */
export function metInChannels(state: State, added: ByChannel): Announcement[] {
  if (!accessIsLimited(state)) return []
  const subscribers = new Map([...added].map(([id, userIds]) => [id, new Set(userIds)]))
  const pairs = new Pairs()
  for (const [channelId, newcomers] of subscribers)
    pairsIn(state, state.subscriptions.followers(channelId), newcomers, pairs)
  return learnt(state, pairs.unacquainted(state, { subscribers }))
}

/** After users were unsubscribed: the pairs that no longer share anything. */
export function partedInChannels(state: State, removed: ByChannel): Announcement[] {
  if (!accessIsLimited(state)) return []
  const pairs = new Pairs()
  for (const [channelId, userIds] of removed) {
    const leavers = new Set(userIds)
    pairsIn(state, [...state.subscriptions.followers(channelId), ...userIds], leavers, pairs)
  }
  return forgotten(pairs.unacquainted(state))
}

/** A message begins a conversation, or one of two after all that was in it had been deleted. */
export function metInConversation(state: State, conversationId: number, isNew: boolean): Announcement[] {
  if (!accessIsLimited(state)) return []
  const { userIds } = state.conversations.get(conversationId)!
  if (!isNew && (userIds.length > 2 || state.messages.inConversation(conversationId).length > 1)) return []
  const pairs = new Pairs()
  pairsIn(state, userIds, new Set(userIds), pairs)
  return learnt(state, pairs.unacquainted(state, { conversationId }))
}

/** Messages of a conversation are gone: nothing is left between two. */
export function partedInConversation(state: State, conversationId: number): Announcement[] {
  if (!accessIsLimited(state)) return []
  const { userIds } = state.conversations.get(conversationId)!
  if (userIds.length > 2 || state.messages.inConversation(conversationId).length > 0) return []
  const pairs = new Pairs()
  for (const guest of limitedGuests(state, userIds))
    for (const id of userIds) if (id !== guest.id) pairs.add(state.users.get(id)!, guest)
  return forgotten(pairs.unacquainted(state))
}

/** Refuses to subscribe or unsubscribe people if too many pairs of a guest and another person could meet or part by it. */
export function checkMeetings(
  state: State,
  channels: readonly Channel[],
  people: readonly User[],
  param = 'principals',
): void {
  if (!accessIsLimited(state)) return
  const guests = people.filter(isGuest).length
  let pairs = 0
  for (const { id } of channels) {
    const followers = [...state.subscriptions.followers(id)]
    pairs += limitedGuests(state, followers).length * people.length + guests * (followers.length + people.length)
    if (pairs > limits.sightsAtOnce)
      throw invalid(param, 'too many guests would begin or cease to see people at once; name fewer people or channels')
  }
}

/** The organization began or ceased to limit whom guests know of. */
export function announceLimit(state: State): Announcement[] {
  const pairs = new Pairs()
  const guests = activeUsers(state, isGuest)
  // OPEN: public servers tell guests nothing but the new value of the setting. Here they hear whom they see by it, unless there are so
  // many guests and people that all others would wait.
  if (guests.length * state.users.size > limits.sightsAtOnce) return []
  for (const guest of guests) for (const user of state.users.values()) pairs.add(user, guest)
  const strangers = pairs.unacquainted(state)
  return accessIsLimited(state) ? forgotten(strangers) : learnt(state, strangers)
}

/** A user became a guest or stopped being one. */
export function announceAccess(state: State, before: User, after: User): Announcement[] {
  if (!accessIsLimited(state) || !after.active || isGuest(before) === isGuest(after)) return []
  const pairs = new Pairs()
  for (const user of state.users.values()) pairs.add(user, after)
  const strangers = pairs.unacquainted(state)
  return isGuest(after) ? forgotten(strangers) : learnt(state, strangers)
}

/** An account came back: guests who did not know of it while it was away. */
export function seenAgain(state: State, user: User): Announcement[] {
  if (!accessIsLimited(state)) return []
  const away = { ...user, active: false }
  const to = activeUsers(
    state,
    actor => accessUser.allows({ state, actor }, user) && !accessUser.allows({ state, actor }, away),
  )
  return to.length === 0 ? [] : learnt(state, [[user, to.map(guest => guest.id)]])
}

/**
 * An account is deactivated. Guests with whom it shared a conversation learn that (`known`); for those with whom it shared
 * channels only, the person disappears (`losing`).
 */
export function readersOfDeactivation(state: State, user: User) {
  const before = accessAudience(state, { ...user, active: true })
  if (!accessIsLimited(state) || user.bot) return { known: before, losing: [] }
  const keepsTie = (id: number) => {
    const reader = state.users.get(id)!
    return !isGuest(reader) || shareConversation(state, reader, { ...user, active: true })
  }
  return { known: before.filter(keepsTie), losing: before.filter(id => !keepsTie(id)) }
}

type Strangers = readonly (readonly [User, readonly number[]])[]

/** Who might be a stranger to which guests. */
class Pairs {
  readonly #guests = new Map<User, Set<User>>()

  add(user: User, guest: User): void {
    if (user.bot || user.id === guest.id) return
    const guests = this.#guests.get(user) ?? new Set()
    this.#guests.set(user, guests.add(guest))
  }

  /** The pairs that know nothing of each other, ties that are new set aside. */
  unacquainted(state: State, but?: NewTies): Strangers {
    return [...this.#guests].flatMap(([user, guests]) => {
      const to = [...guests].filter(guest => !areAcquainted(state, guest, user, but)).map(guest => guest.id)
      return to.length > 0 ? [[user, to] as const] : []
    })
  }
}

/** Each limited guest with everyone active, where at least one of the two is concerned. */
function pairsIn(state: State, everyone: Iterable<number>, concerned: ReadonlySet<number>, pairs: Pairs): void {
  const all = new Set(everyone)
  for (const guest of limitedGuests(state, all))
    for (const id of concerned.has(guest.id) ? all : concerned) {
      const user = state.users.get(id)!
      if (user.active) pairs.add(user, guest)
    }
}

function limitedGuests(state: State, userIds: Iterable<number>): User[] {
  return [...userIds].map(id => state.users.get(id)!).filter(user => user.active && isGuest(user))
}

function learnt(state: State, strangers: Strangers): Announcement[] {
  return strangers.flatMap(([user, to]) => [
    ...announcePersonAdded(state, user, [...to]),
    ...statusNews(state, user, to),
  ])
}

function forgotten(strangers: Strangers): Announcement[] {
  return strangers.map(([user, to]) => announcePersonRemoved(user, to))
}
