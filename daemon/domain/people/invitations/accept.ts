// Accepting an invitation: the account with the role, channels and groups that the inviter chose.

import type { ParamsOf, ReplyOf } from '../../../api/define.ts'
import type { invitations as api } from '../../../api/people/invitations.ts'
import type { Fact } from '../../facts.ts'
import { defaultChannels } from '../../model/lookups.ts'
import type { Invitation } from '../../model/rows/organization.ts'
import type { Channel, State, User } from '../../model/state.ts'
import { enabledMethods } from '../../organization/authentication.ts'
import { invalid, needed } from '../../refusal.ts'
import type { Outcome, Surroundings, Tools } from '../../resource.ts'
import * as may from '../../rules/index.ts'
import { freeMemberships } from '../user-groups/change-members.ts'
import { checkFullName, checkNewEmail, checkPassword } from '../users/checks.ts'
import { newAccount } from '../users/index.ts'
import { settleNewAccount } from '../users/lifecycle.ts'
import { outdateInvitations } from './endings.ts'
import { inviterOf, openInvitation } from './offer.ts'

type Params = ParamsOf<typeof api.accept>

export async function prepareAccept(
  tools: Tools,
  { token, password }: Params,
  state: State,
): Promise<{ hash: string }> {
  // Hashing is expensive: not for callers who have guessed a token.
  if (password === undefined || !state.invitations.find('token', token)) return { hash: '' }
  return { hash: await tools.hashPassword(password) }
}

export function accept(
  ctx: Surroundings,
  params: Params,
  { hash }: { readonly hash: string },
): Outcome<ReplyOf<typeof api.accept>> {
  const { state } = ctx
  const invitation = openInvitation(state, ctx.now, params.token)
  const user = newAccount(ctx, {
    fullName: checkFullName(state, params.full_name),
    role: invitation.invitedAs,
    ...(enabledMethods(state).Email && { password: checkedHash(params.password, hash) }),
    // Last: who tries out which addresses are in use makes an account with each that is not.
    email: checkNewEmail(state, 'email', addressFor(invitation, params.email)),
  })
  return {
    facts: [
      { type: 'user.created', user },
      ...settleNewAccount(ctx, user, {
        ...invitation,
        channels: listChannels(state, invitation),
        groups: joinGroups(state, invitation, user),
        ending: acceptInvitation(state, invitation, user),
      }),
    ],
    reply: { user_id: user.id, email: user.email },
  }
}

function addressFor(invitation: Invitation, given: string | undefined): string {
  if (invitation.email === undefined) {
    if (given === undefined) throw needed('email', 'to accept an invitation link')
    return given
  }
  if (given !== undefined && given.trim().toLowerCase() !== invitation.email.toLowerCase())
    throw invalid('email', 'must be the address that was invited')
  return invitation.email
}

function checkedHash(password: string | undefined, hash: string): string {
  if (password === undefined) throw needed('password', 'to create your account')
  checkPassword(password)
  return hash
}

function acceptInvitation(state: State, invitation: Invitation, user: User): Fact[] {
  const { id, inviterId } = invitation
  return [
    { type: 'invitation.accepted', id, inviterId, userId: user.id },
    ...outdateInvitations(state, user.email, invitation),
  ]
}

/** Channels and groups can be gone since the invitation was made, and so can the right of its maker to add people to them. */
function listChannels(state: State, invitation: Invitation): Channel[] {
  const inviter = inviterOf(state, invitation)
  const chosen = invitation.channelIds
    .map(id => state.channels.get(id))
    .filter(channel => channel !== undefined && may.inviteToChannel.allows(inviter, channel)) as Channel[]
  const all = new Set([...chosen, ...(invitation.withDefaultChannels ? defaultChannels(state) : [])])
  return [...all].filter(channel => !channel.archived)
}

function joinGroups(state: State, invitation: Invitation, { id }: User): Fact[] {
  const inviter = inviterOf(state, invitation)
  return invitation.groupIds
    .map(groupId => state.groups.get(groupId)!)
    .filter(group => !group.deactivated && may.addToGroup.allows(inviter, group))
    .slice(0, freeMemberships(state))
    .map(group => ({ type: 'group.members-added', groupId: group.id, userIds: [id] }))
}
