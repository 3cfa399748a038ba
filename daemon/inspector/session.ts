// The session of this tab: the control token or one account, and the accounts it can act as. It is kept in this tab; an open tab gives it to a
// new one.

import { computed, signal } from '@preact/signals'
import type { accounts as accountPage } from '../api/control/accounts.ts'
import type { ReplyOf } from '../api/define.ts'
import { encodeFields, NatterError, type Reply, Sender } from '../client/sender.ts'
import { decode } from './route.ts'

export type Account = NonNullable<ReplyOf<typeof accountPage.list>['account']>

interface Kept {
  readonly token?: string
  readonly account?: Account
  /** User ID of the account to act as. */
  readonly actor?: number
  /** The user signed out in this tab. */
  readonly left?: true
}

/** The daemon or space that served the page, however long its path is. */
export const site = new URL(
  document.documentElement.dataset.site ?? '.',
  location.href.split(/[?#]/, 1)[0]!,
).href.replace(/\/$/, '')

/** One origin can have several worlds, each with a token of its own. */
const storageKey = keyFor(site)

export const phase = signal<'starting' | 'sign-in' | 'open'>('starting')
/** Opens the control plane; undefined where one account signed in. */
export const token = signal<string | undefined>(undefined)
export const accounts = signal<readonly Account[]>([])
export const actor = signal<Account | undefined>(undefined)
/** Why the form is shown again. */
export const refused = signal<string | undefined>(undefined)
export const isControlled = computed(() => token.value !== undefined)

/** Takes the token out of the address before anything else sees it, and opens the session if there is one. */
export async function begin(): Promise<void> {
  answerTabs()
  const kept = read()
  const given = /[#&]token=([^&]+)/.exec(location.hash)?.[1]
  if (given !== undefined) {
    // Neither the address bar nor the history of the browser keeps it.
    history.replaceState(null, '', `${location.pathname}${location.search}#/conversations`)
    return openWithToken(decode(given), kept.actor)
  }
  if (kept.token) return openWithToken(kept.token, kept.actor)
  if (kept.account) return openWithAccount(kept.account)
  const shared = kept.left ? {} : await askTabs()
  if (shared.token) return openWithToken(shared.token, shared.actor)
  if (shared.account) return openWithAccount(shared.account)
  phase.value = 'sign-in'
}

const question = 'session?'
/** Milliseconds that another tab has to answer. */
const answerWithin = 300

/** Only pages of this origin hear it, and the policy of our pages allows no script but our own. */
function answerTabs(): void {
  const channel = new BroadcastChannel(storageKey)
  channel.onmessage = ({ data }) => {
    if (data === question && phase.value === 'open') channel.postMessage(read())
  }
}

/** What another tab with this world has; empty if there is none. */
function askTabs(): Promise<Kept> {
  return new Promise(resolve => {
    const channel = new BroadcastChannel(storageKey)
    const end = (kept: Kept) => {
      clearTimeout(late)
      channel.close()
      resolve(kept)
    }
    const late = setTimeout(end, answerWithin, {})
    channel.onmessage = ({ data }) => {
      if (data !== question) end(data)
    }
    channel.postMessage(question)
  })
}

/** As natter/client does it, with the account that the page acts as. */
export function callAs(
  account: Account,
  method: string,
  path: string,
  params: Readonly<Record<string, unknown>> = {},
  abort?: AbortSignal,
  /** The call is made even while the page goes away. */
  keepalive = false,
): Promise<any> {
  const options = { site, email: account.email, apiKey: account.api_key, client: 'natter-inspector' }
  const made: typeof fetch = (input, init) => ask(input, { ...init, keepalive })
  return new Sender({ ...options, fetch: made }).send(method, path, encodeFields(params), { signal: abort })
}

/** Without the credentials of the browser: a refused key would make it ask for a password of its own. */
export function ask(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  return fetch(input, { ...init, credentials: 'omit' })
}

export function call(method: string, path: string, params?: Readonly<Record<string, unknown>>): Promise<any> {
  return callAs(actor.value!, method, path, params)
}

/** The token that this tab has for a world. */
export function tokenFor(world: string): string | undefined {
  return world === site ? token.value : read(world).token
}

/** A call of the control plane: JSON both ways. */
export function control(
  method: string,
  path: string,
  params?: Readonly<Record<string, unknown>>,
  abort?: AbortSignal,
): Promise<any> {
  return callControl(site, token.value, method, path, params, abort)
}

export async function callControl(
  world: string,
  token: string | undefined,
  method: string,
  path: string,
  params: Readonly<Record<string, unknown>> = {},
  abort?: AbortSignal,
): Promise<any> {
  const given = Object.entries(params).filter(([, value]) => value !== undefined && value !== '')
  const inQuery = method === 'GET' || method === 'DELETE'
  const query = inQuery && given.length > 0 ? `?${new URLSearchParams(given.map(([k, v]) => [k, String(v)]))}` : ''
  const response = await ask(`${world}/control/v1${path}${query}`, {
    method,
    headers: { Authorization: `Bearer ${token}`, ...(!inQuery && { 'Content-Type': 'application/json' }) },
    ...(!inQuery && { body: JSON.stringify(Object.fromEntries(given)) }),
    ...(abort && { signal: abort }),
  })
  const body = (await response.json().catch(() => ({}))) as Reply
  if (!response.ok || body.result !== 'success') throw new NatterError(response.status, body)
  return body
}

export function actAs(account: Account): void {
  actor.value = account
  write({ ...read(), actor: account.user_id })
}

export async function signIn(email: string, secret: string): Promise<void> {
  refused.value = undefined
  try {
    await openWithAccount(await accountFor(email.trim(), secret))
  } catch (error) {
    refused.value = messageOf(error)
  }
}

export async function useToken(given: string): Promise<void> {
  refused.value = undefined
  await openWithToken(given.trim())
}

export function signOut(): void {
  // Without this, another tab would sign it in again.
  write({ left: true })
  location.reload()
}

/** New accounts, changed keys: asked for again after a reset or a restore. */
export async function reloadAccounts(): Promise<void> {
  if (!token.value) return
  const found: Account[] = (await control('GET', '/accounts')).accounts
  accounts.value = found
  const same = found.find(({ email }) => email === actor.value?.email)
  if (same?.api_key !== actor.value?.api_key) actor.value = same ?? found[0]
}

export function messageOf(error: unknown): string {
  if (error instanceof NatterError) return error.message
  return 'The daemon does not answer.'
}

async function openWithToken(given: string, preferred?: number): Promise<void> {
  token.value = given
  // Before the daemon answers: the address does not have it any more.
  write({ token: given, ...(preferred !== undefined && { actor: preferred }) })
  try {
    const found: Account[] = (await control('GET', '/accounts')).accounts
    accounts.value = found
    actor.value = found.find(({ user_id }) => user_id === preferred) ?? found[0]
    phase.value = 'open'
  } catch (error) {
    token.value = undefined
    const wrong = isWrong(error)
    if (wrong) sessionStorage.removeItem(storageKey)
    refused.value = !wrong
      ? messageOf(error)
      : error.status === 404
        ? 'This daemon has no control plane. Sign in as an account.'
        : 'The token is wrong. It changes when a daemon restarts: take the address from its banner, or use `natter open`.'
    phase.value = 'sign-in'
  }
}

async function openWithAccount(account: Account): Promise<void> {
  try {
    const me = await callAs(account, 'GET', '/users/me')
    const own = { ...account, user_id: me.user_id, email: me.email, full_name: me.full_name }
    accounts.value = [own]
    actor.value = own
    write({ account: own })
    phase.value = 'open'
  } catch (error) {
    if (isWrong(error)) sessionStorage.removeItem(storageKey)
    refused.value = messageOf(error)
    phase.value = 'sign-in'
  }
}

/** Whether the daemon does not know the token or key. One that is busy, or a proxy before one that starts, may take it at the next reload. */
function isWrong(error: unknown): error is NatterError {
  return error instanceof NatterError && [401, 403, 404].includes(error.status)
}

const wrongSecret = 'The email address, or the API key or password, is wrong.'

/** The secret is an API key or a password: the key is tried first, since a wrong one costs nothing. */
async function accountFor(email: string, secret: string): Promise<Account> {
  const account = { user_id: 0, email, full_name: email, api_key: secret }
  try {
    await callAs(account, 'GET', '/users/me')
    return account
  } catch (error) {
    if (!(error instanceof NatterError) || error.status !== 401) throw error
    const form = new URLSearchParams({ username: email, password: secret })
    const response = await ask(`${site}/api/v1/fetch_api_key`, { method: 'POST', body: form })
    const body = (await response.json().catch(() => ({}))) as Reply
    if (response.status === 403 || response.status === 401)
      throw error.code === 'INVALID_API_KEY'
        ? new NatterError(error.status, { ...error.body, msg: wrongSecret })
        : error
    if (!response.ok) throw new NatterError(response.status, body)
    return { ...account, email: String(body.email ?? email), api_key: String(body.api_key) }
  }
}

function keyFor(world: string): string {
  return `natter-inspector ${world}`
}

function read(world = site): Kept {
  try {
    return JSON.parse(sessionStorage.getItem(keyFor(world)) ?? '{}')
  } catch {
    return {}
  }
}

function write(kept: Kept): void {
  sessionStorage.setItem(storageKey, JSON.stringify(kept))
}
