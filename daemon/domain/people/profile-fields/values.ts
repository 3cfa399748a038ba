// Checks the values of profile fields, type by type.

import type { ParamsOf } from '../../../api/define.ts'
import type { profileFields as api } from '../../../api/people/profile-fields.ts'
import { profileFieldTypes as types } from '../../../api/people/profile-fields.ts'
import { jsonOr } from '../../../local/json.ts'
import { limits } from '../../limits.ts'
import type { ProfileChange } from '../../model/facts/people.ts'
import type { ProfileField } from '../../model/rows/organization.ts'
import type { User } from '../../model/state.ts'
import { inQuotes, invalid, missing } from '../../refusal.ts'
import type { Asker } from '../../rules/rule.ts'
import { knownActiveUser } from '../../rules/user-access.ts'
import { clean, isWebUrl } from '../../values/text.ts'

type Input = ParamsOf<typeof api.set>['data'][number]

type Changes = ReadonlyMap<number, string | null>

interface Checks {
  readonly checkField?: (field: ProfileField) => void
  /** An administrator who sends an empty value removes it; on one's own account it is a value, which some types refuse. */
  readonly emptyRemoves: boolean
}

/** The changes among what was given. Refuses unknown fields and bad values. */
export function checkProfile(
  asker: Asker,
  user: User,
  param: string,
  given: readonly Input[],
  { checkField, emptyRemoves }: Checks,
): ProfileChange[] {
  const changes = new Map<number, string | null>()
  given.forEach(({ id, value = null }, index) => {
    const place = `${param}[${index}]`
    const field = findField(asker, place, id)
    checkField?.(field)
    if (emptyRemoves && (value === null || value.length === 0)) changes.set(id, null)
    else if (value === null)
      throw invalid(`${place}["value"]`, 'required; DELETE /users/me/profile_data removes a value')
    else changes.set(id, checkValue(asker, field, `${place}["value"]`, value))
  })
  return listChanges(user, changes)
}

/** The changes that removing the values of these fields makes. */
export function checkRemoval(
  asker: Asker,
  user: User,
  param: string,
  ids: readonly number[],
  checkField: (field: ProfileField) => void,
): ProfileChange[] {
  ids.forEach((id, index) => {
    checkField(findField(asker, `${param}[${index}]`, id))
  })
  return listChanges(user, new Map(ids.map(id => [id, null])))
}

function findField({ state }: Asker, place: string, id: number): ProfileField {
  const field = state.profileFields.get(id)
  if (!field) throw missing(place, 'profile field', id)
  return field
}

function listChanges(user: User, changes: Changes): ProfileChange[] {
  return [...changes]
    .map(([id, value]) => ({ id, value }))
    .filter(({ id, value }) => (user.profile[id] ?? null) !== value)
}

function checkValue(asker: Asker, field: ProfileField, place: string, given: string | number[]): string {
  if (field.type === types.USER.id) return checkPeople(asker, place, given)
  if (typeof given !== 'string') throw invalid(place, 'must be a string')
  const limit = field.type === types.LONG_TEXT.id ? limits.profileLongText : limits.profileShortText
  switch (field.type) {
    case types.SELECT.id:
      if (!Object.hasOwn(JSON.parse(field.data), given))
        throw invalid(place, `${inQuotes(given)} is not one of the options`)
      return given
    case types.DATE.id:
      if (!isDate(given)) throw invalid(place, 'must be a date (YYYY-MM-DD)')
      return given
    case types.URL.id: {
      const url = clean(place, given, 2000)
      if (!isWebUrl(url)) throw invalid(place, 'must be a URL that starts with http:// or https://')
      return url
    }
    default:
      return clean(place, given, limit)
  }
}

/** Kept as the text of a JSON list. */
function checkPeople(asker: Asker, place: string, given: string | number[]): string {
  const ids = typeof given === 'string' ? parsedIds(place, given) : given
  for (const id of ids) {
    const user = knownActiveUser(asker, id)
    if (!user || user.bot) throw missing(place, 'active person', id)
  }
  return JSON.stringify([...new Set(ids)])
}

/** The specification has strings here too, so the text of such a list is accepted. */
function parsedIds(place: string, text: string): number[] {
  if (text === '') return []
  const ids: unknown = jsonOr(text)
  if (Array.isArray(ids) && ids.every(id => Number.isSafeInteger(id))) return ids
  throw invalid(place, 'must be a list of user IDs')
}

function isDate(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false
  const date = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text)
}
