// The terms of invitations: the role, the channels and groups, and who is invited.

import type { ParamsOf } from '../../../api/define.ts'
import type { invitations as api } from '../../../api/people/invitations.ts'
import { limits } from '../../limits.ts'
import { placeholderId, userByEmail } from '../../model/lookups.ts'
import type { Invitation } from '../../model/rows/organization.ts'
import type { User } from '../../model/state.ts'
import { conflict, invalid, missing, needed, type Refusal } from '../../refusal.ts'
import type { Context } from '../../resource.ts'
import { activeGroup, ascending } from '../../rules/group-values.ts'
import * as may from '../../rules/index.ts'
import { addressIsShown } from '../../rules/user-access.ts'
import { clean } from '../../values/text.ts'
import { endOfTime, seconds } from '../../values/time.ts'
import { isEmailAddress } from '../users/checks.ts'
import { emailProblem } from '../users/email-rules.ts'

type Terms = Pick<
  ParamsOf<typeof api.send>,
  'stream_ids' | 'group_ids' | 'invite_as' | 'invite_expires_in_minutes' | 'include_realm_default_subscriptions'
> & { welcome_message_custom_text?: string | null }

export function checkedTerms(ctx: Context, terms: Terms): Omit<Invitation, 'id' | 'token' | 'notifyInviter'> {
  may.checkInviteAs(ctx, terms.invite_as)
  const channelIds = ascending(terms.stream_ids)
  const groupIds = ascending(terms.group_ids)
  if (channelIds.length + groupIds.length > limits.invitationPlaces)
    throw invalid('stream_ids', `must name at most ${limits.invitationPlaces} channels, together with group_ids`)
  for (const id of channelIds) checkChannel(ctx, id)
  for (const id of groupIds) may.check(may.addToGroup, ctx, activeGroup(ctx.state, 'group_ids', id))
  const welcome = terms.welcome_message_custom_text
  if (welcome !== undefined && welcome !== null) may.check(may.administer, ctx)
  const minutes = terms.invite_expires_in_minutes
  if (minutes === 0) throw invalid('invite_expires_in_minutes', 'must be above 0, or null')
  const expires = minutes === null ? null : seconds(ctx.now) + minutes * 60
  if (expires !== null && expires > endOfTime)
    throw invalid('invite_expires_in_minutes', 'must end before the year 10000, or be null')
  return {
    inviterId: ctx.actor.id,
    madeAt: seconds(ctx.now),
    expires,
    invitedAs: terms.invite_as,
    channelIds,
    groupIds,
    withDefaultChannels: terms.include_realm_default_subscriptions,
    welcome: typeof welcome === 'string' ? clean('welcome_message_custom_text', welcome, limits.welcomeMessage) : null,
  }
}

function checkChannel(ctx: Context, id: number): void {
  const channel = ctx.state.channels.get(id)
  if (!channel || channel.archived || !may.seeContent.allows(ctx, channel)) throw missing('stream_ids', 'channel', id)
  may.check(may.inviteToChannel, ctx, channel)
}

/** An address that was not invited: why, and whether it belongs to a deactivated account. */
type Skipped = readonly [email: string, problem: string, deactivated: boolean]

/**
 * The addresses that are invited, and those that already have an account. An invalid address, or one that is not allowed, refuses the
 * whole request: the inviter made a mistake.
 */
export function checkedEmails(ctx: Context, given: string): { invited: string[]; skipped: Skipped[] } {
  const entries = given.split(/[,\n]/).map(entry => (/<([^<>]*)>\s*$/.exec(entry)?.[1] ?? entry).trim())
  const emails = [...new Map(entries.filter(entry => entry !== '').map(email => [email.toLowerCase(), email])).values()]
  if (emails.length === 0) throw needed('invitee_emails', 'at least one address')
  const errors: Skipped[] = []
  const skipped: Skipped[] = []
  const invited: string[] = []
  for (const email of emails) {
    const holder = findHolder(ctx, email)
    const problem = findProblem(ctx, email)
    if (problem !== undefined) errors.push([email, problem, false])
    else if (holder) skipped.push([email, holder.active ? 'already has an account' : 'is deactivated', !holder.active])
    else invited.push(email)
  }
  if (errors.length > 0 || invited.length === 0) throw invitationFailed([...errors, ...skipped], false)
  return { invited, skipped }
}

export function invitationFailed(errors: readonly Skipped[], sent: boolean): Refusal {
  const outcome = sent ? 'the others were invited' : 'no invitation was sent'
  return conflict('invitee_emails', `some of the addresses cannot be invited; ${outcome}`, {
    code: 'INVITATION_FAILED',
    fields: { errors, sent_invitations: sent, license_limit_reached: false, daily_limit_reached: false },
  })
}

/** An account that the inviter may not know of is invited like any other address; the mail tells its owner about it. */
function findHolder(ctx: Context, email: string): User | undefined {
  const user = userByEmail(ctx.state, email)
  return user && addressIsShown(ctx, user) ? user : undefined
}

function findProblem({ state }: Context, email: string): string | undefined {
  if (!isEmailAddress(email)) return 'not an email address'
  if (placeholderId(state, email) !== undefined) return 'the address is reserved for the API'
  return emailProblem(state, email)
}
