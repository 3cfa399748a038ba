// The offer behind the link of an invitation, or why there is none.

import type { Invitation } from '../../model/rows/organization.ts'
import { organizationSetting } from '../../model/settings.ts'
import type { State } from '../../model/state.ts'
import { enabledMethods } from '../../organization/authentication.ts'
import { conflict, missing, organizationDeactivated } from '../../refusal.ts'
import { isOpen } from './endings.ts'

export interface Offer {
  readonly organization: string
  /** Undefined for a link that many people can use: each of them gives one. */
  readonly email: string | undefined
  readonly takesPassword: boolean
}

export function readOffer(state: State, now: number, token: string): Offer {
  const { email } = openInvitation(state, now, token)
  return { organization: organizationSetting(state, 'name'), email, takesPassword: enabledMethods(state).Email! }
}

export function openInvitation(state: State, now: number, token: string): Invitation {
  if (state.organization.deactivated) throw organizationDeactivated()
  const invitation = state.invitations.find('token', token)
  if (!invitation) throw missing('token', 'invitation with this token')
  if (invitation.ended === 'used') throw conflict('token', 'this invitation was already accepted')
  if (invitation.ended === 'revoked') throw conflict('token', 'this invitation was revoked; ask for a new one')
  if (!isOpen(invitation, now)) throw conflict('token', 'this invitation has expired; ask for a new one')
  return invitation
}
