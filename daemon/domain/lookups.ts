// Questions about the state that many resources ask.

import type { State, User } from './state.ts'

export function userByEmail(state: State, email: string): User | undefined {
  return state.users.find('email', email.trim().toLowerCase())
}

/** The address an account has in the API. */
export function apiEmail(_state: State, user: User): string {
  return user.email
}

/** As paths name people: digits are an ID, anything else an address. */
export function userByIdOrEmail(state: State, given: string): User | undefined {
  return /^\d{1,15}$/.test(given) ? state.users.get(Number(given)) : userByEmail(state, given)
}
