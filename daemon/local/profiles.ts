// The profiles of the command line, of which the daemon writes one: `profiles.json` and its text.

import { isRecord } from './json.ts'
import type { Ready } from './ready-file.ts'

export const profilesFileName = 'profiles.json'

/** A saved site and account of the command line. */
export interface Profile {
  readonly site: string
  readonly email: string
  readonly api_key: string
  /** Opens the control plane of a daemon that was started for tests. */
  readonly control_token?: string
  readonly limits?: ProfileLimits
  /** Of a daemon on this machine: the folder of its store, to start it again. */
  readonly store?: string
  /** Of a daemon in memory that `natter daemon start` started: the folder of its log. */
  readonly log_folder?: string
}

/** What programs that use the profile may do. Absent: everything that the account may. */
export interface ProfileLimits {
  readonly read_only?: true
  /** Names, or `id:5`. Other channels are out of reach. */
  readonly channels?: readonly string[]
  readonly no_direct?: true
}

/** The code of a call that a limit refuses, as the API has codes for its own refusals. */
export const limitCode = 'PROFILE_LIMIT'

/** What `profiles.json` holds. */
export interface Profiles {
  readonly current?: string
  /** The one before, to go back to. */
  readonly previous?: string
  readonly profiles: Readonly<Record<string, Profile>>
}

/** The profile that a daemon on this machine writes. */
export const localProfile = 'local'

/** The profile of a daemon beside the one that `local` is for. */
export function nameBeside(url: string): string {
  return `${localProfile}-${new URL(url).port}`
}

/** The variables by which programs find a server and an account, for names such as `SITE`. */
export function accountVariables<T>(values: Readonly<Record<string, T>>): [string, T][] {
  return Object.entries(values).flatMap(([name, value]): [string, T][] => [
    [`NATTER_${name}`, value],
    [`ZULIP_${name}`, value],
  ])
}

/** What one family of these variables says. */
export interface NamedAccount {
  readonly from: 'NATTER_*' | 'ZULIP_*'
  readonly site: string | undefined
  readonly email: string | undefined
  readonly apiKey: string | undefined
}

/** Their values in an environment. The first that names a site decides, and a key goes only to the site of its own family. */
export function namedAccounts(env: Readonly<Record<string, string | undefined>>): [NamedAccount, NamedAccount] {
  return [
    { from: 'NATTER_*', site: env.NATTER_SITE, email: env.NATTER_EMAIL, apiKey: env.NATTER_API_KEY },
    { from: 'ZULIP_*', site: env.ZULIP_SITE, email: env.ZULIP_EMAIL, apiKey: env.ZULIP_API_KEY },
  ]
}

/** `store`: the folder; undefined for a daemon in memory. */
export function profileFrom(
  { url, owner, control_token }: Pick<Ready, 'url' | 'owner' | 'control_token'>,
  store?: string,
): Profile {
  const { email, api_key } = owner
  return { site: url, email, api_key, ...(control_token && { control_token }), ...(store && { store }) }
}

/** The book with this profile in it, which keeps the limits it had. The first profile becomes the current one. */
export function withProfile(book: Profiles, name: string, profile: Profile): Profiles {
  const limits = Object.hasOwn(book.profiles, name) ? book.profiles[name]!.limits : undefined
  const kept = { ...(limits && { limits }), ...profile }
  return { ...book, current: book.current ?? name, profiles: { ...book.profiles, [name]: kept } }
}

/** The book in the text of `profiles.json`; undefined when the text is something else. */
export function readProfilesText(text: string): Profiles | undefined {
  try {
    const { current, previous, profiles } = JSON.parse(text)
    const isName = (name: unknown) => (name ?? '') === '' || typeof name === 'string'
    const isRight = isName(current) && isName(previous) && Object.values(Object(profiles)).every(isProfile)
    return isRight && typeof profiles === 'object' && profiles !== null
      ? { ...(current && { current }), ...(previous && { previous }), profiles }
      : undefined
  } catch {
    return undefined
  }
}

function isProfile(value: unknown): value is Profile {
  const { site, email, api_key, control_token = '', limits = {}, store = '', log_folder = '' } = Object(value)
  return (
    [site, email, api_key, control_token, store, log_folder].every(text => typeof text === 'string') && isLimits(limits)
  )
}

/** A limit that cannot be read must not be taken for none. */
function isLimits(value: unknown): value is ProfileLimits {
  if (!isRecord(value)) return false
  const { read_only = true, channels = [], no_direct = true, ...others } = value
  const isList = Array.isArray(channels) && channels.every(name => typeof name === 'string')
  return read_only === true && no_direct === true && isList && Object.keys(others).length === 0
}

export function profilesText(book: Profiles): string {
  return `${JSON.stringify(book, null, 2)}\n`
}
