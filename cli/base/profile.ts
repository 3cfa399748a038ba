// The server to call, and the account: flag > environment > profile > zuliprc. Profiles are a 0600 file in a 0700 folder.
// The token of the control plane comes from the same sources.

import { chmodSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { siteAddress } from '../../daemon/api/address.ts'
import { makeFolderSync, writeFileAtomicallySync } from '../../daemon/local/atomic-file.ts'
import { didYouMean } from '../../daemon/local/did-you-mean.ts'
import { workAlone } from '../../daemon/local/file-lock.ts'
import { configFolder as configFolderIn } from '../../daemon/local/folders.ts'
import { jsonOr } from '../../daemon/local/json.ts'
import {
  namedAccounts,
  type Profile,
  type ProfileLimits,
  type Profiles,
  profilesFileName,
  profilesText,
  readProfilesText,
  withProfile,
} from '../../daemon/local/profiles.ts'
import { isReady, type Ready } from '../../daemon/local/ready-file.ts'
import { AbsentReadyFile, exitCodes, Failure, usage } from './failure.ts'
import { readIfThere, warnIfOpen } from './files.ts'
import type { Globals } from './globals.ts'
import { type Limits, limitsFrom } from './limits.ts'
import { settingsFor } from './settings.ts'

/** The server and the account to use. A value without a source is absent. */
export interface Account {
  readonly site?: string
  readonly email?: string
  readonly apiKey?: string
  /** Which source each value came from. */
  readonly from: Readonly<Partial<Record<'site' | 'email' | 'apiKey', string>>>
  /** What may be called. Absent: everything. */
  readonly limits?: Limits
  /** The file of NATTER_READY_FILE if there is none, and no source before it names the site: nothing may be called. */
  readonly absentFile?: string
}

type Env = Readonly<Record<string, string | undefined>>

export interface Source {
  readonly from: string
  readonly site?: string | undefined
  readonly email?: string | undefined
  readonly apiKey?: string | undefined
  readonly controlToken?: string | undefined
  /** The file that it was read from. */
  readonly file?: string
  /** The file that it would be read from, if there were one. */
  readonly absentFile?: string
  readonly limits?: ProfileLimits | undefined
}

/** The flags that decide which server and account are used. */
type Choice = Pick<Globals, 'site' | 'user' | 'apiKey' | 'profile' | 'readyFile' | 'controlToken'>

/**
 * Takes each value from the first source that has it. A key goes only to the site and the account it belongs to: a source
 * that names another site than the one chosen is passed over, or its key would be sent to a stranger.
 */
export function accountFor(flags: Choice, env: Env): Account {
  const chosen: { site?: string; email?: string; apiKey?: string } = {}
  const from: Partial<Record<'site' | 'email' | 'apiKey', string>> = {}
  let together = false
  let keyFile: string | undefined
  let limited: Source | undefined
  let absentFile: string | undefined
  for (const source of sources(flags, env)) {
    if (!chosen.site) absentFile ??= source.absentFile
    const site = source.site ? normalSite(source.site) : undefined
    if (site && chosen.site && site !== chosen.site) continue
    const other = source.email && chosen.email && source.email.toLowerCase() !== chosen.email.toLowerCase()
    const values = other ? { site } : { site, email: source.email, apiKey: source.apiKey }
    for (const [name, value] of Object.entries(values)) {
      const key = name as 'site' | 'email' | 'apiKey'
      if (!value || chosen[key]) continue
      chosen[key] = value
      from[key] = source.from
      if (source.limits) limited = source
      if (key !== 'apiKey') continue
      // The source of the key names this very site.
      together = site !== undefined
      keyFile = source.file
    }
    if (chosen.site && chosen.email && chosen.apiKey) break
  }
  // The current folder may hold a zuliprc that another person wrote: a key from the environment must not be sent to the site named there.
  if (!together && from.site && from.apiKey && !mayJoin(from.apiKey, from.site))
    throw mixture('API key', from.apiKey, from.site)
  if (keyFile !== undefined) warnIfOpen(keyFile)
  const limits = limitsFrom(limited?.from, limited?.limits, env)
  return { ...chosen, from, ...(limits && { limits }), ...(absentFile && { absentFile }) }
}

/** The token of the control plane at this account's site, if one is known. */
export function controlTokenFor(flags: Choice, env: Env, account: Account): string | undefined {
  return findToken(flags, env, account).token
}

/** The same for a call that cannot be made without. */
export function demandControlToken(flags: Choice, env: Env, account: Account): string {
  const { token, stray } = findToken(flags, env, account)
  if (token !== undefined) return token
  if (account.absentFile) throw noReadyFile(account.absentFile)
  if (account.site === undefined) throw noServer()
  if (stray !== undefined) throw mixture('control token', stray, account.from.site!)
  if (env.NATTER_CONTROL_TOKEN === '')
    throw new Failure(exitCodes.denied, 'no control token: NATTER_CONTROL_TOKEN is empty', {
      hint: '`natter env --as` sets it so, because the token opens every account. Give --control-token, or unset the variable.',
    })
  if (/\/spaces\/[^/]+$/.test(account.site))
    throw new Failure(exitCodes.denied, 'no control token: a space has one of its own', {
      hint: '`natter spaces use NAME` saves it in a profile; --ready-file FILE reads it from what `natter spaces create --json` printed.',
    })
  throw new Failure(exitCodes.denied, 'no control token: give --control-token or NATTER_CONTROL_TOKEN', {
    hint: `The daemon must run with --control. Stop it and start it again with that flag:
  \`natter daemon stop\`, then \`natter daemon start --control\`, each with --data if it has one; or Ctrl-C where it runs, then the same command with it.
  With --memory it has a token in its ready file: --ready-file FILE reads it.`,
  })
}

export function noServer(): Failure {
  return new Failure(exitCodes.unreachable, 'no server is configured', {
    hint: 'Start one with `natter daemon start`, or give --site or set NATTER_SITE.',
  })
}

/**
 * A token that comes with a site goes only there. One that comes without goes only to a site that was chosen for it, and
 * never to that of a zuliprc, which another person may have written; `stray` says where such a token was found. If the
 * variable is set to nothing, only flags give one: profiles of the same site may know it.
 */
function findToken(flags: Choice, env: Env, { site, from }: Account): { token?: string; stray?: string } {
  let stray: string | undefined
  const typed: Source = { from: 'flag', controlToken: flags.controlToken }
  for (const source of [typed, ...sources(flags, env), ...savedSources(env)]) {
    const { controlToken: token, site: own } = source
    if (source.from === 'NATTER_*' && token === '') break
    if (!token) continue
    if (own ? normalSite(own) === site : !from.site || mayJoin(source.from, from.site)) return { token }
    if (!own) stray ??= source.from
  }
  return stray === undefined ? {} : { stray }
}

/** Whether a secret that comes without a site may be sent to the site of another source. */
export function mayJoin(secret: string, site: string): boolean {
  // A flag is typed for this one call, so its site is meant for the secret.
  if (secret === site || site === 'flag' || site === '--ready-file') return true
  const chosen = /^(NATTER_|ZULIP_|profile )/.test(site)
  return secret === 'flag' && chosen
}

function mixture(what: string, secret: string, site: string): Failure {
  return usage(
    `the ${what} comes from ${sourceName(secret)}, but the site from ${sourceName(site)}`,
    `Give the site where the ${what.split(' ')[1]} is: ${secret.endsWith('_*') ? secret.replace('*', 'SITE') : '--site'}.`,
  )
}

function sourceName(from: string): string {
  return from === 'flag' ? 'a flag' : from.endsWith('_*') ? `the environment (${from})` : from
}

/** A daemon reads the variable, too, so a file that is not written yet is no mistake before a call is made. */
export function noReadyFile(file: string): Failure {
  return new AbsentReadyFile(
    `NATTER_READY_FILE: there is no ready file ${file}`,
    'Its daemon does not run: wait for it with `natter ready --wait`, or unset NATTER_READY_FILE.',
  )
}

/** A ready file that must be there. */
export function readReadyFile(file: string): Ready {
  const text = readFile(file)
  const hint = 'A daemon writes one: natter daemon run --ready-file FILE'
  if (text === undefined) throw new AbsentReadyFile(`there is no ready file ${file}`, hint)
  const ready = jsonOr(text)
  if (isReady(ready)) return ready
  throw usage(`${file} is not a ready file`, hint)
}

export function configFolder(env: Env): string {
  return configFolderIn(env, homedir())
}

export function profilesFile(env: Env): string {
  return join(configFolder(env), profilesFileName)
}

export function readProfiles(env: Env): Profiles {
  const file = profilesFile(env)
  const text = readFile(file)
  if (text === undefined) return { profiles: {} }
  const found = readProfilesText(text)
  if (!found)
    throw new Failure(exitCodes.refused, `${file} is not a profiles file`, { hint: 'Fix it, or move it away.' })
  return found
}

/** Saves a profile; it becomes the current one if there is none. Returns the file's path. */
export function saveProfile(name: string, profile: Profile, env: Env): string {
  return changeProfiles(book => withProfile(book, name, profile), env)
}

/** Makes a profile the current one. Returns the file's path. */
export function switchProfile(name: string, env: Env): string {
  return changeProfiles(book => {
    const previous = book.current === name ? book.previous : book.current
    return { ...book, current: name, ...(previous && { previous }) }
  }, env)
}

/** Returns the name of the profile that is current from now on. */
export function removeProfile(name: string, env: Env): string | undefined {
  let first: string | undefined
  changeProfiles(({ current, previous, profiles }) => {
    const { [name]: _, ...rest } = profiles
    const left = [current, previous].filter(other => other !== undefined && other !== name)
    first = left[0]
    return { ...(first && { current: first }), ...(left[1] && { previous: left[1] }), profiles: rest }
  }, env)
  return first
}

/**
 * Writes all profiles, readable by their owner only, if there is something to change. `change` gets them as they are now, and may be called
 * twice. Returns the file's path.
 */
export function changeProfiles(change: (book: Profiles) => Profiles, env: Env): string {
  const file = profilesFile(env)
  const now = readProfiles(env)
  if (profilesText(change(now)) === profilesText(now)) return file
  makeFolderSync(configFolder(env))
  chmodSync(configFolder(env), 0o700)
  workAlone(file, () => writeFileAtomicallySync(file, profilesText(change(readProfiles(env)))))
  return file
}

/** The address of a server, or those of several daemons of a cluster with commas between them. */
export function normalSite(sites: string): string {
  return sites
    .split(',')
    .map(site => normalAddress(site.trim()))
    .join(',')
}

/** An address that must be complete. `label`: what names it, for the error. */
export function readSite(given: string, label: string): string {
  try {
    return siteAddress(given)
  } catch (error) {
    throw usage(`${label}${(error as Error).message}`)
  }
}

function normalAddress(site: string): string {
  const named = /^https?:\/\//i.test(site)
    ? site
    : `${/^(localhost|127\.|\[::1\])/i.test(site) ? 'http' : 'https'}://${site}`
  try {
    return siteAddress(named).replace(/\/api(\/v1)?$/, '')
  } catch (error) {
    throw usage((error as Error).message, 'An address looks like http://127.0.0.1:9991')
  }
}

/** The account as a zuliprc file, for tools that read nothing else. */
export function zuliprcText({ site, email, api_key }: Profile): string {
  const line = (name: string, value: string) => `${name}=${value.replace(/[\r\n].*/s, '')}\n`
  return `[api]\n${line('email', email)}${line('key', api_key)}${line('site', site)}`
}

function* sources(flags: Choice, env: Env): Generator<Source> {
  yield { from: 'flag', site: flags.site, email: flags.user, apiKey: flags.apiKey }
  // A flag names them, so they come before the environment.
  if (flags.readyFile) yield ofReady('--ready-file', flags.readyFile)
  if (flags.profile) yield ofProfile(flags.profile, env)
  const [natter, zulip] = namedAccounts(env)
  yield { ...natter, controlToken: env.NATTER_CONTROL_TOKEN }
  const { NATTER_READY_FILE: file } = env
  if (file)
    yield readFile(file) === undefined
      ? { from: 'NATTER_READY_FILE', absentFile: file }
      : ofReady('NATTER_READY_FILE', file)
  yield zulip
  if (flags.profile) return
  const current = currentProfile(env)
  if (current) yield ofProfile(current.name, env, current.from)
  const rc = zuliprc(env)
  if (rc) yield rc
}

/** The profile of NATTER_PROFILE or of the config file, which `from` names, or else the one that was switched to. */
export function currentProfile(env: Env): { readonly name: string; readonly from?: string } | undefined {
  const set = settingsFor(env).find(({ name }) => name === 'profile')
  if (set) return { name: set.value, from: set.from }
  const { current } = readProfiles(env)
  return current === undefined ? undefined : { name: current }
}

/** Profiles that are not in use know tokens of their sites, too. */
function savedSources(env: Env): Source[] {
  return Object.keys(readProfiles(env).profiles).map(name => ofProfile(name, env))
}

function ofProfile(name: string, env: Env, namedBy?: string): Source {
  const profile = findProfile(name, env, namedBy)
  const { site, email, api_key: apiKey, control_token: controlToken, limits } = profile
  return { from: `profile ${name}`, site, email, apiKey, controlToken, file: profilesFile(env), limits }
}

function ofReady(from: string, file: string): Source {
  const { url, owner, control_token: controlToken } = readReadyFile(file)
  return { from, site: url, email: owner.email, apiKey: owner.api_key, controlToken, file }
}

/** `namedBy`: the variable or file that has the name, for the error. */
export function findProfile(name: string, env: Env, namedBy?: string): Profile {
  const { profiles } = readProfiles(env)
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined
  if (!profile) {
    const names = Object.keys(profiles)
    const hint =
      didYouMean(name, names) ?? (names.length > 0 ? `Saved profiles: ${names.join(', ')}` : 'None is saved yet.')
    throw new Failure(exitCodes.notFound, `${namedBy ? `${namedBy}: ` : ''}no profile is called "${name}"`, { hint })
  }
  return profile
}

/** Zulip's own tools disagree on the name. The current folder comes last: it may be a stranger's, with another server in the file. */
function zuliprc(env: Env): Source | undefined {
  const home = env.HOME || homedir()
  const places = env.ZULIP_CONFIG ? [env.ZULIP_CONFIG] : [join(home, '.zuliprc'), join(home, 'zuliprc'), 'zuliprc']
  for (const place of places) {
    // A pipe that happens to have this name would never end.
    if (place !== env.ZULIP_CONFIG && !isFile(place)) continue
    const text = readFile(place)
    if (text !== undefined) return ofZuliprc(place, text)
  }
  return undefined
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile()
  } catch {
    // Not there, or a link to itself.
    return false
  }
}

/** A file that must be there. */
export function readZuliprc(file: string): Source {
  const text = readFile(file)
  if (text === undefined) throw usage(`there is no file ${file}`)
  return ofZuliprc(file, text)
}

function ofZuliprc(file: string, text: string): Source {
  const values = apiSection(text)
  return { from: file, site: values.site, email: values.email, apiKey: values.key, file }
}

function apiSection(ini: string): Record<string, string> {
  const values: Record<string, string> = Object.create(null)
  let section = ''
  // One pattern for a whole line would take long on one of many spaces.
  for (const line of ini.split('\n').map(line => line.trim())) {
    const heading = /^\[(.+)\]$/.exec(line)
    const [, name, value] = /^([^#;=:][^=:]*)[=:](.*)$/.exec(line) ?? []
    if (heading) section = heading[1]!
    else if (name !== undefined && section === 'api') values[name.trimEnd().toLowerCase()] = value!.trimStart()
  }
  return values
}

function readFile(file: string): string | undefined {
  return readIfThere(file, file, ['ENOENT', 'ENOTDIR', 'EISDIR'])
}

export function demandKey(account: Account): void {
  const { site, email, apiKey } = account
  if (!site || (email && apiKey)) return
  throw new Failure(exitCodes.denied, `no ${email ? `API key for ${email}` : 'account'} at ${site}`, {
    hint: email
      ? `Log in with \`natter login ${site} ${email}\`, or give --api-key.\n  ${seededAccounts(email)}`
      : `Log in with \`natter login ${site} EMAIL\`, or give --user and --api-key, or set NATTER_EMAIL and NATTER_API_KEY.`,
  })
}

/** Advice for an account that cannot log in because a seed made it. */
export function seededAccounts(email: string): string {
  return `An account from a seed or preset has no password: get its key with \`natter accounts ${email}\`.`
}
