// Invitations: open until they are accepted or revoked, expire, or their maker leaves.

import { invitations as api } from '../../../api/people/invitations.ts'
import { limits } from '../../limits.ts'
import type { InvitationFact } from '../../model/facts/people.ts'
import { userByEmail } from '../../model/lookups.ts'
import type { Invitation } from '../../model/rows/organization.ts'
import { organizationSetting } from '../../model/settings.ts'
import type { State } from '../../model/state.ts'
import { full, invalid, missing, Refusal } from '../../refusal.ts'
import { type Announcement, type Context, type Mail, resource } from '../../resource.ts'
import { administrators } from '../../rules/audiences.ts'
import * as may from '../../rules/index.ts'
import { seconds } from '../../values/time.ts'
import { accept, prepareAccept } from './accept.ts'
import { isOpen, revocation } from './endings.ts'
import { checkedEmails, checkedTerms, invitationFailed } from './terms.ts'

interface Prepared {
  readonly accept: { readonly hash: string }
}

export const invitations = resource(api)<InvitationFact, Prepared>({
  prepare: { accept: prepareAccept },

  commands: {
    accept,

    list(ctx) {
      may.check(may.useInvitations, ctx)
      const mine = [...ctx.state.invitations.values()].filter(
        invitation => isOpen(invitation, ctx.now) && may.seeInvitation.allows(ctx, invitation),
      )
      const links = mine.filter(({ email }) => email === undefined)
      const mailed = mine.filter(({ email }) => email !== undefined)
      return { reply: { invites: [...mailed, ...links].map(invitation => present(ctx, invitation)) } }
    },

    send(ctx, params) {
      may.check(may.invite, ctx)
      const terms = checkedTerms(ctx, params)
      const { invited, skipped } = checkedEmails(ctx, params.invitee_emails)
      checkDailyLimit(ctx, invited.length)
      checkAtOnce(terms, invited.length)
      const first = ctx.state.invitations.nextId
      const made = invited.map((email, index) => ({
        ...terms,
        id: first + index,
        token: ctx.random(),
        email,
        notifyInviter: params.notify_referrer_on_join,
      }))
      return {
        facts: [{ type: 'invitations.made', invitations: made }],
        mails: made.map(invitation => writeMail(ctx, invitation)),
        ...(skipped.length > 0 && { refusal: invitationFailed(skipped, true) }),
        reply: {},
      }
    },

    createLink(ctx, params) {
      may.check(may.makeInviteLink, ctx)
      const open = ctx.state.invitations
        .where('inviter', ctx.actor.id)
        .filter(invitation => invitation.email === undefined && isOpen(invitation, ctx.now))
      if (open.length >= limits.invitationLinks)
        throw full('You', limits.invitationLinks, 'open invitation links', 'Revoke some first.')
      const terms = checkedTerms(ctx, params)
      const invitation = { ...terms, id: ctx.state.invitations.nextId, token: ctx.random(), notifyInviter: false }
      return {
        facts: [{ type: 'invitations.made', invitations: [invitation] }],
        reply: { invite_link: linkOf(ctx, invitation) },
      }
    },

    revoke: (ctx, { invite_id }) => ({ facts: [revocation(findInvitation(ctx, invite_id, 'mail'))], reply: {} }),

    revokeLink: (ctx, { invite_id }) => ({ facts: [revocation(findInvitation(ctx, invite_id, 'link'))], reply: {} }),

    resend(ctx, { invite_id }) {
      const invitation = findInvitation(ctx, invite_id, 'mail')
      checkDailyLimit(ctx, 1)
      const { id, inviterId } = invitation
      return {
        facts: [{ type: 'invitation.resent', id, inviterId, madeAt: seconds(ctx.now) }],
        mails: [writeMail(ctx, invitation)],
        reply: {},
      }
    },
  },

  apply: {
    'invitations.made'(state, fact) {
      for (const invitation of fact.invitations) state.invitations.put(invitation)
      const mailed = fact.invitations.filter(({ email }) => email !== undefined)
      if (mailed.length > 0) countMailed(state, mailed[0]!.madeAt, mailed.length)
    },
    'invitation.resent': (state, { madeAt }) => countMailed(state, madeAt, 1),
    'invitation.revoked': (state, { id }) => end(state, id, 'revoked'),
    'invitation.accepted'(state, { id }) {
      if (state.invitations.get(id)!.email !== undefined) end(state, id, 'used')
    },
    'invitations.outdated'(state, { ids }) {
      for (const id of ids) end(state, id, 'revoked')
    },
  },

  announce: {
    'invitations.made': (state, fact) => announceInvitations(state, fact.invitations[0]!.inviterId),
    'invitation.resent': () => [],
    'invitation.revoked': (state, { inviterId }) => announceInvitations(state, inviterId),
    // A link stays as it was.
    'invitation.accepted': (state, { id, inviterId }) =>
      state.invitations.get(id)?.ended === 'used' ? announceInvitations(state, inviterId) : [],
    'invitations.outdated': () => [],
  },
})

function end(state: State, id: number, ended: NonNullable<Invitation['ended']>): void {
  const invitation = state.invitations.get(id)
  if (invitation) state.invitations.put({ ...invitation, ended })
}

function announceInvitations(state: State, inviterId: number): Announcement[] {
  return [{ to: [...new Set([...administrators(state), inviterId])], event: { type: 'invites_changed' } }]
}

function findInvitation(ctx: Context, id: number, kind: 'mail' | 'link'): Invitation {
  may.check(may.useInvitations, ctx)
  const invitation = ctx.state.invitations.get(id)
  const fits = invitation && (invitation.email === undefined) === (kind === 'link') && invitation.ended === undefined
  if (!fits || !may.seeInvitation.allows(ctx, invitation)) throw missing('invite_id', 'open invitation', id)
  if (invitation.inviterId !== ctx.actor.id) may.checkInviteAs(ctx, invitation.invitedAs)
  return invitation
}

/** Mails to strangers, so that no account can send them without end. */
function checkDailyLimit(ctx: Context, more: number): void {
  const { invited } = ctx.state.organization
  const already = invited?.day === dayOf(seconds(ctx.now)) ? invited.count : 0
  if (already + more <= limits.invitationsPerDay) return
  throw new Refusal(`Your organization can send ${limits.invitationsPerDay} invitations a day. Try again tomorrow.`, {
    code: 'INVITATION_FAILED',
    fields: { errors: [], sent_invitations: false, license_limit_reached: false, daily_limit_reached: true },
  })
}

/** Each invitation is kept with all that it names. */
function checkAtOnce({ channelIds, groupIds }: Pick<Invitation, 'channelIds' | 'groupIds'>, count: number): void {
  const most = limits.subscriptionsAtOnce
  const places = channelIds.length + groupIds.length
  if (places * count > most)
    throw invalid(
      'invitee_emails',
      `must name at most ${Math.floor(most / places)} addresses for ${places} channels and groups; send several requests`,
    )
}

function countMailed(state: State, time: number, mailed: number): void {
  const day = dayOf(time)
  const { invited } = state.organization
  const count = (invited?.day === day ? invited.count : 0) + mailed
  state.organization = { ...state.organization, invited: { day, count } }
}

function dayOf(time: number): number {
  return Math.floor(time / 86_400)
}

function linkOf(ctx: Context, { token }: { readonly token: string }): string {
  return `${ctx.server.url}/join/${token}/`
}

function writeMail(ctx: Context, invitation: Invitation): Mail {
  const name = organizationSetting(ctx.state, 'name')
  return {
    to: invitation.email!,
    subject: `${ctx.actor.fullName} has invited you to join ${name}`,
    text: `Hi,\n\n${ctx.actor.fullName} wants you to join ${name}.\n\n${
      userByEmail(ctx.state, invitation.email!)
        ? `You already have an account with this address at ${ctx.server.url}.\n`
        : `To join, open:\n\n  ${linkOf(ctx, invitation)}\n`
    }`,
  }
}

function present(ctx: Context, invitation: Invitation) {
  const { id, inviterId, madeAt, expires, invitedAs, email, notifyInviter } = invitation
  return {
    id,
    invited_by_user_id: inviterId,
    invited: madeAt,
    expiry_date: expires,
    invited_as: invitedAs,
    is_multiuse: email === undefined,
    ...(email === undefined
      ? { link_url: linkOf(ctx, invitation) }
      : { email, notify_referrer_on_join: notifyInviter }),
  }
}
