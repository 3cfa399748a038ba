// Users by ID or address, if the caller may know of them. To other callers they must look as if they did not exist.

import { placeholderId } from '../model/lookups.ts'
import type { User } from '../model/state.ts'
import { accessUser, seeEmail } from './people.ts'
import type { Asker } from './rule.ts'

/** The user an address leads this reader to: by placeholder, or by a real address that they may see. */
export function visibleUser(asker: Asker, email: string): User | undefined {
  const id = placeholderId(asker.state, email)
  if (id !== undefined) return asker.state.users.get(id)
  const user = asker.state.users.find('email', email.trim().toLowerCase())
  return user && seeEmail.allows(asker, user) ? user : undefined
}

/** Whether this reader may learn that the account exists and has its address. */
export function addressIsShown(asker: Asker, user: User): boolean {
  return seeEmail.allows(asker, user) && accessUser.allows(asker, user)
}

/** The user an ID or an address leads this reader to, if they may know of them. */
export function knownUser(asker: Asker, who: number | string): User | undefined {
  const user = typeof who === 'number' ? asker.state.users.get(who) : visibleUser(asker, who)
  return user && accessUser.allows(asker, user) ? user : undefined
}

/** The active user an ID leads this reader to, if they may know of them. */
export function knownActiveUser(asker: Asker, id: number): User | undefined {
  const user = knownUser(asker, id)
  return user?.active ? user : undefined
}

/** The same as paths name people: digits are an ID, anything else an address. */
export function knownUserInPath(asker: Asker, given: string): User | undefined {
  return knownUser(asker, /^\d{1,15}$/.test(given) ? Number(given) : given)
}
