// Every rule of the permission model, each with the sentence the generated docs print. The only file that reads a role.

import { Refusal } from './refusal.ts'
import { roles, type User } from './state.ts'

export interface Rule<Thing> {
  readonly sentence: string
  readonly allows: (asker: User, thing: Thing) => boolean
  /** What the refusal says; without it the sentence. */
  readonly refusal?: string
}

function rule<Thing = void>(sentence: string, allows: (asker: User, thing: Thing) => boolean): Rule<Thing> {
  return { sentence, allows }
}

// --- what the roles are -----------------------------------------------------------------------------------------

export function isOwner(user: User): boolean {
  return user.role === roles.owner
}

/** Owners are administrators too. */
export function isAdministrator(user: User): boolean {
  return user.role <= roles.administrator
}

export function isGuest(user: User): boolean {
  return user.role === roles.guest
}

// --- the rules --------------------------------------------------------------------------------------------------

export const administer = rule(
  'Organization administrators and owners may administer the organization.',
  isAdministrator,
)

// --- saying no --------------------------------------------------------------------------------------------------

/** For rules about a role: the refusal has a code of its own. */
export function insist(rule: Rule<void>, asker: User): void {
  if (!rule.allows(asker)) throw new Refusal('UNAUTHORIZED_PRINCIPAL', rule.sentence)
}
