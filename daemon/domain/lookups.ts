// Questions about the state that many resources ask.

import type { State, User } from './state.ts'

export function userByEmail(state: State, email: string): User | undefined {
  return state.users.find('email', email.trim().toLowerCase())
}
