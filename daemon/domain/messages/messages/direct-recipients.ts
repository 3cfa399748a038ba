// Direct messages: who receives them, and whether the sender is allowed to write to them.

import { limits } from '../../limits.ts'
import { findConversation } from '../../model/lookups.ts'
import type { User } from '../../model/state.ts'
import { conflict, inQuotes, invalid, missing, needed } from '../../refusal.ts'
import type { Context } from '../../resource.ts'
import { beginConversation, forbidden, writeDirectly } from '../../rules/index.ts'
import { knownUser } from '../../rules/user-access.ts'

/** `to` of a direct message: IDs, or emails as a list or separated by commas. The sender is always one of them. */
export function peopleTo(ctx: Context, to: unknown): number[] {
  if (typeof to === 'number') throw invalid('to', 'must be a list of user IDs or email addresses')
  const given =
    typeof to === 'string' ? to.split(',').map(part => part.trim()) : (to as (string | number)[] | undefined)
  const listed = (given ?? []).filter(item => item !== '')
  if (listed.length === 0) throw needed('to', 'for a direct message: at least one recipient')
  checkRecipients(listed)
  if (listed.some(item => typeof item !== typeof listed[0]))
    throw invalid('to', 'give either IDs or email addresses, not both')
  const people = listed.map((item, index) => {
    const user = knownUser(ctx, item)
    if (!user) throw missing(`to[${index}]`, 'user', item)
    return user
  })
  checkPeople(ctx, people)
  return [...new Set([ctx.actor.id, ...people.map(user => user.id)])].sort((a, b) => a - b)
}

export function checkRecipients(to: readonly unknown[]): void {
  if (to.length > limits.directRecipients)
    throw invalid('to', `must name at most ${limits.directRecipients} recipients; use a channel for more`)
}

function checkPeople(ctx: Context, people: readonly User[]): void {
  const others = people.filter(user => user.id !== ctx.actor.id)
  for (const user of others) if (!user.active) throw conflict('to', `${inQuotes(user.fullName)} is deactivated`)
  checkDirectRights(ctx, people)
}

/** Whether the actor is allowed to write to these people, or to begin a conversation with them. */
function checkDirectRights(ctx: Context, people: readonly User[]): void {
  const { state, actor } = ctx
  const others = people.filter(user => user.id !== actor.id)
  if (!writeDirectly.allows(ctx, others)) throw forbidden(writeDirectly, others)
  const known = findConversation(state, [...new Set([actor.id, ...others.map(user => user.id)])])
  const begun = known !== undefined && state.messages.inConversation(known.id).length > 0
  if (!begun && !beginConversation.allows(ctx, others)) throw forbidden(beginConversation, others)
}
