// Questions about the state that many resources ask.

import { userSetting } from './settings-lookup.ts'
import type { State, User } from './state.ts'

/** By the real address or by the placeholder: for logging in, where the key decides. */
export function userByEmail(state: State, email: string): User | undefined {
  const address = email.trim().toLowerCase()
  return state.users.find('email', address) ?? userByPlaceholder(state, address)
}

/** The address an account has in the API: the real one, or a placeholder for everybody when not everyone may see it. */
export function apiEmail(state: State, user: User): string {
  return emailIsPublic(user) ? user.email : placeholder(state, user.id)
}

export function emailIsPublic(user: User): boolean {
  return user.bot !== undefined || userSetting(user, 'email_address_visibility') === 1
}

export function placeholder(state: State, userId: number): string {
  return `user${userId}@${state.organization.emailDomain}`
}

/** `user12@example.com`, where example.com is the organization's domain. */
export function userByPlaceholder(state: State, email: string): User | undefined {
  const id = placeholderId(state, email)
  return id === undefined ? undefined : state.users.get(id)
}

export function placeholderId(state: State, email: string): number | undefined {
  const [name, domain] = email.trim().toLowerCase().split('@', 2)
  const digits = /^user(\d{1,15})$/.exec(name!)?.[1]
  return digits && domain === state.organization.emailDomain.toLowerCase() ? Number(digits) : undefined
}

/** Whether the two ever exchanged a direct message, or are together in a group conversation. */
export function haveDirectMessages(state: State, a: User, b: User): boolean {
  return state.conversations
    .where('member', a.id)
    .some(({ id, userIds }) => userIds.includes(b.id) && state.messages.inConversation(id).length > 0)
}

/** As paths name people: digits are an ID, anything else an address. */
export function userByIdOrEmail(state: State, given: string): User | undefined {
  return /^\d{1,15}$/.test(given) ? state.users.get(Number(given)) : userByEmail(state, given)
}
