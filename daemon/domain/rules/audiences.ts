// Audiences of events: named sets of user IDs.

import type { Channel, State, User } from '../model/state.ts'
import type { Announcement, Audience } from '../resource.ts'
import { accessIsLimited, accessUser, isAdministrator, isGuest, seeMetadata } from './index.ts'

export function everyone(state: State): number[] {
  return activeUsers(state).map(user => user.id)
}

export function nonGuests(state: State): number[] {
  return activeUsers(state, user => !isGuest(user)).map(user => user.id)
}

export function administrators(state: State): number[] {
  return activeUsers(state, isAdministrator).map(user => user.id)
}

/** Users who may know of the user, the user included. */
export function accessAudience(state: State, user: User): number[] {
  if (!accessIsLimited(state)) return everyone(state)
  return activeUsers(state, actor => accessUser.allows({ state, actor }, user)).map(reader => reader.id)
}

/** Guests who may not know of the user. */
export function strangers(state: State, user: User): number[] {
  if (!accessIsLimited(state)) return []
  return activeUsers(state, actor => !accessUser.allows({ state, actor }, user)).map(reader => reader.id)
}

/** These people, apart: guests among them who may not know of the user. */
export function splitByAccess(
  state: State,
  user: User,
  to: Announcement['to'],
): { readonly known: Announcement['to']; readonly strangers: readonly number[] } {
  if (!accessIsLimited(state) || user.bot) return { known: to, strangers: [] }
  const isStranger = (id: number) => !accessUser.allows({ state, actor: state.users.get(id)! }, user)
  const strangers = [...to].filter(isStranger)
  if (strangers.length === 0) return { known: to, strangers }
  const apart = new Set(strangers)
  return { known: [...to].filter(id => !apart.has(id)), strangers }
}

/** Users who may know that the channel exists, except some. */
export function channelAudience(state: State, channel: Channel, except?: ReadonlySet<number>): Audience {
  return usersWhere(state, actor => seeMetadata.allows({ state, actor }, channel), except)
}

/** Active accounts that match, asked one by one and only when needed: most have no queue. */
export function usersWhere(
  state: State,
  matches: (user: User) => boolean,
  except: ReadonlySet<number> = new Set(),
): Audience {
  const has = (id: number) => {
    const user = state.users.get(id)
    return user?.active === true && !except.has(id) && matches(user)
  }
  return {
    size: state.users.size,
    has,
    *[Symbol.iterator]() {
      for (const { id } of state.users.values()) if (has(id)) yield id
    },
  }
}

export function activeUsers(state: State, matches: (user: User) => boolean = () => true): User[] {
  const users: User[] = []
  for (const user of state.users.values()) if (user.active && matches(user)) users.push(user)
  return users
}
