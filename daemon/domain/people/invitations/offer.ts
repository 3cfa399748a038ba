// The offer behind the link of an invitation, or why there is none.

import type { Invitation } from '../../model/rows/organization.ts'
import { organizationSetting } from '../../model/settings.ts'
import type { State } from '../../model/state.ts'
import { enabledMethods } from '../../organization/authentication.ts'
import { conflict, missing, organizationDeactivated } from '../../refusal.ts'
import * as may from '../../rules/index.ts'
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
  const inviter = inviterOf(state, invitation)
  const making = invitation.email === undefined ? may.makeInviteLink : may.invite
  if (!making.allows(inviter) || !may.inviteAs.allows(inviter, invitation.invitedAs))
    throw conflict('token', 'its maker may no longer invite people with this role; ask for a new invitation')
  return invitation
}

/**
 * OPEN: the public server asks for the rights of the inviter when the invitation is made. Here they are asked for again when it is accepted:
 * otherwise someone whose rights were taken away could make a new account that has them.
 */
export function inviterOf(state: State, { inviterId }: Invitation): may.Asker {
  return { state, actor: state.users.get(inviterId)! }
}
