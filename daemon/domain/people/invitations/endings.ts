// Ends invitations. Ended ones are kept, so that their links can say what became of them.

import type { Fact } from '../../facts.ts'
import type { Invitation } from '../../model/rows/organization.ts'
import type { State } from '../../model/state.ts'
import { seconds } from '../../values/time.ts'

/** Whether it can be accepted at this time, in milliseconds. */
export function isOpen({ ended, expires }: Invitation, now: number): boolean {
  return ended === undefined && (expires === null || expires > seconds(now))
}

export function revocation({ id, inviterId }: Invitation): Fact {
  return { type: 'invitation.revoked', id, inviterId }
}

/** An account is deactivated, and its invitations with it. */
export function revokeInvitations(state: State, inviterId: number): Fact[] {
  return state.invitations
    .where('inviter', inviterId)
    .filter(({ ended }) => ended === undefined)
    .map(revocation)
}

/** There is an account with this address now: other invitations of it lead nowhere. */
export function outdateInvitations(state: State, email: string, accepted?: Invitation): Fact[] {
  const ids: number[] = []
  for (const { id, email: invited, ended } of state.invitations.values())
    if (ended === undefined && id !== accepted?.id && invited?.toLowerCase() === email.toLowerCase()) ids.push(id)
  return ids.length > 0 ? [{ type: 'invitations.outdated', ids }] : []
}
