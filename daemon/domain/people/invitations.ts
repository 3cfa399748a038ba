// Invitations: open ones are kept until they expire, are revoked, or their maker leaves.

import type { ParamsOf } from '../../api/define.ts'
import { invitations as api } from '../../api/people/invitations.ts'
import type { Fact } from '../facts.ts'
import { limits } from '../limits.ts'
import type { InvitationFact } from '../model/facts/people.ts'
import { placeholderId, userByEmail } from '../model/lookups.ts'
import type { Invitation } from '../model/organization-records.ts'
import { organizationSetting } from '../model/settings.ts'
import type { State } from '../model/state.ts'
import { conflict, invalid, missing, needed, Refusal } from '../refusal.ts'
import { type Announcement, type Context, type Mail, resource } from '../resource.ts'
import { administrators } from '../rules/audiences.ts'
import { activeGroup } from '../rules/group-values.ts'
import * as may from '../rules/index.ts'
import { addressIsShown } from '../rules/user-access.ts'
import { cleaned } from '../values/text.ts'
import { seconds } from '../values/time.ts'
import { isEmailAddress } from './users/checks.ts'
import { emailProblem } from './users/email-rules.ts'

type Terms = Pick<
  ParamsOf<typeof api.send>,
  'stream_ids' | 'group_ids' | 'invite_as' | 'invite_expires_in_minutes' | 'include_realm_default_subscriptions'
> & { welcome_message_custom_text?: string | null }

export const invitations = resource(api)<InvitationFact>({
  commands: {
    list(ctx) {
      may.check(may.useInvitations, ctx)
      const mine = [...ctx.state.invitations.values()].filter(
        invitation => isOpen(ctx, invitation) && may.seeInvitation.allows(ctx, invitation),
      )
      return { reply: { invites: mine.map(invitation => present(ctx, invitation)) } }
    },

    send(ctx, params) {
      may.check(may.invite, ctx)
      const terms = checkedTerms(ctx, params)
      const emails = checkedEmails(ctx, params.invitee_emails)
      checkDailyLimit(ctx, emails.length)
      const first = ctx.state.invitations.nextId
      const made = emails.map((email, index) => ({
        ...terms,
        id: first + index,
        token: ctx.random(),
        email,
        notifyInviter: params.notify_referrer_on_join,
      }))
      return {
        facts: [{ type: 'invitations.made', invitations: made }],
        mails: made.map(invitation => mailOf(ctx, invitation)),
        reply: {},
      }
    },

    createLink(ctx, params) {
      may.check(may.makeInviteLink, ctx)
      const terms = checkedTerms(ctx, params)
      const invitation = { ...terms, id: ctx.state.invitations.nextId, token: ctx.random(), notifyInviter: false }
      return {
        facts: [{ type: 'invitations.made', invitations: [invitation] }],
        reply: { invite_link: linkOf(ctx, invitation) },
      }
    },

    revoke: (ctx, { invite_id }) => ({ facts: [revoked(findInvitation(ctx, invite_id, 'mail'))], reply: {} }),

    revokeLink: (ctx, { invite_id }) => ({ facts: [revoked(findInvitation(ctx, invite_id, 'link'))], reply: {} }),

    resend(ctx, { invite_id }) {
      const invitation = findInvitation(ctx, invite_id, 'mail')
      checkDailyLimit(ctx, 1)
      const { id, inviterId } = invitation
      return {
        facts: [{ type: 'invitation.resent', id, inviterId, madeAt: seconds(ctx.now) }],
        mails: [mailOf(ctx, invitation)],
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
    'invitation.resent'(state, { id, madeAt }) {
      state.invitations.put({ ...state.invitations.get(id)!, madeAt })
      countMailed(state, madeAt, 1)
    },
    'invitation.revoked': (state, { id }) => state.invitations.remove(id),
  },

  announce: {
    'invitations.made': (state, fact) => announceInvitations(state, fact.invitations[0]!.inviterId),
    'invitation.resent': (state, { inviterId }) => announceInvitations(state, inviterId),
    'invitation.revoked': (state, { inviterId }) => announceInvitations(state, inviterId),
  },
})

/** Invitations that end with a deactivated account: its inviter is gone. */
export function invitationsRevoked(state: State, inviterId: number): Fact[] {
  return state.invitations.where('inviter', inviterId).map(revoked)
}

function revoked({ id, inviterId }: Invitation): Fact {
  return { type: 'invitation.revoked', id, inviterId }
}

function announceInvitations(state: State, inviterId: number): Announcement[] {
  return [{ to: [...new Set([...administrators(state), inviterId])], event: { type: 'invites_changed' } }]
}

function isOpen(ctx: Context, { expires }: Invitation): boolean {
  return expires === null || expires > seconds(ctx.now)
}

function findInvitation(ctx: Context, id: number, kind: 'mail' | 'link'): Invitation {
  may.check(may.useInvitations, ctx)
  const invitation = ctx.state.invitations.get(id)
  const fits = invitation && (invitation.email === undefined) === (kind === 'link') && isOpen(ctx, invitation)
  if (!fits || !may.seeInvitation.allows(ctx, invitation)) throw missing('invite_id', 'open invitation', id)
  may.insist(may.inviteAs, ctx, invitation.invitedAs)
  return invitation
}

function checkedTerms(ctx: Context, terms: Terms): Omit<Invitation, 'id' | 'token' | 'notifyInviter'> {
  may.insist(may.inviteAs, ctx, terms.invite_as)
  for (const id of terms.stream_ids) checkChannel(ctx, id)
  for (const id of terms.group_ids) {
    may.check(may.addToGroup, ctx, activeGroup(ctx.state, 'group_ids', id))
  }
  const welcome = terms.welcome_message_custom_text
  if (welcome !== undefined && welcome !== null) may.insist(may.administer, ctx)
  const minutes = terms.invite_expires_in_minutes
  if (minutes === 0) throw invalid('invite_expires_in_minutes', 'must be above 0, or null')
  return {
    inviterId: ctx.actor.id,
    madeAt: seconds(ctx.now),
    expires: minutes === null ? null : seconds(ctx.now) + minutes * 60,
    invitedAs: terms.invite_as,
    channelIds: terms.stream_ids,
    groupIds: terms.group_ids,
    withDefaultChannels: terms.include_realm_default_subscriptions,
    welcome: welcome ? cleaned('welcome_message_custom_text', welcome, limits.welcomeMessage) : null,
  }
}

/** Default channels are open to every newcomer; for others the inviter must be able to add people. */
function checkChannel(ctx: Context, id: number): void {
  const channel = ctx.state.channels.get(id)
  if (!channel || channel.archived || !may.seeContent.allows(ctx, channel)) throw missing('stream_ids', 'channel', id)
  if (!channel.isDefault) may.check(may.subscribeOthers, ctx, channel)
}

/**
 * OPEN: upstream sends what it can and refuses the rest in one answer; here nobody is invited when somebody cannot be,
 * as every call does all of what it is asked or nothing.
 */
function checkedEmails(ctx: Context, given: string): string[] {
  const entries = given.split(/[,\n]/).map(entry => (/<([^<>]*)>\s*$/.exec(entry)?.[1] ?? entry).trim())
  const emails = [...new Map(entries.filter(entry => entry !== '').map(email => [email.toLowerCase(), email])).values()]
  if (emails.length === 0) throw needed('invitee_emails', 'at least one address')
  if (emails.length > limits.invitesAtOnce)
    throw invalid('invitee_emails', `must have at most ${limits.invitesAtOnce} addresses`)
  const errors = emails.flatMap(email => {
    const problem = problemOf(ctx, email)
    return problem ? [[email, problem, userByEmail(ctx.state, email)?.active === false]] : []
  })
  if (errors.length > 0)
    throw conflict('invitee_emails', 'some of the addresses cannot be invited, so no invitation was sent', {
      code: 'INVITATION_FAILED',
      fields: { errors, sent_invitations: false, license_limit_reached: false, daily_limit_reached: false },
    })
  return emails
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

function countMailed(state: State, time: number, mailed: number): void {
  const day = dayOf(time)
  const { invited } = state.organization
  const count = (invited?.day === day ? invited.count : 0) + mailed
  state.organization = { ...state.organization, invited: { day, count } }
}

function dayOf(time: number): number {
  return Math.floor(time / 86_400)
}

/** An address that the inviter may not know of is invited like any other; the mail tells its owner that they have an account. */
function problemOf(ctx: Context, email: string): string | undefined {
  const { state } = ctx
  if (!isEmailAddress(email)) return 'not an email address'
  if (placeholderId(state, email) !== undefined) return 'the address is reserved for the API'
  const user = userByEmail(state, email)
  if (user && addressIsShown(ctx, user)) return user.active ? 'already has an account' : 'the account is deactivated'
  return emailProblem(state, email)
}

function linkOf(ctx: Context, { token }: { readonly token: string }): string {
  return `${ctx.server.url}/join/${token}/`
}

function mailOf(ctx: Context, invitation: Invitation): Mail {
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
