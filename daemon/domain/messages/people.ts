// Direct messages: whom they go to, and whether they may.

import { isIn } from '../group-values.ts'
import { userByEmail } from '../lookups.ts'
import { accessUser, isHuman } from '../permissions.ts'
import { badRequest } from '../refusal.ts'
import type { Context, Surroundings } from '../resource.ts'
import type { Conversation, State, User } from '../state.ts'
import { nextConversationId } from './compose.ts'

/** `to` of a direct message: IDs, or emails as a list or separated by commas. The sender is always one of them. */
export function peopleTo(ctx: Context, to: unknown, name = 'to'): number[] {
  if (typeof to === 'number') throw badRequest(`${name}: people are given as a list`)
  const given =
    typeof to === 'string' ? to.split(',').map(part => part.trim()) : (to as (string | number)[] | undefined)
  const listed = (given ?? []).filter(item => item !== '')
  if (listed.length === 0) throw badRequest(`${name}: the message has no recipient`)
  if (listed.some(item => typeof item !== typeof listed[0]))
    throw badRequest(`${name}: give either IDs or emails, not both`)
  const people = listed.map((item, index) => {
    const user = typeof item === 'number' ? ctx.state.users.get(item) : userByEmail(ctx.state, item)
    if (!user || !accessUser.allows(ctx, user)) throw badRequest(`${name}[${index}]: no user ${JSON.stringify(item)}`)
    return user
  })
  checkPeople(ctx, people)
  return [...new Set([ctx.actor.id, ...people.map(user => user.id)])].sort((a, b) => a - b)
}

function checkPeople({ state, actor }: Context, people: readonly User[]): void {
  const others = people.filter(user => user.id !== actor.id)
  for (const user of others)
    if (!user.active) throw badRequest(`to: '${user.fullName}' is no longer using this organization`)
  if (!isHuman(actor) || others.every(user => !isHuman(user))) return
  const { direct_message_permission_group, direct_message_initiator_group } = state.organization.permissions
  if (![actor, ...others].some(user => isIn(state, user, direct_message_permission_group)))
    throw badRequest('to: direct messages are disabled, or nobody in this conversation may take part in them')
  const known = conversationOf(state, [...new Set([actor.id, ...others.map(user => user.id)])])
  const begun = known !== undefined && state.messages.inConversation(known.id).length > 0
  if (!begun && !isIn(state, actor, direct_message_initiator_group))
    throw badRequest('to: you do not have permission to begin direct message conversations')
}

export function conversationOf(state: State, userIds: readonly number[]): Conversation | undefined {
  return state.conversations.find('people', [...userIds].sort((a, b) => a - b).join(','))
}

/** The conversation of these people, ascending; new ones become part of the fact that begins them. */
export function openConversation(ctx: Surroundings, userIds: readonly number[]): { id: number; fresh?: Conversation } {
  const known = conversationOf(ctx.state, userIds)
  if (known) return { id: known.id }
  const fresh = { id: nextConversationId(ctx), userIds }
  return { id: fresh.id, fresh }
}
