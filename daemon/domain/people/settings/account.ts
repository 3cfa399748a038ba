// Changes of PATCH /settings that are not settings: name, email address, password.

import type { ParamsOf } from '../../../api/define.ts'
import type { settings as api } from '../../../api/people/settings.ts'
import type { Fact } from '../../facts.ts'
import { userByEmail } from '../../model/lookups.ts'
import type { EmailChange } from '../../model/rows/people.ts'
import { organizationSetting } from '../../model/settings.ts'
import { invalid, needed } from '../../refusal.ts'
import type { Context, Mail, Surroundings } from '../../resource.ts'
import * as may from '../../rules/index.ts'
import { addressIsShown } from '../../rules/user-access.ts'
import { checkFullName, checkNewEmail, checkPassword } from '../users/checks.ts'

const confirmWithinMs = 24 * 60 * 60 * 1000

export function accountChanges(
  ctx: Context,
  params: ParamsOf<typeof api.update>,
  prepared: { readonly matches: boolean; readonly hash: string },
): Fact[] {
  const { actor } = ctx
  const facts: Fact[] = []
  if (params.new_password !== undefined) {
    // OPEN: an account without a password, such as an imported one, sets its first with its key alone.
    if (actor.password !== undefined) {
      if (params.old_password === undefined) throw needed('old_password', 'to set a new password')
      if (!prepared.matches) throw invalid('old_password', 'is wrong')
    }
    checkPassword(params.new_password, 'new_password')
    facts.push({ type: 'user.password-changed', userId: actor.id, password: prepared.hash })
  }
  // Where names cannot be changed, a name is ignored rather than refused: clients send the whole form.
  if (params.full_name !== undefined && may.changeOwn.allows(ctx, 'name_changes_disabled')) {
    const fullName = checkFullName(ctx.state, params.full_name, actor)
    if (fullName !== actor.fullName) facts.push({ type: 'user.renamed', userId: actor.id, fullName })
  }
  if (params.email !== undefined && params.email.trim() !== actor.email) {
    may.check(may.changeOwn, ctx, 'email_changes_disabled')
    const email = checkNewEmail(ctx.state, 'email', params.email, actor, holder => addressIsShown(ctx, holder))
    const change: EmailChange = { token: ctx.random(), userId: actor.id, email, expires: ctx.now + confirmWithinMs }
    facts.push({ type: 'email-change.requested', change })
  }
  return facts
}

/** The mail that goes with a requested change of address. */
export function writeMail(ctx: Context, fact: Fact): Mail[] {
  if (fact.type !== 'email-change.requested') return []
  const name = organizationSetting(ctx.state, 'name')
  const { email, token } = fact.change
  // The caller cannot know that the address has an account; its owner can.
  const what = userByEmail(ctx.state, email)
    ? 'Your account there has this address, so it cannot be used for another one. You need not do anything.\n'
    : `To confirm it, run within a day:\n\n  natter settings confirm-email ${token}\n`
  return [
    {
      to: email,
      subject: `Confirm your new email address for ${name}`,
      text: `${ctx.actor.fullName} asked to use this address in ${name} at ${ctx.server.url}.\n\n${what}`,
    },
  ]
}

/** The former address is told, in case someone else took over the account. */
export function composeConfirmationNotice(
  { state, server }: Surroundings,
  { from, to }: { from: string; to: string },
): Mail {
  const name = organizationSetting(state, 'name')
  return {
    to: from,
    subject: `Your email address for ${name} has changed`,
    text: `Your account in ${name} at ${server.url} has a new address:\n\n  ${to}\n\nIf you did not ask for it, tell an administrator.\n`,
  }
}
