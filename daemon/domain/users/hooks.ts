// What other resources have to do when accounts come and go. Each returns facts for the same command, or announcements.

import type { Fact } from '../facts.ts'
import { invitationsRevoked } from '../invitations.ts'
import type { Announcement, Surroundings } from '../resource.ts'
import type { State, User } from '../state.ts'

/** A new account: default channels, their recent history, the notice of the notification bot. */
export function whenCreated(_ctx: Surroundings, _user: User): Fact[] {
  return []
}

/** An account is deactivated: its open invitations are revoked. */
export function whenDeactivated({ state }: Surroundings, user: User): Fact[] {
  return invitationsRevoked(state, user.id)
}

/** Subscribers come and go with accounts: peer_add and peer_remove. */
export function activityNews(_state: State, _user: User): Announcement[] {
  return []
}

/** A role opens and closes channels: stream create and delete, peer_add and peer_remove. */
export function roleNews(_state: State, _before: User, _after: User): Announcement[] {
  return []
}
