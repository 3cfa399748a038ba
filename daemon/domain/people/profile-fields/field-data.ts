// The data of a profile field: the options of a list, the kind of an external account.

import { profileFieldTypes } from '../../../api/people/profile-fields.ts'
import type { ProfileField } from '../../model/rows/organization.ts'
import { invalid, missing, taken } from '../../refusal.ts'
import { isWebUrl } from '../../values/text.ts'

/** Accounts that come with a name and a hint of their own. */
export const externalAccounts: Readonly<Record<string, ExternalAccount>> = {
  twitter: { name: 'Twitter username', text: 'Twitter', hint: '', url_pattern: 'https://twitter.com/%(username)s' },
  github: { name: 'GitHub username', text: 'GitHub', hint: '', url_pattern: 'https://github.com/%(username)s' },
}

interface ExternalAccount {
  readonly name: string
  readonly text: string
  readonly hint: string
  readonly url_pattern: string
}

type Given = Readonly<Record<string, unknown>> | undefined

/** The data as it is kept, and the built-in account it names. */
export function checkFieldData(type: ProfileField['type'], given: Given): { text: string; account?: string } {
  if (type === profileFieldTypes.SELECT.id) return { text: checkOptions(given) }
  if (type === profileFieldTypes.EXTERNAL_ACCOUNT.id) return checkAccount(given)
  // Fields of other types have none: what is sent for them is ignored.
  return { text: '' }
}

/** Whether the data of a built-in account is what it is already. */
export function isSameData(field: ProfileField, given: NonNullable<Given>): boolean {
  return Object.keys(given).length === 1 && given.subtype === JSON.parse(field.data).subtype
}

export function isBuiltIn(field: ProfileField): boolean {
  return (
    field.type === profileFieldTypes.EXTERNAL_ACCOUNT.id &&
    Object.hasOwn(externalAccounts, JSON.parse(field.data).subtype)
  )
}

function checkOptions(given: Given): string {
  const options = Object.entries(given ?? {})
  if (options.length === 0) throw invalid('field_data', 'a list needs at least one option')
  const texts = new Set<string>()
  const kept = options.map(([key, option]) => {
    const { text, order, ...rest } = Object(option) as Record<string, unknown>
    const place = `field_data[${JSON.stringify(key)}]`
    if (key.trim() === '') throw invalid('field_data', 'the key of an option cannot be blank')
    if (typeof text !== 'string' || text.trim() === '')
      throw invalid(`${place}["text"]`, 'must be a text that is not blank')
    if (typeof order !== 'string' || order.trim() === '')
      throw invalid(`${place}["order"]`, 'must be a number written as a string')
    if (Object.keys(rest).length > 0) throw invalid(place, 'can have only text and order')
    if (texts.has(text)) throw taken(`${place}["text"]`, text)
    texts.add(text)
    return [key, { text, order }] as const
  })
  return JSON.stringify(Object.fromEntries(kept))
}

function checkAccount(given: Given): { text: string; account?: string } {
  const { subtype, url_pattern } = given ?? {}
  if (typeof subtype !== 'string') throw invalid('field_data["subtype"]', 'must be a string')
  if (Object.hasOwn(externalAccounts, subtype)) return { text: JSON.stringify({ subtype }), account: subtype }
  if (subtype !== 'custom') throw missing('field_data["subtype"]', 'external account type', subtype)
  if (typeof url_pattern !== 'string') throw invalid('field_data["url_pattern"]', 'must be a string')
  if (url_pattern.split('%(username)s').length !== 2)
    throw invalid('field_data["url_pattern"]', 'must contain %(username)s exactly once')
  if (!isWebUrl(url_pattern.replace('%(username)s', 'username')))
    throw invalid('field_data["url_pattern"]', 'must be a URL that starts with http:// or https://')
  return { text: JSON.stringify({ subtype, url_pattern }) }
}
