// Changing an account: name, role, address, profile.

import type { ParamsOf, ReplyOf } from '../../../api/define.ts'
import type { users as api } from '../../../api/people/users.ts'
import type { UserFact } from '../../model/facts/people.ts'
import type { Role } from '../../model/roles.ts'
import type { User } from '../../model/state.ts'
import { conflict, invalid, missing } from '../../refusal.ts'
import type { Context, Outcome } from '../../resource.ts'
import * as may from '../../rules/index.ts'
import { checkProfile } from '../profile-fields/values.ts'
import { checkBotName, checkFreeEmail, checkFullName } from './checks.ts'

type Changes = Omit<ParamsOf<typeof api.update>, 'user_id'>

/** All checks come first, so that a change of several things happens whole or not at all. */
export function update(
  ctx: Context,
  parameter: string,
  user: User | undefined,
  { role, ...params }: Changes,
): Outcome<ReplyOf<typeof api.update>> {
  // First: other callers may not learn whether there is such a user.
  may.check(may.administer, ctx)
  if (!user || user.bot?.system) throw missing(parameter, 'user')
  const facts: UserFact[] = [
    ...emailFacts(ctx, user, params.new_email),
    ...roleFacts(ctx, user, role),
    ...nameFacts(ctx, user, params.full_name?.trim() || undefined),
  ]
  if (params.profile_data !== undefined) {
    if (user.bot) throw invalid('profile_data', 'bots have no profile')
    const values = checkProfile(ctx, user, 'profile_data', params.profile_data, { emptyRemoves: true })
    if (values.length > 0) facts.push({ type: 'user.profile-changed', userId: user.id, values })
  }
  return { facts, reply: {} }
}

/** An unchanged name is no change. */
export function nameFacts(ctx: Context, user: User, name: string | undefined): UserFact[] {
  if (name === undefined || name === user.fullName) return []
  const check = user.bot ? checkBotName : checkFullName
  return [{ type: 'user.renamed', userId: user.id, fullName: check(ctx.state, name, user) }]
}

export function roleFacts(ctx: Context, user: User, to: Role | undefined): UserFact[] {
  const change = may.roleChange(user, to)
  if (!change) return []
  may.insist(may.changeRole, ctx, change)
  may.check(may.promoteGuest, ctx, change)
  if (may.isOnlyOwner(ctx.state, user)) throw conflict('role', 'the only organization owner must stay an owner')
  return [{ type: 'user.reassigned', userId: user.id, ...change }]
}

function emailFacts(ctx: Context, user: User, given: string | undefined): UserFact[] {
  if (given === undefined) return []
  may.check(may.changeEmails, ctx)
  // The rules for addresses bind people who join or change their own, not the owner who corrects one.
  const to = checkFreeEmail(ctx.state, 'new_email', given, user)
  return to === user.email ? [] : [{ type: 'user.email-changed', userId: user.id, from: user.email, to }]
}
