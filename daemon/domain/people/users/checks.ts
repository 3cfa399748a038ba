// Checks of the names of accounts and of new passwords.

import { limits } from '../../limits.ts'
import { placeholderId, userByEmail } from '../../model/lookups.ts'
import { organizationSetting } from '../../model/settings.ts'
import type { State, User } from '../../model/state.ts'
import { inQuotes, invalid, taken } from '../../refusal.ts'
import { clean } from '../../values/text.ts'
import { emailProblem } from './email-rules.ts'

/** `user` is the account that is renamed, so that its own name does not count as taken. */
export function checkFullName(state: State, name: string, user?: User): string {
  const checked = clean('full_name', name, limits.fullName)
  if ([...checked].length < 2) throw invalid('full_name', 'must be at least 2 characters')
  if (/[*`\\>"@\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}]/u.test(checked))
    throw invalid('full_name', 'contains a character that is not allowed')
  if (/\|\d+$/.test(checked)) throw invalid('full_name', 'cannot end in | and a number')
  const wanted = fold(checked)
  if (organizationSetting(state, 'require_unique_names') && hasOther(state, user, one => fold(one.fullName) === wanted))
    throw taken('full_name', checked)
  return checked
}

/** Two bots, or a bot and a person, must not have the same name while both are active; upper and lower case tell them apart. */
export function checkBotName(state: State, name: string, bot?: User): string {
  const checked = checkFullName(state, name, bot)
  if (hasOther(state, bot, one => one.active && one.fullName === checked)) throw taken('full_name', checked)
  return checked
}

function hasOther(state: State, except: User | undefined, matches: (user: User) => boolean): boolean {
  for (const user of state.users.values()) if (user.id !== except?.id && matches(user)) return true
  return false
}

function fold(name: string): string {
  return name.normalize('NFKC').toLowerCase()
}

export function isEmailAddress(text: string): boolean {
  return /^[^\s\p{C}@<>(),;:"[\]\\]+@[^\s\p{C}@<>(),;:"[\]\\]+$/u.test(text) && text.length <= limits.email
}

/** An address for a person. */
export function checkNewEmail(state: State, param: string, email: string, user?: User, isShown?: IsShown): string {
  const address = checkFreeEmail(state, param, email, user, isShown)
  const problem = address === user?.email ? undefined : emailProblem(state, address)
  if (problem !== undefined) throw invalid(param, problem)
  return address
}

/** An address for any account; bots have theirs from the server, whatever the organization says of people's. */
export function checkFreeEmail(state: State, param: string, email: string, user?: User, isShown?: IsShown): string {
  const address = email.trim()
  if (!isEmailAddress(address)) throw invalid(param, 'must be an email address')
  // Otherwise a later account would have this address as its placeholder. Whether one has it now must not show.
  if (placeholderId(state, address) !== undefined && address.toLowerCase() !== user?.email.toLowerCase())
    throw invalid(param, `${inQuotes(address)} is reserved for the API`)
  const holder = userByEmail(state, address)
  if (holder && holder.id !== user?.id && isShown?.(holder) !== false) throw taken(param, address)
  return address
}

/** Whether the caller may learn that this account has the address. */
type IsShown = (holder: User) => boolean

export function checkPassword(password: string, param = 'password'): void {
  const { length } = [...password]
  if (length < limits.passwordMin) throw invalid(param, `must be at least ${limits.passwordMin} characters`)
  if (guesses(password.slice(0, limits.passwordMax)) < limits.passwordGuesses)
    throw invalid(param, 'is too easy to guess')
}

const favourites =
  /^(password|passw0rd|qwerty\w*|letmein|welcome|iloveyou|monkey|dragon|football|abc123|admin\w*)[\d!.]{0,4}$/i

/**
 * OPEN: how guess resistance is measured is not shown. Here: every character that neither repeats nor continues the one
 * before it multiplies the guesses by the size of the alphabet; well-known passwords count as none.
 */
function guesses(password: string): number {
  if (favourites.test(password)) return 1
  const pool =
    (/[a-z]/.test(password) ? 26 : 0) +
    (/[A-Z]/.test(password) ? 26 : 0) +
    (/\d/.test(password) ? 10 : 0) +
    (/[^a-zA-Z\d]/.test(password) ? 33 : 0)
  let found = 1
  let before = Number.NaN
  for (const character of password) {
    const code = character.codePointAt(0)!
    if (!(Math.abs(code - before) <= 1)) found *= pool
    before = code
  }
  return found
}
