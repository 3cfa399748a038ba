// Direct messages: who receives them, and whether the sender is allowed to write to them.

import { conversationOf, userByEmail } from '../model/lookups.ts'
import type { Conversation, User } from '../model/state.ts'
import { badRequest } from '../refusal.ts'
import type { Context, Surroundings } from '../resource.ts'
import { accessUser, beginConversation, forbidden, writeDirectly } from '../rules/index.ts'
import { nextConversationId } from './compose.ts'

/** `to` of a direct message: IDs, or emails as a list or separated by commas. The sender is always one of them. */
export function peopleTo(ctx: Context, to: unknown): number[] {
  if (typeof to === 'number') throw badRequest('to: people are given as a list')
  const given =
    typeof to === 'string' ? to.split(',').map(part => part.trim()) : (to as (string | number)[] | undefined)
  const listed = (given ?? []).filter(item => item !== '')
  if (listed.length === 0) throw badRequest('to: the message has no recipient')
  if (listed.some(item => typeof item !== typeof listed[0])) throw badRequest('to: give either IDs or emails, not both')
  const people = listed.map((item, index) => {
    const user = typeof item === 'number' ? ctx.state.users.get(item) : userByEmail(ctx.state, item)
    if (!user || !accessUser.allows(ctx, user)) throw badRequest(`to[${index}]: no user ${JSON.stringify(item)}`)
    return user
  })
  checkPeople(ctx, people)
  return [...new Set([ctx.actor.id, ...people.map(user => user.id)])].sort((a, b) => a - b)
}

function checkPeople(ctx: Context, people: readonly User[]): void {
  const { state, actor } = ctx
  const others = people.filter(user => user.id !== actor.id)
  for (const user of others)
    if (!user.active) throw badRequest(`to: '${user.fullName}' is no longer using this organization`)
  if (!writeDirectly.allows(ctx, others)) throw forbidden(writeDirectly, others)
  const known = conversationOf(state, [...new Set([actor.id, ...others.map(user => user.id)])])
  const begun = known !== undefined && state.messages.inConversation(known.id).length > 0
  if (!begun && !beginConversation.allows(ctx, others)) throw forbidden(beginConversation, others)
}

/** The conversation of these people, ascending; new ones become part of the fact that begins them. */
export function openConversation(ctx: Surroundings, userIds: readonly number[]): { id: number; fresh?: Conversation } {
  const known = conversationOf(ctx.state, userIds)
  if (known) return { id: known.id }
  const fresh = { id: nextConversationId(ctx), userIds }
  return { id: fresh.id, fresh }
}
