// Questions about the state that many resources ask.

import type { State, User } from './state.ts'

export function userByEmail(state: State, email: string): User | undefined {
  return state.users.find('email', email.trim().toLowerCase())
}

/** The address an account has in the API. */
export function apiEmail(_state: State, user: User): string {
  return user.email
}

/** Null when the client can work it out from the address. */
export function avatarUrl(user: User, clientGravatar: boolean): string | null {
  return clientGravatar
    ? null
    : `https://secure.gravatar.com/avatar/${user.id}?d=identicon&version=${user.avatar.version}`
}

/** Whether the two ever exchanged a direct message, or are together in a group conversation. */
export function haveDirectMessages(state: State, a: User, b: User): boolean {
  return state.conversations
    .where('member', a.id)
    .some(({ id, userIds }) => userIds.includes(b.id) && state.messages.inConversation(id).length > 0)
}
